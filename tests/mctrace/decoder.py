# SPDX-License-Identifier: GPL-2.0
# Decodes a recording independently of mctrace and of recordings.py, to check both. It was written from the man page
# mctrace.dat(5), and is slow.
import bisect
import re
import struct
import subprocess

# Types of words, and kinds of words of type META: see include/uapi/linux/mctracer.h.
TIME, MORE, TASK, META, CONTEXT, VALUE, DATA, RETURN = range(8)
COUNT, CLOCK, GAP, FRAME, MARK, TOOK, OBJECT, MODULES = range(1, 9)
ATTRIBUTES = (VALUE, DATA, (META, TOOK), (META, OBJECT))        # words of the next event
COUNTED = (1 << 51) - 1         # of a count; the bits above are flags
CLOCK_UNITS = (1 << 39) - 1     # of a clock: all but the offset
POSITION = (1 << 54) - 1
HIDDEN = 1 << 53                # the sign bit of a difference of positions
RETURN_TAIL = 1
MARK_MARK, MARK_SNAPSHOT = 0, 4
COMPRESSED = 1 << 31
AHEAD = 192                     # words in which to search for the next time
MOST_OPEN = 1024
PAGE = 4096
KERNEL = ""                     # the module of the kernel's own functions
PADDING = 64                    # at most, before the first function of a module's section
# Functions whose callees begin a system call, a thread, or the way back to user space.
ENTRIES = re.compile(r"do_syscall_64|__do_fast_syscall_32|do_int80_syscall_32|do_int80_emulation|do_SYSENTER_32|"
                     r"ret_from_fork(_asm)?|(syscall|irqentry)_exit_to_user_mode|arch_exit_to_user_mode_prepare.*|"
                     r"__(x64_sys|ia32_sys|ia32_compat_sys)_.*")
# Functions in which a task ends.
LAST = re.compile(r"(do|do_group|kthread|kthread_complete_and|module_put_and_kthread)_exit|make_task_dead|do_task_dead|"
                  r"__(x64|ia32)_sys_exit(_group)?|get_signal|arch_do_signal_or_restart")
TRAMPOLINES = ("arch_rethook_trampoline", "__kretprobe_trampoline", "return_to_handler")


# --- chunks ---

def read_chunks(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, version, size = struct.unpack_from("<8sII", data)
    assert (magic, version, size) == (b"mctrace\n", 2, 40), "the header"
    at = 16
    while at < len(data):
        mark, kind, size, cpu, notes, pos, start = struct.unpack_from("<IIQIIQQ", data, at)
        assert mark == 0x6b6e6863 and size % 8 == 0, "a chunk at %d" % at
        at += 40
        yield kind, cpu, notes, pos, start, data[at:at + size]
        at += size


def plain_chunks(path):
    """Yield chunks as read_chunks() does, with decompressed data."""
    for kind, cpu, notes, pos, start, data in read_chunks(path):
        if kind & COMPRESSED:
            (size,) = struct.unpack_from("<Q", data)
            data = subprocess.run(["zstd", "-q", "-d", "-c"], input=frame_of(data[8:]), check=True,
                                  stdout=subprocess.PIPE).stdout
            assert len(data) == size, "the decompressed size"
        yield kind & ~COMPRESSED, cpu, notes, pos, start, data


def frame_of(data):
    """Return the frame of zstd without the zeroes behind it, of which zstd would complain: 7 at most."""
    for length in range(len(data), len(data) - 8, -1):
        if subprocess.run(["zstd", "-q", "-t"], input=data[:length], check=False, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode == 0:
            return data[:length]
        if data[length - 1]:
            break
    raise AssertionError("no frame of zstd")


# --- names ---

class Symbols:
    """The functions in one chunk of symbols: by module, and of all modules together."""
    def __init__(self, text):
        found = {}
        for line in text.splitlines():
            fields = line.split()
            if fields[1] in "tTwW":
                module = fields[3].strip("[]") if len(fields) > 3 else KERNEL
                found.setdefault(int(fields[0], 16), (fields[2], module))       # the first name there
        self.addresses = sorted(found)
        self.functions = [found[address] for address in self.addresses]
        self.ends = [self.end_of(at) for at in range(len(self.addresses))]

    def end_of(self, at):
        """Return the end of the function at index @at."""
        address, module = self.addresses[at], self.functions[at][1]
        page = address // PAGE * PAGE + PAGE
        if at + 1 == len(self.addresses):
            return page if module else address
        after = self.addresses[at + 1]
        section = module and after - address > PAGE and after % PAGE < PADDING
        if self.functions[at + 1][1] == module and not section:
            return after
        return min(after, page)

    def function(self, address):
        """Return (name, module) of the function of a recorded address, which is behind an instruction, or None."""
        at = bisect.bisect_right(self.addresses, address) - 1
        if at >= 0 and self.addresses[at] == address and self.functions[at][0] in TRAMPOLINES:
            return self.functions[at]
        at = bisect.bisect_right(self.addresses, address - 1) - 1
        return self.functions[at] if at >= 0 and address - 1 < self.ends[at] else None

    def modules(self):
        return {module for _, module in self.functions} - {KERNEL}


class Names:
    """All chunks of symbols."""
    def __init__(self, base):
        self.base = base
        self.tables = []        # Symbols
        self.counts = []        # of modules, and the Symbols that were read at that count
        self.found = {}

    def of(self, low, nr, count):
        """Return (name, module) of the offset @low. @nr: symbol chunks before the word; @count: modules, or None."""
        key = low & 0x7fffffff, nr, count
        if key not in self.found:
            self.found[key] = self.search(self.base + key[0], nr, count)
        return self.found[key]

    def search(self, address, nr, count):
        own = self.tables[0].function(address)
        if own and own[1] == KERNEL:
            return own
        if count is not None and self.counts:
            return self.at_count(address, count)
        later = self.tables[max(nr - 1, 0):]
        earlier = self.tables[:max(nr - 1, 0)]
        for symbols in later + earlier[::-1]:
            if symbols.function(address):
                return symbols.function(address)
        return None

    def at_count(self, address, count):
        before = after = None
        for then, symbols in self.counts:
            if then == count:
                return symbols.function(address)
            if then < count:
                before = then, symbols
            elif not after:
                after = then, symbols
        if not before or not after or before[1].function(address) != after[1].function(address):
            return None
        changed = before[1].modules() ^ after[1].modules()
        return before[1].function(address) if len(changed) == after[0] - before[0] else None


def plain_name(function):
    """Return the name of a function, whose part may be elsewhere; "" if it is not known."""
    return re.sub(r"\.cold$", "", function[0]) if function else ""


# --- words of a CPU ---

class Event:
    """A call ("enter"), a return ("leave"), a mark or a gap."""
    def __init__(self, cpu, what, address=0, parent=0, value=0):
        self.cpu, self.what, self.address, self.parent, self.value = cpu, what, address, parent, value
        self.units = self.ns = None     # the time in units of the clock, and in ns
        self.exact = True
        self.tail = False
        self.took = None                # as the kernel measured it
        self.task = None                # pid, process, name
        self.count = None               # of modules
        self.table = 0                  # number of chunks of symbols before it
        self.name = self.caller = None  # (name, module), or None


class Word:
    def __init__(self, word, pos, notes, shown, table):
        self.word, self.pos, self.notes, self.shown, self.table = word, pos, notes, shown, table
        self.data = (word & 0xfffffff) << 31 | word >> 32 & 0x7fffffff
        self.is_call = bool(word >> 31 & 1)
        kind = word >> 28 & 7
        self.kind = None if self.is_call or not word else (kind, self.data >> 53) if kind == META else kind
        self.value = self.data & (1 << 53) - 1
        self.counts = self.is_call or self.kind == RETURN
        self.is_time = self.kind == TIME and self.data != 0
        self.clock = None       # the parameters of the clock of this word


def take_clocks(words):
    """Give contiguous words the parameters of their clock; before the first clock, those of the first one."""
    clock = next((word.value & CLOCK_UNITS for word in words if word.kind == (META, CLOCK)), None)
    for word in words:
        if word.kind == (META, CLOCK):
            clock = word.value & CLOCK_UNITS
        word.clock = clock


class Clock:
    """Estimates times from time words, all in units of the clock."""
    def __init__(self):
        self.last = None        # the last time
        self.place = None       # the multiple of notes in which its word was
        self.step = 0
        self.usual = None
        self.nr = 0             # calls and returns since

    def now(self):
        return None if self.last is None else self.last + self.nr * self.step

    def take(self, words, at):
        """Take the time word @at of contiguous words."""
        place = words[at].pos // words[at].notes
        if place != self.place:
            self.usual = None
        self.last, self.place, self.nr = 2 * words[at].data, place, 0
        each = self.each_until_next(words, at)
        if each is None:
            self.step = self.usual or 0
        elif self.usual is not None and each > 2 * self.usual:
            self.step = self.usual
            self.usual += self.usual // 64 + 1
        else:
            self.step = each
            self.usual = each if self.usual is None else (7 * self.usual + each) // 8

    def each_until_next(self, words, at):
        """Return the time of each call until the next time word, or None."""
        calls = 0
        for word in words[at + 1:at + 1 + AHEAD]:
            if not word.word or word.clock != words[at].clock:
                return None
            if word.is_time:
                least = 2 * word.data - self.last
                return max(least // calls, 1) if calls and least >= 0 else None
            calls += word.counts
        return None


class Cpu:
    """Turns the words of a CPU into events."""
    def __init__(self, cpu):
        self.cpu = cpu
        self.behind = None      # the position after the previous chunk
        self.runs = []          # of contiguous words
        self.calls = None       # count of calls and returns
        self.ns = 0
        self.events = []

    def chunk(self, notes, pos, start, data, table):
        if self.behind != pos:
            assert pos % notes == 0, "after a gap it does not continue at a sync point"
            self.runs.append([])
        for (word,) in struct.iter_unpack("<Q", data):
            assert not word or word >> 63
            self.runs[-1].append(Word(word, pos, notes, not (pos - start) & HIDDEN, table))
            pos = pos + 8 & POSITION
        self.behind = pos

    def decode(self):
        for words in self.runs:
            self.begin()
            take_clocks(words)
            for at, word in enumerate(words):
                if word.is_time:
                    self.clock.take(words, at)
                self.word(word)
        return self.events

    def begin(self):
        """Start afresh: all but the count of calls is unknown."""
        self.before, self.calls, self.counted = self.calls, None, 0
        self.clock = Clock()
        self.convert = None     # multiplier, shift, offset
        self.task = self.modules = None
        self.last = (None, 0)   # kind of the last word other than MORE, number of MORE since
        self.took = None
        self.timed = self.was_timed = True      # is a time word before the event, and before the previous one?
        self.waiting = []       # events before the first task

    def word(self, word):
        if word.kind == MORE:
            self.last = (self.last[0], self.last[1] + 1)
            self.more(word.data)
            return
        if word.word:
            self.last = (word.kind, 0)
        if not word.counts and word.kind not in ATTRIBUTES + ((META, MARK),):
            self.took = None
        if word.is_call:
            self.add(word, Event(self.cpu, "enter", word.word & 0x7fffffff, word.word >> 32 & 0x7fffffff))
        elif word.kind == RETURN:
            event = Event(self.cpu, "leave", word.data & 0x7fffffff, value=word.data >> 31)
            event.tail = bool(event.value & RETURN_TAIL)
            self.add(word, event)
        elif word.is_time:
            self.timed = True
            for event in self.waiting:
                if event.units is None:
                    event.units = self.clock.last
        elif word.kind == TASK:
            self.task = None
            self.named = [word.data & 0x3fffff, 0, bytes([word.data >> 44 & 255])]
        elif isinstance(word.kind, tuple):
            self.meta(word, word.kind[1], word.value)

    def meta(self, word, kind, value):
        if kind == COUNT:
            self.check_count(value)
        elif kind == CLOCK:
            self.convert = [value & 0xffffffff, value >> 32 & 63, (value >> 40 & 31) << 59]
        elif kind == GAP:
            self.add(word, Event(self.cpu, "gap", value=value & COUNTED))
        elif kind == MARK:
            self.add(word, Event(self.cpu, "mark", value & 0x7fffffff, value=value >> 32))
        elif kind == TOOK:
            self.took = value
        elif kind == MODULES:
            self.modules = value & 0xffffffff

    def more(self, data):
        kind, nr = self.last
        if kind == TASK and nr == 1:
            self.named[1] = data
        elif kind == TASK and nr <= 3:
            self.named[2] += data.to_bytes(8, "little")[:7]
            if nr == 3:
                self.task = self.named
                self.flush()
        elif kind == (META, CLOCK) and nr == 1:
            self.convert[2] |= data

    def check_count(self, value):
        """Compare the count with what was counted; where the reader started afresh, calls may be missing."""
        if self.calls is not None:
            assert self.calls == value & COUNTED, "calls are counted wrong"
        elif self.before is not None:
            missing = value - self.counted - self.before & COUNTED
            if missing:
                gap = Event(self.cpu, "gap", value=missing)
                gap.units = self.clock.last
                self.waiting.insert(0, gap)
        self.calls = value & COUNTED

    def add(self, word, event):
        event.units, event.table, event.took = self.clock.now(), word.table, self.took
        self.took = None
        event.exact = self.timed and self.was_timed
        if word.counts:
            self.clock.nr += 1
            self.was_timed, self.timed = self.timed, False
            self.counted += 1
            self.calls = None if self.calls is None else self.calls + 1 & COUNTED
        if word.shown:
            self.waiting.append(event)
        if self.task:
            self.flush()

    def flush(self):
        multiplier, shift, offset = self.convert
        for event in self.waiting:
            if event.units is not None:
                self.ns = max(self.ns, offset + (event.units * multiplier >> shift) & (1 << 64) - 1)
            event.ns, event.task, event.count = self.ns, self.task, self.modules
            self.events.append(event)
        self.waiting = []


# --- the recording ---

def read(path):
    """Return the lines of information, by key, and all events, in time order."""
    cpus, info, names = {}, {}, Names(0)
    for kind, cpu, notes, pos, start, data in plain_chunks(path):
        if kind in (1, 4):
            lines = data.rstrip(b"\0").decode("utf-8", "surrogateescape").splitlines()
            info.update(line.partition(" ")[::2] for line in lines)
        elif kind == 2:
            names.tables.append(Symbols(data.rstrip(b"\0").decode()))
        elif kind == 3:
            cpus.setdefault(cpu, Cpu(cpu)).chunk(notes, pos, start, data, len(names.tables))
        elif kind == 5:
            names.counts.append([struct.unpack("<Q", data)[0], names.tables[-1]])
    names.base = int(info["base"], 16)
    events = [event for cpu in sorted(cpus) for event in cpus[cpu].decode()]
    events.sort(key=lambda event: event.ns)
    for event in events:
        if event.what != "gap":
            event.name = names.of(event.address, event.table, event.count)
        if event.what == "enter":
            event.caller = names.of(event.parent, event.table, event.count)
    return info, events


def task_of(event):
    pid, _, comm = event.task
    return "%s:%d" % (comm.rstrip(b"\0").decode("utf-8", "surrogateescape"), pid)


def decode(path):
    """Yield events in time order: [ns, cpu, task, what, function, value]."""
    for event in read(path)[1]:
        yield [event.ns, event.cpu, task_of(event), event.what, plain_name(event.name), event.value]


# --- which return belongs to which call ---

class Stack:
    """The open calls of a task."""
    def __init__(self):
        self.calls = []         # events
        self.process = self.comm = None

    def belongs_to(self, event):
        """Another task may have got the pid of the previous one."""
        _, process, comm = event.task
        ended = any(LAST.fullmatch(plain_name(call.name)) for call in self.calls)
        if process != self.process or (comm != self.comm and ended):
            self.calls.clear()
        self.process, self.comm = process, comm

    def enter(self, event, returns):
        if not returns or ENTRIES.fullmatch(plain_name(event.caller)):
            at = self.topmost(event.caller)
            del self.calls[0 if at is None and returns else len(self.calls) if at is None else at + 1:]
        if len(self.calls) == MOST_OPEN:
            self.calls.clear()
        self.calls.append(event)

    def topmost(self, function):
        for at in range(len(self.calls) - 1, -1, -1):
            if same(self.calls[at].name, function):
                return at
        return None

    def leave(self, event):
        """Return the call that ends, or None."""
        at = self.topmost(event.name)
        if at is None and (not event.name or event.name[0].endswith(".cold")):
            at = len(self.calls) - 1
        if at is None:
            made = [nr for nr, call in enumerate(self.calls) if same(call.caller, event.name)]
            del self.calls[made[0] if made else len(self.calls):]
            return None
        if at < 0:
            return None
        call = self.calls[at]
        del self.calls[at:]
        return call


def same(one, other):
    """Return true if two functions are known, and the same or parts of the same."""
    return bool(one and other) and (plain_name(one), one[1]) == (plain_name(other), other[1])


def forgets(event):
    """Return true if calls may be missing, so that all open calls are discarded."""
    return event.what == "gap" or (event.what == "mark" and event.value not in (MARK_MARK, MARK_SNAPSHOT))


def pairs(events, returns=True):
    """Yield each call and return: [event, depth, call that ends, duration, is the duration estimated]. @returns: were
    returns recorded?"""
    stacks = {}
    for event in events:
        if forgets(event):
            stacks.clear()
        if event.what not in ("enter", "leave"):
            continue
        pid = event.task[0]
        stack = stacks.setdefault(pid or (0, event.cpu), Stack())
        stack.belongs_to(event)
        if event.what == "enter":
            stack.enter(event, returns)
            yield event, len(stack.calls) - 1, None, None, None
            continue
        call = stack.leave(event)
        depth = len(stack.calls)
        took = event.ns - call.ns if call and event.took is None else event.took
        estimated = not (call.exact and event.exact) if call and event.took is None else None
        yield event, depth, call, took, estimated


def match(events, returns=True):
    """Match returns to calls: yield [task, depth, what, function, ns, cpu, took] for the truth."""
    for event, depth, _, took, _ in pairs(events, returns):
        yield [task_of(event), depth, event.what, plain_name(event.name), event.ns, event.cpu, took]
