#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Tests that mctrace restores the tracer's files, which are plain files here. faults.c makes a call
# fail, or sends a signal, at each step of each process of mctrace record. Further tests cover unusual
# conditions of record, stream, start and reset.
#
#     faults.py [--sparse N] --header H --rules R MCTRACE    tests each N-th step of record; of others each (3N - 2)-th
import argparse
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import socket
import stat as stat_module
import struct
import subprocess
import sys
import tempfile
import time

import recordings
import schema

OPTIONS = ["notime", "nocontext", "nooverwrite", "nomax_stack"]
FILES = {"ctrl": "0\n", "tracing_on": "0\n", "buffer_size_kb": "64\n", "filter": "vfs_read\nvfs_write\n",
         "notrace": "kfree\n", "pid": "1 children\n", "mode": "function\n", "triggers": "vfs_open:mark\n",
         "options": "\n".join(OPTIONS) + "\n", "mcount_enabled": "0\n", "dump": "50\n",
         "snapshot": "a copy of the rings\n", "max_stack": "the deepest stack\n"}
OTHERS = {"stats": "# cpu entries written overwritten lost recursions read\n0 0 0 0 0 0 0\n# own: 0\n", "trace": "",
          "functions": "vfs_read\nvfs_write\n", "mcount_hook": "none\n", "trace_pipe": "",
          "kallsyms": "ffffffff81000000 T _stext\nffffffff81000100 T vfs_read\n"}
SKB_FUNCTIONS = ["__alloc_skb", "kfree_skbmem", "vfs_read"]      # some of rules/skb.rules
TASK_FUNCTIONS = ["dup_task_struct", "free_task", "vfs_read"]      # some of rules/task_struct.rules
SIZE, HEADER = 65536, 4096
PATIENCE = 20
MAIN_STEPS = 2          # of main(), before a command runs


class Tracer:
    """A folder with plain files in place of the tracer's."""
    def __init__(self, folder):
        self.folder = folder
        self.before = {}        # the tracer's files that a command must restore
        os.makedirs(folder + "/per_cpu/cpu0")
        self.reset()

    def path(self, name):
        return self.folder + "/" + name

    def reset(self, **files):
        self.before = {name: files.get(name, text) for name, text in FILES.items()}
        for name, text in {**FILES, **OTHERS, **files}.items():
            with open(self.path(name), "w") as file:
                file.write(text)
        header = struct.pack("<IIIIQQQQQQ", *magic(), HEADER, 0, SIZE, 4096, 0, 0, 0,
                             0xffffffff80000000).ljust(64, b"\0")
        with open(self.path("per_cpu/cpu0/raw"), "wb") as file:
            file.write((header + struct.pack("<QQ", 0, 0)).ljust(HEADER + SIZE, b"\0"))
        for name in ("hit", "out", "out.old"):
            if os.path.exists(self.path(name)):
                os.unlink(self.path(name))

    def files(self):
        got = {}
        for name in FILES:
            with open(self.path(name)) as file:
                got[name] = file.read()
        return got

    def hit(self):
        return os.path.exists(self.path("hit"))

    def record_words(self, words):
        """Put words into the empty ring of CPU 0 and return their bytes."""
        data = struct.pack("<%dQ" % len(words), *words)
        with open(self.path("per_cpu/cpu0/raw"), "r+b") as ring:
            ring.seek(HEADER)
            ring.write(data)
            ring.seek(64)
            ring.write(struct.pack("<Q", len(data)))
        return data

    def record_calls(self, number):
        """Put calls into the empty ring of CPU 0 and return their bytes."""
        return self.record_words([recordings.call_word(0x81000104, 0x81000004)] * number)

    def left(self):
        """Return the files that a recording must not leave behind."""
        return [name for name in os.listdir(self.folder) if name.startswith("out") and name not in ("out", "out.old")]

    def wait(self):
        """Wait until no process holds the lock. Return False if that takes too long."""
        end = time.monotonic() + PATIENCE
        with open(self.path("ctrl")) as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return True
                except BlockingIOError:
                    if time.monotonic() > end:
                        return False
                    time.sleep(0.005)


def magic():
    """Return the magic number and the version of a ring's header."""
    with open(args.header) as file:
        text = file.read()
    return [int(re.search(r"#define\s+%s\s+(0x[0-9a-f]+|\d+)" % name, text)[1], 0)
            for name in ("MCTRACER_MAGIC", "MCTRACER_VERSION")]


def run(tracer, command, fault=None, limits=(), user=None, ignored=(), **environment):
    """Run mctrace. Return the exit status, or "a hang", and its standard error. @user: a user who runs the copy of
    mctrace in the tracer's folder. @ignored: signals that mctrace ignores at its start."""
    env = {**os.environ, "FAKE": tracer.folder, **environment}
    if fault:
        env["FAULT"] = fault

    def limit():
        for which, soft, hard in limits:
            resource.setrlimit(which, (soft, hard))
        for kind in ignored:
            signal.signal(kind, signal.SIG_IGN)
    path = args.mctrace if user is None else tracer.path("mctrace")
    with subprocess.Popen([path, *command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, preexec_fn=limit, text=True, user=user) as program:
        try:
            said = program.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            program.kill()
            return "a hang", program.communicate()[1]
    return program.returncode, said


number, failed = 0, 0


def check(name, wrong):
    global number, failed
    number += 1
    failed += bool(wrong)
    print("%s %d - %s" % ("not ok" if wrong else "ok", number, name))
    for line in wrong[:20]:
        print("# " + line)
    sys.stdout.flush()


def differences(tracer):
    got = tracer.files()
    return ["%s: %r, not %r" % (name, got[name], text) for name, text in tracer.before.items() if got[name] != text]


def judge(tracer, status, said):
    """Return what is wrong after a run. A file may differ if that was printed and tracing is off."""
    if status == "a hang":
        return ["a hang"]
    if not tracer.wait():
        return ["the tracer stays locked"]
    wrong = differences(tracer)
    if wrong and status and "can't be restored" in said and tracer.files()["ctrl"] == "0\n":
        wrong = []
    if "out" not in os.listdir(tracer.folder) and "out.old" in os.listdir(tracer.folder):
        wrong.append("the previous file exists only as .old")
    return wrong + ["left behind: " + name for name in tracer.left()]


def each_step(tracer, command, process, kind, sparse, judged=judge, files=(), first=1, **environment):
    """Break @command at each @sparse-th step of a process from step @first on. @judged returns what is wrong after a
    run."""
    wrong, step, nr = [], first + args.shift % sparse, 0
    while step < 3000:
        tracer.reset(**dict(files))
        with open(tracer.path("out"), "w") as file:
            file.write("the file before\n")
        status, said = run(tracer, command, "%d:%d:%s" % (process, step, kind), **environment)
        bad = judged(tracer, status, said)
        if not tracer.hit():
            break
        wrong += ["step %d: %s (%s, %s)" % (step, text, status, said.strip()) for text in bad]
        nr += 1
        step += sparse
    name = "%s: process %d, %s at each of %d steps" % (" ".join(command[:3]), process, kind, nr)
    check(name, wrong or ([] if nr else ["no step"]))


def background(tracer, record, sparse):
    """A shell starts a background job with SIGINT ignored. SIGINT ends record nevertheless, at each step once main() has
    opened the standard files, until COMMAND has ended."""
    statuses, shell = [], [signal.SIGINT, signal.SIGQUIT]

    def judged(tracer, status, said):
        statuses.append(status)
        return judge(tracer, status, said)

    each_step(tracer, record[:-1] + ["sleep", "0.2"], 0, int(signal.SIGINT), sparse, judged=judged, first=MAIN_STEPS + 1,
              ignored=shell)
    kinds = re.fullmatch(r"(130 )+(0 )+", "".join("%s " % status for status in statuses))
    check("SIGINT that was ignored at the start ends record", [] if kinds else [str(statuses)])
    # Before why has forked the recorder:
    os.mkdir(temporary(tracer))
    wrong = []
    for step in range(MAIN_STEPS + 1, MAIN_STEPS + 7):
        tracer.reset()
        status, said = run(tracer, ["why", "touch", tracer.path("ran")], "0:%d:%d" % (step, signal.SIGINT), ignored=shell,
                           TMPDIR=temporary(tracer))
        wrong += judge(tracer, status, said) + os.listdir(temporary(tracer))
        if os.path.exists(tracer.path("ran")) or not tracer.hit():
            wrong.append("step %d: COMMAND ran" % step)
    check("SIGINT that was ignored at the start ends why before COMMAND runs", wrong)
    os.rmdir(temporary(tracer))


def judge_start(tracer, status, said):
    """Return what is wrong after mctrace start: it has set all files and succeeded, or it has restored them and failed.
    Rings may be smaller if a larger size is refused. A signal may come after all files are set."""
    wrong = judge(tracer, status, said)
    if status != "a hang" and {**tracer.files(), "buffer_size_kb": ""} == {**tracer.started, "buffer_size_kb": ""}:
        return ["it has started, but failed"] if status > 0 else []
    return wrong or ([] if status else ["it has not started, but succeeded"])


def judge_temporary(tracer, status, said):
    """Return what is wrong after a command with a temporary recording. If a signal ends mctrace before it has started the
    recorder, an empty file stays."""
    wrong, left = judge(tracer, status, said), {}
    for name in os.listdir(temporary(tracer)):
        path = os.path.join(temporary(tracer), name)
        left[name] = os.path.getsize(path)
        os.unlink(path)
    return wrong + ["left behind: %s, %d bytes" % one for one in left.items() if one[1] or status == "a hang" or status >= 0]


def other_commands(tracer):
    """Break other commands that set the tracer, as record. why, packet, object and latency --live run record in a
    process of their own, where the fault happens, too."""
    sparse = 3 * args.sparse - 2
    os.mkdir(temporary(tracer))
    rules = {"MCTRACE_RULES": args.rules, "TMPDIR": temporary(tracer), "judged": judge_temporary}
    skb, task = ({"triggers": "", "functions": "".join(name + "\n" for name in names)}
                 for names in (SKB_FUNCTIONS, TASK_FUNCTIONS))
    tracer.reset()
    expect("start", tracer, ["start"], files=False)
    tracer.started = tracer.files()
    for command, processes, more in ((["stream"], (0, 1), {"files": {"trace_pipe": "a line\n"}}),
                                     (["start"], (0, 1), {"judged": judge_start}),
                                     (["why", "true"], (0, 1, 3), rules),
                                     (["packet", "--", "true"], (0, 1, 3), {"files": skb, **rules}),
                                     (["object", "task_struct", "--", "true"], (0, 1, 3), {"files": task, **rules}),
                                     (["latency", "vfs_read", "--live", "true"], (0, 1, 3), rules)):
        for process in processes:
            step = 1 if command == ["start"] and process else sparse        # the keeper has 3 steps then
            for kind in ("error", int(signal.SIGKILL)) + (() if process else (int(signal.SIGTERM),)):
                each_step(tracer, command, process, kind, step, **more)
    configured = ["start", "--config", tracer.path("config")]
    put(configured[-1], CONFIG)
    tracer.reset()
    expect("start --config", tracer, configured, files=False)
    tracer.started = tracer.files()
    each_step(tracer, configured, 0, "error", sparse, judged=judge_start)
    # The keeper must clear lists that were empty: try each of its steps, because few of them do that.
    empty = {"filter": "", "notrace": "", "pid": "", "triggers": ""}
    each_step(tracer, ["stream", "-lvfs_read", "-nkfree", "-P1", "-Rkfree:mark"], 1, "error", 1, files=empty)
    shutil.rmtree(temporary(tracer))


FORMS = ["trace.dat", "uftrace", "perfetto", "speedscope", "folded", "pprof", "ctf", "json"]
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE]


def take_results(tracer):
    """Return the contents of all files in the folder results, by path, and empty the folder."""
    got = {}
    for folder, _, names in os.walk(tracer.path("results")):
        got[folder] = None
        for name in names:
            got[os.path.join(folder, name)] = text_of_bytes(os.path.join(folder, name))
    shutil.rmtree(tracer.path("results"))
    os.mkdir(tracer.path("results"))
    del got[tracer.path("results")]
    return got


def judge_output(tracer, status, kind, wanted):
    """Return what is wrong after a signal, or after an error if @kind is 0: nothing is left, or the complete output."""
    got = take_results(tracer)
    complete = got == wanted
    wrong = ["left behind: " + name for name in got] if not complete else []
    if tracer.hit() and status != (-kind or 1) and not (complete and status == 0):
        wrong.append("status %s" % status)
    return wrong


def outputs(tracer):
    """A signal or an error at any step of export and flame leaves no unfinished file or folder behind. The status is
    death by that signal."""
    tracer.reset()
    os.mkdir(tracer.path("results"))
    path, new = tracer.path("recording"), tracer.path("results/new")
    recordings.simulate(200, 1).write(path)
    commands = [["export", "--to", form, "-o", new, path] for form in FORMS] + [["flame", "-o", new, path]]
    for nr, command in enumerate(commands):
        expect(" ".join(command[:3]), tracer, command)
        whole = take_results(tracer)
        for kind in ("error", int(ENDING[nr % len(ENDING)])):
            sent = 0 if kind == "error" else kind
            each_step(tracer, command, 0, kind, args.sparse, judged=lambda tracer, status, said, sent=sent, whole=whole:
                      judge_output(tracer, status, sent, whole))
    for form in ("ctf", "uftrace"):
        command = ["export", "--to", form, "-o", new, path]
        os.mkdir(new)
        expect(form + ": a folder that exists", tracer, command, 1, "results/new: File exists")
        os.rmdir(new)
        command[4] = new + "/"
        umask = os.umask(0o027)
        expect(form + ": a folder's name with a slash", tracer, command)
        os.umask(umask)
        mode = os.stat(new).st_mode & 0o777
        check(form + ": the folder has usual permissions", ["%o" % mode] if mode != 0o750 else [])
        take_results(tracer)
    shutil.rmtree(tracer.path("results"))


def main():
    global args
    parser = argparse.ArgumentParser()
    parser.add_argument("--sparse", type=int, default=1)
    parser.add_argument("--shift", type=int, default=0)
    parser.add_argument("--header", required=True)
    parser.add_argument("--rules", required=True, help="the folder of mctrace's rules")
    parser.add_argument("--no-steps", action="store_true")
    parser.add_argument("mctrace")
    args = parser.parse_args()
    for kind in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):    # nohup and background jobs ignore some
        signal.signal(kind, signal.default_int_handler if kind == signal.SIGINT else signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        tracer = Tracer(folder + "/tracer")
        record = ["record", "-q", "-o", tracer.path("out"), "-l", "vfs_read", "-g", "true"]
        for process in () if args.no_steps else (0, 1, 3):
            for kind in ("error", int(signal.SIGKILL)):
                each_step(tracer, record, process, kind, args.sparse)
        if not args.no_steps:
            each_step(tracer, record, 0, int(signal.SIGKILL), args.sparse, NAMED="y")
            for kind in (signal.SIGTERM, signal.SIGSEGV):
                each_step(tracer, record, 0, int(kind), args.sparse)
            background(tracer, record, args.sparse)
            other_commands(tracer)
            outputs(tracer)
        others(tracer, record)
    print("1..%d" % number)
    return failed


def text_of(path):
    with open(path) as file:
        return file.read()


def put(path, text):
    with open(path, "w") as file:
        file.write(text)


def expect(name, tracer, command, status=0, said="", files=True, **how):
    """Run mctrace. It must exit with @status, print @said, and, if @files, restore all files."""
    got, printed = run(tracer, command, **how)
    wrong = [] if got == status else ["status %s, not %s: %s" % (got, status, printed.strip())]
    if not (re.search(said, printed) if said else not printed):
        wrong.append("it printed '%s', not '%s'" % (printed.strip(), said))
    if files:
        wrong += judge(tracer, None, printed)
    check(name, wrong)
    return printed


def others(tracer, record):
    tracer.reset()
    expect("without a fault", tracer, record)
    expect("5,000 arguments", tracer, record + ["x"] * 5000)
    older_file(tracer, record)
    lists(tracer, record)
    limits(tracer, record)
    closed(tracer, record)
    frozen(tracer)
    running(tracer)
    returns(tracer)
    rules(tracer)
    metrics(tracer)
    stat_json(tracer)
    list_json(tracer)
    full(tracer)
    itself(tracer)
    own_calls(tracer)
    typed(tracer)
    free_space(tracer)
    pipe(tracer)
    stalled_stream(tracer)
    second_signal(tracer)
    config(tracer)
    of_modules(tracer)
    inputs_stay(tracer)
    output_places(tracer)
    record_places(tracer)
    temporary_file(tracer)
    orphan(tracer)
    busy(tracer)
    killed(tracer)
    soon(tracer)
    stalled(tracer)
    given_up(tracer)
    limited(tracer)
    tracer.reset(mcount_enabled="1\n")
    status, said = run(tracer, ["reset"])
    check("reset sets kernel.mcount_enabled to 0",
          [said] if status or text_of(tracer.path("mcount_enabled")) != "0\n" else [])
    check("reset sets snapshot, max_stack and mctracer.dump to 0",
          ["%s: %s" % (name, tracer.files()[name]) for name in ("snapshot", "max_stack", "dump")
           if tracer.files()[name] != "0\n"])
    without_dump(tracer)
    live(tracer)
    tracer.reset(mcount_enabled="1\n", mcount_hook="count_call [mcount_sample]\n")
    for command in (["start"], ["stream"]):
        expect("%s while functions call another hook" % command[0], tracer, command, 1,
               r"all functions call count_call \[mcount_sample\]")
    expect("stop while functions call another hook", tracer, ["stop"])
    status, said = run(tracer, ["reset"])
    check("reset leaves kernel.mcount_enabled if functions call another hook",
          [said] if status or text_of(tracer.path("mcount_enabled")) != "1\n" else [])


def without_dump(tracer):
    """A kernel without mctracer.dump, which must not be made."""
    tracer.reset()
    os.unlink(tracer.path("dump"))
    expect("reset without mctracer.dump", tracer, ["reset"], files=False)
    put(tracer.path("config"), "dump = 5")
    expect("start --config with dump without mctracer.dump", tracer, ["start", "--config", tracer.path("config")], 1,
           "line 1: this kernel can't print calls when it crashes", files=False)
    check("no file mctracer.dump was made", ["it is there"] if os.path.exists(tracer.path("dump")) else [])


def no_command(tracer):
    """Commands that record and show at once exit with the status of record, and print one line."""
    rules = ["--rules", tracer.path("some.rules")]
    put(rules[1], "vfs_read:follow 1\n")
    for command in (["packet", *rules, "--"], ["object", *rules, "--"], ["why"], ["latency", "vfs_read", "--live"]):
        for name, status, said in (("no_such", 127, "No such file or directory"),
                                   ("/etc/passwd", 126, "Permission denied")):
            expect("%s %s" % (command[0], name), tracer, command + [name], status,
                   r"^mctrace: %s: %s\n$" % (name, said))


def older_file(tracer, record):
    out = tracer.path("out")
    tracer.reset()
    put(out, "older\n")
    expect("a command that does not exist", tracer, record[:-1] + ["no_such"], 127, "no_such: No such file")
    expect("a command that can't be run", tracer, record[:-1] + ["/etc/passwd"], 126, "Permission denied")
    expect("a folder is not a command", tracer, record[:-1] + ["/etc"], 126, "Permission denied")
    no_command(tracer)
    expect("a recording of 0 seconds", tracer, ["record", "--seconds", "0", "-o", out], 2, "--seconds wants 1 at least")
    expect("a function that does not exist", tracer, record[:3] + [out, "-l", "gone", "true"], 1, "'gone' can't be",
           REFUSED="gone")
    check("failed recordings leave an older file alone", [] if text_of(out) == "older\n" else ["it has changed"])
    expect("a successful recording", tracer, record)
    wrong = [] if text_of(out + ".old") == "older\n" else ["it is not .old"]
    check("the older file is kept as .old", wrong + ([] if text_of_bytes(out).startswith(b"mctrace") else ["no recording"]))
    os.unlink(out)
    os.symlink("out.target", out)
    put(tracer.path("out.target"), "target\n")
    run(tracer, record)
    check("if the output is a link, its target is kept as .old",
          [] if os.path.islink(out) and text_of(out + ".target.old") == "target\n" else ["it is not"])
    for name in ("out", "out.old", "out.target", "out.target.old"):
        if os.path.lexists(tracer.path(name)):
            os.unlink(tracer.path(name))
    expect("a full disk", tracer, record[:3] + ["/dev/full"] + record[4:], 1, "No space left")
    stray = os.path.join(tracer.folder, "out.stray")
    check("no signal is sent to a process that has ended", ["one is"] if os.path.exists(stray) else [])
    tracer.reset(stats="# cpu entries written overwritten lost recursions read\n0 0 1000 0 7 0 0\n")
    expect("the summary has the calls that a full disk loses", tracer, ["record", "-o", "/dev/full", "true"], 1,
           "\n1000 written, 993 not written to the file, 7 lost; 0.0 MB in /dev/full\n")
    expect("the summary has the calls that the kernel overwrote", tracer, ["record", "-o", out, "true"], 0,
           "^1000 written, 993 overwritten, 7 lost; 0.0 MB in .*out\n$")
    tracer.reset()


def text_of_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def lists(tracer, record):
    """What the kernel took before it refuses now."""
    both = {"said": "filter can't be restored: 1 lines were refused, 'vfs_write'", "status": 1}
    tracer.reset()
    expect("a line of filter that is refused", tracer, record, files=False, REFUSED="vfs_write", **both)
    check("the other lines of filter stay", [] if tracer.files()["filter"] == "vfs_read\n" else [tracer.files()["filter"]])
    for name, text in (("filter", "gone\n"), ("notrace", "kfree\ngone\n")):
        tracer.reset(**{name: text})
        said = expect("a list %s whose rest would record more" % name, tracer, record, 1, "pid has process", files=False,
                      REFUSED="gone")
        pid = re.search(r"pid has process (\d+)", said)
        check("nothing is recorded then", [] if pid and tracer.files()["pid"] == pid[1] + "\n" else [tracer.files()["pid"]])
    tracer.reset(pid="# a process of another pid namespace\n")
    expect("a process of another pid namespace", tracer, record, 1, "pid has process", files=False)
    tracer.reset(triggers="gone:mark\nvfs_read:mark\n")
    expect("a trigger that is refused", tracer, record, 1, "triggers can't be restored", files=False, REFUSED="gone")
    check("leaves the others, too", [] if tracer.files()["triggers"] == "vfs_read:mark\n" else ["it does not"])


def limits(tracer, record):
    """The least value of most resources is too little, and the greatest is enough."""
    for name, which, values in (("fsize", resource.RLIMIT_FSIZE, (0, 100, 200, 500, 1000, 2000, 5000)),
                                ("nofile", resource.RLIMIT_NOFILE, range(3, 16)),
                                ("as", resource.RLIMIT_AS, [*range(1 << 20, 12 << 20, 1 << 19), 64 << 20]),
                                ("data", resource.RLIMIT_DATA, [*range(0, 12 << 20, 1 << 19), 64 << 20]),
                                ("stack", resource.RLIMIT_STACK, [0, *(1 << bit for bit in range(12, 24))])):
        statuses = limit_to(tracer, record, name, which, values)
        check(name + ": too little is an error, and enough is none",
              [] if statuses[0] and not statuses[-1] else [str(statuses)])
    # The keeper survives the limit that kills mctrace, if it can raise the limit.
    limit_to(tracer, record, "cpu", resource.RLIMIT_CPU, (0,) * 10, lambda _: resource.RLIM_INFINITY)
    if may_raise():
        limit_to(tracer, record, "cpu, a hard limit,", resource.RLIMIT_CPU, (0,) * 10)
    locked = limit_to(tracer, record, "memlock", resource.RLIMIT_MEMLOCK, (0,))
    check("a recording needs no locked memory", [] if locked == [0] else [str(locked)])
    limit_processes(tracer, record)


def may_raise():
    """Return true if this process may raise its hard limits, by CAP_SYS_RESOURCE."""
    return bool(int(re.search(r"^CapEff:\t(\w+)$", text_of("/proc/self/status"), re.M)[1], 16) >> 24 & 1)


def limit_to(tracer, record, name, which, values, hard=int, **how):
    """Limit a resource to each value; @hard returns the hard limit. Return the exit statuses."""
    wrong, statuses = [], []
    for most in values:
        tracer.reset()
        status, said = run(tracer, record, limits=[(which, most, hard(most))], **how)
        statuses.append(status)
        wrong += ["%d: %s (%s, %s)" % (most, text, status, said.strip()) for text in judge(tracer, status, said)]
    check("%s limited to %s" % (name, ", ".join(str(value) for value in values)), wrong)
    return statuses


NO_USER = 0x7ffffff0    # has no processes, nor have the next ones


def limit_processes(tracer, record):
    """RLIMIT_NPROC counts the processes and threads of a user. It does not limit root, so let other users record: one
    for each limit, because init reaps the processes that a failed recording leaves behind."""
    if os.getuid():
        limit_to(tracer, record, "nproc", resource.RLIMIT_NPROC, (0,))
        return
    os.chmod(os.path.dirname(tracer.folder), 0o711)
    shutil.copy(args.mctrace, tracer.path("mctrace"))
    tracer.reset()
    statuses = []
    for most in range(8):
        give_to(tracer, NO_USER + most)
        statuses += limit_to(tracer, record, "nproc", resource.RLIMIT_NPROC, (most,), user=NO_USER + most)
    check("too few processes are an error, and enough are none",
          [] if (statuses[0], statuses[-1]) == (1, 0) else [str(statuses)])
    give_to(tracer, 0)
    os.unlink(tracer.path("mctrace"))


def give_to(tracer, user):
    for folder, _, names in os.walk(tracer.folder):
        for path in [folder] + [os.path.join(folder, name) for name in names]:
            os.chown(path, user, -1)


def closed(tracer, record):
    wrong = []
    for which in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        tracer.reset()
        command = " ".join([args.mctrace, *record]) + " " + which
        status = subprocess.run(["sh", "-c", command], env={**os.environ, "FAKE": tracer.folder}, check=False).returncode
        wrong += ["%s: %s" % (which, text) for text in judge(tracer, status, "")]
        if status or not text_of_bytes(tracer.path("out")).startswith(b"mctrace"):
            wrong.append("%s: status %d, or no recording" % (which, status))
    check("closed descriptors", wrong)


STATS = """# frozen: oops
# failed: 7: no memory for "that"
# cpu entries written overwritten lost recursions read
0 10 100 60 20 3 10
1 0 0 0 0 0 0
# own: 42
# modules: 5
# returns missed: 9
"""
TRIGGERS = """vfs_read:count\t# 7 hits
vfs_*:count\t# 11 hits
#\t3\tvfs_write
#\t2\tvfs_open [a_module]
#\t5\tvfs_write
#\t1\tof modules that are gone
kfree:fail:snapshot:99\t# 1 hits, 2 returned by others
kfree:fail:count\t# 4 hits
foo [a_module]:count\t# 6 hits
namesake:count\t# 7 hits
#\t3\tnamesake
#\t4\tnamesake [a_module]
no_*:count\t# 0 hits, not loaded
# 3 objects are followed
"""
METRICS = """mctracer_recording 0
mctracer_ring_size_bytes 65536
mctracer_written_total{cpu="0"} 100
mctracer_written_total{cpu="1"} 0
mctracer_overwritten_total{cpu="0"} 60
mctracer_overwritten_total{cpu="1"} 0
mctracer_lost_total{cpu="0"} 20
mctracer_lost_total{cpu="1"} 0
mctracer_recursions_total{cpu="0"} 3
mctracer_recursions_total{cpu="1"} 0
mctracer_read_total{cpu="0"} 10
mctracer_read_total{cpu="1"} 0
mctracer_ring_entries{cpu="0"} 10
mctracer_ring_entries{cpu="1"} 0
mctracer_own_calls_total 42
mctracer_module_changes_total 5
mctracer_returns_missed_total 9
mctracer_frozen 1
mctracer_failed 1
mctracer_trigger_hits_total{trigger="vfs_read:count"} 7
mctracer_trigger_hits_total{trigger="vfs_*:count"} 11
mctracer_trigger_hits_total{trigger="kfree:fail:snapshot"} 1
mctracer_trigger_hits_total{trigger="kfree:fail:count"} 4
mctracer_trigger_hits_total{trigger="foo [a_module]:count"} 6
mctracer_trigger_hits_total{trigger="namesake:count"} 7
mctracer_trigger_hits_total{trigger="no_*:count"} 0
mctracer_function_calls_total{trigger="vfs_read:count",function="vfs_read"} 7
mctracer_function_calls_total{trigger="vfs_*:count",function="vfs_write"} 8
mctracer_function_calls_total{trigger="vfs_*:count",function="vfs_open [a_module]"} 2
mctracer_function_calls_total{trigger="foo [a_module]:count",function="foo [a_module]"} 6
mctracer_function_calls_total{trigger="namesake:count",function="namesake"} 3
mctracer_function_calls_total{trigger="namesake:count",function="namesake [a_module]"} 4
"""


def stat(tracer, *options, stdout=subprocess.PIPE):
    return subprocess.run([args.mctrace, "stat", *options], env={**os.environ, "FAKE": tracer.folder}, stdout=stdout,
                          stderr=subprocess.PIPE, check=False)


def metrics(tracer):
    """stat --openmetrics prints each counter, and Prometheus' own tool accepts all that it prints."""
    tool = os.environ.get("PROMTOOL")
    strange = 'vfs_"read\\:count\t# 7 hits\n' + "#\t1\tfoo\xff\n"
    for name, more, wanted in (("metrics", {"stats": STATS, "triggers": TRIGGERS}, METRICS),
                               ("metrics of an idle tracer", {}, None), ("metrics of strange names", {"triggers": strange}, None)):
        tracer.reset(**more)
        said = stat(tracer, "--openmetrics")
        values = "".join(line + "\n" for line in said.stdout.decode().splitlines() if not line.startswith("#"))
        wrong = [] if wanted in (None, values) else ["printed:"] + values.splitlines()
        check(name, wrong + (["status %d" % said.returncode] if said.returncode else []))
        if tool:
            verdict = subprocess.run([tool, "check", "metrics"], input=said.stdout, capture_output=True, check=False)
            check(name + ": promtool finds nothing", (verdict.stdout + verdict.stderr).decode().splitlines() +
                  (["status %d" % verdict.returncode] if verdict.returncode else []))


def json_of(tracer, *command):
    """Return the lines that a command with --json prints, which must match the schema."""
    ran = subprocess.run([args.mctrace, *command, "--json"], env={**os.environ, "FAKE": tracer.folder}, check=True,
                         capture_output=True)
    schema.Schema().check(command, ran.stdout.decode())
    return [json.loads(line) for line in ran.stdout.splitlines()]


def expect_json(name, tracer, command, wanted):
    try:
        got = json_of(tracer, *command)
    except schema.Wrong as error:
        got = [str(error)]
    check(name, ["%s, not %s" % pair for pair in zip(got, wanted) if pair[0] != pair[1]] +
          ([] if len(got) == len(wanted) else ["%d lines, not %d" % (len(got), len(wanted))]))


def stat_json(tracer):
    """stat --json prints settings and counters that match the schema."""
    files = {"mode": ["function"], "options": OPTIONS, "buffer_size_kb": ["64"], "filter": ["vfs_read", "vfs_write"],
             "notrace": ["kfree"], "pid": ["1 children"], "triggers": ["vfs_open:mark"]}
    names = STATS.splitlines()[2].split()[1:]
    cpus = [dict(zip(names, map(int, line.split()))) for line in STATS.splitlines() if line[0] != "#"]
    tracer.reset(stats=STATS, mcount_hook="count_call [mcount_sample]\n")
    expect_json("stat --json", tracer, ["stat"], [
        {"tracer": "off", "other_hook": "count_call [mcount_sample]", **files, "returns_missed": 9}, *cpus])
    tracer.reset()
    with subprocess.Popen([args.mctrace, "record", "-q", "-o", tracer.path("out")], stderr=subprocess.DEVNULL,
                          env={**os.environ, "FAKE": tracer.folder}) as record:
        while tracer.files()["tracing_on"] != "1\n":
            time.sleep(0.01)
        first = json_of(tracer, "stat")[0]
        record.send_signal(signal.SIGINT)
    check("stat --json while mctrace records", [] if first["user_pid"] == record.pid and first["user_comm"] == "mctrace"
          else [str(first)])


FUNCTIONS = "vfs_read\nvfs_write\nprobe [one]\nprobe [two]\nremove [two]\nprobe.cold [two]\nkfree.constprop.0\n"


def list_json(tracer):
    """list shows the functions that match, also by module, as text and as JSON that matches the schema."""
    tracer.reset(functions=FUNCTIONS)
    for globs, wanted in (([], [0, 1, 2, 3, 4, 5, 6]), (["vfs_*"], [0, 1]), (["probe"], [2, 3, 5]),
                          (["probe [two]"], [3, 5]), (["probe[one]"], [2]), (["*[two]"], [3, 4, 5]),
                          (["mod:t*"], [3, 4, 5]), (["kfree"], [6]), (["[pr]*e", "vfs_[w]*"], [1, 2, 3, 4])):
        titles = [FUNCTIONS.splitlines()[nr] for nr in wanted]
        ran = subprocess.run([args.mctrace, "list", *globs], env={**os.environ, "FAKE": tracer.folder},
                             capture_output=True, text=True, check=False)
        name = " ".join(["list", *globs])
        check(name, [] if ran.stdout.splitlines() == titles and not ran.returncode else [ran.stdout, ran.stderr])
        lines = [{"function": title, "name": title.split(" ")[0]} for title in titles]
        for line in lines:
            if "[" in line["function"]:
                line["module"] = line["function"][-4:-1]
        expect_json(name + " --json", tracer, ["list", *globs], lines)
    for glob in ("probe[three]", "vfs", "mod:one_more"):
        expect("list " + glob, tracer, ["list", glob], 1, "no function matches", files=False)


def of_modules(tracer):
    """NAME[MODULE] is written to the kernel with a blank, unless it is a set of characters."""
    functions = FUNCTIONS + "vfs_o\nfive [ab]\nfiva\nopen-ed [da_sh]\n"
    for word, wanted in (("probe[two]", "probe [two]\n"), ("probe [two]", "probe [two]\n"), ("vfs_[wr]*", "vfs_[wr]*\n"),
                         ("p*[two]", "p* [two]\n"), ("kfre[e]", "kfre[e]\n"), ("probe:mod:two", "probe:mod:two\n"),
                         ("fiv[ab]", "fiv[ab]\n"), ("five[ab]", "five [ab]\n"), ("fiv?[ab]", "fiv? [ab]\n"),
                         ("probe[one],vfs_read", "probe [one]\nvfs_read\n"), ("probe[gone]", "probe[gone]\n"),
                         ("*[ab]", "* [ab]\n*[ab]\n")):
        trigger = word.split(",")[0] + ":stacktrace depth=8:5"
        tracer.reset(functions=functions, triggers="")
        seen = tracer.path("seen")
        show = ["sh", "-c", "cd %s; cat filter notrace triggers > %s" % (tracer.folder, seen)]
        expect("names of modules: " + word, tracer, ["record", "-q", "-o", tracer.path("out"), "-l", word, "-n", word, "-R",
                                                   trigger, *show])
        lines = "".join(line + ":stacktrace depth=8:5\n" for line in wanted.splitlines()[:1 if "," in word else 2])
        check("they are written as " + repr(wanted), [] if text_of(seen) == 2 * wanted + lines else [text_of(seen)])
    put(tracer.path("config"), "filter = probe[two] probe [one] vfs_read\nnotrace = remove[two]\ntrigger = probe[one]:count")
    tracer.reset(functions=functions)
    expect("start --config with names of modules", tracer, ["start", "--config", tracer.path("config")], files=False)
    got = [tracer.files()[name] for name in ("filter", "notrace", "triggers")]
    check("they are written with blanks", [] if got == ["probe [two]\nprobe [one]\nvfs_read\n", "remove [two]\n",
                                                        "probe [one]:count\n"] else [str(got)])


def full(tracer):
    """What can't be written is an error."""
    tracer.reset(stats=STATS)
    for option in ([], ["--json"], ["--openmetrics"]):
        with open("/dev/full", "w") as device:
            ran = stat(tracer, *option, stdout=device)
        check(" ".join(["stat", *option, "on a full disk"]), [] if ran.returncode == 1 and b"No space left" in ran.stderr
              else ["%d, %s" % (ran.returncode, ran.stderr)])


def frozen(tracer):
    record = ["record", "-q", "-o", tracer.path("out")]
    os.mkdir(temporary(tracer))
    stats = "# frozen: oops\n" + OTHERS["stats"].replace("0 0 0", "0 7 7")
    lists = {"triggers": "", "functions": "".join(name + "\n" for name in SKB_FUNCTIONS + TASK_FUNCTIONS)}
    for command in (record + ["true"], ["start"], ["stream"], ["reset"], ["why", "true"], ["packet", "--", "true"],
                    ["object", "task_struct", "--", "true"], ["latency", "vfs_read", "--live", "true"]):
        tracer.reset(stats=stats, trace="last calls\n", **(lists if command[0] in ("packet", "object") else {}))
        expect("%s with rings frozen by an oops" % command[0], tracer, command, 1, r"^mctrace: frozen \(oops\): "
               "'mctrace show'[^\n]*\n$", TMPDIR=temporary(tracer), MCTRACE_RULES=args.rules)
        check("%s leaves them frozen" % command[0], not_frozen(tracer, stats, "last calls\n") +
              os.listdir(temporary(tracer)))
    os.rmdir(temporary(tracer))
    tracer.reset(stats=stats, trace="last calls\n")
    expect("record --force", tracer, record + ["--force", "true"])
    check("record --force clears them", not_frozen(tracer, OTHERS["stats"].replace("0 0 0", "0 7 7"), ""))
    tracer.reset(stats="# frozen: oops\n" + OTHERS["stats"])
    expect("frozen rings without calls need no --force", tracer, record + ["true"])
    frozen_meanwhile(tracer, record)


def not_frozen(tracer, stats, trace):
    """Return what is wrong if the files of the rings do not have these contents."""
    return ["%s: %r" % (name, text_of(tracer.path(name))) for name, text in (("stats", stats), ("trace", trace))
            if text_of(tracer.path(name)) != text]


def frozen_meanwhile(tracer, record):
    """An event that freezes the rings during a recording is reported, and they stay as they are."""
    tracer.reset()
    freezes = 'printf "# frozen: oops\\n%s" "$(cat "$0/stats")" >"$0/new" && mv "$0/new" "$0/stats" && ' \
              'echo 0 >"$0/tracing_on"'
    status, said = run(tracer, record + ["sh", "-c", freezes, tracer.folder])
    files = tracer.files()
    wrong = ["status %d, %s" % (status, said)] if status or "(oops) has frozen the rings" not in said else []
    wrong += ["%s is %s" % (name, files[name]) for name, was in
              (("tracing_on", "0"), ("buffer_size_kb", "8192"), ("ctrl", "0"))
              if files[name].strip() != was]
    with open(tracer.path("out"), "rb") as file:
        if b"\nfrozen oops\n" not in file.read():
            wrong.append("the recording does not have the event")
    check("rings that an event froze meanwhile stay frozen", wrong)


def sleeping(tracer):
    """Return a copy of sleep with a name of its own."""
    path = os.path.join(tracer.folder, "mct_sleeper")
    shutil.copy(shutil.which("sleep"), path)
    return path


def running(tracer):
    """why records the running tasks of --pid, --tid, --task and --comm, however they are written."""
    sleeper = subprocess.Popen(["sleep", "600"], executable=sleeping(tracer))
    for pids, wanted in ((["-p", "1"], "1\n"), (["--pid", "1"], "1\n"), (["-P1", "-p", "2"], "1\n2\n"),
                         (["--pid", "1,2"], "1\n2\n"), (["--tid", "3,4", "--task", "1"], "tid 3\ntid 4\n1\n"),
                         (["--task", "mct_sleeper"], "%d\n" % sleeper.pid),
                         (["--comm", "mct_sl[e]*", "-p", "1"], "%d\n1\n" % sleeper.pid)):
        tracer.reset()
        command = [args.mctrace, "why", "--seconds", "1", *pids]
        with subprocess.Popen(command, env={**os.environ, "FAKE": tracer.folder}, stderr=subprocess.PIPE,
                              text=True) as why:
            end = time.monotonic() + PATIENCE
            while tracer.files()["tracing_on"] != "1\n" and time.monotonic() < end:
                time.sleep(0.005)
            pid, mode = tracer.files()["pid"], tracer.files()["mode"]
            said = why.communicate(timeout=PATIENCE)[1]
        check("why " + " ".join(pids), ([] if (pid, mode) == (wanted, "graph\n") else [pid, mode]) +
              ([] if why.returncode == 1 and "nothing was recorded" in said else [said]) + judge(tracer, None, ""))
    sleeper.kill()
    sleeper.wait()
    os.unlink(tracer.path("mct_sleeper"))
    for options, status, said in ((["--task", "mct_nobody"], 1, "no process is called mct_nobody"),
                                  (["--pid", "1", "true"], 2, "either a COMMAND, or --pid"), ([], 2, "which COMMAND")):
        expect("why " + " ".join(options), tracer, ["why", *options], status, said, files=False)


def returns(tracer):
    """A recording names how the kernel sees returns, and why warns if rethook sees them."""
    out, rethook = tracer.path("out"), OTHERS["stats"] + "# returns missed: 0\n"
    for options, stats, wanted in ((["-g"], rethook, ["rethook"]), (["-g"], OTHERS["stats"], ["sites"]),
                                   ([], rethook, [])):
        tracer.reset(stats=stats)
        run(tracer, ["record", "-q", "-o", out, *options, "true"])
        got = re.findall(rb"^returns (.*)$", text_of_bytes(out).split(b"mode ")[0], re.M)
        check("the recording's line of returns: %s" % wanted,
              [] if [one.decode() for one in got] == wanted else ["%s" % got])
    failed = recordings.task_words(Task(1, 1, "init")) + [
        CALL, *recordings.value_words(-9), recordings.other_word(recordings.MARK, 0x81000104),
        recordings.return_word(0x81000104, 0)]
    waits = ["sh", "-c", "while [ ! -e %s ]; do sleep 0.05; done" % tracer.path("go")]
    for stats, wanted in ((rethook, "mctrace: returns by rethook: "), (OTHERS["stats"], "")):
        tracer.reset(stats=stats, kallsyms="ffffffff81000000 T _stext\nffffffff81000100 T __x64_sys_flock\n"
                     "ffffffff81000200 T vfs_write\n")
        with subprocess.Popen([args.mctrace, "why", *waits], text=True, env={**os.environ, "FAKE": tracer.folder},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as why:
            end = time.monotonic() + PATIENCE
            while tracer.files()["tracing_on"] != "1\n" and time.monotonic() < end:
                time.sleep(0.01)
            tracer.record_words(failed)
            put(tracer.path("go"), "")
            printed, said = why.communicate(timeout=PATIENCE)
        os.unlink(tracer.path("go"))
        check("why prints how returns were seen", judge(tracer, why.returncode, said) +
              ([] if "__x64_sys_flock returned -EBADF" in printed else [printed]) +
              ([] if said.startswith(wanted) and said.count("\n") == bool(wanted) else [said]))


def rules(tracer):
    """A recording names the rules with which it was made."""
    path, out = tracer.path("some.rules"), tracer.path("out")
    put(path, "vfs_read:follow 1\n")
    for more, wanted in ((["--rules", path], ["rules " + path]), ([], [])):
        tracer.reset(triggers="")
        expect(" ".join(["record", *more[:1]]), tracer, ["record", "-q", "-o", out, *more, "true"], files=False)
        lines = text_of_bytes(out).split(b"mode ")[0].decode(errors="replace").split("\n")
        got = [line for line in lines if line.startswith("rules ")]
        check("the recording's rules", [] if got == wanted else ["%s, not %s" % (got, wanted)])
    again = "# 3 objects are followed\n# 2 objects were allocated again before an end was seen\n"
    for more, wanted in ((["--rules", path], b"\nreused 2\n"), ([], b"\nreused 0\n")):
        tracer.reset(triggers="")
        command = "printf '%s' >>%s" % (again, tracer.path("triggers"))
        run(tracer, ["record", "-q", "-o", out, *more, "sh", "-c", command])
        check("objects that were allocated again" + " with rules" * bool(more),
              [] if wanted in text_of_bytes(out) else ["%s is not in the recording" % wanted])


def itself(tracer):
    """mctrace excludes its own processes, not COMMAND."""
    show = ["sh", "-c", "cat %s > %s" % (tracer.path("pid"), tracer.path("seen"))]
    all_of = ["record", "-a", "-q", "-o", tracer.path("out")]
    tracer.reset()
    expect("record -a", tracer, all_of + show)
    check("record -a excludes mctrace's processes", [] if re.fullmatch(r"(not \d+\n){3}", text_of(tracer.path("seen")))
          else [text_of(tracer.path("seen"))])
    expect("record -a --self", tracer, all_of + ["--self"] + show)
    check("record -a --self excludes no process", [text_of(tracer.path("seen"))] if text_of(tracer.path("seen")) else [])
    tracer.reset()
    expect("record -a without COMMAND", tracer, ["record", "-a", "-q", "--seconds", "1", "-o", tracer.path("out")])
    expect("record -a --pid", tracer, ["record", "-a", "--pid", "1"], 2, "either --all or --pid")
    all_of.remove("-q")
    expect("a kernel that can't exclude processes", tracer, all_of + show, 0, "can't leave mctrace's own calls out", OLD="y")


CALL = recordings.call_word(0x81000104, 0x81000004)


class Task:
    """A task in the ring, with the fields that recordings.task_words() wants."""
    def __init__(self, pid, tgid, comm="mctrace"):
        self.pid, self.tgid, self.comm = pid, tgid, comm


def comm_of(pid):
    return text_of("/proc/%d/comm" % pid).strip()


def children_of(pid):
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(child) for child in found.split()]


def own_of(tracer, calls, **environment):
    """Record without -q. @calls returns (task, number of its calls) for the processes of mctrace: itself, its keeper,
    its follower, and the follower's threads. Return the lines of the summary after the first."""
    tracer.reset()
    with subprocess.Popen([args.mctrace, "record", "-o", tracer.path("out")], stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "FAKE": tracer.folder, **environment}) as record:
        end = time.monotonic() + PATIENCE
        keepers, followers, threads = [], [], []
        while not (keepers and threads and os.path.exists(tracer.path("out"))) and time.monotonic() < end:
            time.sleep(0.01)
            keepers = [pid for pid in children_of(record.pid) if comm_of(pid) == "mctrace-restore"]
            followers = [pid for pid in children_of(record.pid) if pid not in keepers]
            threads = [int(tid) for pid in followers for tid in os.listdir("/proc/%d/task" % pid) if int(tid) != pid]
        words = []
        if not threads:
            record.kill()
            return ["a hang"]
        for task, number in calls(record.pid, keepers[0], followers[0], threads):
            words += recordings.task_words(task) + [CALL] * number
        tracer.record_words(words)
        record.send_signal(signal.SIGINT)
        try:
            printed = record.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            record.kill()
            printed = "\na hang"
    return printed.splitlines()[1:]


FIRST_NAMESPACE, OTHER_NAMESPACE = str(0xEFFFFFFC), str(0xEFFFFFFD)


def own_calls(tracer):
    """The summary counts the calls of mctrace's own processes and threads, and no other calls."""
    def all_tasks(itself, keeper, follower, threads):
        return [(Task(threads[0], follower), 1000), (Task(1, 1, "init"), 200), (Task(follower, follower), 30),
                (Task(0, 0, "swapper/0"), 400), (Task(keeper, keeper), 5), (Task(2, itself, "other"), 600),
                (Task(itself, itself), 7)]

    def follower_of_another(itself, keeper, follower, threads):
        return [(Task(threads[0] + 100000, itself + 100000), 500)]

    def few(itself, keeper, follower, threads):
        return [(Task(threads[0], follower), 2), (Task(1, 1, "init"), 98)]

    for name, calls, namespace, wanted in (
            ("calls of mctrace's processes and of the copying thread", all_tasks, FIRST_NAMESPACE,
             ["1042 of them are mctrace's own"]),
            ("calls of another mctrace are not its own", follower_of_another, FIRST_NAMESPACE, []),
            ("a fiftieth of all calls is no line", few, FIRST_NAMESPACE, []),
            ("in another pid namespace no call is its own", all_tasks, OTHER_NAMESPACE, [])):
        got = own_of(tracer, calls, NAMESPACE=namespace)
        check(name, judge(tracer, 0, "") + ([] if got == wanted else ["%s, not %s" % (got, wanted)]))


def typed(tracer):
    """What users of other tracers type."""
    out, seen = tracer.path("out"), tracer.path("seen")
    show = ["sh", "-c", "cat %s %s > %s" % (tracer.path("mode"), tracer.path("pid"), seen)]
    tracer.reset()
    expect("record -g FUNCTION", tracer, ["record", "-o", out, "-g", "vfs_read"], 127,
           "^mctrace: vfs_read: No such file .*\n"
           "mctrace: -g takes no function: 'mctrace record -g -l vfs_read COMMAND'\n$")
    expect("record FUNCTION has no such hint", tracer, ["record", "-o", out, "vfs_read"], 127, "^mctrace: [^\n]*\n$")
    for mode, wanted in (("function_graph", "graph"), ("function", "function")):
        graph = ["-g"] if mode == "function" else []
        expect("record -p " + mode, tracer, ["record", "-q", "-o", out, *graph, "-p", mode, *show])
        got = text_of(seen)
        check("its mode is " + wanted, [] if re.fullmatch(wanted + r"\n\d+ children\n", got) else [got])
    expect("record -p NAME", tracer, ["record", "-o", out, "-p", "nop", "true"], 2,
           "'nop' is no process, nor function or function_graph")
    os.mkdir(temporary(tracer))
    counted = ["sh", "-c", "echo $# > %s" % seen, "sh"] + ["x"] * 5000
    for command in (["why"], ["latency", "vfs_read", "--live"]):
        tracer.reset()
        expect("%s with 5,000 arguments" % command[0], tracer, command + counted, 1, " is empty: ", files=False,
               TMPDIR=temporary(tracer))
        check("COMMAND gets all of them", differences(tracer) + ([] if text_of(seen) == "5000\n" else [text_of(seen)]))
        check("the temporary recording is removed", os.listdir(temporary(tracer)))
    shutil.rmtree(temporary(tracer))


def live(tracer):
    """latency --live records no call that shows a sleep, so its output has no time on a CPU."""
    waits = ["sh", "-c", "while [ ! -e %s ]; do sleep 0.05; done" % tracer.path("go")]
    os.mkdir(temporary(tracer))
    lossy = OTHERS["stats"].replace("0 0 0 0 0 0 0", "0 2 12 6 4 0 0")
    missing = "mctrace: of 12 calls and returns 6 were overwritten and 4 lost: try --buffer-size\n"
    for options, stats, wanted in (([], OTHERS["stats"], ""), (["--json"], OTHERS["stats"], ""), ([], lossy, missing)):
        tracer.reset(stats=stats, kallsyms=OTHERS["kallsyms"] + "ffffffff81000200 T vfs_write\n")  # the end of vfs_read
        with subprocess.Popen([args.mctrace, "latency", "vfs_read", *options, "--live", *waits], text=True,
                              env={**os.environ, "FAKE": tracer.folder, "TMPDIR": temporary(tracer)},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as latency:
            end = time.monotonic() + PATIENCE
            while tracer.files()["tracing_on"] != "1\n" and time.monotonic() < end:
                time.sleep(0.01)
            tracer.record_words(recordings.task_words(Task(1, 1, "init")) +
                                [CALL, recordings.return_word(0x81000104, 0)])
            put(tracer.path("go"), "")
            printed, said = latency.communicate(timeout=PATIENCE)
        os.unlink(tracer.path("go"))
        wrong = judge(tracer, latency.returncode, said) + ([said] if said != wanted or latency.returncode else [])
        if options:
            lines = [json.loads(line) for line in printed.splitlines()]
            wrong += [line for line in printed.splitlines() if "cpu" in line]
            wrong += [printed] if not lines or lines[-1].get("calls") != 1 else []
        elif "# 1 calls: " not in printed or "CPU" in printed:
            wrong.append(printed)
        check(" ".join(["latency", *options, "--live prints no time on a CPU", *["but missing calls"][:bool(wanted)]]), wrong)
    shutil.rmtree(temporary(tracer))


def temporary(tracer):
    """Return a folder for temporary files."""
    return os.path.join(os.path.dirname(tracer.folder), "temporary")


def free_space(tracer):
    """A recording from a pipe is copied to $TMPDIR if that needs at most 3/4 of the free space there, or there is no
    size, as of a ramfs."""
    folder, path, block = temporary(tracer), tracer.path("copied"), 512
    os.mkdir(folder)
    recordings.simulate(2000, 1).write(path)
    data = text_of_bytes(path)
    os.unlink(path)
    least = -(-len(data) * 4 // (3 * block))
    for blocks, status, wanted in ((least - 1, 1, r"more than 0 MiB, and \S+ has no room: save it to a file"),
                                   (least, 0, "^$"), (100 * least, 0, "^$"), (None, 0, "^$")):
        ran = subprocess.run([args.mctrace, "profile", "-"], input=data, capture_output=True, check=False,
                             env={**os.environ, "FAKE": tracer.folder, "TMPDIR": folder, "FREE": str(blocks * block) if blocks else "none"})
        said, left = ran.stderr.decode(), os.listdir(folder)
        check("%d bytes from a pipe, %s free" % (len(data), blocks * block if blocks else "none"), [] if ran.returncode == status and
              re.search(wanted, said) and not left else ["%d, %s, %s" % (ran.returncode, said, left)])
    os.rmdir(folder)


def pipe(tracer):
    """mctrace stream ends when its reader closes the pipe, even if nothing is recorded."""
    tracer.reset()
    os.unlink(tracer.path("trace_pipe"))
    os.mkfifo(tracer.path("trace_pipe"))
    comes = os.open(tracer.path("trace_pipe"), os.O_RDWR)
    with subprocess.Popen([args.mctrace, "stream"], env={**os.environ, "FAKE": tracer.folder},
                          stdout=subprocess.PIPE) as stream:
        os.write(comes, b"a line\n")
        line = stream.stdout.readline()
        own = "".join("not %d\n" % pid for pid in (stream.pid, *children_of(stream.pid)))
        left_out = tracer.files()["pid"]
        stream.stdout.close()
        try:
            status = stream.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            stream.kill()
            status = "a hang"
    os.close(comes)
    check("stream ends with its reader", judge(tracer, status, "") + ([] if line == b"a line\n" and not status else
                                                                  ["%s, %s" % (line, status)]))
    os.unlink(tracer.path("trace_pipe"))
    check("stream excludes its own two processes",
          [] if left_out == own and own.count("not ") == 2 else [left_out, own])
    tracer.reset()
    expect("stream in a kernel that can't exclude processes", tracer, ["stream"], 0,
           "this kernel records mctrace, too: limit it by --pid or --func", OLD="y")
    expect("stream of one process", tracer, ["stream", "--pid", "1"], 0, OLD="y")


def end_stalled(stream, kind):
    """Send the signal when the output is full. Return the exit status, or "a hang"."""
    time.sleep(0.3)
    stream.send_signal(kind)
    try:
        return stream.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        stream.kill()
        return "a hang"


def stalled_stream(tracer):
    """A signal ends mctrace stream although nobody reads its output."""
    for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        tracer.reset(trace_pipe="a line\n" * 20000)
        with subprocess.Popen([args.mctrace, "stream"], env={**os.environ, "FAKE": tracer.folder},
                              stdout=subprocess.PIPE) as stream:
            line = stream.stdout.read(7)
            status = end_stalled(stream, kind)
        check("%s ends stream although nobody reads" % kind.name, judge(tracer, status, "") +
              ([] if line == b"a line\n" and not status else ["%s, %s" % (line, status)]))
        tracer.reset(trace_pipe="a line\n" * 20000)
        master, terminal = os.openpty()
        with subprocess.Popen([args.mctrace, "stream"], env={**os.environ, "FAKE": tracer.folder},
                              stdout=terminal, stderr=subprocess.DEVNULL) as stream:
            os.close(terminal)
            line = os.read(master, 7)
            status = end_stalled(stream, kind)
        os.close(master)
        check("%s ends stream although its terminal stalls" % kind.name, judge(tracer, status, "") +
              ([] if line == b"a line\r" and not status else ["%s, %s" % (line, status)]))


def second_signal(tracer):
    """A later signal ends a command that records and shows, even if its recorder does not end."""
    for kind in (signal.SIGTERM, signal.SIGINT):
        tracer.reset()
        with subprocess.Popen([args.mctrace, "why", "sleep", "100"], env={**os.environ, "FAKE": tracer.folder},
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as why:
            end = time.monotonic() + PATIENCE
            while tracer.files()["tracing_on"] != "1\n" and time.monotonic() < end:
                time.sleep(0.01)
            recorder = children_of(why.pid)[0]
            os.kill(recorder, signal.SIGSTOP)
            waits = []
            for wait in (0.01, 2.1, 0.5):
                why.send_signal(kind)
                time.sleep(wait)
                waits.append(why.poll() is None)
            if waits[-1]:
                why.kill()
            os.kill(recorder, signal.SIGCONT)
            status = why.wait()
        check("a second %s ends why" % kind.name, judge(tracer, status, "") +
              ([] if waits == [True, True, False] and status == -kind else ["%s, %s" % (waits, status)]))


CONFIG = """# a comment
ring-size = 32

  notrace=kmalloc_* kfree
filter = vfs_read\tvfs_write
mode = graph
options = context notime
trigger = vfs_open:stacktrace:5
dump = 7
keep = 3"""
WRONG_CONFIGS = [
    ("filtre = x", "line 1: there is no key 'filtre': did you mean 'filter'\\?"),
    ("\nxyzzy = x", "line 2: there is no key 'xyzzy'$"), ("# a\n\nfilter", "line 3: 'filter' has no '='"),
    ("filter =", "line 1: 'filter' has no value"), ("mode = grahp", "line 1: mode is function or graph, not 'grahp'"),
    ("ring-size = 1M", "line 1: ring-size is a number, not '1M'"), ("ring-size = 0", "line 1: a ring of 0 KiB"),
    ("keep = -1", "line 1: keep is a number, not '-1'"), ("keep = 0", "line 1: keep is 1 or more"),
    ("dump = x", "line 1: dump is a number, not 'x'")]


def config(tracer):
    """start --config takes settings from a file, and start --wait restores all settings when a signal comes."""
    path = tracer.path("config")
    tracer.reset()
    for text, said in WRONG_CONFIGS:
        put(path, text)
        expect("start --config with %r" % text, tracer, ["start", "--config", path], 1, said)
    expect("start --config without a file", tracer, ["start", "--config", tracer.path("none")], 1, "No such file")
    put(path, CONFIG)
    address = tracer.path("notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service, subprocess.Popen(
            [args.mctrace, "start", "--wait", "--config", path], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "FAKE": tracer.folder, "NOTIFY_SOCKET": address}) as start:
        service.bind(address)
        service.settimeout(PATIENCE)
        start.ready = service.recv(100)
        got = tracer.files()
        start.terminate()
        said = start.communicate(timeout=PATIENCE)[1]
    wanted = {"filter": "vfs_read\nvfs_write\n", "notrace": "kmalloc_*\nkfree\n", "mode": "graph", "ctrl": "1",
              "triggers": "vfs_open:stacktrace:5\n", "buffer_size_kb": "32\n", "pid": "", "dump": "7"}
    wrong = ["%s: %s" % (name, got[name]) for name, text in wanted.items() if got[name].strip() != text.strip()]
    check("start --wait --config sets all", wrong + ([] if start.ready == b"READY=1" else [repr(start.ready)]))
    check("start --wait restores all", judge(tracer, None, said) + ([said] if start.returncode or said else []))


def inputs_stay(tracer):
    """No output replaces a file that the command reads, or rings."""
    tracer.reset()
    tracer.record_calls(100)
    raw, names, copy = tracer.path("per_cpu/cpu0/raw"), tracer.path("kallsyms"), tracer.path("copied")
    shutil.copy(raw, copy)
    for form, output, said in (("folded", raw, "what this command reads, and stays"), ("folded", copy, "is a recording, and stays"),
                               ("folded", names, "what this command reads, and stays"),
                               ("mctrace", raw, "what this command reads, and stays")):
        before = text_of_bytes(output)
        expect("export --to %s -o %s" % (form, os.path.basename(output)), tracer,
               ["export", "--to", form, "--kallsyms", names, "-o", output, raw], 1, said, files=False)
        check("it stays", [] if text_of_bytes(output) == before and not os.path.exists(output + ".old") else ["it does not"])
    os.unlink(copy)


def run_to(tracer, command, stdout, before=()):
    ran = subprocess.run([*before, args.mctrace, *command], env={**os.environ, "FAKE": tracer.folder}, stdout=stdout,
                         stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, timeout=PATIENCE)
    return ran.returncode, ran.stderr.decode(), ran.stdout


def strange_places(tracer):
    """Return (name, path, message, command before mctrace) of outputs that must be refused, where they can be made."""
    link, listens, disk, mounted = (tracer.path("strange-" + name) for name in ("link", "socket", "disk", "mounted"))
    os.symlink(tracer.path("nowhere"), link)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(listens)
    places = [("a dangling link", link, "is a symbolic link to a file that does not exist", ()),
              ("a socket", listens, "is a socket: name a file", ())]
    try:
        os.mknod(disk, 0o600 | stat_module.S_IFBLK, os.makedev(259, 1048575))
        places.append(("a disk", disk, "is a disk: name a file", ()))
    except PermissionError:
        print("# no disk")
    put(mounted, "mounted\n")
    mount = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && exec "$@"', mounted]
    if subprocess.run([*mount, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        places.append(("a mount point", mounted, "is a mount point, which no file can replace", mount))
    else:
        print("# no mount point")
    return places


def remove_strange(tracer):
    for name in os.listdir(tracer.folder):
        if name.startswith("strange-"):
            os.unlink(tracer.path(name))


def same_kind(before, path):
    return stat_module.S_IFMT(before.st_mode) == stat_module.S_IFMT(os.lstat(path).st_mode) and \
        before.st_ino == os.lstat(path).st_ino


def output_places(tracer):
    """Outputs of export and flame that are no usual files."""
    tracer.reset()
    path, out, link = (tracer.path(name) for name in ("recording", "strange-out", "strange-to-out"))
    recordings.simulate(200, 1).write(path)
    folded = ["export", "--to", "folded", path, "-o"]
    wanted = run_to(tracer, folded + ["-"], subprocess.PIPE)[2].decode()
    put(out, "before\n")
    with open(out, "a") as file:
        status, said, _ = run_to(tracer, folded + ["/dev/stdout"], file)
    check("-o /dev/stdout appends to a file", [] if text_of(out) == "before\n" + wanted and not status else [said])
    with open(out, "w") as file:
        status, said, _ = run_to(tracer, ["flame", path, "-o", "/dev/stdout"], file)
    check("flame -o /dev/stdout prints only the picture", [] if text_of(out).endswith("</svg>\n") and not status else [said])
    check("-o /dev/null", [] if run_to(tracer, folded + ["/dev/null"], None)[0] == 0 else ["it fails"])
    os.symlink(out, link)
    if not os.getuid():
        os.chown(out, 1234, 1235)
    os.chmod(out, 0o640)
    before = os.stat(out)
    expect("-o LINK", tracer, folded + [link], files=False)
    now = os.stat(out)
    check("the file behind the link has a new content, and its owner and mode", [] if text_of(out) == wanted and
          os.path.islink(link) and (now.st_uid, now.st_gid, now.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
          else [str(now)])
    for name, place, message, mount in strange_places(tracer):
        before = os.lstat(place)
        for command in (folded, ["flame", path, "-o"]):
            status, said, _ = run_to(tracer, command + [place], subprocess.PIPE, mount)
            check("%s -o: %s" % (command[0], name), [] if status == 1 and message in said and said.count("\n") == 1 and
                  same_kind(before, place) else ["%d, %s" % (status, said)])
    remove_strange(tracer)


def record_places(tracer):
    """Outputs of record that are no usual files."""
    for name, place, message, mount in strange_places(tracer):
        tracer.reset()
        before = os.lstat(place)
        status, said, _ = run_to(tracer, ["record", "-q", "-o", place, "true"], subprocess.PIPE, mount)
        check("record -o: " + name, judge(tracer, status, said) + ([] if status == 1 and message in said and
              said.count("\n") == 1 and same_kind(before, place) else ["%d, %s" % (status, said)]))
    remove_strange(tracer)
    tracer.reset()
    status, said, got = run_to(tracer, ["record", "-q", "-o", "/dev/stdout", "echo", "of COMMAND"], subprocess.PIPE)
    check("record -o /dev/stdout: COMMAND writes to standard error", judge(tracer, status, said) +
          ([] if said == "of COMMAND\n" and got.startswith(b"mctrace\n") and b"of COMMAND\n" not in got else [said]))
    tracer.reset()
    master, slave = os.openpty()
    expect("record -o TERMINAL", tracer, ["record", "-q", "-o", os.ttyname(slave), "true"], 1,
           "is a terminal, and a recording is no text")
    os.close(slave)
    os.close(master)


def temporary_file(tracer):
    """Once the recorder records, SIGKILL of why, packet or latency leaves no temporary file."""
    folder, rules = temporary(tracer), tracer.path("some.rules")
    os.mkdir(folder)
    put(rules, "vfs_read:follow 1\n")
    for command in (["why"], ["latency", "vfs_read", "--live"], ["packet", "--rules", rules, "--"]):
        tracer.reset(triggers="")
        with subprocess.Popen([args.mctrace, *command, "sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**os.environ, "FAKE": tracer.folder, "TMPDIR": folder}) as program:
            end = time.monotonic() + PATIENCE
            while tracer.files()["tracing_on"] != "1\n" and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0.5)
            program.kill()
        check("%s, killed, leaves no temporary file" % command[0], judge(tracer, None, "") + os.listdir(folder))
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
    os.rmdir(folder)


def orphan(tracer):
    """SIGKILL of why while its recorder sets the tracer up leaves no temporary file: the recorder removes it."""
    tracer.reset()
    folder, names = temporary(tracer), tracer.path("kallsyms")
    os.mkdir(folder)
    os.unlink(names)
    os.mkfifo(names)
    with subprocess.Popen([args.mctrace, "why", "sleep", "100"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env={**os.environ, "FAKE": tracer.folder, "TMPDIR": folder}) as why:
        end, reader = time.monotonic() + PATIENCE, None
        while reader is None and time.monotonic() < end:
            try:
                reader = os.open(names, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.01)
        made = os.listdir(folder)
        why.kill()
        why.wait()
        os.write(reader, OTHERS["kallsyms"].encode())
        os.close(reader)
    check("why, killed while its recorder sets the tracer up, leaves no temporary file", judge(tracer, None, "") +
          os.listdir(folder) + ([] if len(made) == 1 else ["it made %s" % made]))
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
    os.unlink(names)


def busy(tracer):
    """A process has mapped a ring, so that the size of the rings can't be restored, for a while or for ever."""
    path = tracer.path("busy")
    record = ["record", "-q", "-o", tracer.path("out"), "sh", "-c"]
    tracer.reset()
    expect("a ring that is mapped for a while", tracer, record + [": >%s; (sleep 1; rm %s) 2>&- &" % (path, path)])
    tracer.reset()
    expect("a ring that stays mapped", tracer, record + [": >" + path], 1,
           "^mctrace: buffer_size_kb can't be restored: Device or resource busy\n$", files=False)
    left = differences(tracer)
    check("all other settings are restored", [] if len(left) == 1 and left[0].startswith("buffer_size_kb") else left)
    os.unlink(path)


def killed(tracer):
    """After a killed recording, the next recording does not wait for long."""
    tracer.reset()
    command = ["record", "-q", "-o", tracer.path("out")]
    with subprocess.Popen([args.mctrace, *command], env={**os.environ, "FAKE": tracer.folder},
                          stderr=subprocess.PIPE, text=True) as first:
        while not os.path.exists(tracer.path("out")):
            time.sleep(0.01)
        first.kill()
        began = time.monotonic()
        status, said = run(tracer, command + ["true"])
        took = time.monotonic() - began
        end = first.stderr.read()
    check("a recording after a killed recording", judge(tracer, status, said) + ([said] if status or said else []) +
          ([] if took < 3 else ["%.1f s" % took]))
    check("the keeper reports the killed recording", [] if "the tracer is as it was" in end else [end])


class Stalled:
    """mctrace record, whose recording goes to a pipe that nobody reads once the tracer is on."""
    def __init__(self, tracer, **files):
        self.tracer = tracer
        tracer.reset(**files)
        os.mkfifo(tracer.path("stalls"))
        self.reader = os.open(tracer.path("stalls"), os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(self.reader, fcntl.F_SETPIPE_SZ, 4096)
        self.record = subprocess.Popen([args.mctrace, "record", "-q", "-o", tracer.path("stalls")], text=True,
                                       env={**os.environ, "FAKE": tracer.folder}, stderr=subprocess.PIPE)

    def read(self, enough):
        """Read until @enough(), or until mctrace has ended."""
        got, end = [], time.monotonic() + PATIENCE
        while not enough() and time.monotonic() < end:
            try:
                got.append(os.read(self.reader, 65536))
            except BlockingIOError:
                got.append(b"")
            if not got[-1] and self.record.poll() is not None:
                break
            if not got[-1]:
                time.sleep(0.01)
        return b"".join(got)

    def stall(self):
        self.read(lambda: self.tracer.files()["tracing_on"] == "1\n")
        self.tracer.record_calls(8000)
        time.sleep(0.5)

    def waits_for(self, what):
        end = time.monotonic() + PATIENCE
        while not what():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def end(self, name, wanted, said=""):
        """mctrace must end soon with a status of @wanted and print @said, and all settings must be restored."""
        try:
            printed = self.record.communicate(timeout=PATIENCE)[1]
        except subprocess.TimeoutExpired:
            self.record.kill()
            printed = "a hang"
        status = self.record.returncode
        check(name, judge(self.tracer, status, printed) +
              ([] if status in wanted and re.search(said, printed) else ["status %s, %s" % (status, printed)]))
        os.close(self.reader)
        os.unlink(self.tracer.path("stalls"))


def of_rings(text):
    """Return the differences of settings, without settings of the rings, which are restored last."""
    return [line for line in text if not line.startswith(("buffer_size_kb", "tracing_on"))]


def stalled(tracer):
    """A reader of the recording stalls, and mctrace is ended or killed meanwhile."""
    def restored():
        return not of_rings(differences(tracer))

    one = Stalled(tracer)
    one.stall()
    one.record.kill()
    early = one.waits_for(restored)
    one.end("settings are restored despite a stalled reader", [-9])
    check("nearly all of them at once", [] if early else ["they are not"])

    one = Stalled(tracer)
    one.stall()
    one.record.terminate()
    early = one.waits_for(restored)
    waits = one.record.poll() is None
    one.record.kill()
    one.end("SIGTERM, then SIGKILL", [-9])
    check("SIGTERM restores settings before a stalled reader reads", [] if early and waits else ["it does not"])

    one = Stalled(tracer)
    one.stall()
    one.record.terminate()
    one.waits_for(restored)
    one.record.terminate()
    one.end("a second SIGTERM ends mctrace", [1], r"^mctrace: signal 15 \(Terminated\): the last calls were given up, so \S*stalls is incomplete\n$")

    one = Stalled(tracer)
    one.stall()
    one.record.terminate()
    one.waits_for(restored)
    time.sleep(2.5)
    got = one.read(lambda: False)
    one.end("a reader that reads at last", [0], "stalls takes the last calls slowly")
    check("it gets the whole recording", [] if struct.pack("<Q", CALL) * 8000 in got and b"\nseen 8000\n" in got
          else ["%d bytes" % len(got)])

    # The recording's first process writes the names of functions, before there is a follower.
    names = "".join("ffffffff81%06x T f%d\n" % (16 * nr, nr) for nr in range(8000))
    one = Stalled(tracer, kallsyms=names)
    one.waits_for(lambda: tracer.files()["mcount_enabled"] == "1\n")
    time.sleep(0.3)
    one.record.terminate()
    one.end("SIGTERM while the names of functions are written", [-15], "the tracer is as it was")

    one = Stalled(tracer, stats=OTHERS["stats"] + "# modules: 1\n")
    one.stall()
    put(tracer.path("kallsyms"), OTHERS["kallsyms"] + "ffffffffc0000000 t of_module\t[module]\n")
    put(tracer.path("stats"), OTHERS["stats"] + "# modules: 2\n")
    time.sleep(0.5)
    one.record.kill()
    one.end("the names of a module are written when mctrace is killed", [-9])


def given_up(tracer):
    """A second signal ends record while words that are not written yet keep it waiting. The recording reports that. The
    process that copies the rings is stopped meanwhile, so that it does not give up these words by itself."""
    out = tracer.path("out")
    for unwritten, status in ((10, 1), (0, 0)):
        tracer.reset()
        with subprocess.Popen([args.mctrace, "record", "-q", "-o", out], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "FAKE": tracer.folder}) as record:
            end = time.monotonic() + PATIENCE
            while tracer.files()["tracing_on"] != "1\n" and time.monotonic() < end:
                time.sleep(0.005)
            written = recordings.task_words(Task(1, 1, "init")) + [CALL] * 10
            words = tracer.record_words(written + [0] * unwritten)[:8 * len(written)]
            while words not in text_of_bytes(out) and time.monotonic() < end:
                time.sleep(0.005)
            copying = [pid for pid in children_of(record.pid) if comm_of(pid) == "mctrace"][0]
            if unwritten:
                os.kill(copying, signal.SIGSTOP)
            record.send_signal(signal.SIGINT)
            while of_rings(differences(tracer)) and time.monotonic() < end and unwritten:
                time.sleep(0.005)
            if unwritten:
                record.send_signal(signal.SIGINT)
                time.sleep(0.1)
                os.kill(copying, signal.SIGCONT)
            said = record.communicate(timeout=PATIENCE)[1]
        wanted = "mctrace: signal 2 (Interrupt): the last calls were given up, so %s is incomplete\n" % out
        check("record with %d words that are not written" % unwritten, judge(tracer, record.returncode, said) +
              ([] if said == wanted[:len(wanted) * status] and record.returncode == status else
               ["status %d, %s" % (record.returncode, said)]))
        got = text_of_bytes(out)
        check("the recording has the words before, and that status", [] if words in got and b"\nseen 10\n" in got and
              (b"\ngiven_up 1\n" in got) == bool(status) else ["it does not"])
        ran = subprocess.run([args.mctrace, "report", out], capture_output=True, text=True, check=False)
        wanted = r"^mctrace: \S*out is damaged at offset \d+: a second signal ended record, which gave up the last calls; " \
                 r"the part before that was shown\n$"
        check("report prints that status", [] if ran.returncode == status and ran.stdout.count(" <-- _stext") == 10 and
              re.search(wanted if status else "^$", ran.stderr) else ["%d, %s" % (ran.returncode, ran.stderr)])


def limited(tracer):
    """A temporary recording of packet or object ends when it takes more of the disk than its limit."""
    for most, wanted, blocks in ((16, 1, ""), (1024, 0, ""), (16, 1, "none"), (1024, 0, "none")):
        tracer.reset()
        out, words = tracer.path("out"), 0
        with subprocess.Popen([args.mctrace, "record", "-q", "--most", str(most), "-o", out], stderr=subprocess.PIPE,
                              env={**os.environ, "FAKE": tracer.folder, "BLOCKS": blocks}, text=True) as record:
            while not os.path.exists(out):
                time.sleep(0.01)
            for words in (4000, 8000):
                before = os.path.getsize(out)
                tracer.record_calls(words)
                end = time.monotonic() + PATIENCE
                while os.path.getsize(out) == before and record.poll() is None and time.monotonic() < end:
                    time.sleep(0.01)
            if not wanted:
                record.terminate()
            try:
                said = record.communicate(timeout=PATIENCE)[1]
            except subprocess.TimeoutExpired:
                record.kill()
                said = "a hang"
        size = os.path.getsize(out)
        check("a temporary recording with a limit of %d KiB, blocks: %s" % (most, blocks or "usual"), judge(tracer, None, said) +
              ([] if record.returncode == wanted and ("has reached its limit, " in said) == bool(wanted) else
               ["status %d, %s" % (record.returncode, said)]) +
              ([] if (8 * 4000 < size < 8 * 8000) == bool(wanted) else ["%d bytes" % size]))


def soon(tracer):
    """Words are in the file within a second, even if all processes but the keeper are killed then."""
    tracer.reset()
    with subprocess.Popen([args.mctrace, "record", "-q", "-o", tracer.path("out")],
                          env={**os.environ, "FAKE": tracer.folder}, stderr=subprocess.DEVNULL) as first:
        while not os.path.exists(tracer.path("out")):
            time.sleep(0.01)
        words = tracer.record_calls(10)
        time.sleep(1)
        for pid in [first.pid, *children_of(first.pid)]:
            if comm_of(pid) != "mctrace-restore":
                os.kill(pid, signal.SIGKILL)
    check("words are in the file within a second", judge(tracer, None, "") +
          ([] if words in text_of_bytes(tracer.path("out")) else ["they are not"]))


if __name__ == "__main__":
    sys.exit(main())
