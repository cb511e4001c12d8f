#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Print the events in captures of mctracer's per_cpu/cpuN/raw, one line per event.

mctracer records function calls and returns, in one ring of 64-bit words per CPU. Each FILE contains the bytes that
read() of one "raw" file returned. This reader was written from the header mctracer.h alone, without the kernel's own
decoder: it tests whether the header describes the format completely. It prints, in the order of the file:

    stream CPU VERSION BASE
    call NS CPU PID TGID COMM IP PARENT [context=HEX] [modules=N] [args=V,..] [memory=HEX] [objects=NR:ROLE:FLAGS,..]
    return NS CPU PID TGID COMM IP [tail] [value=V] [took=NS] [objects=NR:ROLE:FLAGS,..]
    frame IP
    mark NS CPU PID TGID COMM IP KIND [value=V] [took=NS]
    gap NS CPU COUNT KIND

NS is in nanoseconds. A call, return or mark without a time word of its own has "~" and the latest time before it.
"-" replaces anything unknown. An object's FLAGS are 1 for begins, plus 2 for ends.
"""

import signal
import sys

# In mctracer.h, the names of these constants have the prefix MCTRACER_
MAGIC, VERSION, STREAM_VERSION_SHIFT, BASE_SHIFT = 0x7274636d, 3, 32, 12
WORD_VALID, WORD_CALL, TYPE_SHIFT, DATA_BITS = 1 << 63, 1 << 31, 28, 59
TIME, MORE, TASK, META, CONTEXT, VALUE, DATA, RETURN = range(8)
PID_BITS, COMM_SHIFT, COMM_CHARS, DATA_SHIFT = 22, 44, 7, 56
CONTEXT_UNKNOWN, CONTEXT_BITS = 0x40000000, 0x07ffffff     # CONTEXT_BITS: all other bits that have a meaning
META_SHIFT, COUNT_BITS, GAP_UNCOUNTED, GAP_OVERWRITTEN = 53, 51, 1 << 52, 1 << 51
COUNT, CLOCK, GAP, FRAME, MARK, TOOK, OBJECT, MODULES, STREAM = range(1, 10)
OBJECT_ROLE_SHIFT, OBJECT_ROLE, OBJECT_BEGINS, OBJECT_ENDS = 32, 15, 1 << 36, 1 << 37
CLOCK_SHIFT, CLOCK_HIGH, MARK_SHIFT, RETURN_SHIFT, RETURN_TAIL = 32, 40, 32, 31, 1
MARKS = ("mark", "on", "off", "off_soon", "snapshot", "follow_full", "damaged")


def low(value, bits):
    """Return the lowest @bits of @value."""
    return value & (1 << bits) - 1


def split(word):
    """Return the type and the data of @word. The type of a call is None."""
    kind = None if word & WORD_CALL else word >> TYPE_SHIFT & 7
    return kind, low(word >> 32, 31) | low(word, 28) << 31


def byte_order(first):
    """Return the byte order in which the 8 bytes @first begin an MCTRACER_STREAM."""
    for order in "little", "big":
        kind, data = split(int.from_bytes(first, order))
        if kind == META and data >> META_SHIFT == STREAM and low(data, 32) == MAGIC:
            return order
    raise ValueError("the file does not begin with MCTRACER_STREAM and MCTRACER_MAGIC")


class Reader:
    """Decode one file, and print lines with @write. Raise ValueError if the file contradicts the format."""

    def __init__(self, write):
        self.write = write
        self.offset = 0     # of the current packet, or of the word that contradicts the format

    def packets(self, file):
        """Yield each packet's first word, and a list of the data of its MCTRACER_MORE words."""
        first, more, order, end = None, [], None, 0
        while chunk := file.read(8):
            order = order or byte_order(chunk)
            word = int.from_bytes(chunk, order)
            kind, data = split(word)
            is_valid = word & WORD_VALID and len(chunk) == 8
            if kind == MORE and is_valid:
                more.append(data)
            else:
                if end:
                    yield first, more
                self.offset = end
                if not is_valid:
                    raise ValueError("the word is cut off, or its bit 63 is not set")
                first, more = word, []
            end += 8
        if end:
            yield first, more

    def read(self, file):
        """Print all events of @file. Skip words without a meaning, as if they were not there."""
        for word, more in self.packets(file):
            kind, data = split(word)
            if kind is None:
                self.print_event("call", word, " " + self.address(word >> 32) + self.context + self.modules,
                                 "args", "memory", "objects")
            elif kind == META and COUNT <= data >> META_SHIFT <= STREAM:
                self.process_meta(data >> META_SHIFT, low(data, META_SHIFT), more)
            elif kind != META and (kind != TIME or data):   # a time of 0 only fills a place
                self.process(kind, data, more)

    def process(self, kind, data, more):
        """Process a packet that is neither a call nor a meta word."""
        if kind == VALUE:
            bits = 64 if more else DATA_BITS
            value = low(data | more[0] << DATA_BITS if more else data, bits)
            for name in "args", "value":    # for a call, or for a return or mark
                self.add_attribute(name, f",{value - (value >> bits - 1 << bits)}")
        elif kind == DATA:
            self.add_attribute("memory", data.to_bytes(8, "little")[:data >> DATA_SHIFT].hex())
        elif kind == RETURN:
            tail = " tail" if data >> RETURN_SHIFT & RETURN_TAIL else ""
            self.print_event("return", data, tail, "value", "took", "objects")
        else:
            self.drop_attributes()      # no event followed them
            if kind == TIME:
                mult, shift, offset = self.clock or (0, 0, 0)
                self.now = self.stamp = str(low(offset + ((data << 1) * mult >> shift), 64)) if self.clock else "-"
            elif kind == TASK:
                tgid, *parts = more
                name = bytes([data >> COMM_SHIFT & 0xff])
                name += b"".join(part.to_bytes(8, "little")[:COMM_CHARS] for part in parts)
                name = "".join(chr(c) if 0x20 < c < 0x7f else f"\\x{c:02x}" for c in name.split(b"\0")[0]) or "-"
                self.task = f"{low(data, PID_BITS)} {low(tgid, PID_BITS)} {name}"
            elif kind == CONTEXT:
                self.context = "" if data & CONTEXT_UNKNOWN else f" context={data & CONTEXT_BITS:x}"

    def process_meta(self, kind, value, more):
        """Process a meta word of a known kind. Ignore MCTRACER_COUNT, because read() itself inserts the gaps."""
        if kind == STREAM:
            self.begin(value, more)
        elif kind == OBJECT:
            flags = bool(value & OBJECT_BEGINS) + 2 * bool(value & OBJECT_ENDS)
            role = value >> OBJECT_ROLE_SHIFT & OBJECT_ROLE
            self.add_attribute("objects", f",{low(value, 32)}:{role}:{flags}")
        elif kind == TOOK:
            self.add_attribute("took", str(value))
        elif kind == MARK:
            name = dict(enumerate(MARKS)).get(value >> MARK_SHIFT, value >> MARK_SHIFT)
            self.print_event("mark", value, f" {name}", "value", "took")
        elif kind == FRAME and self.has_frames:
            self.write(f"frame {self.address(value)}\n")
        else:
            self.drop_attributes()      # no event followed them
            if kind == MODULES:
                self.modules = f" modules={low(value, 32)}"
            elif kind == CLOCK:
                offset, *_ = more
                offset |= low(value >> CLOCK_HIGH, 5) << DATA_BITS
                self.clock = low(value, 32), low(value >> CLOCK_SHIFT, 6), offset
            elif kind == GAP:
                count, name = low(value, COUNT_BITS), "overwritten"
                if value & GAP_UNCOUNTED:
                    count, name = "-", "uncounted"
                elif not value & GAP_OVERWRITTEN:
                    name = "dropped" if count else "others"
                self.write(f"gap {self.now} {self.cpu} {count} {name}\n")

    def begin(self, value, more):
        """Check the MCTRACER_STREAM and forget all state."""
        if value != VERSION << STREAM_VERSION_SHIFT | MAGIC:
            raise ValueError(f"unknown version {value >> STREAM_VERSION_SHIFT}, or a wrong magic")
        self.cpu, self.base, *_ = more
        self.base <<= BASE_SHIFT
        self.clock, self.task, self.context, self.modules, self.now = None, "- - -", "", "", "-"
        self.drop_attributes()
        self.write(f"stream {self.cpu} {VERSION} {self.address(0)}\n")

    def print_event(self, name, offset, rest, *attributes):
        """Print the event @name and those of its attributes that are in @attributes."""
        rest += "".join(f" {key}={self.attributes[key]}" for key in attributes if self.attributes.get(key))
        self.write(f"{name} {self.stamp} {self.cpu} {self.task} {self.address(offset)}{rest}\n")
        self.drop_attributes()
        self.has_frames = name != "mark"

    def add_attribute(self, name, text):
        """Add @text to an attribute of the next event. Omit the comma before the first."""
        self.attributes[name] = (self.attributes.get(name, "") + text).lstrip(",")
        self.has_frames = False

    def drop_attributes(self):
        """Forget all attributes. The latest time word is not the time of the next event."""
        self.stamp = self.now if self.now == "-" else "~" + self.now
        self.attributes, self.has_frames = {}, False

    def address(self, offset):
        """Return the absolute address at the lower 31 bits of @offset."""
        return f"{low(self.base + low(offset, 31), 64):016x}"


def main():
    """Print the events of all files of the command line. Exit with 1 at the first error."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name in sys.argv[1:] or sys.exit(f"Usage: {sys.argv[0]} FILE..."):
        reader = Reader(sys.stdout.write)
        try:
            with open(name, "rb") as file:
                reader.read(file)
            sys.stdout.flush()
        except (ValueError, OSError) as error:
            sys.exit(f"{name}: offset {reader.offset}: {getattr(error, 'strerror', error)}.")


if __name__ == "__main__":
    main()
