# SPDX-License-Identifier: GPL-2.0
# Test mctrace's messages about missing calls and typing errors, and its pager and colours, which
# appear only on a terminal.
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import recordings
from harness import TIMEOUT, Case, compare_lists

# --- missing calls are reported ---

READERS = [("profile",), ("profile", "--json"), ("graph", "vfs_read"), ("latency", "vfs_read"),
           ("slow", "vfs_read"), ("report", "--tree"), ("report", "--json"),
           ("report", "--task", "cat"), ("export", "--to", "folded")]
WARNING = ("mctrace: of %d calls and returns %d were overwritten and %d lost: "
           "try --buffer-size\n")


def counted(folder, name, overwritten, lost, seen):
    """Make a recording that lacks calls. @seen: it contains the count of recorded calls."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for _ in range(5):
        rec.call(0, "vfs_read")
        rec.wait(100)
        rec.leave(0)
    rec.overwritten, rec.lost = overwritten, lost
    rec.seen = rec.entries if seen else None
    return Case(folder, name, rec)


def check_missing(mctrace, folder):
    """One warning if calls are missing; none if not, or if report's header has the counts."""
    wrong = []
    for name, overwritten, lost, seen in (
            ("complete", 0, 0, True), ("not counted", 700, 30, False),
            ("overwritten", 700, 0, True), ("lost", 0, 30, True),
            ("overwritten and lost", 700, 30, True)):
        case = counted(folder, name, overwritten, lost, seen)
        says = WARNING % (10 + overwritten + lost, overwritten, lost)
        says = says if seen and overwritten + lost else ""
        for arguments in READERS + [("report",)]:
            ran = mctrace.run(*arguments, case.path)
            wanted = "" if arguments == ("report",) else says
            if ran.returncode or ran.stderr.decode() != wanted:
                wrong.append("%s: %s: status %d, and it says '%s'" % (
                    name, " ".join(arguments), ran.returncode, ran.stderr.decode()))
    return wrong


def check_missed(mctrace, folder):
    """Each command warns once that the kernel missed returns."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.info = "missed 17\n"
    rec.run(0, rec.task(65, "cat"))
    rec.call(0, "vfs_read")
    rec.wait(100)
    rec.leave(0)
    case = Case(folder, "missed", rec)
    says = "mctrace: 17 returns were missed: such a call has no result and no duration\n"
    return ["%s: '%s'" % (" ".join(arguments), got) for arguments, got in (
        (arguments, mctrace.run(*arguments, case.path).stderr.decode())
        for arguments in READERS + [("report",)]) if got != says]


def check_gaps(mctrace, folder):
    """Each kind of gap has its lines, behind earlier calls of other CPUs."""
    wrong = []
    for lost, uncounted, lines in ((5, False, ["# lost 5"]), (0, True, ["# recording was off"]),
                                   (0, False, ["# other CPUs lost calls"])):
        rec = recordings.Recording(cpus=2, late=False)
        rec.run(0, rec.task(65, "cat"))
        rec.run(1, rec.task(66, "dog"))
        rec.call(0, "vfs_read")
        rec.wait(100)
        rec.call(1, "vfs_write")
        rec.wait(100)
        rec.rings[0].lose(lost, uncounted)
        rec.call(0, "dput")
        case = Case(folder, "gap %d %d" % (lost, uncounted), rec)
        text = mctrace.run("report", case.path).stdout.decode().splitlines()
        first = next(i for i, line in enumerate(text) if " vfs_write" in line)
        last = next(i for i, line in enumerate(text) if " dput" in line)
        wrong += compare_lists("line", text[first + 1:last], lines)
        ran = mctrace.run("report", "--json", case.path)
        gap = json.loads(ran.stdout.splitlines()[2])
        if gap != {"event": "lost", "calls": lost, **({"uncounted": True} if uncounted else {})}:
            wrong.append("in JSON it is %s" % gap)
    return wrong


def check_counts_that_differ(mctrace, folder):
    """Counters are read one after the other: seen and lost together may exceed written."""
    case = counted(folder, "counts that differ", 5, 30, True)
    with open(case.path, "rb") as file:
        data = file.read()
    with open(case.path, "wb") as file:
        file.write(data.replace(b"lost 30", b"lost 36"))
    says = mctrace.run("profile", case.path).stderr.decode()
    return [] if " 0 were overwritten" in says or not says else [says]


# --- typing errors ---

SLIPS = [       # arguments, status, message
    (["reprot", "FILE"], 2, "there is no command 'reprot': did you mean 'report'?"),
    (["xyzzyxyzzy"], 2, "there is no command 'xyzzyxyzzy'"),
    (["report", "--nopager", "FILE"], 2, "report has no option --nopager: did you mean --no-pager"),
    (["report", "--coler=no", "FILE"], 2,
     "report has no option --coler=no: did you mean --color"),
    (["report", "--xyzzyxyzzy", "FILE"], 2, "report has no option --xyzzyxyzzy"),
    (["profile", "--task"], 2, "--task wants an argument"),
    (["profile", "FILE", "-s"], 2, "--sort wants an argument"),
    (["report", "--tree=yes", "FILE"], 2, "--tree takes no argument"),
    (["report", "-x", "FILE"], 2, "report has no option -x"),
    (["report", "--color", "perhaps", "FILE"], 2, "--color is yes, no or auto"),
    (["diff", "FILE"], 2, "diff of which two recordings?"),
    (["slow", "--percent", "51", "vfs_read", "FILE"], 2, "--percent is from 1 to 50"),
    (["graph"], 2, "graph of which function?"),
    (["graph", "vfs_raed", "FILE"], 1, "vfs_raed was not called in FILE: did you mean vfs_read"),
    (["latency", "vfs_raed", "FILE"], 1, "vfs_raed was not called in FILE: did you mean vfs_read"),
    (["slow", "vfs_raed", "FILE"], 1, "vfs_raed was not called in FILE: did you mean vfs_read"),
    (["graph", "xyzzyxyzzy", "FILE"], 1, "xyzzyxyzzy was not called in FILE: "
     "the kernel has no function of this name, unless it is inlined"),
]


def check_slips(mctrace, folder):
    case = Case(folder, "coloured", slow_recording())
    wrong = []
    for arguments, status, says in SLIPS:
        ran = mctrace.run(*[case.path if one == "FILE" else one for one in arguments])
        lines = ran.stderr.decode().splitlines() or [""]
        if ran.returncode != status or lines[0] != "mctrace: " + says.replace("FILE", case.path):
            wrong.append("%s: status %d, and it says '%s'" % (" ".join(arguments), ran.returncode,
                                                             lines[0]))
        hint = "Try 'mctrace %s" % (arguments[0] + " " if "no command" not in says else "")
        if lines[1:] != ([hint + "--help'."] if status == 2 else []):
            wrong.append("%s: then it says %s" % (" ".join(arguments), lines[1:]))
        if ran.stdout:
            wrong.append("%s prints something" % " ".join(arguments))
    return wrong


# --- terminals ---

def read_all(terminal):
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:         # the end of a terminal
            piece = b""
        if not piece:
            return text
        text += piece


class Stage:
    """Run mctrace with a pager that writes a mark after a delay."""
    def __init__(self, mctrace, folder):
        self.path = mctrace.path
        self.mark = os.path.join(folder, "paged")
        self.pager = os.path.join(folder, "pager.sh")
        with open(self.pager, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ncat\nsleep 0.3\necho \"$LESS\" >'%s'\n" % self.mark)
        os.chmod(self.pager, 0o755)

    def run(self, terminal, arguments, columns=0, **environment):
        """Return its output, its status, and whether the pager had ended before mctrace. @columns: the terminal's width;
        0: unknown."""
        if os.path.exists(self.mark):
            os.unlink(self.mark)
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TERM": "xterm",
                       "PAGER": self.pager, **environment}
        here, there = pty.openpty() if terminal else os.pipe()
        if columns:
            fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with subprocess.Popen([self.path, *arguments], stdin=subprocess.DEVNULL, stdout=there,
                              stderr=subprocess.DEVNULL, env=environment) as program:
            os.close(there)
            # Read afterwards: the output is short, and reading to its end would wait for the pager.
            try:
                status = program.wait(timeout=TIMEOUT)
            finally:
                program.kill()
            paged = os.path.exists(self.mark)
            text = read_all(here)
            os.close(here)
        return text.replace(b"\r\n", b"\n").decode(), status, paged


def slow_recording():
    """Calls that are long enough for a colour."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for wait in (20000, 2000000):
        rec.call(0, "vfs_read")
        rec.wait(wait)
        rec.leave(0)
    return rec


COLOURED = [("report", "--tree"), ("profile",), ("graph", "vfs_read")]
UNCOLOURED = [("report",), ("profile", "--json")]


def check_terminal(mctrace, folder):
    """Cases: on a terminal, options, environment; expected colour, expected pager."""
    stage = Stage(mctrace, folder)
    path = Case(folder, "coloured", slow_recording()).path
    wrong = []
    for terminal, options, environment, colour, pager in (
            (False, [], {}, False, False),
            (False, ["--color", "auto"], {}, False, False),
            (False, ["--color", "yes"], {}, True, False),
            (True, [], {}, True, True),
            (True, ["--no-pager"], {}, True, False),
            (True, ["--color", "no"], {}, False, True),
            (True, [], {"NO_COLOR": "1"}, False, True),
            (True, ["--color", "yes", "--no-pager"], {"NO_COLOR": "1"}, True, False),
            (True, [], {"PAGER": "cat"}, True, False),
            (True, [], {"PAGER": ""}, True, False)):
        for arguments in COLOURED + UNCOLOURED:
            text, status, paged = stage.run(terminal, [*arguments, *options, path], **environment)
            plain = mctrace.text(*arguments, path)
            got = (status, "\033" in text, paged, re.sub(r"\033\[\d*m", "", text) == plain)
            if got != (0, colour and arguments in COLOURED, pager, True):
                wrong.append("%s, terminal %s, %s %s: status %d, colour %s, pager %s, text %s" % (
                    " ".join(arguments), terminal, " ".join(options), environment, *got))
    return wrong


def check_colours(mctrace, folder):
    """Long durations are in colour, and headings are bold."""
    path = Case(folder, "coloured", slow_recording()).path
    tree = mctrace.text("report", "--tree", "--color", "yes", path)
    wrong = compare_lists("colour", re.findall(r"\033\[3\dm. *[0-9.]+ us\033\[m", tree),
                          ["\033[33m+     20.002 us\033[m", "\033[31m#   2000.002 us\033[m"])
    graph = mctrace.text("graph", "vfs_read", "--color", "yes", path)
    return wrong + compare_lists("bold", re.findall(r"\033\[1m\n?# (\w+)", graph),
                                 ["called", "calls"])


def check_pager_waited_for(mctrace, folder):
    """mctrace waits for its pager also when it fails, because the pager has the terminal."""
    stage = Stage(mctrace, folder)
    path = Case(folder, "coloured", slow_recording()).path
    wrong = []
    with open(path, "rb") as file:
        data = file.read()
    cut = os.path.join(folder, "coloured-cut.dat")
    with open(cut, "wb") as file:
        file.write(data[:-8])
    for arguments in (["graph", "vfs_raed", path], ["graph", "vfs_open", path],
                      ["slow", "vfs_raed", path], ["profile", cut]):
        _, status, paged = stage.run(True, arguments)
        if status != 1 or not paged:
            wrong.append("%s: status %d, waits for its pager: %s" % (arguments, status, paged))
    _, status, paged = stage.run(True, ["report", "--nopager", path])
    if status != 2 or paged:
        wrong.append("an option that there is not: status %d, a pager %s" % (status, paged))
    return wrong
