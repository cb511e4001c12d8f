# SPDX-License-Identifier: GPL-2.0
# Decodes a recording independently of mctrace and of recordings.py, to check both. It is slow, and
# needs recordings in which each call has its time.
import bisect
import re
import struct

# Types of words, and kinds of words of type META: see include/uapi/linux/mctracer.h.
TIME, MORE, TASK, META, CONTEXT, VALUE, UNKNOWN, RETURN = range(8)
COUNT, CLOCK, GAP, FRAME, MARK, TOOK = 1, 2, 3, 4, 5, 6
GAP_CALLS = (1 << 51) - 1       # the bits above are flags
HIDDEN = 1 << 53        # the sign bit of a difference of positions


class Symbols:
    def __init__(self, text, base):
        self.base = base
        found = []
        for line in text.splitlines():
            fields = line.split()
            if fields[1] in "tTwW":
                found.append((int(fields[0], 16), fields[2]))
        found.sort(key=lambda symbol: symbol[0])        # stable, for name()
        self.addresses = [address for address, _ in found]
        self.names = [name for _, name in found]

    def name(self, low):
        address = self.base + (low & 0x7fffffff) - 1
        at = bisect.bisect_right(self.addresses, address) - 1
        at = bisect.bisect_left(self.addresses, self.addresses[at])     # the first name there
        return self.names[at].replace(".cold", "")


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


class Cpu:
    """Turns words into events: (ns, cpu, pid, comm, what, low half of the address, value)."""
    def __init__(self, cpu):
        self.cpu = cpu
        self.behind = None      # the position after the previous chunk
        self.pid = self.comm = self.offset = self.time = self.calls = None
        self.last = (None, 0)   # kind of the last word other than MORE, number of MORE since
        self.waiting = []       # events before the first sync words
        self.ns = 0
        self.events = []

    def jump(self):
        self.before = self.calls
        self.pid = self.calls = None
        self.counted = 0

    def add(self, shown, what, address, value):
        if shown:
            self.waiting.append([self.time, what, address, value])
        if self.pid is not None and self.last[0] != TASK:
            self.flush()

    def flush(self):
        for time, what, address, value in self.waiting:
            if what != "gap":
                self.ns = self.offset + time & (1 << 64) - 1
            self.events.append((self.ns, self.cpu, self.pid, self.comm, what, address, value))
        self.waiting.clear()

    def chunk(self, notes, pos, start, data):
        if self.behind != pos:
            assert pos % notes == 0, "after a gap it does not continue at a sync point"
            self.jump()
        for (word,) in struct.iter_unpack("<Q", data):
            self.word(word, not (pos - start) & HIDDEN)
            pos = pos + 8 & (1 << 54) - 1
        self.behind = pos

    def word(self, word, shown):
        if not word:
            return
        assert word >> 63
        if word >> 31 & 1:
            self.count()
            self.add(shown, "enter", word & 0xffffffff, 0)
            return
        data = (word & 0xfffffff) << 31 | word >> 32 & 0x7fffffff
        kind = word >> 28 & 7
        if kind == MORE:
            self.last = (self.last[0], self.last[1] + 1)
            self.more(data)
            return
        self.last = (kind, 0)
        if kind == TIME and data:
            self.time = 2 * data
        elif kind == TASK:
            self.pid = data & 0x3fffff
            self.comm = bytes([data >> 44])
        elif kind == RETURN:
            self.count()
            self.add(shown, "leave", data & 0x7fffffff | 1 << 31, data >> 31)
        elif kind == META:
            self.other(data >> 53, data & (1 << 53) - 1, shown)

    def count(self):
        if self.calls is None:
            self.counted += 1
        else:
            self.calls += 1

    def more(self, data):
        kind, nr = self.last
        if kind == TASK and nr > 1:
            self.comm += data.to_bytes(7, "little")
            if nr == 3:
                self.flush()
        elif kind == (META, CLOCK) and nr == 1:
            self.offset |= data

    def other(self, which, value, shown):
        self.last = ((META, which), 0)
        if which == COUNT:
            missing = 0 if self.before is None else value - self.counted - self.before
            assert self.calls is None or self.calls == value, "calls are counted wrong"
            if self.calls is None and missing:
                self.waiting.insert(0, [self.time, "gap", 0, missing])
            self.calls = value
        elif which == CLOCK:
            assert value & 0xffffffff == 1 and not value >> 32 & 63 and value >> 38 & 1
            self.offset = (value >> 40 & 31) << 59
        elif which == GAP:
            self.add(shown, "gap", 0, value & GAP_CALLS)
        elif which == MARK:
            self.add(shown, "mark", value & 0xffffffff, value >> 32)


def decode(path):
    """Yield events in time order: [ns, cpu, task, what, function, value]."""
    cpus = {}
    base = 0
    text = ""
    for kind, cpu, notes, pos, start, data in read_chunks(path):
        if kind == 1:
            found = re.search(rb"^base (0x[0-9a-f]+)$", data, re.M)
            base = int(found[1], 16) if found else base
        elif kind == 2:
            text = data.rstrip(b"\0").decode()
        elif kind == 3:
            cpus.setdefault(cpu, Cpu(cpu)).chunk(notes, pos, start, data)
    symbols = Symbols(text, base)
    events = [event for cpu in sorted(cpus) for event in cpus[cpu].events]
    events.sort(key=lambda event: event[0])
    for ns, cpu, pid, comm, what, address, value in events:
        task = "%s:%d" % (comm.rstrip(b"\0").decode("utf-8", "surrogateescape"), pid)
        name = symbols.name(address) if address else ""
        yield [ns, cpu, task, what, name, value]


def match(events):
    """Match returns to calls: yield [task, depth, what, function, ns, cpu, took] for the truth."""
    stacks = {}
    for ns, cpu, task, what, name, _ in events:
        if what == "gap":
            stacks.clear()
        if what not in ("enter", "leave"):
            continue
        stack = stacks.setdefault(task, [])
        took = None
        if what == "leave":
            took = take_away(stack, name, ns)
        yield [task, len(stack), what, name, ns, cpu, took]
        if what == "enter":
            stack.append((name, ns))


def take_away(stack, name, ns):
    names = [function for function, _ in stack]
    if name not in names:
        stack.clear()
        return None
    while stack[-1][0] != name:
        stack.pop()
    return ns - stack.pop()[1]
