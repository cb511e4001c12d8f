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
import times
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
    return compare("stack", folded(mctrace, *paths), sums)


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
    empty_calls = os.path.join(folder, "empty-calls.dat")
    recordings.Recording(mode="function").write(empty_calls)
    wrong = []
    for arguments, status, said in [
            (["profile", paths[0], calls], 1, "has returns and .* has none: they can't be summed up"),
            (["diff", paths[0], calls], 1, "has returns and .* has none: they can't be compared"),
            (["diff", calls, paths[0]], 1, "has returns and .* has none: they can't be compared"),
            (["profile", "--input", paths[0], paths[1], paths[2]], 2, "without --input"),
            (["export", "--to", "perfetto", *paths], 2, "perfetto takes one recording"),
            (["profile", "--task", "nosuch", *paths], 1, "no task in %d recordings is called nosuch" % len(paths)),
            (["flame", "--func", "nosuch", "-o", "/dev/null", *paths], 1, "nosuch was not called in"),
            (["profile", empty, empty], 1, "all of 2 recordings are empty"),
            (["profile", paths[0], folder + "/none.dat"], 1, "none.dat: No such file"),
            (["profile", "-", "-"], 2, "standard input is one recording"),
            (["profile", "--min-duration", "100s", paths[0], paths[1]], 1, "no call in 2 recordings is selected"),
            (["profile", paths[0], empty_calls, paths[1]], 0, "empty-calls.dat is empty"),
            (["profile", paths[0], empty, paths[1]], 0, "empty.dat is empty")]:
        ran = mctrace.run(*arguments)
        if ran.returncode != status or not re.search(said, ran.stderr.decode()):
            wrong.append("%s: status %d, %s" % (arguments, ran.returncode, ran.stderr.decode()))
    with_empty = mctrace.run("profile", paths[0], empty, paths[1]).stdout.decode()
    return wrong + compare("", {0: with_empty}, {0: mctrace.text("profile", *paths[:2])})


def check_namesakes(mctrace, folder):
    """Two functions of one name in one kernel are one in sums, but not when calls are paired with returns."""
    wrong = []
    for mode in "graph", "function":
        rec = recordings.simulate(1500, 7, 2, mode)
        names = rec.functions.by_name
        twins = [names[name] for name in ("vfs_read", "kfree", "kmem_cache_free", "mutex_lock", "mutex_unlock", "dput")]
        for twin in twins:
            rec.functions.lines = [re.sub(r"^(%016x .) %s$" % (twin.address, twin.name), r"\1 twin", line)
                                   for line in rec.functions.lines]
        path = os.path.join(folder, "twins-%s.dat" % mode)
        rec.write(path)
        sums = folded(mctrace, path)
        wrong += compare(mode, folded(mctrace, path, path), sums + sums) + ([] if "twin" in str(sums) else ["no twin"])
    twice = mctrace.text("profile", "--json", path, path)
    calls = sum(line["calls"] for line in json_lines(mctrace.text("profile", "--json", path)) if line["function"] == "twin")
    return wrong + compare("twin", {0: [line["calls"] for line in json_lines(twice) if line["function"] == "twin"]},
                           {0: [2 * calls]})


def check_output(mctrace, folder, paths):
    """A command that fails leaves the file of its output as it was, and no recording is overwritten."""
    old = os.path.join(folder, "old")
    wrong = []
    for command in (["flame"], *(["export", "--to", form] for form in ("folded", "pprof", "perfetto", "trace.dat"))):
        for what, inputs, said in (("no input", [folder + "/none.dat"], "No such file"),
                                   ("no such task", ["--task", "nosuch", paths[0]], "is called nosuch"),
                                   ("a recording", [paths[0]], "is a recording, and stays")):
            shutil.copy(paths[1], old)
            if what != "a recording":
                with open(old, "w", encoding="ascii") as file:
                    file.write("precious")
            with open(old, "rb") as file:
                before = file.read()
            ran = mctrace.run(*command, "-o", old, *inputs)
            with open(old, "rb") as file:
                after = file.read()
            if after != before or not ran.returncode or said not in ran.stderr.decode():
                wrong.append("%s, %s: status %d, %s" % (command, what, ran.returncode, ran.stderr.decode()))
        os.chmod(old, 0o640)
        with open(old, "w", encoding="ascii") as file:
            file.write("old")
        mctrace.text(*command, "-o", old, paths[0])
        if os.stat(old).st_mode & 0o777 != 0o640 or os.path.getsize(old) < 100:
            wrong.append("%s: %o, %d bytes" % (command, os.stat(old).st_mode, os.path.getsize(old)))
        os.unlink(old)
    return wrong + [name for name in os.listdir(folder) if name.startswith("old")]


def check_loss(mctrace, folder, paths):
    """Losses are those of all recordings; a damaged recording is named, and the status is not 0."""
    lossy = recordings.Recording(seed=3)
    lossy.run(0, lossy.task(5, "cat"))
    for name in recordings.CORE[:10]:
        lossy.call(0, name)
    lossy.overwritten = 90
    lossy.seen = 10
    path = os.path.join(folder, "lossy.dat")
    lossy.write(path)
    good = recordings.Recording(seed=4)
    good.run(0, good.task(5, "cat"))
    for _ in range(100):
        good.call(0, "vfs_read")
    good.seen = 100
    good.write(path + ".good")
    said = mctrace.run("profile", path, path + ".good").stderr.decode()
    wrong = compare("", {0: said.strip()}, {0: "mctrace: of 200 calls and returns 90 were overwritten and 0 lost: "
                                            "try --buffer-size"})
    cut = os.path.join(folder, "cut.dat")
    for nr, size in enumerate((-100, -300)):
        with open(paths[nr], "rb") as whole, open(cut + str(nr), "wb") as part:
            part.write(whole.read()[:size])
    for command in ("profile", "diff"):
        ran = mctrace.run(command, cut + "0", cut + "1")
        said = ran.stderr.decode()
        if not ran.returncode or "cut.dat0 is damaged" not in said or "cut.dat1 is damaged" not in said:
            wrong.append("%s: status %d, %s" % (command, ran.returncode, said))
    return wrong


def check_exec(mctrace, folder):
    """A call in which exec() gives its task another name counts under that name."""
    path = os.path.join(folder, "exec-pprof.dat")
    times.exec_recording().write(path)
    mctrace.text("export", "--to", "pprof", "-o", path + ".pb.gz", path)
    profile = decode(path + ".pb.gz")
    strings = fields(profile, "string_table")
    names = {number(function, "id"): strings[number(function, "name")] for function in fields(profile, "function")}
    calls = collections.Counter()
    for sample in fields(profile, "sample"):
        labels = {strings[number(label, "key")]: strings[number(label, "str")] for label in fields(sample, "label")}
        calls[labels["task"], names[int(fields(sample, "location_id")[0])]] += int(fields(sample, "value")[0])
    lines = json_lines(mctrace.text("profile", "--by-task", "--json", path))
    return compare("", +calls, {(line["task"], line["function"]): line["calls"] for line in lines})


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
    attempt(tap, "several recordings: functions of one name", None, check_namesakes, mctrace, folder)
    attempt(tap, "several recordings: losses and damage", None, check_loss, mctrace, folder, paths)
    attempt(tap, "outputs are complete, and overwrite no recording", None, check_output, mctrace, folder, paths)
    attempt(tap, "several recordings: a task of one of them", None, check_selected, mctrace, paths)
    attempt(tap, "several recordings: memory", None, check_memory, mctrace, folder, paths)
    for returns, of in (True, paths), (False, calls):
        name = "pprof, %s returns" % ("with" if returns else "without")
        if shutil.which("protoc") and os.path.exists(PROTO):
            attempt(tap, name, None, check_pprof, mctrace, folder, of, returns)
            if returns:
                attempt(tap, "pprof: a task that gets a new name", None, check_exec, mctrace, folder)
        else:
            tap.skip(name, "protoc or pprof's schema is not installed")
