# SPDX-License-Identifier: GPL-2.0
# Tests mctrace why: simulated system calls fail in known ways.
import json
import re
from errno import EINTR

import modules
import recordings
from harness import Case, compare_lists, growth, json_lines

NAMES = """__x64_sys_newfstatat __do_sys_newfstatat vfs_fstatat vfs_statx getname_flags
__x64_sys_flock __do_sys_flock __x64_sys_openat do_filp_open path_openat cleanup
__x64_sys_nanosleep hrtimer_nanosleep __x64_sys_rt_sigreturn __x64_sys_execve begin_new_exec
__x64_sys_sendmsg netlink_rcv_skb rtnetlink_rcv_msg rtnl_newlink __x64_sys_io_uring_enter
io_submit_sqes io_issue_sqe io_openat io_openat2 worker_thread process_one_work work_function
sk_error_report __udp4_lib_err x64_sys_call __x64_sys_exit_group __x64_sys_getpid
__x64_sys_newuname __do_sys_newuname __do_sys_pause __do_sys_rt_sigreturn up_read irq_enter_rcu
do_user_addr_fault handle_mm_fault asm_sysvec_apic_timer_interrupt
raw_irqentry_exit_cond_resched __x64_sys_pause __x64_sys_restart_syscall""".split()


class Kernel:
    """Simulates tasks, one at a time, whose calls return, jump, or fail."""
    def __init__(self, comm="cat", mode="graph", cpus=1):
        self.rec = recordings.Recording(cpus=cpus, late=False, mode=mode)
        self.rec.functions.load("fs", NAMES, 0xffffffffc0400000)
        self.run(0, self.rec.task(65, comm))

    def run(self, cpu, task):
        """Let @task make the next calls, on @cpu."""
        self.cpu, self.task = cpu, task
        self.rec.run(cpu, task)

    def call(self, *names, **how):
        for name in names:
            self.rec.wait(10)
            self.rec.call(self.cpu, name, **how)

    def untraced(self, name, instead=None):
        """Call an untraced function, or jump to it: no event."""
        self.task.stack.append(self.rec.frame(self.task, name, False, instead))

    def untraced_ends(self):
        self.task.stack.pop()

    def jump(self):
        return self.rec.leave(self.cpu, tail=True)

    def ret(self, error=0, pointer=True, place=0):
        """
        Return from the innermost call; before, if @error, leave the mark of '*:fail:mark'. @place: index of the
        function's exit.
        """
        self.rec.wait(10)
        if error:
            result = -error if pointer else -error & 0xffffffff
            ip = self.task.stack[-1].function.exits[place] & 0xffffffff
            self.rec.put(self.cpu, recordings.value_words(result) + [
                recordings.other_word(recordings.MARK, ip)], 0)
        self.rec.leave(self.cpu)

    def returns(self, error, nr):
        for _ in range(nr):
            self.ret(error)

    def rename(self, comm):
        stack = self.task.stack
        self.run(self.cpu, self.rec.task(65, comm))
        self.task.stack = stack


def lines(mctrace, folder, kernel, *options):
    """Return the lines that mctrace why prints, without offsets and modules."""
    case = Case(folder, "failing", kernel.rec)
    text = mctrace.text("why", "--from", case.path, *options)
    return re.sub(r"\+0x\S+| \[fs\]", "", text).splitlines()


def check_repeated(mctrace, folder):
    """
    Equal paths of equal errors are merged, wherever the system call's function returned. A function that entry code
    calls is a system call.
    """
    kernel = Kernel()
    for place in (0, 0, 1):
        kernel.call("ksys_read", "vfs_read")
        kernel.ret(21)
        kernel.ret(21, place=place)
    return compare_lists("line", lines(mctrace, folder, kernel), [
        "cat:65 ksys_read returned -EISDIR: Is a directory (3 times)",
        "    vfs_read   <- first"])


def places(kernel, name):
    """Return the function's exits, as mctrace prints them."""
    function = kernel.rec.functions.by_name[name]
    return ["%s+0x%x/0x%x" % (name.split(":")[-1], exit - function.address, function.size) for exit in function.exits]


def check_two_places(mctrace, folder):
    """Two returns of one function are two failures, also if the function passes the error on."""
    kernel = Kernel()
    for first, passes in ((0, 0), (1, 0), (0, 0), (0, 1)):
        kernel.call("ksys_read", "vfs_read", "filemap_read")
        kernel.ret(22, place=first)
        kernel.ret(22, place=passes)
        kernel.ret(22)
    case = Case(folder, "two places", kernel.rec)
    passes, first = places(kernel, "vfs_read"), places(kernel, "filemap_read")
    title = "cat:65 ksys_read returned -EINVAL: Invalid argument"
    wanted = [title + " (2 times)", "    " + passes[0], "      %s   <- first" % first[0],
              title, "    " + passes[0], "      %s   <- first" % first[1],
              title, "    " + passes[1], "      %s   <- first" % first[0]]
    return compare_lists("line", mctrace.text("why", "--from", case.path).splitlines(), wanted)


def check_two_modules(mctrace, folder):
    """Functions of one name in two modules are two failures, and other lines name the module, too."""
    kernel = Kernel()
    begin = recordings.MODULES_BEGIN + (1 << 20)
    for module in ("one", "two"):
        begin = modules.load_as(kernel.rec, module, ["probe", "remove"], begin)
    for module in ("one", "two", "one"):
        kernel.call("ksys_read", module + ":probe")
        kernel.call(module + ":remove")
        kernel.ret()
        kernel.returns(22, 2)
    case = Case(folder, "two modules", kernel.rec)
    got = mctrace.text("why", "--from", case.path).splitlines()
    title = "cat:65 ksys_read returned -EINVAL: Invalid argument"
    wanted = []
    for module, times in (("one", " (2 times)"), ("two", "")):
        place = places(kernel, module + ":probe")[0]
        wanted += [title + times,
                   "    %s [%s]   <- first, after a call of remove [%s]" % (place, module, module)]
    return compare_lists("line", got, wanted)


def check_json_modules(mctrace, folder):
    """In JSON each member that is a function has the form of the other commands: the title, the name, the module."""
    kernel = Kernel()
    begin = recordings.MODULES_BEGIN + (1 << 20)
    modules.load_as(kernel.rec, "one", ["probe", "remove", "open", "handle", "jumped"], begin)
    kernel.call("one:handle", "one:probe", "one:open")
    kernel.call("one:remove")
    kernel.ret()
    kernel.ret(22)                      # open
    kernel.call("one:remove")
    kernel.returns(22, 2)               # remove, probe
    kernel.ret()                        # handle
    kernel.call("__x64_sys_newuname")
    kernel.untraced("one:jumped", kernel.jump())
    kernel.call("kfree")
    kernel.ret()
    kernel.untraced_ends()
    case = Case(folder, "modules in JSON", kernel.rec)
    got = json_lines(mctrace.text("why", "--from", case.path, "--json", "--all"))

    def function(key, name, module="one"):
        parts = {key: name + " [%s]" % module if module else name, key + "_name": name}
        return {**parts, key + "_module": module} if module else parts

    handled = {**function("within", "handle"), **function("ended_in", "handle"), **function("first", "open"),
               **function("last_call", "remove"), **function("also", "remove")}
    unknown = {**function("first", "__x64_sys_newuname", "fs"), **function("untraced", "jumped"),
               **function("last_call", "kfree", None)}
    keys = [name + part for name in ("within", "ended_in", "first", "last_call", "also", "untraced")
            for part in ("", "_name", "_module")]
    return compare_lists("functions", [{key: one[key] for key in keys if key in one} for one in got],
                         [handled, unknown])


def check_names(mctrace, folder):
    """Errors that only the kernel uses have names, too."""
    kernel = Kernel()
    kernel.call("ksys_read")
    kernel.ret(517)
    wanted = "cat:65 ksys_read returned -EPROBE_DEFER: A driver must be probed again later"
    wrong = []
    for options in ((), ("-e", "EPROBE_DEFER"), ("-e", "517"), ("-e-517",), ("-e-EPROBE_DEFER",)):
        wrong += compare_lists("line", lines(mctrace, folder, kernel, *options)[:1], [wanted])
    path = Case(folder, "failing", kernel.rec).path
    for text in ("517x", "0", "-0", "4096", "", "+517", " 517", "EPROBE"):
        ran = mctrace.run("why", "--from", path, "-e", text)
        if ran.returncode != 2 or b"is no error" not in ran.stderr:
            wrong.append("-e '%s': status %d, %s" % (text, ran.returncode, ran.stderr.decode()))
    return wrong


def check_header(mctrace, folder, path):
    """The errors that only the kernel uses have the names of include/linux/errno.h, also for -e."""
    with open(path, encoding="utf-8") as file:
        names = {int(number): name for name, number in re.findall(r"^#define\s+(E\w+)\s+(\d+)\b", file.read(), re.M)}
    errors = range(510, max(names) + 3)
    kernel = Kernel()
    for error in errors:
        kernel.call("ksys_read")
        kernel.ret(error)
    case = Case(folder, "errors", kernel.rec)

    def named(*options):
        return [(one["errno"], one["name"]) for one in json_lines(mctrace.text("why", "--from", case.path, "--json",
                                                                               *options))]
    wrong = compare_lists("name", named(), [(error, names.get(error, "errno %d" % error)) for error in errors])
    for error, name in names.items():
        wrong += compare_lists("-e " + name, named("-e", name), [(error, name)])
    return wrong if min(names) == 512 and len(names) >= 19 else ["%s has only the errors %s" % (path, names)]


def check_selected(mctrace, folder):
    """Selections show only the failures of a task, a CPU or a time."""
    kernel = Kernel(cpus=2)
    one, two = kernel.task, kernel.rec.task(66, "dog")
    times = []
    for cpu, task, error in ((0, one, 2), (1, two, 13), (0, one, 22)):
        times.append(kernel.rec.now)
        kernel.run(cpu, task)
        kernel.call("ksys_read", "vfs_read")
        kernel.returns(error, 2)
    enoent, eacces, einval = "ENOENT", "EACCES", "EINVAL"
    case = Case(folder, "selected failures", kernel.rec)

    def shown(*options):
        return [one["name"] for one in json_lines(mctrace.text("why", "--from", case.path, "--json", *options))]

    wrong = compare_lists("all", shown(), [enoent, eacces, einval])
    for options, wanted in (
            (["--pid", "65"], [enoent, einval]), (["-P", "66"], [eacces]), (["-p66"], [eacces]),
            (["-p", "65", "--pid", "66"], [enoent, eacces, einval]), (["--tid", "66"], [eacces]),
            (["--task", "cat"], [enoent, einval]), (["--comm", "d*"], [eacces]), (["--cpu", "1"], [eacces]),
            (["--cpu", "0-1"], [enoent, eacces, einval]), (["--time", "%dns.." % times[1]], [eacces, einval]),
            (["--time", "..%dns" % times[1]], [enoent]), (["--time", "%dns..%dns" % tuple(times[1:])], [eacces]),
            (["--task", "cat", "--time", "%dns.." % times[1]], [einval])):
        wrong += compare_lists(" ".join(options), shown(*options), wanted)
    for options, said in ((["--pid", "67"], "has the pid 67"), (["--task", "cow"], "is called cow"),
                          (["--cpu", "2"], "no CPU 2"), (["--time", "9999.."], "no call in")):
        ran = mctrace.run("why", "--from", case.path, *options)
        if ran.returncode != 1 or said not in ran.stderr.decode() or ran.stdout:
            wrong.append("%s: status %d, %s%s" % (options, ran.returncode, ran.stdout, ran.stderr))
    for arguments in (["-p", "65", "true"], ["-P65", "--from", case.path, "true"]):
        ran = mctrace.run("why", *arguments)
        if ran.returncode != 2 or b"either a COMMAND, or --pid" not in ran.stderr:
            wrong.append("%s: status %d, %s" % (arguments, ran.returncode, ran.stderr))
    return wrong


def check_lines(mctrace, folder):
    """--lines prints the first failures, also those without a recorded result."""
    kernel = Kernel()
    for error in (2, 13, 2, 22):
        kernel.call("ksys_read", "vfs_read")
        kernel.returns(error, 2)
    kernel.call("__x64_sys_newuname")
    kernel.untraced("__do_sys_newuname", kernel.jump())
    kernel.untraced_ends()
    case = Case(folder, "first failures", kernel.rec)
    whole = mctrace.text("why", "--from", case.path, "--json").splitlines()
    wrong = compare_lists("names", [line["name"] for line in json_lines("\n".join(whole))],
                          ["ENOENT", "EACCES", "EINVAL", "?"])
    text = lines(mctrace, folder, kernel)
    for n, size in ((1, 2), (2, 4), (3, 6), (4, len(text)), (9, len(text))):
        wrong += compare_lists("JSON %d" % n, mctrace.text("why", "--from", case.path, "--json", "--lines",
                                                           str(n)).splitlines(), whole[:n])
        wrong += compare_lists("text %d" % n, lines(mctrace, folder, kernel, "--lines", str(n)), text[:size])
    return wrong


def check_jumps(mctrace, folder):
    """A system call's function jumps to an untraced function, and to a traced one."""
    kernel = Kernel()
    kernel.call("__x64_sys_newfstatat")
    kernel.untraced("__do_sys_newfstatat", kernel.jump())
    kernel.call("getname_flags")
    kernel.ret()
    kernel.call("vfs_fstatat", "vfs_statx")
    kernel.returns(2, 2)
    kernel.call("kfree")
    kernel.ret()
    kernel.untraced_ends()
    kernel.call("__x64_sys_flock")
    kernel.untraced("__do_sys_flock", kernel.jump())
    kernel.untraced_ends()
    kernel.call("__x64_sys_openat")
    kernel.call("do_filp_open", instead=kernel.jump())
    kernel.call("path_openat")
    kernel.returns(13, 2)
    return compare_lists("line", lines(mctrace, folder, kernel), [
        "cat:65 __x64_sys_newfstatat returned -ENOENT: No such file or directory",
        "    assumed: __x64_sys_newfstatat ends by a jump to a function that is not traced",
        "    vfs_fstatat   (called by __do_sys_newfstatat, which is not traced)",
        "      vfs_statx   <- first",
        "cat:65 __x64_sys_openat returned -EACCES: Permission denied",
        "    do_filp_open",
        "      path_openat   <- first",
        "These may have failed, too: no return shows their results.",
        "  cat:65 __x64_sys_flock: decided in __x64_sys_flock, or in what it jumped to"])


def check_entries(mctrace, folder):
    """
    Each function that entry code jumps to is a new system call, though all return to the same
    place. A page fault meanwhile does not decide on the error. The last call does not return.
    """
    kernel = Kernel()
    kernel.call("x64_sys_call")
    entry = kernel.jump()
    kernel.call("__x64_sys_newfstatat", instead=entry)
    kernel.untraced("__do_sys_newfstatat", kernel.jump())
    kernel.untraced("asm_sysvec_apic_timer_interrupt")
    kernel.call("raw_irqentry_exit_cond_resched")
    kernel.jump()
    kernel.untraced_ends()
    kernel.call("vfs_fstatat")
    kernel.ret(2)
    kernel.untraced("do_user_addr_fault")
    kernel.call("handle_mm_fault")
    kernel.ret(14)
    kernel.untraced_ends()
    kernel.untraced("asm_sysvec_apic_timer_interrupt")
    kernel.call("irq_enter_rcu")
    kernel.ret(5)
    kernel.untraced_ends()
    kernel.untraced_ends()
    kernel.call("x64_sys_call", instead=entry)
    kernel.call("__x64_sys_exit_group")
    return compare_lists("line", lines(mctrace, folder, kernel), [
        "cat:65 __x64_sys_newfstatat returned -ENOENT: No such file or directory",
        "    assumed: __x64_sys_newfstatat ends by a jump to a function that is not traced",
        "    vfs_fstatat   (called by __do_sys_newfstatat, which is not traced)   <- first"])


def check_entries_returns(mctrace, folder):
    """The return of entry code has the system call's result, even if that function jumped."""
    kernel = Kernel()
    for error in (11, 0):
        kernel.call("x64_sys_call", "__x64_sys_flock")
        kernel.untraced("__do_sys_flock", kernel.jump())
        kernel.call("kfree")
        kernel.ret(5)
        kernel.untraced_ends()
        kernel.ret(error)
    kernel.call("x64_sys_call", "__x64_sys_openat")
    kernel.returns(13, 2)
    return compare_lists("line", lines(mctrace, folder, kernel), [
        "cat:65 __x64_sys_flock returned -EAGAIN: Resource temporarily unavailable",
        "    __x64_sys_flock   <- first, or what it jumped to, after a call of kfree",
        "cat:65 __x64_sys_openat returned -EACCES: Permission denied",
        "    __x64_sys_openat   <- first"])


def check_unknown(mctrace, folder):
    """System calls of unknown result are listed, except for those that never fail."""
    kernel = Kernel()
    for name, called in (("newuname", "up_read"), ("newuname", "up_read"), ("getpid", "up_read")):
        kernel.call("__x64_sys_" + name)
        kernel.untraced("__do_sys_newuname", kernel.jump())
        kernel.call(called)
        kernel.ret()
        kernel.untraced_ends()
    kernel.call("ksys_read")
    kernel.ret(9)
    unknown = ["These may have failed, too: no return shows their results.",
               "  cat:65 __x64_sys_newuname (2 times): decided in __x64_sys_newuname, or in "
               "__do_sys_newuname, which is not traced, after a call of up_read"]
    wrong = compare_lists("line", lines(mctrace, folder, kernel), [
        "cat:65 ksys_read returned -EBADF: Bad file descriptor", "    ksys_read   <- first"] +
                          unknown)
    wrong += compare_lists("-e", lines(mctrace, folder, kernel, "-e", "EFAULT"),
                           ["no system call failed so"] + unknown)
    case = Case(folder, "failing", kernel.rec)
    got = json_lines(mctrace.text("why", "--from", case.path, "--json"))
    return wrong + compare_lists("JSON", [(one["kind"], one["system_call"], one["errno"],
                                           one["times"], one.get("untraced_name")) for one in got],
                                 [("system call", "ksys_read", 9, 1, None),
                                  ("unknown", "__x64_sys_newuname", 0, 2, "__do_sys_newuname")])


def check_pointers(mctrace, folder):
    """Errors as pointers and as ints are equal, also if a caller converts them."""
    kernel = Kernel()
    kernel.call("__x64_sys_openat", "do_filp_open", "path_openat")
    kernel.ret(2, pointer=True)
    kernel.ret(2, pointer=True)
    kernel.ret(2, pointer=False)
    return compare_lists("line", lines(mctrace, folder, kernel)[1:], [
        "    do_filp_open", "      path_openat   <- first"])


def check_deciders(mctrace, folder):
    """Of several calls with the error the first decided, unless its function was called again."""
    def cleaned(args=(), again=False):
        kernel = Kernel()
        kernel.call("__x64_sys_openat")
        for _ in range(1 + again):
            kernel.call("do_filp_open")
            kernel.call("kfree")
            kernel.ret()
            kernel.ret(22)
        kernel.call("cleanup", args=args)
        kernel.ret(22)
        kernel.ret(22)
        return kernel

    first = ["    do_filp_open   <- first, after a call of kfree"]
    doubt = ["    unless cleanup decided: it returned the same later"]
    wrong = compare_lists("doubtful", lines(mctrace, folder, cleaned())[1:], first + doubt)
    wrong += compare_lists("handed", lines(mctrace, folder, cleaned([7, -22]))[1:], first)
    wrong += compare_lists("again", lines(mctrace, folder, cleaned(again=True))[1:],
                           first + doubt)
    return wrong


def check_interrupts(mctrace, folder):
    """The errors of an interrupt's functions are not a result."""
    kernel = Kernel()
    kernel.call("__x64_sys_openat")
    kernel.call("sysvec_apic_timer_interrupt", irq=True)
    kernel.call("update_curr")
    kernel.returns(22, 2)
    kernel.call("do_filp_open")
    kernel.returns(22, 2)
    return compare_lists("line", lines(mctrace, folder, kernel)[1:],
                         ["    do_filp_open   <- first"])


def check_signals(mctrace, folder):
    """The system call that a signal interrupts is shown; the handler's sigreturn is not."""
    kernel = Kernel()
    for handler in (True, False):
        kernel.call("__x64_sys_nanosleep", "hrtimer_nanosleep")
        if not handler:
            kernel.call("schedule")
            kernel.ret()
        kernel.returns(516 if handler else 513, 2)
        if handler:
            kernel.call("__x64_sys_rt_sigreturn")
            kernel.ret(4)
    kernel.call("x64_sys_call")
    entry = kernel.jump()
    for name, error in (("pause", 514), ("rt_sigreturn", 4)):   # the function's other name
        kernel.call("__do_sys_" + name, instead=entry)
        kernel.ret(error)
        kernel.call("x64_sys_call", instead=entry)
        kernel.jump()
    interrupted = ["cat:65 __x64_sys_nanosleep returned -ERESTART_RESTARTBLOCK: "
                   "Interrupted by a signal",
                   "    the program got EINTR", "    hrtimer_nanosleep   <- first"]
    again = ["cat:65 __x64_sys_nanosleep returned -ERESTARTNOINTR: Interrupted by a signal",
             "    the kernel begins the call again, unless a signal's handler prevents it",
             "    hrtimer_nanosleep   <- first, after a call of schedule"]
    paused = ["cat:65 __do_sys_pause returned -ERESTARTNOHAND: Interrupted by a signal",
              "    the program got EINTR", "    __do_sys_pause   <- first"]
    wrong = compare_lists("line", lines(mctrace, folder, kernel), interrupted + again + paused)
    wrong += compare_lists("EINTR", lines(mctrace, folder, kernel, "-e", "EINTR"),
                           interrupted + paused)
    wrong += compare_lists("513", lines(mctrace, folder, kernel, "-e", "ERESTARTNOINTR"), again)
    return wrong


def check_signals_of_tasks(mctrace, folder):
    """
    Equal interrupted calls of two tasks are two failures: one may be restarted, and the other one return EINTR. A pid
    that is used again is another task. A call returns EINTR once.
    """
    kernel = Kernel()
    one, two = kernel.task, kernel.rec.task(66, "dog")
    for task in (one, two):
        kernel.run(0, task)
        kernel.call("__x64_sys_nanosleep", "hrtimer_nanosleep")
        kernel.returns(516, 2)
    for _ in range(2):
        kernel.call("__x64_sys_rt_sigreturn")
        kernel.ret(4)
    kernel.call("__x64_sys_exit_group")
    kernel.call("do_exit")
    kernel.run(0, kernel.rec.task(66, "fox", tgid=67))
    kernel.call("__x64_sys_rt_sigreturn")
    kernel.ret(4)
    title = "%s __x64_sys_nanosleep returned -ERESTART_RESTARTBLOCK: Interrupted by a signal"
    again = "    the kernel begins the call again, unless a signal's handler prevents it"
    way = ["    hrtimer_nanosleep   <- first"]
    interrupted = [title % "dog:66", "    the program got EINTR", *way]
    wrong = compare_lists("line", lines(mctrace, folder, kernel), [title % "cat:65", again, *way, *interrupted])
    wrong += compare_lists("EINTR", lines(mctrace, folder, kernel, "-e", "EINTR"), interrupted)
    got = json_lines(mctrace.text("why", "--from", Case(folder, "signals", kernel.rec).path, "--json"))
    return wrong + compare_lists("JSON", [[one["pid"], one["times"], one.get("eintr")] for one in got],
                                 [[65, 1, None], [66, 1, 1]])


def check_nested_signals(mctrace, folder):
    """A signal's handler makes a system call that another signal interrupts: both return EINTR."""
    wrong = []
    #        what the handlers do in the first one's, and the calls that must return EINTR
    cases = ((["pause", EINTR], {"nanosleep": 1, "pause": 1}),
             (["nanosleep", EINTR], {"nanosleep": 2}),
             (["pause", 0, "pause again"], {"nanosleep": 1}),            # with SA_RESTART
             (["pause", "pause again"], {"nanosleep": 1}),               # without a handler
             (["pause", "pause", "pause again"], {"nanosleep": 1}),
             (["pause", "restart_syscall again"], {"nanosleep": 1}),
             (["nanosleep again"], {"nanosleep": 1}),                    # the handler sleeps, uninterrupted
             ([0], {"nanosleep": 1}),                                    # a handler of another signal, at the same time
             (["pause", "nanosleep", EINTR, EINTR], {"nanosleep": 2, "pause": 1}),
             (["pause", EINTR] * 40, {"nanosleep": 1, "pause": 40}))
    for nr, (steps, wanted) in enumerate(cases):
        kernel = Kernel()
        for step in ["nanosleep", *steps, EINTR]:
            if isinstance(step, int):
                kernel.call("__x64_sys_rt_sigreturn")
                kernel.ret(step)
            else:
                name, *again = step.split()
                kernel.call("__x64_sys_" + name)
                kernel.ret(0 if again else 514)
        path = Case(folder, "nested signals %d" % nr, kernel.rec).path
        got = {line["system_call"].replace("__x64_sys_", ""): line["eintr"]
               for line in json_lines(mctrace.text("why", "--from", path, "--json")) if "eintr" in line}
        wrong += [] if got == wanted else ["%s: %s, not %s" % (steps, got, wanted)]
    kernel = Kernel()
    for _ in range(100):
        kernel.call("__x64_sys_nanosleep")
        kernel.ret(514)
    for _ in range(100):
        kernel.call("__x64_sys_rt_sigreturn")
        kernel.ret(EINTR)
    path = Case(folder, "deeply nested signals", kernel.rec).path
    got = [line["eintr"] for line in json_lines(mctrace.text("why", "--from", path, "--json"))]
    return wrong + compare_lists("eintr", got, [16])


def many_failures(nr):
    """Equal errors of many different functions."""
    kernel = Kernel()
    names = ["fail%d" % i for i in range(nr)]
    kernel.rec.functions.load("many", names, 0xffffffffc1000000)
    for name in names:
        kernel.call("ksys_read", name)
        kernel.returns(5, 2)
    return kernel.rec


def many_jumps(nr):
    """Two functions that jump to each other. Each is given an error that it does not return, and the last one fails."""
    kernel = Kernel()
    kernel.call("ksys_read")
    jumped = None
    for i in range(nr):
        kernel.call(("vfs_read", "filemap_read")[i % 2], **({"instead": jumped} if jumped else {}))
        kernel.call("dput")
        kernel.ret(2)
        if i < nr - 1:
            jumped = kernel.jump()
    kernel.returns(5, 2)
    return kernel.rec


def check_many(mctrace, folder):
    """The time and the text of failures are not quadratic in their number, nor in that of jumps."""
    few, many = [len(mctrace.text("why", "--all", "--from", Case(folder, "text %d" % nr, many_jumps(nr)).path))
                 for nr in (400, 4000)]
    wrong = [] if many <= 15 * few else ["%d bytes of text, then %d" % (few, many)]
    return wrong + [line for make in (many_failures, many_jumps) for line in growth(
        mctrace, lambda nr, make=make: Case(folder, "%s %d" % (make.__name__, nr), make(nr)), "why", "--all", "--from")]


def elsewhere():
    kernel = Kernel("ip")
    kernel.call("__x64_sys_sendmsg", "netlink_rcv_skb", "rtnetlink_rcv_msg")
    kernel.ret(4)                       # netlink: a dump has begun
    kernel.returns(0, 2)
    kernel.call("__x64_sys_sendmsg", "netlink_rcv_skb", "rtnetlink_rcv_msg", "rtnl_newlink")
    kernel.returns(17, 2)
    kernel.returns(0, 2)
    kernel.call("__x64_sys_io_uring_enter", "io_submit_sqes", "io_issue_sqe")
    kernel.ret(11)                      # io_uring: a worker tries again
    kernel.returns(0, 2)
    kernel.call("__x64_sys_io_uring_enter", "io_submit_sqes", "io_issue_sqe", "io_openat")
    kernel.call("io_openat2", instead=kernel.jump())
    kernel.call("do_filp_open")
    kernel.ret(2)
    kernel.returns(0, 4)
    kernel.call("process_one_work", "work_function", "vfs_read")
    kernel.ret(5)
    kernel.returns(0, 2)
    kernel.call("sysvec_apic_timer_interrupt", irq=True)
    kernel.call("__udp4_lib_err")
    kernel.call("sk_error_report", data=(111).to_bytes(4, "little"))
    kernel.returns(0, 3)
    kernel.call("ksys_read", "vfs_read", "filemap_read")
    kernel.ret(11)
    kernel.returns(0, 2)
    return kernel


def check_elsewhere(mctrace, folder):
    """Errors that no system call returns, sorted by the part that reports them."""
    known = ["ip:65 netlink: -EEXIST: File exists",
             "    ended in netlink_rcv_skb, which returned no error, in __x64_sys_sendmsg",
             "    rtnetlink_rcv_msg", "      rtnl_newlink   <- first",
             "ip:65 io_uring: -ENOENT: No such file or directory",
             "    ended in io_openat2, which returned no error, in __x64_sys_io_uring_enter",
             "    do_filp_open   <- first",
             "ip:65 socket: -ECONNREFUSED: Connection refused",
             "    sysvec_apic_timer_interrupt", "      __udp4_lib_err",
             "        sk_error_report",
             "ip:65 worker: -EIO: Input/output error",
             "    ended in work_function, which returned no error, in process_one_work",
             "    vfs_read   <- first"]
    handled = ["ip:65 handled: -EAGAIN: Resource temporarily unavailable",
               "    ended in vfs_read, which returned no error, in ksys_read",
               "    filemap_read   <- first"]
    dump = ["ip:65 handled: -EINTR: Interrupted system call",
            "    ended in netlink_rcv_skb, which returned no error, in __x64_sys_sendmsg",
            "    rtnetlink_rcv_msg   <- first"]
    again = ["ip:65 handled: -EAGAIN: Resource temporarily unavailable",
             "    ended in io_submit_sqes, which returned no error, in __x64_sys_io_uring_enter",
             "    io_issue_sqe   <- first"]
    kernel = elsewhere()
    wrong = compare_lists("line", lines(mctrace, folder, kernel), known)
    wrong += compare_lists("--all", lines(mctrace, folder, kernel, "--all"),
                           known + dump + again + handled)
    wrong += compare_lists("-e", lines(mctrace, folder, kernel, "-e", "EAGAIN"), [
        "no system call failed so", "errors that the kernel handled itself: 3; --all shows them"])
    case = Case(folder, "failing", kernel.rec)
    got = json_lines(mctrace.text("why", "--from", case.path, "--json"))
    wrong += compare_lists("kinds", [one["kind"] for one in got],
                           ["netlink", "io_uring", "socket", "worker"])
    wrong += compare_lists("ended", [one.get("ended_in_name") for one in got],
                           ["netlink_rcv_skb", "io_openat2", None, "work_function"])
    if any("system_call" in one for one in got):
        wrong.append("a system call is shown: " + json.dumps(got))
    return wrong


def check_sockets(mctrace, folder):
    """
    -e finds a socket's error by its number, and keeps an error without a number. A number of 0 is no error, and one
    that no errno has is not known.
    """
    kernel = Kernel()
    for name, number in (("vfs_read", 111), ("vfs_open", None), ("vfs_write", 0), ("do_filp_open", -5)):
        kernel.call(name)
        kernel.call("sk_error_report", data=b"" if number is None else number.to_bytes(4, "little", signed=True))
        kernel.returns(0, 2)
    kernel.call("ksys_read")
    kernel.ret(9)
    refused = ["cat:65 socket: -ECONNREFUSED: Connection refused", "    vfs_read", "      sk_error_report"]
    unknown = []
    for name in ("vfs_open", "do_filp_open"):
        unknown += ["cat:65 socket: an error (number not known)", "    " + name, "      sk_error_report"]
    bad = ["cat:65 ksys_read returned -EBADF: Bad file descriptor", "    ksys_read   <- first"]
    wrong = []
    for options, wanted in (([], bad + refused + unknown), (["-e", "ECONNREFUSED"], refused + unknown),
                            (["-e", "EBADF"], bad + unknown), (["-e", "EIO"], unknown)):
        wrong += compare_lists(" ".join(options), lines(mctrace, folder, kernel, *options), wanted)
    case = Case(folder, "failing", kernel.rec)
    got = json_lines(mctrace.text("why", "--from", case.path, "--json", "-e", "ECONNREFUSED"))
    return wrong + compare_lists("JSON", [(one["errno"], one["name"]) for one in got],
                                 [(111, "ECONNREFUSED"), (0, "?"), (0, "?")])


def check_caught(mctrace, folder):
    """A kernel that catches returns records no jump: io_openat jumps to io_openat2, and both return to io_issue_sqe."""
    kernel = Kernel("iou-wrk-9")
    kernel.call("io_submit_sqes", "io_issue_sqe", "io_openat")
    kernel.call("io_openat2", instead=kernel.task.stack[-1])
    kernel.call("do_filp_open")
    kernel.ret(2)
    kernel.returns(0, 4)
    return compare_lists("line", lines(mctrace, folder, kernel), [
        "iou-wrk-9:65 io_uring: -ENOENT: No such file or directory",
        "    ended in io_openat2, which returned no error, in io_submit_sqes", "    do_filp_open   <- first"])


def check_seen_by(mctrace, folder):
    """A warning is printed if rethook saw the returns, and if failures are shown."""
    wrong = []
    said = "mctrace: returns by rethook: a place is its function's head, not the return\n"
    for how, options, wanted in (("rethook", [], said), ("rethook", ["--json"], said), ("rethook", ["-e", "EIO"], ""),
                                 ("sites", [], ""), (None, [], "")):
        kernel = Kernel()
        kernel.rec.info = "returns %s\n" % how if how else ""
        kernel.call("ksys_read")
        kernel.ret(9)
        ran = mctrace.run("why", "--from", Case(folder, "seen by", kernel.rec).path, *options)
        if ran.returncode or ran.stderr.decode() != wanted:
            wrong.append("%s %s: status %d, '%s'" % (how, options, ran.returncode, ran.stderr.decode()))
    return wrong


def check_workqueue(mctrace, folder):
    """
    In a recording of all tasks, each error that a work item's function got is shown, also if the error is still in the
    register when the function, which returns nothing, ends.
    """
    kernel = Kernel()
    cat = kernel.task
    worker = kernel.rec.task(9, "kworker/0:1", inside=["worker_thread", "schedule"])     # it slept when recording began
    kernel.call("ksys_read")
    kernel.ret(9)
    kernel.run(0, worker)
    kernel.ret()
    for left in (0, 5):
        kernel.call("process_one_work", "work_function", "vfs_read", "filemap_read")
        kernel.returns(5, 2)
        kernel.ret(left)
        kernel.ret()
        kernel.call("schedule")
        kernel.run(0, cat)
        kernel.call("kfree")
        kernel.ret()
        kernel.run(0, worker)
        kernel.ret()
    kernel.call("process_one_work", "work_function", "vfs_write", "vfs_read")
    kernel.ret(28)
    kernel.returns(0, 3)
    title, way = "kworker/0:1:9 worker: -EIO: Input/output error", ["    vfs_read", "      filemap_read   <- first"]
    got = [title, "    ended in work_function, which returned no error, in process_one_work", *way]
    passed = [title, "    ended in process_one_work, which returned no error",
              "    work_function", "      vfs_read", "        filemap_read   <- first"]
    handled = ["kworker/0:1:9 handled: -ENOSPC: No space left on device",
               "    ended in vfs_write, which returned no error, in process_one_work", "    vfs_read   <- first"]
    bad = ["cat:65 ksys_read returned -EBADF: Bad file descriptor", "    ksys_read   <- first"]
    wrong = []
    for options, wanted in (([], bad + got + passed), (["--task", "kworker/*"], got + passed),
                            (["--all", "--task", "kworker/*"], got + passed + handled)):
        wrong += compare_lists(" ".join(options), lines(mctrace, folder, kernel, *options), wanted)
    return wrong


def check_own(mctrace, folder):
    """Calls of mctrace before exec() succeeds are not shown."""
    kernel = Kernel("exe")
    kernel.call("__x64_sys_execve", "do_filp_open")
    kernel.returns(2, 2)
    kernel.call("__x64_sys_execve", "begin_new_exec")
    kernel.rename("mctrace")
    kernel.returns(0, 2)
    kernel.call("ksys_read")
    kernel.ret(9)
    got = lines(mctrace, folder, kernel)
    return compare_lists("line", got, ["mctrace:65 ksys_read returned -EBADF: "
                                       "Bad file descriptor", "    ksys_read   <- first"])


def check_places(mctrace, folder):
    """Each function is shown with the place of its return. mctrace.sh uses the recording."""
    kernel = Kernel()
    kernel.call("ksys_read", "vfs_read")
    kernel.returns(21, 2)
    case = Case(folder, "places", kernel.rec)
    wanted = places(kernel, "vfs_read")[0]
    got = json_lines(mctrace.text("why", "--from", case.path, "--json"))
    return compare_lists("place", [one["path"][-1]["function"] for one in got], [wanted])


def check_no_answer(mctrace, folder):
    """A recording without marks of errors, or without returns, is an error."""
    wrong = []
    for name, kernel, missing in (("no-marks", Kernel(), "no marks of errors"),
                                  ("no-returns", Kernel(mode="function"), "no returns")):
        kernel.call("ksys_read")
        kernel.ret()
        case = Case(folder, name, kernel.rec)
        ran = mctrace.run("why", "--from", case.path)
        if ran.returncode != 1 or missing not in ran.stderr.decode() or ran.stdout:
            wrong.append("%s: status %d, '%s'" % (name, ran.returncode, ran.stderr.decode()))
    return wrong


def tests():
    """Return (name, check) of all tests."""
    return (("equal failures are merged", check_repeated),
            ("returns at two places", check_two_places),
            ("functions of one name in two modules", check_two_modules),
            ("modules of functions in JSON", check_json_modules),
            ("failures of a task, a CPU, a time", check_selected),
            ("--lines", check_lines),
            ("names of errors", check_names),
            ("jumps to untraced functions", check_jumps),
            ("entry code that jumps", check_entries),
            ("entry code that returns", check_entries_returns),
            ("results that were not recorded", check_unknown),
            ("errors as pointers", check_pointers),
            ("the function that decided", check_deciders),
            ("errors of interrupts are not results", check_interrupts),
            ("signals", check_signals),
            ("signals of several tasks", check_signals_of_tasks),
            ("signals in handlers of signals", check_nested_signals),
            ("time by the number of failures", check_many),
            ("errors that end elsewhere", check_elsewhere),
            ("errors of sockets", check_sockets),
            ("jumps where returns are caught", check_caught),
            ("errors of workqueues", check_workqueue),
            ("a warning if rethook saw the returns", check_seen_by),
            ("mctrace's own start is not shown", check_own),
            ("places of returns", check_places),
            ("recordings without an answer", check_no_answer))
