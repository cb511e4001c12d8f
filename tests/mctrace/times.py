# SPDX-License-Identifier: GPL-2.0
# Test time on and off the CPU, tasks that change their names, and reused pids. The expected numbers
# are worked out by hand.
import json
import os
import re

import recordings
from harness import Case, compare, compare_lists, json_lines


def sleeping_recording():
    """A task sleeps three times: another task runs meanwhile; only the task's own
    finish_task_switch() is recorded; nothing but schedule() is recorded. Each event takes 2 ns
    and the waits."""
    rec = recordings.Recording(cpus=1, late=False, now=0)
    cat = rec.task(65, "cat")
    rec.run(0, cat)
    rec.call(0, "vfs_read")             # 2
    rec.wait(100)
    rec.call(0, "schedule")             # 104
    rec.run(0, None)
    rec.call(0, "update_curr")          # 106
    rec.wait(1000)
    rec.leave(0)                        # 1108: took 1002
    rec.run(0, cat)
    rec.call(0, "finish_task_switch")   # 1110: off the CPU since 104
    rec.leave(0)                        # 1112: took 2
    rec.leave(0)                        # 1114: took 1010, 4 on the CPU
    rec.leave(0)                        # 1116: took 1114, 108 on the CPU
    rec.call(0, "schedule")             # 1118
    rec.wait(500)
    rec.call(0, "finish_task_switch")   # 1620: off since 1118
    rec.leave(0)                        # 1622
    rec.leave(0)                        # 1624: took 506, 4 on the CPU
    rec.call(0, "schedule")             # 1626
    rec.wait(300)
    rec.leave(0)                        # 1928: took 302, off since 1626
    return rec


SLEEPING = {    # total, self; both on a CPU
    "vfs_read": (1114, 104, 108, 104),
    "schedule": (1818, 1814, 8, 4),
    "finish_task_switch": (4, 4, 4, 4),
    "update_curr": (1002, 1002, 1002, 1002),
}
SLEEPING_FOLDED = {
    "cat;vfs_read": 104,
    "cat;vfs_read;schedule": 2,
    "cat;vfs_read;schedule;[off CPU]": 1006,
    "cat;vfs_read;schedule;finish_task_switch": 2,
    "cat;schedule": 2,
    "cat;schedule;[off CPU]": 804,
    "cat;schedule;finish_task_switch": 2,
    "swapper/0;update_curr": 1002,
}


def folded(mctrace, path):
    lines = mctrace.text("export", "--to", "folded", path).splitlines()
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}


def check_sleeping(mctrace, folder):
    case = Case(folder, "sleeping", sleeping_recording())
    lines = json_lines(mctrace.text("profile", "--json", case.path))
    wrong = compare("profile", {line["function"]: (line["total_ns"], line["self_ns"],
                                                   line["total_cpu_ns"], line["self_cpu_ns"])
                                for line in lines}, SLEEPING)
    wrong += compare("stack", folded(mctrace, case.path), SLEEPING_FOLDED)
    if [line["function"] for line in lines] != ["update_curr", "vfs_read", "schedule",
                                                "finish_task_switch"]:
        wrong.append("what was on a CPU for the longest is not first")
    text = mctrace.text("profile", "--sort", "total", case.path).splitlines()
    first = "      8 ns  1.818 us      4 ns  1.814 us    606 ns  1.010 us          3  schedule"
    return wrong + ([] if text[1] == first else ["profile: '%s'" % text[1]])


def exec_recording():
    """A task gets another name by exec() in a call: open calls and nested calls count as ls's."""
    rec = recordings.Recording(cpus=1, late=False, now=0)
    task = rec.task(65, "mctrace")
    rec.run(0, task)
    rec.call(0, "ksys_read")
    rec.leave(0)
    rec.call(0, "path_openat")          # as execve()
    rec.call(0, "vfs_open")
    rec.leave(0)                        # before the new name
    task.comm = "ls"
    rec.rings[0].task = None
    for name in ("kfree", "dput"):
        rec.call(0, name)
        rec.leave(0)
    rec.leave(0)
    rec.call(0, "vfs_read")
    rec.leave(0)
    return rec


EXEC_FOLDED = {
    "mctrace;ksys_read": 2,
    "mctrace;path_openat;vfs_open": 2,
    "ls;path_openat": 8,
    "ls;path_openat;kfree": 2,
    "ls;path_openat;dput": 2,
    "ls;vfs_read": 2,
}
EXEC_PROFILE = {
    ("mctrace", "ksys_read"): (1, 2), ("mctrace", "vfs_open"): (1, 2),
    ("ls", "path_openat"): (1, 14), ("ls", "kfree"): (1, 2), ("ls", "dput"): (1, 2),
    ("ls", "vfs_read"): (1, 2),
}


def check_exec(mctrace, folder):
    case = Case(folder, "exec", exec_recording())
    wrong = compare("stack", folded(mctrace, case.path), EXEC_FOLDED)
    lines = json_lines(mctrace.text("profile", "--by-task", "--json", case.path))
    wrong += compare("profile", {(line["task"], line["function"]): (line["calls"], line["total_ns"])
                                 for line in lines}, EXEC_PROFILE)
    mine = mctrace.text("export", "--to", "folded", "--task", "ls", case.path).splitlines()
    wanted = {stack: ns for stack, ns in EXEC_FOLDED.items() if stack.startswith("ls;")}
    return wrong + compare("--task ls: stack", {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1])
                                                for line in mine}, wanted)


# --- reused pids ---

def reused_recording():
    """Only few functions are recorded. The first task of each pid ends in do_exit(), and another task
    gets its pid: with another name; with the same name, in a system call; in another process."""
    rec = recordings.Recording(cpus=1, late=False, now=0)
    rec.functions.add("__x64_sys_read", recordings.STEXT + 0x100000, "")
    for pid, comm, tgid in ((65, "dog", 65), (66, "cat", 66), (67, "cat", 60)):
        old, new = rec.task(pid, "cat"), rec.task(pid, comm, tgid)
        rec.run(0, old)
        rec.call(0, "vfs_read")
        rec.leave(0)
        rec.call(0, "do_exit")
        rec.call(0, "kfree")
        rec.leave(0)
        rec.run(0, new)
        rec.rings[0].task = None
        new.stack.append(rec.frame(new, "__x64_sys_read", False))
        rec.call(0, "vfs_write")
        rec.wait(100)
        rec.leave(0)
    return rec


REUSED_FOLDED = {
    "cat;vfs_read": 6, "cat;do_exit;kfree": 6, "dog;vfs_write": 102, "cat;vfs_write": 204,
}


def check_reused(mctrace, folder):
    """A task's calls are not nested in the do_exit() of the previous task of that pid."""
    case = Case(folder, "reused", reused_recording())
    wrong = compare("stack", folded(mctrace, case.path), REUSED_FOLDED)
    depths = {line["depth"] for line in json_lines(mctrace.text("report", "--tree", "--json",
                                                                case.path))
              if line["function"].startswith("vfs_write+")}
    if depths != {0}:
        wrong.append("report --tree: vfs_write at %s" % depths)
    tree = mctrace.text("report", "--tree", case.path)
    wrong += ["report --tree:", tree] if "|    vfs_write" in tree else []
    return wrong + check_reused_in_exports(mctrace, folder, case, tree)


def check_reused_in_exports(mctrace, folder, case, tree):
    """Tasks that had one pid are two tasks, unless neither name nor process tell them apart."""
    tasks = ["cat:65", "dog:65", "cat:66", "cat:67", "cat:67"]
    wrong = compare_lists("block", re.findall(r"^CPU 0: (.*)$", tree, re.M), tasks)
    scope = json.loads(mctrace.text("export", "--to", "speedscope", case.path))
    names = [profile["name"] for profile in scope["profiles"]]
    wrong += compare_lists("profile", sorted(names), sorted(name.replace(":", " ") for name in tasks))
    events = json.loads(mctrace.text("export", "--to", "json", case.path))
    events = events["traceEvents"] if isinstance(events, dict) else events
    named = [(event["pid"], event["tid"], event["args"]["name"]) for event in events
             if event.get("name") == "thread_name"]
    wrong += compare_lists("thread", sorted(set(named)), [(60, 67, "cat"), (65, 65, "cat"), (65, 65, "dog"),
                                                          (66, 66, "cat"), (67, 67, "cat")])
    out = os.path.join(folder, "reused.uftrace")
    mctrace.text("export", "--to", "uftrace", "-o", out, case.path)
    files = [name for name in os.listdir(out) if name.endswith(".dat") and name[0].isdigit()]
    return wrong + compare("file", {"number": len(files)}, {"number": len(tasks)})


def check_still_ending(mctrace, folder):
    """Calls of a task that is ending are nested in do_exit(), even if it sleeps meanwhile."""
    rec = recordings.Recording(cpus=2, late=False, now=0)
    cat, dog = rec.task(65, "cat"), rec.task(66, "dog")
    rec.run(0, cat)
    rec.call(0, "do_exit")
    rec.run(0, dog)
    rec.call(0, "vfs_read")
    rec.leave(0)
    rec.run(1, cat)
    rec.call(1, "dput")
    rec.wait(100)
    rec.leave(1)
    case = Case(folder, "still ending", rec)
    return compare("stack", folded(mctrace, case.path),
                   {"cat;do_exit;dput": 102, "dog;vfs_read": 2})
