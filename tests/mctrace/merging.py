# SPDX-License-Identifier: GPL-2.0
# Test how mctrace sums up several recordings, of kernels in which functions have different addresses, and
# what it exports to pprof.
import collections
import gzip
import os
import re
import shutil
import subprocess
import xml.dom.minidom

import recordings
from harness import compare, json_lines

PROTO = "/usr/share/gocode/src/github.com/google/pprof/proto"
HOSTS = 10


def make(folder, nr, mode="graph"):
    """Make a recording of machine @nr. The seed decides where its functions are."""
    rec = recordings.simulate(1500, 100 + nr, 2 + nr % 3, mode)
    rec.info = "host web%d\nrelease 6.%d\nbegan %d\n" % (nr, nr, (1700000000 + nr) * 10 ** 9)
    path = os.path.join(folder, "host-%s-%d.dat" % (mode, nr))
    rec.write(path)
    return path


def folded(mctrace, *paths):
    sums = collections.Counter()
    for line in mctrace.text("export", "--to", "folded", *paths).splitlines():
        stack, n = line.rsplit(" ", 1)
        sums[stack] += int(n)
    return sums


def check_folded(mctrace, paths):
    """The folded stacks of all recordings are the sums of those of each."""
    sums = collections.Counter()
    for path in paths:
        sums += folded(mctrace, path)
    addresses = {mctrace.text("report", path).split("_stext")[0] for path in paths[:2]}
    return compare("stack", folded(mctrace, *paths), sums) or ([] if len(addresses) > 1 else ["one recording"])


def check_profile(mctrace, paths, *options):
    """Calls and times are sums, and the longest time is the longest of all."""
    sums = {}
    for path in paths:
        for line in json_lines(mctrace.text("profile", "--json", *options, path)):
            key = (line.get("task"), line["function"])
            if key not in sums:
                sums[key] = line
                continue
            for name in ("total_ns", "self_ns", "total_cpu_ns", "self_cpu_ns", "calls"):
                if name in line:
                    sums[key][name] += line[name]
            if "max_ns" in line:
                sums[key]["max_ns"] = max(sums[key]["max_ns"], line["max_ns"])
    got = {(line.get("task"), line["function"]): line
           for line in json_lines(mctrace.text("profile", "--json", *options, *paths))}
    wrong = []
    for key in set(got) | set(sums):
        for line in got.get(key, {}), sums.get(key, {}):
            for name in ("avg_ns", "estimated", "callers"):
                line.pop(name, None)
        wrong += compare("%s:%s" % key, got.get(key, {}), sums.get(key, {}))
    return wrong


def check_flame(mctrace, folder, paths):
    """The picture has the calls of all recordings."""
    picture = os.path.join(folder, "merged.svg")
    mctrace.text("flame", "--by", "calls", "-o", picture, *paths)
    svg = xml.dom.minidom.parse(picture)
    calls = sum(line["calls"] for path in paths for line in json_lines(mctrace.text("profile", "--json", path)))
    title = [text.firstChild.data for text in svg.getElementsByTagName("text")
             if text.getAttribute("class") == "t"]
    return compare("title", {0: title[0]}, {0: "%d recordings: %d calls" % (len(paths), calls)})


def check_refused(mctrace, folder, paths):
    """A slip is an error that says what is wrong; an empty recording is left out, with a warning."""
    calls = make(folder, 50, "function")
    empty = os.path.join(folder, "empty.dat")
    recordings.Recording().write(empty)
    wrong = []
    for arguments, status, said in [
            (["profile", paths[0], calls], 1, "has returns and .* has none: they can't be summed up"),
            (["profile", "--input", paths[0], paths[1], paths[2]], 2, "without --input"),
            (["export", "--to", "perfetto", *paths], 2, "perfetto takes one recording"),
            (["profile", "--task", "nosuch", *paths], 1, "no task in %d recordings is called nosuch" % len(paths)),
            (["flame", "--func", "nosuch", "-o", "/dev/null", *paths], 1, "nosuch was not called in"),
            (["profile", empty, empty], 1, "all of 2 recordings are empty"),
            (["profile", paths[0], folder + "/none.dat"], 1, "none.dat: No such file"),
            (["profile", paths[0], empty, paths[1]], 0, "empty.dat is empty")]:
        ran = mctrace.run(*arguments)
        if ran.returncode != status or not re.search(said, ran.stderr.decode()):
            wrong.append("%s: status %d, %s" % (arguments, ran.returncode, ran.stderr.decode()))
    with_empty = mctrace.run("profile", paths[0], empty, paths[1]).stdout.decode()
    return wrong + compare("", {0: with_empty}, {0: mctrace.text("profile", *paths[:2])})


def check_selected(mctrace, paths):
    """A selection that only one of the recordings meets is no error."""
    task = {comm for path in paths[:1] for comm in folded_tasks(mctrace, path)}
    others = {comm for path in paths[1:] for comm in folded_tasks(mctrace, path)}
    wanted = sorted(task - others) or sorted(task)
    got = folded(mctrace, "--task", "=" + wanted[0], *paths)
    return compare("stack", got, folded(mctrace, "--task", "=" + wanted[0], paths[0])
                   if task - others else got) or ([] if got else ["nothing"])


def folded_tasks(mctrace, path):
    return {stack.split(";")[0] for stack in folded(mctrace, path)}


# --- pprof ---

def message(lines):
    """Return a message in protobuf's text form as a list of (name, value)."""
    found = []
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            found.append((line[:-2], message(lines)))
            continue
        name, value = line.split(": ", 1)
        found.append((name, eval(value) if value[0] == '"' else value))     # pylint: disable=eval-used
    return found


def fields(of, name):
    return [value for key, value in of if key == name]


def number(of, name):
    return int((fields(of, name) or [0])[0])


def decode(path):
    """Decode a profile by pprof's own schema."""
    with gzip.open(path) as file:
        data = file.read()
    text = subprocess.run(["protoc", "--decode=perftools.profiles.Profile", "-I", PROTO, PROTO + "/profile.proto"],
                          input=data, stdout=subprocess.PIPE, check=True).stdout.decode()
    return message(iter(text.splitlines()))


def check_pprof(mctrace, folder, paths, returns):
    """By pprof's own schema, each host's samples are its folded stacks."""
    path = os.path.join(folder, "merged.pb.gz")
    mctrace.text("export", "--to", "pprof", "-o", path, *paths)
    profile = decode(path)
    strings = fields(profile, "string_table")
    functions = {number(f, "id"): strings[number(f, "name")] for f in fields(profile, "function")}
    locations = {number(at, "id"): functions[number(fields(at, "line")[0], "function_id")]
                 for at in fields(profile, "location")}
    types = [strings[number(t, "type")] + "/" + strings[number(t, "unit")] for t in fields(profile, "sample_type")]
    got, cpus = {}, set()
    for sample in fields(profile, "sample"):
        labels = {strings[number(label, "key")]: strings[number(label, "str")] for label in fields(sample, "label")}
        stack = [labels["task"]] + [locations[int(at)] for at in reversed(fields(sample, "location_id"))]
        values = list(map(int, fields(sample, "value")))
        sums = got.setdefault((labels["host"], labels["release"]), collections.Counter())
        cpus.add(labels["cpu"])
        sums[";".join(stack)] += values[1 if returns else 0]
        if returns:
            sums[";".join(stack + ["[off CPU]"])] += values[2]
    wrong = compare("", {"types": types, "strings": strings[0], "begin": number(profile, "time_nanos")},
                    {"types": ["calls/count"] + ["cpu/nanoseconds", "off_cpu/nanoseconds"] * returns, "strings": "",
                     "begin": 1700000000 * 10 ** 9})
    for nr, of_host in enumerate(paths):
        sums = got.get(("web%d" % nr, "6.%d" % nr), collections.Counter())
        wrong += compare("web%d:" % nr, +sums, folded(mctrace, of_host))
    return wrong + ([] if len(cpus) > 1 else ["one CPU"])


# --- memory ---

def peak(mctrace, *arguments):
    """Run mctrace. Return the most memory that it had, KiB."""
    said = subprocess.run(["busybox", "time", "-v", mctrace.path, *arguments], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=True).stderr.decode()
    return int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", said)[1])


def check_memory(mctrace, folder, paths):
    """Ten times as many recordings need hardly more memory."""
    wrong = []
    for command in (["profile"], ["flame", "-o", "/dev/null"], ["export", "--to", "folded"],
                    ["export", "--to", "pprof", "-o", os.path.join(folder, "memory")]):
        few, many = peak(mctrace, *command, *paths * 2), peak(mctrace, *command, *paths * 20)
        print("# %s of %d and of %d recordings: %d and %d KiB" %
              (" ".join(command[:3]), len(paths) * 2, len(paths) * 20, few, many))
        if many > few * 1.1:
            wrong.append("%s: %d and %d KiB" % (command, few, many))
    return wrong


def test(tap, attempt, mctrace, folder):
    paths = [make(folder, nr) for nr in range(HOSTS)]
    calls = [make(folder, nr, "function") for nr in range(3)]
    attempt(tap, "several recordings: folded stacks", None, check_folded, mctrace, paths)
    attempt(tap, "several recordings without returns: folded stacks", None, check_folded, mctrace, calls)
    attempt(tap, "several recordings: profile", None, check_profile, mctrace, paths)
    attempt(tap, "several recordings: profile by task", None, check_profile, mctrace, paths, "--by-task")
    attempt(tap, "several recordings without returns: profile", None, check_profile, mctrace, calls)
    attempt(tap, "several recordings: flame graph", None, check_flame, mctrace, folder, paths)
    attempt(tap, "several recordings: what is refused", None, check_refused, mctrace, folder, paths)
    attempt(tap, "several recordings: a task of one of them", None, check_selected, mctrace, paths)
    attempt(tap, "several recordings: memory", None, check_memory, mctrace, folder, paths)
    for returns, of in (True, paths), (False, calls):
        name = "pprof, %s returns" % ("with" if returns else "without")
        if shutil.which("protoc") and os.path.exists(PROTO):
            attempt(tap, name, None, check_pprof, mctrace, folder, of, returns)
        else:
            tap.skip(name, "protoc or pprof's schema is not installed")
