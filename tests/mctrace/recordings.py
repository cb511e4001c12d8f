#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Make recordings of mctrace whose truth is known: simulate tasks that call functions on CPUs, write
# what the kernel would record, and return what mctrace must find in the recording.
#
# As a program:   python3 recordings.py -o mctrace.dat --truth truth.json --seed 1 --events 5000
# As a module:    rec = Recording(cpus=2)
#                 task = rec.task(65, "cat")
#                 rec.run(0, task)
#                 rec.call(0, "vfs_read")
#                 rec.wait(1000)
#                 rec.leave(0)
#                 rec.write("mctrace.dat")
#                 rec.truth()
import argparse
import array
import json
import random
import struct
import subprocess
import sys

# --- words: include/uapi/linux/mctracer.h ---

VALID = 1 << 63
CALL = 1 << 31
TIME, MORE, TASK, META, CONTEXT, VALUE, DATA, RETURN = range(8)
COUNT, CLOCK, GAP, FRAME, MARK, TOOK, OBJECT, MODULE_COUNT, STREAM = 1, 2, 3, 4, 5, 6, 7, 8, 9
MAGIC, VERSION = 0x7274636d, 3
BASE = 0xffffffff80000000
GAP_UNCOUNTED = 1 << 52
DATA_BITS = 59
META_SHIFT = 53
POSITION_MASK = (1 << 54) - 1
RETURN_TAIL = 1
CLOCK_IS_NS = 1 << 38
CONTEXT_UNKNOWN = 0x40000000
CONTEXT_HARDIRQ = 0x00010000
CONTEXT_IRQS_OFF = 0x01000000
MARK_MARK, MARK_ON, MARK_OFF, MARK_OFF_SOON, MARK_SNAPSHOT, MARK_FOLLOW_FULL = 0, 1, 2, 3, 4, 5
OBJECT_NESTED, OBJECT_RETURNED = 0, 7
OBJECT_ROLE_SHIFT = 32
DATA_SHIFT = 56
DATA_BYTES = 7


def make_word(kind, data):
    return VALID | (data & 0x7fffffff) << 32 | kind << 28 | data >> 31 & 0xfffffff


def other_word(which, value):
    return make_word(META, which << META_SHIFT | value)


def call_word(ip, parent_ip):
    return VALID | (parent_ip & 0x7fffffff) << 32 | CALL | ip & 0xffffffff


def return_word(ip, how):
    return make_word(RETURN, how << 31 | ip & 0x7fffffff)


def value_words(value):
    data = value & (1 << 64) - 1
    words = [make_word(VALUE, data & (1 << DATA_BITS) - 1)]
    if not -(1 << DATA_BITS - 1) <= value < 1 << DATA_BITS - 1:
        words.append(make_word(MORE, data >> DATA_BITS))
    return words


def data_words(data):
    parts = [data[at:at + DATA_BYTES] for at in range(0, len(data), DATA_BYTES)]
    return [make_word(DATA, len(part) << DATA_SHIFT | int.from_bytes(part, "little"))
            for part in parts]


def object_words(objects):
    """Make words of texts: "3:1" is argument 1, "+3:1" begins, "-3:ret" ends, "3" is no argument."""
    words = []
    for text in objects:
        number, _, role = text.lstrip("+-").partition(":")
        role = {"": OBJECT_NESTED, "ret": OBJECT_RETURNED}.get(role) or int(role or 0)
        flag = {"+": 1 << 36, "-": 1 << 37}.get(text[0], 0)
        words.append(other_word(OBJECT, int(number) | role << OBJECT_ROLE_SHIFT | flag))
    return words


def task_words(task):
    comm = task.comm.encode("utf-8", "surrogateescape")[:15].ljust(15, b"\0")
    return [make_word(TASK, task.pid | comm[0] << 44), make_word(MORE, task.tgid),
            make_word(MORE, int.from_bytes(comm[1:8], "little")),
            make_word(MORE, int.from_bytes(comm[8:15], "little"))]


def stream_words(cpu):
    return [other_word(STREAM, MAGIC | VERSION << 32), make_word(MORE, cpu), make_word(MORE, BASE >> 12)]


def clock_words(offset, shift=0):
    offset &= (1 << 64) - 1
    value = 1 | shift << 32 | CLOCK_IS_NS | offset >> DATA_BITS << 40       # mult 1
    return [other_word(CLOCK, value), make_word(MORE, offset & (1 << DATA_BITS) - 1)]


NOTHING = make_word(TIME, 0)

# --- functions and their addresses ---

STEXT = 0xffffffff81000000
MODULES_BEGIN = 0xffffffffc0200000
CORE = """vfs_read vfs_write vfs_open ksys_read ksys_write do_sys_openat2 path_openat alloc_fd
rw_verify_area security_file_permission _raw_spin_lock _raw_spin_unlock __rcu_read_lock
__rcu_read_unlock kmem_cache_alloc kmem_cache_free __kmalloc kfree page_cache_get try_charge
filemap_read copy_page_to_iter touch_atime link_path_walk walk_component lookup_fast dput mntput
schedule __schedule pick_next_task_fair update_curr enqueue_task_fair dequeue_task_fair
try_to_wake_up hrtimer_interrupt tick_nohz_handler irq_enter_rcu irq_exit_rcu handle_irq_event
free_pcppages_bulk __mod_zone_page_state mutex_lock mutex_unlock finish_task_switch""".split()
MODULES = {
    "ext4": "ext4_map_blocks ext4_file_read_iter ext4_da_write_begin ext4_getblk".split(),
    "nf_tables": "nft_do_chain nft_lookup_eval".split(),
}
INTERRUPTS = {
    "sysvec_apic_timer_interrupt": "asm_sysvec_apic_timer_interrupt",
    "common_interrupt": "asm_common_interrupt",
}
NEVER_RETURN = ["do_exit"]
CALLERS = ["do_syscall_64", "ret_from_fork_asm", "cpu_startup_entry", *INTERRUPTS.values()]
SLEEPS = ["schedule", "__schedule"]
COLD = ["vfs_read", "do_sys_openat2", "kfree", "ext4_map_blocks"]
ALIASES = {"vfs_open": "vfs_open_alias"}        # second names of addresses
USUAL = CORE + [name for names in MODULES.values() for name in names]


class Function:
    def __init__(self, name, address, size, rng):
        self.name = name
        self.address = address
        self.size = size
        self.cold = None        # the cold part, another Function
        self.entry = address + rng.choice([5, 9])
        # A recorded address is after an instruction, which may be the function's last one.
        self.exits = [address + size, address + rng.randrange(12, size)]
        self.sites = [address + rng.randrange(12, size + 1) for _ in range(6)]


class Functions:
    def __init__(self, rng):
        self.rng = rng
        self.by_name = {}
        self.lines = ["0000000000000000 D per_cpu_start"]
        self.lines.append("%016x T _stext" % STEXT)
        address = STEXT + 0x1000
        for name in CALLERS + CORE + list(INTERRUPTS) + NEVER_RETURN:
            address = self.add(name, address, "")
        self.lines.append("%016x D some_data" % address)
        address = 0xffffffff81c00000
        for name in COLD:
            if name in CORE:
                address = self.add_cold(name, address, "")
        self.lines.append("%016x T _etext" % address)
        address = MODULES_BEGIN
        for module, names in MODULES.items():
            address = self.load(module, names, address)

    def load(self, module, names, address):
        """Load a module at @address. Return the next free address."""
        for name in names:
            address = self.add(name, address, "\t[%s]" % module)
            if name in COLD:
                address = self.add_cold(name, address, "\t[%s]" % module)
        return (address + 0x1fff) & ~0xfff

    def unload(self, module):
        self.lines = [line for line in self.lines if not line.endswith("\t[%s]" % module)]

    def add(self, name, address, module):
        size = 16 * self.rng.randrange(3, 60)
        self.by_name[name] = Function(name, address, size, self.rng)
        self.lines.append("%016x %s %s%s" % (address, self.rng.choice("tT"), name, module))
        if name in ALIASES:
            self.lines.append("%016x T %s%s" % (address, ALIASES[name], module))
        return address + size

    def add_cold(self, name, address, module):
        size = 16 * self.rng.randrange(2, 8)
        self.by_name[name].cold = Function(name, address, size, self.rng)
        self.lines.append("%016x t %s.cold%s" % (address, name, module))
        return address + size

    def kallsyms(self):
        return "\n".join(self.lines) + "\n"


# --- tasks and the truth ---

class Frame:
    """A call that has not returned."""
    def __init__(self, function, caller, parent_ip, irq):
        self.function = function
        self.caller = caller
        self.parent_ip = parent_ip
        self.irq = irq
        self.ns = 0
        self.callees_ns = 0     # in direct callees that have returned
        self.off = 0            # the task's ns off the CPU before
        self.callees_off = 0    # as callees_ns, off the CPU


class Task:
    def __init__(self, pid, comm, tgid, label):
        self.pid = pid
        self.tgid = tgid
        self.comm = comm
        self.label = label
        self.stack = []         # all open calls, as Frame
        self.known = []         # open calls that a reader of the recording knows
        self.last = None        # latest event: ns, CPU, and the Frame of a call
        self.off = 0            # ns off the CPU so far


class Truth:
    """What mctrace must find in the recording."""
    def __init__(self):
        self.functions = {}
        self.folded = {}
        self.events = []
        self.offs = []          # by event: the task's ns off the CPU so far
        self.callers = []       # by call: name of the caller
        self.open = []          # tasks that have or had known calls
        self.running = {}       # by CPU: the task of the latest event

    def of(self, name):
        return self.functions.setdefault(name, {"calls": 0, "total_ns": 0, "self_ns": 0,
                                                "durations": [], "total_cpu_ns": 0,
                                                "self_cpu_ns": 0, "cpu_durations": []})

    def event(self, task, what, *rest):
        self.events.append([task.label, len(task.known), what, *rest])
        self.offs.append(task.off)

    def pass_time(self, task, ns, cpu, frame=None, away=False):
        """Update @task's time at an event; a call has a @frame. @away: @task was off the CPU before."""
        if task.last:
            before, where, _ = task.last
            if away or where != cpu or self.running.get(cpu) is not task:
                task.off += ns - before
        self.running[cpu] = task
        task.last = (ns, cpu, frame)

    def enter(self, task, frame, ns, cpu):
        self.of(frame.function.name)["calls"] += 1
        self.callers.append(frame.caller.name)
        self.pass_time(task, ns, cpu, frame, frame.function.name == "finish_task_switch")
        frame.ns = ns
        frame.off = task.off
        self.event(task, "enter", frame.function.name, ns, cpu, None)
        if not task.known:
            self.open.append(task)
        task.known.append(frame)

    def leave(self, task, frame, ns, cpu):
        """End @frame and all nested calls."""
        took = None
        slept = frame.function.name in SLEEPS and task.last and task.last[2] is frame
        self.pass_time(task, ns, cpu, away=slept and frame in task.known)
        if frame in task.known:
            while task.known[-1] is not frame:
                gone = task.known.pop()         # its callees count as its caller's
                task.known[-1].callees_ns += gone.callees_ns
                task.known[-1].callees_off += gone.callees_off
            took = ns - frame.ns
            self.add(task, frame, took)
            task.known.pop()
            if task.known:
                task.known[-1].callees_ns += took
                task.known[-1].callees_off += task.off - frame.off
        else:
            task.known.clear()
        self.event(task, "leave", frame.function.name, ns, cpu, took)

    def add(self, task, frame, took):
        name = frame.function.name
        own = took - frame.callees_ns
        off = task.off - frame.off
        off_own = off - frame.callees_off
        function = self.of(name)
        function["cpu_durations"].append(took - off)
        function["self_cpu_ns"] += own - off_own
        function["durations"].append(took)
        function["self_ns"] += own
        if name not in [outer.function.name for outer in task.known[:-1]]:
            function["total_ns"] += took
            function["total_cpu_ns"] += took - off
        stack = ";".join([task.comm] + [known.function.name for known in task.known])
        self.folded[stack] = self.folded.get(stack, 0) + own - off_own
        if off_own:
            stack += ";[off CPU]"
            self.folded[stack] = self.folded.get(stack, 0) + off_own

    def forget(self):
        for task in self.open:
            task.known.clear()
        self.open.clear()

    def result(self, times=1):
        """Return the truth of @times repetitions."""
        functions = {}
        for name, function in self.functions.items():
            durations = function["durations"]
            functions[name] = {
                "calls": function["calls"] * times,
                "completed": len(durations) * times,
                "total_ns": function["total_ns"] * times,
                "self_ns": function["self_ns"] * times,
                "total_cpu_ns": function["total_cpu_ns"] * times,
                "self_cpu_ns": function["self_cpu_ns"] * times,
                "avg_ns": sum(durations) // len(durations) if durations else 0,
                "max_ns": max(durations, default=0),
                "min_ns": min(durations, default=0),
                "durations": durations if times == 1 else [],
                "cpu_durations": function["cpu_durations"] if times == 1 else [],
            }
        return {
            "functions": functions,
            "folded": {stack: ns * times for stack, ns in self.folded.items()},
            "events": self.events if times == 1 else [],
            "offs": self.offs if times == 1 else [],
            "callers": self.callers if times == 1 else [],
        }


# --- rings ---

class Ring:
    """The words of a CPU, as the kernel writes them."""
    def __init__(self, cpu, notes, first, clock_offset, rng):
        self.cpu = cpu
        self.notes = notes
        self.clock_offset = clock_offset
        self.clock_shift = 0    # the clock has 2^clock_shift units in a ns
        self.rng = rng          # None: nothing random
        self.runs = []          # of [position, words]
        self.pos = first
        self.start = first
        self.calls = 0          # calls and returns so far
        self.task = None        # the latest task in task words
        self.context = CONTEXT_UNKNOWN
        self.noted = None       # the latest sync point, in multiples of notes
        self.seen = None        # the current multiple of notes
        self.late = False       # a call precedes the sync words
        self.gap = None         # value of the next GAP word; None: no word
        self.times = True       # each call has a time word
        self.modules = None     # count of module loads and unloads; None: no word
        self.tables = []        # index of the first run after each symbol table
        self.begin_run()

    def begin_run(self):
        self.words = array.array("Q")
        self.runs.append([self.pos & POSITION_MASK, self.words])

    def append(self, words):
        self.words.extend(words)
        self.pos += 8 * len(words)

    def left(self):
        """Return the number of words up to the next multiple of notes."""
        return (self.notes - self.pos % self.notes) // 8

    def time_word(self, ns):
        return make_word(TIME, ns - self.clock_offset << self.clock_shift >> 1)

    def say(self, task, ns, context, everything):
        words = []
        if everything:
            words.append(other_word(COUNT, self.calls))
            words += clock_words(self.clock_offset, self.clock_shift)
            if self.modules is not None:
                words.append(other_word(MODULE_COUNT, self.modules))
        words.append(self.time_word(ns))
        if everything or context != self.context:
            words.append(make_word(CONTEXT, context))
        words += task_words(task)
        if everything and self.gap is not None:
            words.append(other_word(GAP, self.gap))
        if len(words) > self.left():
            self.append([NOTHING] * self.left())
            return
        self.append(words)
        self.task = task
        self.context = context
        if everything:
            self.noted = self.pos // self.notes
            self.gap = None
            self.late = False

    def put(self, task, ns, words, counts, context):
        """Append a time and @words, such as a call, after the sync words that they need."""
        while True:
            quarter = self.pos // self.notes
            if quarter != self.seen:
                self.seen = quarter
                self.late = self.rng is not None and self.rng.random() < 0.3
            other = self.task is not task or self.context != context
            if quarter != self.noted and (other or not self.late or self.gap is not None):
                self.say(task, ns, context, True)
            elif other:
                self.say(task, ns, context, False)
            elif 1 + len(words) > self.left():
                self.append([NOTHING] * self.left())
            else:
                break
        self.append([self.time_word(ns)] if self.times else [])
        self.append(words)
        self.calls += counts
        if self.late:
            self.say(task, ns, context, True)

    def jump(self, lost):
        """Skip @lost calls, which were overwritten before they were read."""
        self.calls += lost
        self.pos += 16 * lost
        self.pos += -self.pos % self.notes
        self.begin_run()
        self.noted = self.seen = None

    def lose(self, lost, uncounted=False):
        """Count @lost calls that the kernel could not write. @uncounted: and others."""
        self.gap = (self.gap or 0) + lost | (GAP_UNCOUNTED if uncounted else 0)
        self.noted = None

    def behind_table(self, nr):
        """Return the runs between this symbol table and the next one."""
        return self.runs[(self.tables or [0])[nr]:(self.tables[nr + 1:] or [None])[0]]

    def clear(self):
        self.start = self.pos & POSITION_MASK
        self.noted = self.task = None
        self.late = False


# --- recordings ---

class Recording:
    def __init__(self, cpus=2, mode="graph", seed=0, notes=65536, context=False, late=True,
                 first=0, clock_offset=0, now=1000000):
        self.rng = random.Random(seed)
        self.mode = mode
        self.notes = notes
        self.with_context = context
        self.functions = Functions(self.rng)
        self.rings = [Ring(cpu, notes, first, clock_offset, self.rng if late else None)
                      for cpu in range(cpus)]
        self.idle = [Task(0, "swapper/%d" % cpu, 0, "swapper/%d:0" % cpu) for cpu in range(cpus)]
        self.current = list(self.idle)
        self.contexts = [0] * cpus
        self.losing = [None] * cpus     # number of unrecorded calls; None: recording
        self.now = now + now % 2        # ns; times are even
        self.facts = Truth()
        self.entries = self.lost = self.overwritten = 0
        self.info = ""                  # more lines of RECORDING_INFO
        self.seen = None                # the recorder's count of calls in the file
        self.table_modules = []
        self.tables = []                # symbol tables; empty: one, of the final symbols

    def task(self, pid, comm, tgid=None, inside=()):
        """Make a task. @inside: functions that it called before the recording began."""
        task = Task(pid, comm, tgid or pid, "%s:%d" % (comm, pid))
        for name in inside:
            task.stack.append(self.frame(task, name, False))
        return task

    def wait(self, ns):
        self.now += ns - ns % 2

    def run(self, cpu, task):
        """Run @task on @cpu from now on; None: the idle task."""
        self.current[cpu] = task or self.idle[cpu]

    def frame(self, task, name, irq, instead=None):
        function = self.functions.by_name[name]
        if instead:
            return Frame(function, instead.caller, instead.parent_ip, irq)
        if irq:
            caller = self.functions.by_name[INTERRUPTS[name]]
        elif task.stack:
            caller = task.stack[-1].function
        elif task.pid == 0:
            caller = self.functions.by_name["cpu_startup_entry"]
        else:
            caller = self.functions.by_name["do_syscall_64"]
        return Frame(function, caller, self.rng.choice(caller.sites), irq)

    def context_of(self, cpu):
        return self.contexts[cpu] if self.with_context else CONTEXT_UNKNOWN

    def put(self, cpu, words, counts):
        """Record @words. Return False if they are lost."""
        if self.losing[cpu] is not None:
            self.losing[cpu] += counts
            return False
        self.rings[cpu].put(self.current[cpu], self.now, words, counts, self.context_of(cpu))
        self.entries += counts
        return True

    def call(self, cpu, name, irq=False, frames=0, instead=None, args=(), objects=(), data=b""):
        """
        Call a function. @instead: a Frame that ended by a tail jump to it. @args: registers.
        @objects: as in object_words(). @data: recorded memory.
        """
        self.wait(2)
        task = self.current[cpu]
        frame = self.frame(task, name, irq, instead)
        words = [word for arg in args for word in value_words(arg)]
        words += object_words(objects) + data_words(data)
        words.append(call_word(frame.function.entry, frame.parent_ip))
        for i in range(frames):
            ip = frame.parent_ip if i == 0 else self.functions.by_name["do_syscall_64"].sites[0]
            words.append(other_word(FRAME, ip & 0xffffffff))
        if self.put(cpu, words, 1):
            self.facts.enter(task, frame, self.now, cpu)
        task.stack.append(frame)
        return frame

    def leave(self, cpu, frame=None, tail=False, cold=False, result=None, objects=()):
        """Return from @frame, or from the innermost call; nested calls end, too."""
        self.wait(2)
        task = self.current[cpu]
        frame = frame or task.stack[-1]
        if cold:
            ip = self.rng.choice(frame.function.cold.exits)
        else:
            ip = self.rng.choice(frame.function.exits)
        words = [] if result is None else value_words(result)
        words += object_words(objects)
        words.append(return_word(ip, RETURN_TAIL if tail else 0))
        if self.mode == "graph" and self.put(cpu, words, 1):
            self.facts.leave(task, frame, self.now, cpu)
        elif frame not in task.known:
            task.known.clear()
        else:
            del task.known[task.known.index(frame):]
        while task.stack.pop() is not frame:
            pass
        return frame

    def mark(self, cpu, name, which=MARK_MARK):
        self.wait(2)
        ip = self.functions.by_name[name].entry & 0xffffffff
        if self.put(cpu, [other_word(MARK, which << 32 | ip)], 0):
            self.facts.pass_time(self.current[cpu], self.now, cpu)
        if which in (MARK_ON, MARK_OFF, MARK_OFF_SOON):
            self.facts.forget()

    def lose(self, cpu):
        """Stop recording on @cpu."""
        self.losing[cpu] = 0
        self.facts.forget()

    def found(self, cpu, jump):
        """Resume recording. @jump: the calls were overwritten; else they were lost."""
        lost = self.losing[cpu]
        self.losing[cpu] = None
        self.facts.forget()
        if jump:
            self.rings[cpu].jump(lost)
            self.overwritten += lost
        else:
            self.rings[cpu].lose(lost)
            self.lost += lost

    def hide(self, calls):
        """Begin each ring with @calls calls that are cleared, and must not be shown."""
        for ring in self.rings:
            for _ in range(calls):
                self.wait(100)
                name = self.rng.choice(CORE)
                words = [call_word(self.functions.by_name[name].entry, 0x80000000)]
                ring.put(self.idle[ring.cpu], self.now, words, 1, self.context_of(ring.cpu))
            ring.clear()

    def look(self):
        """Write a symbol table of the current functions before all later words."""
        self.tables.append(self.functions.kallsyms())
        self.table_modules.append(self.rings[0].modules)
        for ring in self.rings:
            ring.tables.append(len(ring.runs))
            ring.begin_run()

    def count_modules(self, count):
        """Record a new count of module loads and unloads."""
        for ring in self.rings:
            ring.modules = count
            ring.append([other_word(MODULE_COUNT, count)])

    def filler(self, cpu, word=NOTHING):
        """Append a word without meaning; 0: a word that was never written."""
        if self.rings[cpu].left() > 1:
            self.rings[cpu].append([word])

    def counts(self):
        return {"entries": self.entries, "lost": self.lost, "overwritten": self.overwritten,
                "written": self.entries + self.lost + self.overwritten}

    def truth(self):
        result = {"mode": self.mode, "counts": self.counts()}
        result.update(self.facts.result())
        return result

    # --- the file: tools/tracing/mctrace/recording.h ---

    def info_text(self):
        options = "overwrite time %scontext nomax_stack " % ("" if self.with_context else "no")
        return ("release 6.12.0\nversion #1 SMP\nmachine x86_64\nhost simulated\ncpus %d\n"
                "base %#x\nchosen 0\noptions %s\nmode %s\n%s" %
                (len(self.rings), BASE, options, self.mode, self.info))

    def write(self, path, largest=32768):
        """Write the file. @largest: most words in a chunk."""
        rng = random.Random(largest)
        with open(path, "wb") as file:
            write_header(file)
            write_text(file, INFO, self.info_text())
            for nr, table in enumerate(self.tables or [self.functions.kallsyms()]):
                write_text(file, SYMBOLS, table)
                if self.table_modules[nr:] and self.table_modules[nr] is not None:
                    write_modules(file, self.table_modules[nr])
                write_runs(file, [[ring, pos, words] for ring in self.rings
                                  for pos, words in ring.behind_table(nr)], largest, rng)
            write_end(file, self.counts(), self.seen)


INFO, SYMBOLS, WORDS, END, MODULES_CHUNK = 1, 2, 3, 4, 5
COMPRESSED = 1 << 31
CHUNK_MARK = 0x6b6e6863
CHUNK = struct.Struct("<IIQIIQQ")       # mark, type, size, cpu, notes, position, start


def write_header(file, version=2):
    file.write(struct.pack("<8sII", b"mctrace\n", version, CHUNK.size))


def write_text(file, kind, text):
    data = text.encode()
    data += b"\0" * (8 - len(data) % 8)         # at least one
    file.write(CHUNK.pack(CHUNK_MARK, kind, len(data), 0, 0, 0, 0) + data)


def write_modules(file, count):
    file.write(CHUNK.pack(CHUNK_MARK, MODULES_CHUNK, 8, 0, 0, 0, 0) + struct.pack("<Q", count))


def write_words(file, ring, pos, data):
    file.write(CHUNK.pack(CHUNK_MARK, WORDS, len(data), ring.cpu, ring.notes, pos, ring.start))
    file.write(data)


def write_runs(file, rest, largest, rng):
    """Write runs @rest, [ring, position, words], with at most @largest words in a chunk."""
    while rest:
        # CPUs in random order, but each CPU's words in order.
        ring = rng.choice(rest)[0]
        mine = [r for r in rest if r[0] is ring][0]
        nr = rng.randrange(1, largest + 1)
        pos, words = mine[1], mine[2]
        if words:
            write_words(file, ring, pos, words[:nr].tobytes())
        mine[1:] = [pos + 8 * len(words[:nr]) & POSITION_MASK, words[nr:]]
        if not mine[2]:
            rest.remove(mine)


def write_end(file, counts, seen=None):
    text = "written %d\nlost %d\n" % (counts["written"], counts["lost"])
    write_text(file, END, text if seen is None else text + "seen %d\n" % seen)


def chunks_of(data):
    """Yield the offset and the type of each chunk."""
    at = 16
    while at < len(data):
        _, kind, size = struct.unpack_from("<IIQ", data, at)
        yield at, kind
        at += CHUNK.size + size


def compressed(data):
    """Return the recording as mctrace record --compress zstd would write it."""
    result = data[:16]
    for at, _ in chunks_of(data):
        mark, kind, size, *rest = CHUNK.unpack_from(data, at)
        content = data[at + CHUNK.size:at + CHUNK.size + size]
        if kind in (SYMBOLS, WORDS):
            packed = subprocess.run(["zstd", "-q", "-1", "-c"], input=content, check=True,
                                    stdout=subprocess.PIPE).stdout
            content = struct.pack("<Q", size) + packed + b"\0" * (-len(packed) % 8)
            kind |= COMPRESSED
        result += CHUNK.pack(mark, kind, len(content), *rest) + content
    return result


# --- random simulation ---

class Simulation:
    """Random events: each step is one or a few events on one CPU."""
    def __init__(self, rec, tasks=6, gaps=False, marks=False, extras=False, exits=True,
                 before=True, slow=True, away=True):
        self.rec = rec
        self.rng = rec.rng
        self.gaps = gaps
        self.marks = marks
        self.extras = extras    # results, backtraces, words without meaning
        self.exits = exits      # tasks that end, and calls that never return
        self.before = before    # open calls from before the recording
        self.slow = slow        # long pauses
        self.away = away        # tasks move to another CPU and back, with nothing else recorded
        self.next_pid = 60
        self.ready = []         # tasks that don't run
        self.dying = set()
        for _ in range(tasks):
            self.ready.append(self.new_task())

    def new_task(self):
        pid = self.next_pid
        self.next_pid += self.rng.randrange(1, 40)
        comm = self.rng.choice(["cat", "hackbench", "kworker/0:1", "Web Content",
                                "fifteen_letters"])
        inside = []
        if self.before and self.rng.random() < 0.5:
            inside = self.rng.choices(USUAL, k=self.rng.randrange(1, 6))
        return self.rec.task(pid, comm, inside=inside)

    def pause(self):
        chance = self.rng.random()
        if not self.slow or chance < 0.9:
            self.rec.wait(self.rng.randrange(10, 600))
        elif chance < 0.999:
            self.rec.wait(self.rng.randrange(1000, 2000000))
        else:
            self.rec.wait(self.rng.randrange(10000000, 2000000000))

    def in_interrupt(self, cpu):
        return any(frame.irq for frame in self.rec.current[cpu].stack)

    def call(self, cpu, instead=None):
        task = self.rec.current[cpu]
        name = self.rng.choice(USUAL)
        if task.stack and task.stack[-1].function.name in USUAL and self.rng.random() < 0.05:
            name = task.stack[-1].function.name         # recursion
        frames = 3 if self.extras and self.rng.random() < 0.02 else 0
        return self.rec.call(cpu, name, frames=frames, instead=instead)

    def leave(self, cpu):
        frame = self.rec.current[cpu].stack[-1]
        cold = frame.function.cold and self.rng.random() < 0.2
        result = None
        if self.extras and self.rng.random() < 0.05:
            result = self.rng.choice([0, -2, 1 << 40, -(1 << 63), (1 << 63) - 1])
        tail = not cold and not frame.irq and result is None and self.rng.random() < 0.1
        self.rec.leave(cpu, tail=tail, cold=cold, result=result)
        if tail:
            self.pause()
            self.call(cpu, instead=frame)

    def leave_several(self, cpu):
        """Return from a call whose nested calls never return. Return False if there is no such call."""
        task = self.rec.current[cpu]
        for nr in range(2, min(5, len(task.known))):
            frame, ended = task.known[-nr], task.known[1 - nr:]
            names = [other.function.name for other in ended]
            if frame.irq or any(other.irq for other in ended):
                break
            if not set(names + [frame.function.name]).isdisjoint(NEVER_RETURN):
                break
            if frame.function.name not in names and self.rng.random() < 0.5:
                self.rec.leave(cpu, frame)
                return True
        return False

    def call_or_leave(self, cpu):
        self.pause()
        stack = self.rec.current[cpu].stack
        deep = len(stack)
        stays = not deep or stack[-1].function.name in NEVER_RETURN
        if stays or self.rng.random() < (0.55 if deep < 12 else 0.4 if deep < 40 else 0):
            self.call(cpu)
        elif not (self.exits and self.rng.random() < 0.01 and self.leave_several(cpu)):
            self.leave(cpu)

    def interrupt(self, cpu):
        self.pause()
        if not self.in_interrupt(cpu):
            self.rec.call(cpu, self.rng.choice(list(INTERRUPTS)), irq=True)

    def switch(self, cpu):
        if self.in_interrupt(cpu):
            return
        old = self.rec.current[cpu]
        idle = self.rng.random() < 0.2 or not self.ready
        new = None if idle else self.ready.pop(self.rng.randrange(len(self.ready)))
        self.rec.run(cpu, new)
        if old in self.dying:
            old = self.new_task()
        if old.pid:
            self.ready.append(old)

    def away_and_back(self, cpu):
        """Move a task to another CPU and back, while nothing else is recorded on this CPU."""
        task = self.rec.current[cpu]
        others = [c for c in range(len(self.rec.rings)) if c != cpu]
        if not others or not task.pid or self.in_interrupt(cpu):
            return
        other = self.rng.choice(others)
        if self.in_interrupt(other):
            return
        self.call_or_leave(cpu)
        self.rec.run(cpu, None)
        there = self.rec.current[other]
        self.rec.run(other, task)
        for _ in range(self.rng.randrange(1, 8)):
            self.call_or_leave(other)
        self.rec.run(other, there)
        self.rec.run(cpu, task)
        self.call_or_leave(cpu)

    def exit(self, cpu):
        task = self.rec.current[cpu]
        if task.pid and task not in self.dying and not self.in_interrupt(cpu):
            self.pause()
            self.rec.call(cpu, "do_exit")
            self.dying.add(task)

    def lose(self, cpu):
        """Lose calls on @cpu, between events of @cpu, so that the order of events is unambiguous."""
        self.call_or_leave(cpu)
        self.rec.lose(cpu)
        for _ in range(self.rng.randrange(0, 20)):
            if self.rng.random() < 0.1:
                self.switch(cpu)
            self.call_or_leave(cpu)
        self.pause()
        self.call(cpu)
        self.rec.found(cpu, self.rng.random() < 0.5)
        self.call_or_leave(cpu)
        self.call(cpu)

    def mark(self, cpu):
        self.pause()
        self.rec.mark(cpu, self.rng.choice(CORE), self.rng.choice([MARK_MARK, MARK_SNAPSHOT]))

    def step(self):
        rec, rng = self.rec, self.rng
        cpu = rng.randrange(len(rec.rings))
        rec.contexts[cpu] = rng.choice([0, 0, 0, 1, 2, 0x102])
        if self.in_interrupt(cpu):
            rec.contexts[cpu] = CONTEXT_HARDIRQ | CONTEXT_IRQS_OFF
        for _ in range(rng.randrange(1, 30)):
            self.call_or_leave(cpu)
        chance = rng.random()
        if chance < 0.5:
            self.switch(cpu)
        elif chance < 0.65:
            self.interrupt(cpu)
        elif chance < 0.75 and self.away:
            self.away_and_back(cpu)
        elif chance < 0.77 and self.exits:
            self.exit(cpu)
        elif chance < 0.80 and self.gaps:
            self.lose(cpu)
        elif chance < 0.82 and self.marks:
            self.mark(cpu)
        elif chance < 0.86 and self.extras:
            rec.filler(cpu, rng.choice([NOTHING, 0]))

    def steps(self, events):
        while self.rec.entries < events:
            self.step()


def simulate(events, seed, cpus=3, mode="graph", notes=65536, context=False, first=0,
             clock_offset=0, hidden=0, **what):
    """Return a Recording of at least @events events. @what: see Simulation."""
    rec = Recording(cpus, mode, seed, notes, context, first=first, clock_offset=clock_offset,
                    now=1000000 + max(clock_offset, 0))
    rec.hide(hidden)
    Simulation(rec, **what).steps(events)
    return rec


# --- large recordings: a block of events, repeated at later times ---

BLOCK_EVENTS = 100000


def make_block(seed, cpus, mode, notes):
    """Make a block in which all calls return, and each ring ends at a multiple of notes."""
    rec = Recording(cpus, mode, seed, notes, late=False)
    sim = Simulation(rec, exits=False, before=False, slow=False)
    sim.steps(BLOCK_EVENTS)
    for cpu in range(cpus):
        while rec.current[cpu].stack:
            rec.wait(100)
            rec.leave(cpu)
        rec.run(cpu, None)
    for task in sim.ready + rec.idle:
        cpu = rec.idle.index(task) if task in rec.idle else 0
        rec.run(cpu, task)
        while task.stack:
            rec.wait(100)
            rec.leave(cpu)
    for cpu in range(cpus):
        rec.run(cpu, None)
        while rec.rings[cpu].left() > 16:
            rec.wait(50)
            rec.call(cpu, "update_curr")
            rec.wait(20)
            rec.leave(cpu)
        rec.rings[cpu].append([NOTHING] * rec.rings[cpu].left())
    return rec


class Repeated:
    """The block's words of a ring. Adding 1 to the upper half of each time word shifts the block."""
    def __init__(self, ring):
        words = ring.runs[0][1]
        self.ring = ring
        self.size = 8 * len(words)
        self.words = int.from_bytes(words.tobytes(), "little")
        later = array.array("Q", bytes(self.size))
        self.counts = []        # of [index, count]
        for i, word in enumerate(words):
            if word & CALL:
                continue
            if word >> 28 & 7 == TIME and word != NOTHING:
                later[i] = 1
            elif word >> 28 & 7 == META:
                data = (word & 0xfffffff) << 31 | word >> 32 & 0x7fffffff
                if data >> META_SHIFT == COUNT:
                    self.counts.append([i, data & (1 << META_SHIFT) - 1])
        self.later = int.from_bytes(later.tobytes(), "little")

    def write(self, file, nr, step):
        data = bytearray((self.words + nr * step * self.later).to_bytes(self.size, "little"))
        for i, count in self.counts:
            word = other_word(COUNT, count + nr * self.ring.calls)
            struct.pack_into("<Q", data, 8 * i, word)
        for at in range(0, self.size, 8 * 32768):
            write_words(file, self.ring, nr * self.size + at, data[at:at + 8 * 32768])


def write_repeated(path, events, seed, cpus=4, mode="graph", notes=65536):
    """Write at least @events events. Return the truth without the lists of events."""
    rec = make_block(seed, cpus, mode, notes)
    times = -(-events // rec.entries)
    step = (rec.now >> 32) + 1          # the upper half of a time word counts units of 2^32 ns
    rings = [Repeated(ring) for ring in rec.rings]
    rec.entries *= times
    with open(path, "wb") as file:
        write_header(file)
        write_text(file, INFO, rec.info_text())
        write_text(file, SYMBOLS, rec.functions.kallsyms())
        for nr in range(times):
            for ring in rings:
                ring.write(file, nr, step)
        write_end(file, rec.counts())
    result = {"mode": mode, "counts": rec.counts()}
    result.update(rec.facts.result(times))
    return result


def main():
    parser = argparse.ArgumentParser(description="Make a recording whose truth is known.")
    parser.add_argument("-o", "--output", default="mctrace.dat")
    parser.add_argument("--truth", help="a file for the truth, JSON")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=10000,
                        help="above %d: a block of events is repeated" % (2 * BLOCK_EVENTS))
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--mode", choices=["graph", "function"], default="graph")
    parser.add_argument("--notes", type=int, default=65536, help="bytes, a power of two")
    parser.add_argument("--context", action="store_true")
    parser.add_argument("--gaps", action="store_true")
    parser.add_argument("--marks", action="store_true")
    parser.add_argument("--extras", action="store_true",
                        help="results, backtraces, words without meaning")
    args = parser.parse_args()
    if args.events > 2 * BLOCK_EVENTS:
        if args.context or args.gaps or args.marks or args.extras:
            parser.error("a large recording has none of these")
        truth = write_repeated(args.output, args.events, args.seed, args.cpus, args.mode,
                               args.notes)
    else:
        rec = simulate(args.events, args.seed, args.cpus, args.mode, args.notes, args.context,
                       gaps=args.gaps, marks=args.marks, extras=args.extras)
        rec.write(args.output)
        truth = rec.truth()
    if args.truth:
        with open(args.truth, "w", encoding="utf-8") as file:
            json.dump(truth, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
