# SPDX-License-Identifier: GPL-2.0
"""
Write the rings of a crashed kernel to a recording for mctrace. kernel/trace/mctracer/ring/ring.h and
include/uapi/linux/mctracer.h describe rings, tools/tracing/mctrace/recording.h recordings. Words
are copied; only calls, returns and counts are recognized.
"""
import os
import struct
import sys

import kernel

MAGIC, VERSION = 0x7274636d, 3
POSITIONS = 2 ** 54
COUNTS = 2 ** 51
PAGE = kernel.PAGE

INFO, SYMBOLS, WORDS, END = 1, 2, 3, 4          # types of chunks
MARK = 0x6b6e6863

OPTIONS = 'time', 'context', 'overwrite', 'max_stack'   # in the order of mctracer_options' bits

FLIP = bytes(byte ^ 0x80 for byte in range(256))
NO_CALLS = bytes(range(0x70))                   # see mctracer_word_counts()


def note(text):
    print(f'mctrace: {text}', file=sys.stderr)


def chunk(kind, data, cpu=0, notes=0, pos=0, start=0):
    return struct.pack('<IIQIIQQ', MARK, kind, len(data), cpu, notes, pos, start) + data


def text_chunk(kind, text):
    data = text.encode()
    return chunk(kind, data + bytes(8 - len(data) % 8))


def calls_in(words):
    """Return the number of calls and returns in @words."""
    return len(words[3::8].translate(None, NO_CALLS))


class Ring:
    def __init__(self, core, cpu, address):
        (magic, version, header, _, self.size, self.notes, _, self.start, self.start_calls,
         _, self.relative_to, self.head, lost) = struct.unpack('<IIIIQIIQQQQQQ', core.read(address, 80))
        self.core = core
        self.cpu = cpu
        self.base = core.u64(address + core.offset('mctracer_ring', 'base'))
        self.size = self.base and self.size
        if not self.base:
            return
        if (magic, version, header) != (MAGIC, VERSION, PAGE) or self.size & (self.size - 1) or \
           not self.notes or self.notes & (self.notes - 1):
            raise LookupError(f'the ring of CPU {cpu} has another version, or is damaged')
        self.lost = lost - core.u64(address + core.offset('mctracer_ring', 'lost_before'))
        self.head %= POSITIONS

    def first(self):
        """Return the sync point before start, or the first later one that is not overwritten."""
        pos = self.start & -self.notes
        if (self.head - pos) % POSITIONS > self.size:
            pos = self.head - self.size + self.notes - 1 & -self.notes
        return pos % POSITIONS

    def load(self, address, size):
        """Read memory, with zeroes for the parts that are not in the dump."""
        try:
            return bytearray(self.core.read(address, size))
        except LookupError:
            pass
        words = bytearray()
        missing = 0
        while len(words) < size:
            part = min(size - len(words), PAGE - (address + len(words)) % PAGE)
            try:
                words += self.core.read(address + len(words), part)
            except LookupError:
                words += bytes(part)
                missing += part
        note(f'{missing} bytes of the ring of CPU {self.cpu} are not in the dump')
        return words

    def words(self):
        """Yield (position, words) by laps. Bit 63 is set in valid words; others become 0."""
        pos = self.first()
        while pos != self.head:
            offset = pos % self.size
            size = min(self.size - offset, (self.head - pos) % POSITIONS)
            words = self.load(self.base + offset, size)
            if pos & self.size:         # an odd lap
                words[7::8] = words[7::8].translate(FLIP)
            if min(words[7::8]) < 0x80:
                for i in range(0, size, 8):
                    if words[i + 7] < 0x80:
                        words[i:i + 8] = bytes(8)
            yield pos, bytes(words)
            pos = (pos + size) % POSITIONS

    def seen(self, pos, words):
        """Return the number of calls and returns at start and after it."""
        hidden = (self.start - pos) % POSITIONS
        return calls_in(words[hidden:] if hidden < POSITIONS // 2 else words)

    def count(self, words):
        """Return the count of calls at the end of @words; None if @words have no count."""
        for i in range(len(words) - 8, -1, -8):
            word, = struct.unpack_from('<Q', words, i)
            data = (word & 0xfffffff) << 31 | word >> 32 & 0x7fffffff
            if word >> 28 & 15 == 3 and data >> 53 == 1:        # MCTRACER_COUNT
                return data + calls_in(words[i:])
        return None


def describe(core, cpus, base):
    names = core.read(core.symbol('init_uts_ns') + core.offset('uts_namespace', 'name'), 6 * 65)
    names = [names[i:i + 65].split(b'\0')[0].decode('ascii', 'replace') for i in range(0, 390, 65)]
    options = core.u64(core.symbol('mctracer_options'))
    chosen = core.read(core.symbol('mctracer_selected'), 16)
    return (f'release {names[2]}\nversion {names[3]}\nbuild_id {core.info.get("BUILD-ID", "")}\n'
            f'machine {names[4]}\nhost {names[1]}\ncpus {cpus}\nbase {base:#x}\n'
            f'chosen {int(any(chosen))}\noptions ' +
            ' '.join(('' if options >> i & 1 else 'no') + name for i, name in enumerate(OPTIONS)) +
            f'\nmode {"graph" if core.u8(core.symbol("mctracer_graph")) else "function"}\n')


def write(memory, to):
    """Write all rings of the kernel in @memory to a binary file."""
    core = kernel.Kernel(memory)
    try:
        core.read_modules()
    except LookupError as why:
        note(f'functions of modules have no names: {why}')
    rings = [Ring(core, cpu, address) for cpu, address in core.each_cpu('mctracer_rings')]
    if not any(ring.size for ring in rings):
        raise LookupError('mctracer has recorded nothing since this kernel booted')
    to.write(struct.pack('<8sII', b'mctrace\n', 2, len(chunk(0, b''))))
    to.write(text_chunk(INFO, describe(core, len(rings), max(ring.relative_to for ring in rings))))
    to.write(text_chunk(SYMBOLS, ''.join(core.functions)))
    written = lost = seen = 0
    for ring in rings:
        calls = None
        for pos, words in ring.words() if ring.size else ():
            to.write(chunk(WORDS, words, ring.cpu, ring.notes, pos, ring.start))
            seen += ring.seen(pos, words)
            here = ring.count(words)
            if here is None and calls is not None:
                here = calls + calls_in(words)
            calls = here
        if calls is not None:
            written += (calls - ring.start_calls) % COUNTS
        if ring.size:
            lost += ring.lost
    to.write(text_chunk(END, f'written {written + lost}\nlost {lost}\nseen {seen}\n'))


def save(memory, path):
    """Write all rings of the kernel in the memory that memory() opens to a file, or exit."""
    try:
        with open(path, 'wb', opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            write(memory(), file)
    except (LookupError, struct.error) as why:
        os.unlink(path)
        sys.exit(f'mctrace: {why}')
