# SPDX-License-Identifier: GPL-2.0
# Compare what mctrace reports of a recording with what decoder.py decodes: also times that were not recorded, modules
# that come and go, pids that are used again, and missing calls.
import os
import random

import decoder
import lines
import modules
import recordings
import times
from harness import Case, compare_lists, json_lines

LONGEST = 1100          # open calls: more than a kernel's stack has


def estimated(seed, late, gaps):
    """Only some calls have a time word, and others a time between two."""
    rec = recordings.Recording(cpus=1 + seed % 3, seed=seed, notes=8192, late=late)
    simulation = recordings.Simulation(rec, slow=late, gaps=gaps, marks=gaps, extras=gaps)
    rng = random.Random(seed)
    while rec.entries < 2500:
        for ring in rec.rings:
            ring.times = rng.random() < 0.2
        simulation.step()
    return rec


def far_apart():
    """The next time is within the words in which a reader searches for it, or behind them."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for calls in (80, 100, 95, 96, 97, 300, 10):
        for nr in range(calls):
            rec.rings[0].times = not nr
            rec.call(0, "vfs_read")
            rec.wait(100)
            rec.leave(0)
    return rec


def other_clock():
    """Between two times the clock changes: the calls before the change have no estimated distance, unless only the
    clock's offset is another one."""
    rec = recordings.Recording(cpus=1, late=False)
    ring = rec.rings[0]
    rec.run(0, rec.task(65, "cat"))
    for nr in range(40):
        ring.times = nr % 8 == 0
        if nr in (12, 20, 28):
            ring.clock_shift = nr == 12
            ring.clock_offset += 10 * (nr == 28)
            ring.noted = None           # repeat the sync words
        rec.call(0, "vfs_read")
        rec.wait(100)
        rec.leave(0)
    return rec


def deepest():
    """More open calls than a reader keeps."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for nr in range(LONGEST):
        rec.call(0, recordings.CORE[nr % 7])
    for _ in range(LONGEST):
        rec.leave(0)
    return rec


def no_entry():
    """Another task gets a pid, with the same name or a new one, and without a call by an entry of the kernel."""
    rec = recordings.Recording(cpus=1, late=False)
    for process, comm in ((65, "cat"), (60, "cat"), (60, "cat"), (60, "dog")):
        task = rec.task(65, comm, tgid=process)
        rec.run(0, task)
        rec.rings[0].task = None
        task.stack.append(rec.frame(task, "vfs_read", False))
        rec.call(0, "kfree")
        if process == 65:
            rec.leave(0)
        rec.call(0, "dput")
        rec.call(0, "do_exit" if comm == "cat" else "kfree")
    return rec


def off_and_on():
    """Marks of triggers that end and begin recording: open calls are forgotten."""
    rec = recordings.Recording(cpus=2, late=False)
    tasks = [rec.task(65, "cat"), rec.task(66, "dog")]
    for which in (recordings.MARK_MARK, recordings.MARK_OFF, recordings.MARK_ON, recordings.MARK_OFF_SOON,
                  recordings.MARK_SNAPSHOT, recordings.MARK_FOLLOW_FULL):
        for cpu, task in enumerate(tasks):
            rec.run(cpu, task)
            rec.call(cpu, "vfs_read")
        rec.mark(0, "kfree", which)
        for cpu in (0, 1):
            rec.leave(cpu)
    return rec


def read_twice():
    """One symbol table was read at two counts of modules; between two others a module came, and another one went."""
    rec = recordings.Recording(cpus=1, late=False)
    begin = recordings.MODULES_BEGIN + (1 << 20)
    rec.functions.load("old", modules.OLD, begin)
    rec.run(0, rec.task(65, "cat"))
    rec.rings[0].modules = 2
    rec.look()
    modules.call_each(rec, modules.OLD)
    for count in (3, 4, 5, 6):
        rec.count_modules(count)
        modules.call_each(rec, modules.OLD)
    rec.functions.load("between", modules.BETWEEN, begin + 0x10000)
    rec.look()
    return rec


def with_second_count(path):
    """Insert a second count of modules behind the first one."""
    with open(path, "rb") as file:
        data = file.read()
    for at, kind in recordings.chunks_of(data):
        if kind == recordings.MODULES_CHUNK:
            end = at + recordings.CHUNK.size + 8
            data = data[:end] + data[at:end - 8] + (4).to_bytes(8, "little") + data[end:]
            break
    with open(path, "wb") as file:
        file.write(data)


def measured():
    """The kernel has measured the duration of calls, also of one that is not in the recording."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.call(0, "vfs_read")
    ip = rec.current[0].stack[-1].function.exits[0]
    for took in (77, (1 << 53) - 1):
        rec.wait(100)
        rec.put(0, [recordings.other_word(recordings.TOOK, took), recordings.return_word(ip, 0)], 1)
    return rec


# --- the comparison ---

def title_of(function):
    """Return "name [module]" as mctrace prints it, of a part the whole function; None if the name is not known."""
    if not function:
        return None
    return decoder.plain_name(function) + (" [%s]" % function[1] if function[1] else "")


def printed(text):
    """Return the same for a function in mctrace's output: "name+0x1/0x2 [module]"."""
    if text == "[unknown]":
        return None
    name, _, module = text.partition(" ")
    return name.split("+")[0].replace(".cold", "") + (" " + module if module else "")


def who(event):
    pid, process, comm = event.task
    return [comm.rstrip(b"\0").decode(), pid, process]


def events_of(events):
    """Return the lines of report --json for decoded events; None for durations that the kernel did not measure."""
    for event in events:
        if event.what == "gap":
            yield ["lost", event.value]
        elif event.what in ("enter", "leave"):
            yield [{"enter": "call", "leave": "return"}[event.what], *who(event), event.ns, event.cpu, event.exact,
                   title_of(event.name), event.tail, event.took]


def reported(mctrace, path, events):
    """Return the same of mctrace."""
    measures = [event.took is not None for event in events if event.what != "mark"]
    found = [line for line in json_lines(mctrace.text("report", "--json", path))
             if line["event"] not in ("mark", "frame")]
    for line, measured_it in zip(found, measures):
        if line["event"] == "lost":
            yield ["lost", line["calls"]]
        else:
            yield [line["event"], line["comm"], line["pid"], line["tgid"], line["ns"], line["cpu"], line["exact"],
                   printed(line["function"]), line.get("tail", False), line.get("took_ns") if measured_it else None]


def calls_of(events):
    """Return the lines of report --tree --json for decoded events, in some order."""
    calls = {}
    for event, depth, call, _, estimated_it in decoder.pairs(events):
        if event.what == "enter":
            calls[event] = [event.ns, *who(event)[:2], depth, title_of(event.name), title_of(event.caller), None, None]
        elif call:
            calls[call][-2:] = event.ns - call.ns, bool(estimated_it)
    return sorted(calls.values(), key=str)


def tree(mctrace, path):
    return sorted(([line["ns"], line["comm"], line["pid"], line["depth"], printed(line["function"]),
                    printed(line["caller"]), line.get("took_ns"), line.get("estimated")]
                   for line in json_lines(mctrace.text("report", "--tree", "--json", path))), key=str)


def check_decoded(mctrace, path):
    info, events = decoder.read(path)
    wrong = compare_lists("event", list(reported(mctrace, path, events)), list(events_of(events)))
    if not any(event.what == "enter" for event in events):
        wrong.append("there is no call")
    if info["mode"] == "graph":
        wrong += compare_lists("call", tree(mctrace, path), calls_of(events))
    return wrong


def check_compressed(mctrace, folder, path):
    with open(path, "rb") as file:
        data = recordings.compressed(file.read())
    path = os.path.join(folder, "decoded-compressed.dat")
    with open(path, "wb") as file:
        file.write(data)
    return check_decoded(mctrace, path)


RECORDINGS = [
    ("times that were not recorded", lines.estimated_recording), ("modules that change", modules.changed_recording),
    ("modules between two symbol tables", modules.counted_recording), ("a table that was read twice", read_twice),
    ("functions of one name in two modules", modules.twins_recording),
    ("functions without a name", lambda: modules.nameless_recording(["lost_a", "lost_b", "lost_c"])),
    ("a pid is reused", times.reused_recording), ("a pid is reused, without an entry", no_entry),
    ("times that are far apart", far_apart), ("another clock", other_clock), ("too many open calls", deepest),
    ("marks that forget open calls", off_and_on), ("measured durations", measured),
]


def test(tap, attempt, mctrace, folder, compressed):
    for name, make in RECORDINGS:
        case = Case(folder, "decoded " + name, make())
        if make is read_twice:
            with_second_count(case.path)
        attempt(tap, "another decoder agrees: " + name, None, check_decoded, mctrace, case.path)
    case = None
    for seed, late, gaps in ((1, False, False), (2, True, False), (3, True, True), (4, True, False), (5, False, True)):
        case = Case(folder, "decoded estimated %d" % seed, estimated(seed, late, gaps))
        attempt(tap, "another decoder agrees: " + case.name, None, check_decoded, mctrace, case.path)
    if compressed:
        attempt(tap, "another decoder agrees: compressed", None, check_compressed, mctrace, folder, case.path)
    else:
        tap.skip("another decoder agrees: compressed", "there is no zstd")
