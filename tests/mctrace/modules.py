# SPDX-License-Identifier: GPL-2.0
# Test names of modules that come and go during a recording, which then has several symbol tables.
import collections
import os
import re
import shutil
import subprocess

import recordings
from harness import Case, compare, compare_lists, cpu_seconds, growth, json_lines, steps_of

OLD = ["old_open", "old_read"]
NEW = ["new_open", "new_read"]
BETWEEN = ["between_open", "between_read"]
GONE = ["gone_open"]


def call_each(rec, names):
    for name in names:
        rec.call(0, name)
        rec.call(0, "kfree")
        rec.wait(100)
        rec.leave(0)
        rec.leave(0)


def changed_recording():
    """Module new takes the addresses of module old, with functions of the same sizes. Module between
    is loaded before the second symbol table, and stays. Module gone is called once more after the
    second table."""
    rec = recordings.Recording(cpus=1, late=False)
    functions, rng = rec.functions, rec.rng
    begin, state = recordings.MODULES_BEGIN + (1 << 20), rng.getstate()
    end = functions.load("gone", GONE, functions.load("old", OLD, begin))
    rec.run(0, rec.task(65, "cat"))
    rec.look()
    rec.call(0, "vfs_read")
    call_each(rec, OLD + GONE)
    functions.load("between", BETWEEN, end)
    call_each(rec, BETWEEN)
    functions.unload("old")
    functions.unload("gone")
    rng.setstate(state)
    functions.load("new", NEW, begin)
    rec.look()
    call_each(rec, BETWEEN + NEW + GONE)
    rec.leave(0)
    return rec


def check_modules(mctrace, case):
    """Each call has its module."""
    lines = json_lines(mctrace.text("report", "--json", case.path))
    wanted = []
    for names in (OLD + GONE + BETWEEN, BETWEEN + NEW + GONE):
        for name in names:
            wanted += [("call", name), ("return", name)]
    got = [(line["event"], line["function"].split("+")[0], line["function"].rsplit(" ")[-1])
           for line in lines if line["function"].endswith("]")]
    wrong = compare_lists("event", got, [(what, name, "[%s]" % name.split("_")[0])
                                         for what, name in wanted])
    callers = [line["caller"].split("+")[0] for line in lines
               if line["event"] == "call" and line["function"].startswith("kfree+")]
    wrong += compare_lists("caller", callers, [name for what, name in wanted if what == "call"])
    profile = collections.Counter()
    for line in json_lines(mctrace.text("profile", "--json", case.path)):
        profile[line["function"]] += line["calls"]
    return wrong + compare("calls", profile, collections.Counter(map(titled, case.calls())))


def check_latest(mctrace, folder):
    """Exports give each address its latest name; of several names in one table the first."""
    rec = changed_recording()
    case = Case(folder, "latest names", rec)
    out = os.path.join(folder, "latest.uftrace")
    mctrace.text("export", "--to", "uftrace", "-o", out, case.path)
    with open(os.path.join(out, "vmlinux.sym"), encoding="utf-8") as file:
        got = [line.split(" T ") for line in file.read().splitlines() if " T " in line]
    wanted = {}
    for table in rec.tables:
        names = {}
        for line in table.splitlines():
            address, kind, name = line.split(" ", 2)
            if kind in "tT":
                names.setdefault(int(address, 16), name.replace("\t", " "))
        wanted.update(names)
    shutil.rmtree(out)
    return (compare("name", {int(address, 16) + recordings.STEXT: name for address, name in got}, wanted) +
            compare_lists("number of names", [len(got)], [len(wanted)]))


def check_many_tables(mctrace, folder):
    """The time that symbol tables take is not quadratic in their number."""
    took = {}
    for nr in (10000, 40000):
        rec = recordings.Recording(cpus=1, late=False)
        rec.run(0, rec.task(65, "cat"))
        rec.call(0, "vfs_read")
        rec.leave(0)
        begin = recordings.MODULES_BEGIN + (64 << 20)
        rec.tables = [rec.functions.kallsyms()] + ["%016x t probe\t[m%d]\n" % (begin + 64 * i, i) for i in range(nr)]
        rec.rings[0].tables = [0] + [len(rec.rings[0].runs)] * nr
        case = Case(folder, "%d tables" % nr, rec)
        took[nr] = cpu_seconds(mctrace, "export", "--to", "trace.dat", "-o", case.path + ".export", case.path)
    return [] if took[40000] < 8 * max(took[10000], 0.05) else ["seconds by tables: %s" % took]


def addresses_in(rec, name, nr):
    """Record calls of @nr addresses in a function of that size."""
    function = rec.functions.by_name[name]
    rec.run(0, rec.task(65, "cat"))
    for i in range(nr):
        function.entry = function.address + 5 + i
        rec.call(0, name)
        rec.leave(0)


def wide_recording(nr, more):
    """A function with @nr addresses, and more lines in the symbol table."""
    rec = recordings.Recording(cpus=1, late=False)
    begin = recordings.MODULES_BEGIN + (64 << 20)
    rec.functions.add("wide", begin, "")
    rec.functions.lines += more(begin)
    rec.functions.lines.append("%016x t behind" % (begin + (1 << 20)))
    addresses_in(rec, "wide", nr)
    return rec


def aliases_recording(nr):
    """A function that has many names."""
    return wide_recording(nr, lambda begin: ["%016x t alias%d" % (begin, i) for i in range(nr)])


def cold_recording(nr):
    """A cold part, beside many functions."""
    return wide_recording(nr, lambda begin: ["%016x t wide.cold" % (begin + 1)] + [
        "%016x t m%03x" % (begin + (2 << 20) + 16 * i, i % 4096) for i in range(4 * nr)])


def tables_recording(nr):
    """Addresses that none of many symbol tables has."""
    rec = recordings.Recording(cpus=1, late=False)
    begin = recordings.MODULES_BEGIN + (64 << 20)
    rec.functions.add("gone", begin - (8 << 20), "")
    rec.tables = [rec.functions.kallsyms().replace(" gone", " here")] + [
        "%016x t probe\t[m%d]\n" % (begin + 64 * i, i) for i in range(nr)]
    rec.tables[0] = "\n".join(line for line in rec.tables[0].splitlines() if not line.endswith(" here")) + "\n"
    addresses_in(rec, "gone", nr)
    rec.rings[0].tables = [0] + [len(rec.rings[0].runs)] * nr
    return rec


def write_counts(path, nr):
    """Write a recording with many modules, and many counts of them behind one symbol table."""
    rec = recordings.Recording(cpus=1, late=False)
    begin = recordings.MODULES_BEGIN + (64 << 20)
    for i in range(nr):
        rec.functions.lines.append("%016x t probe\t[m%d]" % (begin + 64 * i, i))
    rec.functions.add("gone", begin - (8 << 20), "")
    rec.functions.lines.pop()
    rec.count_modules(2 * nr)
    addresses_in(rec, "gone", nr)
    with open(path, "wb") as file:
        recordings.write_header(file)
        recordings.write_text(file, recordings.INFO, rec.info_text())
        recordings.write_text(file, recordings.SYMBOLS, rec.functions.kallsyms())
        for i in range(nr):
            recordings.write_modules(file, 2 * i)
        for pos, words in rec.rings[0].runs:
            recordings.write_words(file, rec.rings[0], pos, words.tobytes())
        recordings.write_end(file, rec.counts(), rec.entries)


class Written:
    def __init__(self, folder, nr):
        self.path = os.path.join(folder, "counts-%d.dat" % nr)
        write_counts(self.path, nr)


def check_look_ups(mctrace, folder):
    """The time that names take is not quadratic in the number of addresses and of symbols, tables or counts."""
    wrong = growth(mctrace, lambda nr: Written(folder, nr), "report")
    for make in (aliases_recording, cold_recording, tables_recording):
        wrong += growth(mctrace, lambda nr, make=make: Case(folder, "%s %d" % (make.__name__, nr), make(nr)), "report")
    return wrong


def titled(name):
    module = name.split("_")[0]
    return "%s [%s]" % (name, module) if module in ("old", "new", "between", "gone") else name


# --- functions with the same name in two modules ---

def load_as(rec, module, names, begin):
    """Load a module whose keys are "MODULE:NAME". Return the next free address."""
    end = rec.functions.load(module, names, begin)
    for name in names:
        rec.functions.by_name["%s:%s" % (module, name)] = rec.functions.by_name.pop(name)
    return end


def twin_modules():
    """Return a recording with modules one and two, which both have the functions probe and remove."""
    rec = recordings.Recording(cpus=1, late=False, now=0)
    begin = recordings.MODULES_BEGIN + (1 << 20)
    begin = load_as(rec, "one", ["probe", "remove"], begin)
    load_as(rec, "two", ["probe", "remove"], begin)
    rec.run(0, rec.task(65, "cat"))
    return rec


def twins_recording(calls=("one", "two", "one", "two")):
    """The function probe of module one takes 1000 ns, that of module two 3000 ns. Both call kfree."""
    rec = twin_modules()
    for module in calls:
        rec.call(0, module + ":probe")
        rec.call(0, "kfree")
        rec.leave(0)
        rec.wait({"one": 994, "two": 2994}[module])
        rec.leave(0)
    return rec


PICKS = [("probe[one]", [1000, 1000]), ("probe [two]", [3000, 3000]),
         ("probe", [1000, 1000, 3000, 3000])]


def check_twins(mctrace, case):
    lines = json_lines(mctrace.text("profile", "--json", case.path))
    wrong = compare("profile", {line["function"]: (line["calls"], line["total_ns"])
                                for line in lines},
                    {"probe [one]": (2, 2000), "probe [two]": (2, 6000), "kfree": (4, 8)})
    wrong += [line for line in mctrace.text("diff", "-I", case.path, case.path).splitlines()
              if line and not line.startswith("# ")]
    for asked, took in PICKS:
        last = json_lines(mctrace.run("latency", asked, "--json", case.path).stdout.decode())[-1]
        wrong += compare("latency " + asked, {"": (last["min_ns"], last["max_ns"], last["calls"])},
                         {"": (min(took), max(took), len(took))})
        graph = json_lines(mctrace.run("graph", asked, "--json", case.path).stdout.decode())
        ways = {tuple(steps_of(line["path"])[::-1]) for line in graph
                if line["way"] == "calls"}
        modules = [name for name in ("one", "two") if name in asked] or ["one", "two"]
        wanted = {("probe [%s]" % module,) for module in modules}
        wanted |= {("kfree",) + way for way in wanted}
        wrong += compare_lists("graph " + asked, sorted(ways), sorted(wanted))
        slow = json_lines(mctrace.run("slow", asked, "--json", case.path).stdout.decode())
        if slow[0]["most_ns"] != max(took):
            wrong.append("slow %s: %s" % (asked, slow[0]))
        said = mctrace.run("latency", asked, case.path).stderr.decode()
        if ("taken together" in said) != ("[" not in asked):
            wrong.append("latency %s says '%s'" % (asked, said))
    if mctrace.run("latency", "probe[three]", case.path).returncode == 0:
        wrong.append("there is no probe in three")
    for command in (["report", "--tree"], ["export", "--to", "folded"],
                    ["export", "--to", "speedscope"], ["export", "--to", "json"]):
        text = mctrace.text(*command, case.path)
        wrong += ["%s: no probe [%s]" % (" ".join(command), module) for module in ("one", "two")
                  if "probe [%s]" % module not in text]
    return wrong


def words_of(text):
    """Return the lines of a text that are no headings, with one space between words."""
    return [" ".join(line.split()) for line in text.splitlines() if line and line[0] != "#"]


def check_twins_graph(mctrace, case):
    got = words_of(mctrace.run("graph", "probe", case.path).stdout.decode())
    called = ["2 probe [one]", "2 do_syscall_64", "2 probe [two]", "2 do_syscall_64"]
    return compare_lists("graph", got, called + [
        "6.000 us 6.000 us 2 probe [two]", "4 ns 4 ns 2 kfree", "2.000 us 2.000 us 2 probe [one]",
        "4 ns 4 ns 2 kfree"])


def check_twins_diff(mctrace, folder, case):
    """Recording B has a call less of probe in module two, and a call of remove in module one."""
    rec = twins_recording(("one", "two", "one"))
    rec.call(0, "one:remove")
    rec.leave(0)
    other = Case(folder, "other twins", rec)
    return compare_lists("diff", words_of(mctrace.text("diff", "-I", case.path, other.path)), [
        "+ 1 remove [one]", "+ 1 remove [one]", "-3.000 us 6.000 us 3.000 us 2 1 probe [two]",
        "-2 ns 8 ns 6 ns 4 3 kfree"])


def check_twins_uftrace(mctrace, folder, case):
    out = os.path.join(folder, "twins.uftrace")
    mctrace.text("export", "--to", "uftrace", "-o", out, case.path)
    if not shutil.which("uftrace"):
        return []
    text = subprocess.run(["uftrace", "report", "--no-pager", "-d", out], stdout=subprocess.PIPE, check=True).stdout
    return compare_lists("uftrace", words_of(text.decode())[2:], [
        "6.000 us 5.996 us 2 probe [two]", "2.000 us 1.996 us 2 probe [one]", "0.008 us 0.008 us 4 kfree"])


def check_twins_objects(mctrace, folder):
    rules = os.path.join(folder, "twins.rules")
    with open(rules, "w", encoding="utf-8") as file:
        file.write("kfree:unfollow 1\n")
    rec = twin_modules()
    rec.call(0, "one:probe", objects=["+1:1"])
    rec.call(0, "two:probe", objects=["1:1"])
    rec.call(0, "kfree", objects=["-1:1"])
    for _ in range(3):
        rec.leave(0)
    case = Case(folder, "twins and objects", rec)
    text = mctrace.text("object", "--rules", rules, "-i", case.path)
    calls = [line.split("cat:65 ")[1] for line in text.splitlines() if "cat:65" in line]
    return compare_lists("object", calls, ["probe [one] <-- do_syscall_64", "probe [two] <-- probe [one]",
                                           "kfree <-- probe [two]"])


def check_twins_text(mctrace, folder):
    """Text and other programs tell functions of one name in two modules apart."""
    case = Case(folder, "twins in text", twins_recording())
    return (check_twins_graph(mctrace, case) + check_twins_diff(mctrace, folder, case) +
            check_twins_uftrace(mctrace, folder, case) + check_twins_objects(mctrace, folder))


# --- calls of a module without names in the recording ---

def nameless_recording(names):
    """Module old has sections far apart; module nameless between them has no names."""
    rec = recordings.Recording(cpus=1, late=False)
    functions = rec.functions
    begin = recordings.MODULES_BEGIN + (1 << 20)
    functions.load("old", ["old_first", "old_last"], begin)
    functions.load("old", ["old_init"], begin + 0x9000)
    functions.load("nameless", names, begin + 0x3000)
    functions.unload("nameless")
    rec.run(0, rec.task(65, "cat"))
    for name in ["old_first", "old_last", "old_init"] + names:
        rec.call(0, name)
        rec.leave(0)
    return rec


def check_nameless(mctrace, case):
    """Nameless functions do not get the name of the function before them."""
    got = collections.Counter(re.sub("0x[0-9a-f]+", "0x", line["function"]) for line in json_lines(
        mctrace.text("profile", "--json", case.path)))
    return compare("profile", got, {"old_first [old]": 1, "old_last [old]": 1, "old_init [old]": 1,
                                    "0x": 3})


# --- modules that come and go between two symbol tables ---

FLASH = ["flash_open", "flash_read"]


def counted_recording():
    """Module old stays until the third table. Two modules come before the second table. Then module
    flash comes and goes between two tables, and new takes its addresses. Then old makes room for
    flash and comes back, between two tables, too."""
    rec = recordings.Recording(cpus=1, late=False)
    functions, rng = rec.functions, rec.rng
    begin, at_begin = recordings.MODULES_BEGIN + (1 << 20), rng.getstate()
    place = functions.load("old", OLD, begin)
    rec.run(0, rec.task(65, "cat"))
    rec.rings[0].modules = 2
    rec.look()
    place = functions.load("between", BETWEEN, place)
    rec.count_modules(3)
    call_each(rec, OLD + BETWEEN)
    place = functions.load("gone", GONE, place)
    rec.count_modules(4)
    rec.look()
    call_each(rec, OLD + GONE)
    at_flash = rng.getstate()
    functions.load("flash", FLASH, place)
    rec.count_modules(5)
    call_each(rec, OLD + FLASH)
    functions.unload("flash")
    rng.setstate(at_flash)
    functions.load("new", NEW, place)
    rec.count_modules(7)
    rec.look()
    call_each(rec, OLD + NEW)
    functions.unload("old")
    rng.setstate(at_begin)
    functions.load("flash", FLASH, begin)
    rec.count_modules(9)
    call_each(rec, FLASH)
    functions.unload("flash")
    rng.setstate(at_begin)
    functions.load("old", OLD, begin)
    rec.count_modules(11)
    rec.look()
    call_each(rec, OLD)
    rec.count_modules(12)
    call_each(rec, OLD)
    return rec


def check_counted(mctrace, case):
    """No call gets the name of a function of another time, or an uncertain name. At the second time,
    each of two more modules came once, so old was there; of between, only later tables tell."""
    got = [line["function"].split("+")[0] for line in json_lines(mctrace.text(
        "report", "--json", case.path)) if line["event"] == "call"]
    got = [name for name in got if name != "kfree"]
    unknown = ["[unknown]"] * 2
    return compare_lists("name", got, OLD + unknown + OLD + GONE + unknown + unknown + OLD + NEW + unknown + OLD +
                         unknown)
