# SPDX-License-Identifier: GPL-2.0
"""Read a Perfetto trace by the field numbers and types of its documented protobuf messages
(protos/perfetto/trace/): only the fields that mctrace writes. Another field is an error."""

NUMBER, TEXT = "number", "text"

# The fields of each message, by number: name and type.
EVENT = {9: ("type", NUMBER), 10: ("name_iid", NUMBER), 11: ("track_uuid", NUMBER)}
THREAD = {1: ("pid", NUMBER), 2: ("tid", NUMBER), 5: ("thread_name", TEXT)}
TRACK = {1: ("uuid", NUMBER), 4: ("thread", THREAD)}
NAME = {1: ("iid", NUMBER), 2: ("name", TEXT)}
INTERNED = {2: ("event_names", NAME)}
PACKET = {8: ("timestamp", NUMBER), 10: ("trusted_packet_sequence_id", NUMBER),
          11: ("track_event", EVENT), 12: ("interned_data", INTERNED),
          13: ("sequence_flags", NUMBER), 60: ("track_descriptor", TRACK)}
TRACE = {1: ("packet", PACKET)}

BEGIN, END, INSTANT = 1, 2, 3                   # TrackEvent.Type
CLEARED, NEEDS = 1, 2                           # TracePacket.SequenceFlags


def varint(data, at):
    """Return the number at @at, and the offset after it."""
    n = shift = 0
    while True:
        n |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return n, at


def message(data, fields):
    """Return a message as a list of (name, value); a nested message is such a list, too."""
    found, at = [], 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]
        value, at = varint(data, at)
        if (tag & 7) != (0 if kind is NUMBER else 2):
            raise ValueError("%s is of wire type %d" % (name, tag & 7))
        if kind is not NUMBER:
            if at + value > len(data):
                raise ValueError("%s ends after its message" % name)
            at, value = at + value, data[at:at + value]
            value = value.decode() if kind is TEXT else message(value, kind)
        found.append((name, value))
    return found


def packets(path):
    """Return a dictionary for each packet, with the last value of repeated fields."""
    with open(path, "rb") as file:
        return [dict(packet) for _, packet in message(file.read(), TRACE)]


class Sequence:
    """The state of an importer that reads the packets of one sequence."""

    def __init__(self):
        self.names, self.threads, self.stacks, self.last = {}, {}, {}, {}
        self.calls = []         # (name, ns)
        self.instants = []      # names
        self.wrong = []

    def packet(self, packet):
        if packet.get("sequence_flags", 0) & CLEARED:
            self.names = {}
        for _, name in packet.get("interned_data", []):
            name = dict(name)
            if name["iid"] in (0, *self.names):
                self.wrong.append("%s is there twice, or has no number" % name)
            self.names[name["iid"]] = name["name"]
        if "track_descriptor" in packet:
            track = dict(packet["track_descriptor"])
            self.threads[track["uuid"]] = dict(track["thread"])
        if "track_event" in packet:
            self.event(packet, dict(packet["track_event"]))

    def event(self, packet, event):
        track, ns = event["track_uuid"], packet["timestamp"]
        stack = self.stacks.setdefault(track, [])
        if track not in self.threads:
            self.wrong.append("no track %d was described" % track)
        if ns < self.last.get(track, 0):
            self.wrong.append("%s is before %d" % (packet, self.last[track]))
        self.last[track] = ns
        if event["type"] == END:
            if stack:
                name, begin = stack.pop()
                self.calls.append((name, ns - begin))
            else:
                self.wrong.append("%s ends nothing" % packet)
            return
        if not packet["sequence_flags"] & NEEDS:
            self.wrong.append("%s needs names without the flag for it" % packet)
        name = self.names[event["name_iid"]]
        if event["type"] == BEGIN:
            stack.append((name, ns))
        else:
            self.instants.append(name)


def read(path):
    """Read a trace with one sequence."""
    sequence = Sequence()
    for packet in packets(path):
        if packet["trusted_packet_sequence_id"] != 1:
            sequence.wrong.append("another sequence: %s" % packet)
        sequence.packet(packet)
    sequence.wrong += ["%s do not end" % stack for stack in sequence.stacks.values() if stack]
    return sequence
