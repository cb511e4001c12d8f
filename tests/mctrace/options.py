# SPDX-License-Identifier: GPL-2.0
# Test the options of mctrace's commands: --help, the man pages, and their order and letters.
import collections
import os
import re

import terminal
from harness import Case, compare, compare_lists

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Documentation",
                     "tools", "mctrace")
TRIGGERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernel-trace", "mctracer", "select",
                        "triggers.c")
CONTROL = "stat list stream start stop show reset snapshot".split()
VIEW = "report profile graph latency slow diff why flame packet object export".split()
SETUP = ["record", "start", "stream"]


def options_of(text):
    """Return the options in --help: "-i, --input FILE" is ("-i", "--input", "FILE")."""
    found = set()
    for line in re.findall(r"^ +(-.*?)(?:  .*)?$", text, re.M):
        parts = re.fullmatch(r"(-\w)?(?:, )?(--[\w-]+)?(?: (\S+))?", line)
        found.add(parts.groups() if parts else line)
    return found


def paragraphs(page):
    """Return the options that a man page describes, in the same form."""
    with open(os.path.join(PAGES, page + ".rst"), encoding="utf-8") as file:
        text = file.read()
    found = set()
    for line in re.findall(r"^(\*\*-.*)$", text, re.M):
        for one in re.sub(r"\\ |[\\*]", "", line.split(", also of")[0]).split("; "):
            found |= options_of("  " + one)
    return found


def check_pages(mctrace, _):
    """A man page describes the options that --help shows, and no others."""
    shown = {command: options_of(mctrace.text(command, "--help")) for command in mctrace.commands}
    general = paragraphs("mctrace")
    setup = set.intersection(*(shown[command] for command in SETUP))
    pages = {}
    for command, options in shown.items():
        page = "control" if command in CONTROL else command
        if command in VIEW:
            options = options - general
        if command in SETUP and command != "record":
            options = options - setup
        pages.setdefault(page, set()).update(options - general)
    pages["record"].add((None, "--no-times", None))     # which is --times, negated
    wrong = []
    for page, options in pages.items():
        described = paragraphs("mctrace-" + page) - (general - options)
        wrong += compare(page, dict.fromkeys(described, True), dict.fromkeys(options, True))
    count = collections.Counter(one for command in VIEW for one in shown[command])
    common = {one for one, times in count.items() if times >= 5}
    version = {("-V", "--version", None)}
    return wrong + compare("mctrace", dict.fromkeys(general - version, True),
                           dict.fromkeys(common, True))


def synopsis(page):
    """Return the lines of a man page's SYNOPSIS, as --help writes its usage."""
    with open(os.path.join(PAGES, page + ".rst"), encoding="utf-8") as file:
        text = re.search(r"^SYNOPSIS\n=+\n(.*?)\nDESCRIPTION\n", file.read(), re.M | re.S)[1]
    text = re.sub(r"[*\\]", "", text).replace("[OPTIONS]", "[OPTION...]")
    return [line.removeprefix("| ") for line in text.splitlines() if line]


def check_synopsis(mctrace, _):
    """A man page's SYNOPSIS begins with the usage of --help. Further lines have options that --help shows."""
    wrong = compare_lists("mctrace", synopsis("mctrace"), [usage_of(mctrace.text("--help"))])
    for command in mctrace.commands:
        text = mctrace.text(command, "--help")
        lines = synopsis("mctrace-" + ("control" if command in CONTROL else command))
        lines = [line for line in lines if line.split(" ")[1] == command]
        wrong += compare_lists(command, lines[:1], [usage_of(text)])
        names = {name for _, name, _ in options_of(text)} | {None}
        for line in lines:
            wrong += ["%s: --help has no %s" % (line, name) for name in re.findall(r"--\w+", line) if name not in names]
    pages = ["mctrace-" + command for command in mctrace.commands if command not in CONTROL] + ["mctrace-control"]
    named = [line.split(" ")[1] for page in pages for line in synopsis(page)]
    return wrong + compare("a command in SYNOPSIS", dict.fromkeys(named, True), dict.fromkeys(mctrace.commands, True))


def usage_of(text):
    return re.match(r"usage: (.*)\n", text)[1]


def check_triggers(_mctrace, _):
    """mctrace-triggers(5) describes the actions and conditions that the kernel parses, and no others."""
    with open(TRIGGERS, encoding="utf-8") as file:
        code = file.read()
    with open(os.path.join(PAGES, "mctrace-triggers.rst"), encoding="utf-8") as file:
        page = file.read()
    wrong = []
    for section, words in (("ACTION", re.findall(r'^\t\[MCTRACER_DO_\w+\] = {\s*"(\w+)"', code, re.M)),
                           ("WHEN", re.findall(r'_begins_with_word\(text, "(\w+)"\)', code))):
        terms = re.search(r"^%s\n=+\n(.*?)^=+$" % section, page, re.M | re.S)[1]
        described = re.findall(r"^\*\*(\w+)[^\n]*\n {8}", terms, re.M)
        wrong += compare(section, dict.fromkeys(described, True), dict.fromkeys(words, True))
    return wrong


def check_letters(mctrace, _):
    """A letter means the same in all commands."""
    meanings = {}
    for command in mctrace.commands:
        for letter, name, _ in options_of(mctrace.text(command, "--help")):
            if letter:
                meanings.setdefault(letter, set()).add(name)
    return ["%s: %s" % (letter, names) for letter, names in meanings.items() if len(names) > 1]


# Options of older versions and other tools, and the end of mctrace's message.
INSTEAD = [
    (["profile", "-c"], "--callers"), (["profile", "-b"], "--by-task"),
    (["slow", "f", "-p", "1"], "--percent N"), (["slow", "f", "-n", "1"], "--lines 1?"),
    (["diff", "-n1"], "--lines 1?"), (["latency", "f", "-l"], "--live"),
    (["report", "-F", "vfs_read"], "or --func FUNC"),
    (["profile", "-t", "5"], "--min-duration TIME"), (["report", "-C", "1"], "--called-by FUNC"),
    (["report", "-N", "vfs_read"], "--notrace FUNC"), (["report", "-r", "1"], "--time FROM..TO"),
    (["record", "-F", "ls"], "others run only with --all"), (["record", "-G"], "--within FUNC'"),
    (["record", "--max-graph-depth=3", "ls"], "'mctrace report --depth N' shows N levels"),
    (["record", "-D", "3"], "'mctrace report --depth N' shows N levels"),
    (["record", "-e", "sched"], "--func FUNC"), (["record", "-p", "nop"], "nor function or function_graph"),
    (["replay"], "'mctrace report --tree' prints nested calls"),
    (["dump"], "'mctrace export' converts it"), (["info"], "describe a recording"),
    (["script"], "with --json for programs"), (["clear"], "and empties the rings"),
    (["list", "-p"], "--prototypes"), (["show", "-p"], "--pipe"), (["snapshot", "-t"], "--take"),
]


def check_instead(mctrace, _):
    wrong = []
    for arguments, word in INSTEAD:
        ran = mctrace.run(*arguments)
        if ran.returncode != 2 or not ran.stderr.decode().splitlines()[0].endswith(word):
            wrong.append("%s: status %d, %s" % (arguments, ran.returncode, ran.stderr.decode()))
    return wrong


def check_order(mctrace, folder):
    """Options may stand before, between and behind arguments; -i FILE equals an argument."""
    path = Case(folder, "order", terminal.slow_recording()).path
    wrong = []
    for one, *others in (
            (["latency", "vfs_read", path, "--hide-empty", "--json"],
             ["latency", "vfs_read", "--hide-empty", "--json", path],
             ["latency", "--hide-empty", "vfs_read", path, "--json"],
             ["latency", "--json", "vfs_read", "--hide-empty", "-i", path],
             ["latency", "-i" + path, "--json", "--hide-empty", "vfs_read"]),
            (["report", path, "--json"], ["report", "--json", "--input=" + path],
             ["report", "--js", "--no-tree", path]),
            (["graph", "vfs_read", path], ["graph", "-i", path, "vfs_read"]),
            (["slow", "vfs_read", path], ["slow", "vfs_read", "-i", path]),
            (["profile", path], ["profile", "-i", path], ["profile", "-i", path, path]),
            (["diff", path, path], ["diff", "-i", path, path], ["diff", path, "-i", path]),
            (["flame", "-o", "-", path], ["flame", path, "-o-"]),
            (["export", "--to", "json", path], ["export", "-i", path, "--to=json"]),
            (["--help"], ["help"], ["-h"]), (["report", "--help"], ["help", "report"]),
            (["--version"], ["-V"])):
        for other in others:
            if mctrace.text(*one) != mctrace.text(*other):
                wrong.append("%s is not %s" % (one, other))
    marks = mctrace.run("why", "--from", path)
    again = mctrace.run("why", "-i", path)
    if (marks.returncode, marks.stdout, marks.stderr) != (
            again.returncode, again.stdout, again.stderr):
        wrong.append("why --from is not why -i")
    return wrong


def check_first(mctrace, folder):
    """--lines prints the beginning of the output without --lines."""
    path = Case(folder, "first", terminal.slow_recording()).path
    wrong = []
    for command in (["report", "--json"], ["report", "--tree", "--json"], ["profile", "--json"]):
        lines = mctrace.text(*command, path).splitlines()
        for n in (1, 2, 99):
            wrong += compare_lists(" ".join(command) + " --lines %d" % n, mctrace.text(
                *command, "--lines", str(n), path).splitlines(), lines[:n])
    tree = mctrace.text("report", "--tree", "--lines", "1", path)
    return wrong + compare_lists("calls of the tree", [tree.count("vfs_read();")], [1])


def widest_bar(text):
    return max(len(line) for line in text.splitlines() if line.endswith("#"))


def check_width(mctrace, folder):
    """COLUMNS sets the width of lines; without it, the terminal does."""
    path = Case(folder, "width", terminal.slow_recording()).path
    wrong = []
    for columns, wanted in (("", 80), ("120", 120), ("70", 70), ("30", 61), ("x", 80)):
        text = mctrace.text("latency", "vfs_read", path, COLUMNS=columns)
        wrong += compare_lists("COLUMNS=" + columns, [widest_bar(text)], [wanted])
    stage = terminal.Stage(mctrace, folder)
    for columns in (99, 140):
        for options, paged in (["--no-pager"], False), ([], True):
            text, status, was_paged = stage.run(True, ["latency", "vfs_read", *options, path],
                                                columns, NO_COLOR="1")
            wrong += compare_lists("latency on a terminal of %d columns" % columns,
                                   [widest_bar(text), status, was_paged], [columns, 0, paged])
        helped = stage.run(True, ["report", "--help"], columns)[0]
        wanted = [mctrace.text("report", "--help", COLUMNS=str(other)) for other in (columns, 80)]
        wrong += compare_lists("--help on a terminal of %d columns, as with COLUMNS" % columns,
                               [helped == one for one in wanted], [True, False])
    whole = stage.run(True, ["report", path], 40, NO_COLOR="1")[0]
    if whole != mctrace.text("report", path):
        wrong.append("report cuts or wraps lines on a terminal of 40 columns")
    for columns in ("50", "100"):
        widest = max(len(line) for line in
                     mctrace.text("report", "--help", COLUMNS=columns).splitlines()
                     if line.startswith(" " * 24))
        if widest > int(columns):
            wrong.append("--help is %d wide, not %s" % (widest, columns))
    return wrong


def check_wrong(mctrace, folder):
    path = Case(folder, "order", terminal.slow_recording()).path
    wrong = []
    for arguments, says in (
            (["profile", "-i", path, path + "2"], "one recording at a time: --input, or an argument"),
            (["report", path, path], "one recording at a time"),
            (["report", "--no-input"], "--no-input can't be negated"),
            (["slow", "--percent=x", "f"], "--percent wants a number, not 'x'"),
            (["slow", "--percent", "-1", "f"], "--percent wants a number, not '-1'"),
            (["export", "--to", "tracedat", path], "there is no form 'tracedat'"),
            (["help", "reprot"], "there is no command 'reprot': did you mean 'report'?"),
            (["latency", "f", "--live", "-i", path], "either --live, or a recording"),
            (["report", "--tree", "--btf", path, path],
             "--btf names arguments in lines of text: not with --tree or --json"),
            (["report", "--clock", path], "--clock is for the text of --tree: other output has the times already"),
            (["report", "--tree", "--clock", "--json", path],
             "--clock is for the text of --tree: other output has the times already"),
            (["report", "--json", "--btf", path, path],
             "--btf names arguments in lines of text: not with --tree or --json"),
            (["graph", "vfs_read", "--json", "--btf", path, path],
             "--btf prints a line of text: not with --json"),
            (["export", "--to", "folded", "--json", path],
             "export prints no JSON Lines: --to json writes Chrome's trace events"),
            *((command + [option, "0"], option + " wants 1 at least") for command, option in (
                (["report", path], "--lines"), (["report", "--tree", path], "--depth"),
                (["profile", path], "--lines"), (["graph", "f", path], "--lines"),
                (["graph", "f", path], "--depth"), (["slow", "f", path], "--lines"),
                (["diff", path, path], "--lines"), (["why", "--from", path], "--lines"),
                (["packet"], "--lines"), (["packet"], "--seconds"), (["object", "bio"], "--seconds"),
                (["record"], "--seconds")))):
        ran = mctrace.run(*arguments)
        wrong += compare_lists(" ".join(arguments), [ran.returncode, *ran.stderr.decode().split("\n")][:2],
                               [2, "mctrace: " + says])
    return wrong
