#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: kshark.py TRACE.DAT

Print the events that libkshark, KernelShark's library, finds in a file: one a line, sorted by time,
"TIME CPU PID TASK EVENT INFO".
"""
import ctypes
import sys


class Entry(ctypes.Structure):
    """struct kshark_entry"""
    _fields_ = [("next", ctypes.c_void_p), ("visible", ctypes.c_uint16),
                ("stream", ctypes.c_int16), ("event", ctypes.c_int16), ("cpu", ctypes.c_int16),
                ("pid", ctypes.c_int32), ("offset", ctypes.c_int64), ("ts", ctypes.c_int64)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    kshark = ctypes.CDLL("libkshark.so.2")
    context = ctypes.c_void_p()
    kshark.kshark_instance.restype = ctypes.c_bool
    if not kshark.kshark_instance(ctypes.byref(context)):
        sys.exit("kshark.py: no context")
    if kshark.kshark_open(context, sys.argv[1].encode()) < 0:
        sys.exit("kshark.py: libkshark does not open " + sys.argv[1])
    rows = ctypes.POINTER(ctypes.POINTER(Entry))()
    kshark.kshark_load_all_entries.restype = ctypes.c_ssize_t
    count = kshark.kshark_load_all_entries(context, ctypes.byref(rows))
    if count < 0:
        sys.exit("kshark.py: libkshark does not load %s: %d" % (sys.argv[1], count))
    texts = [kshark.kshark_get_task, kshark.kshark_get_event_name, kshark.kshark_get_info]
    for text in texts:
        text.restype = ctypes.c_char_p
        text.argtypes = [ctypes.POINTER(Entry)]
    for i in range(count):
        entry = rows[i].contents
        print(entry.ts, entry.cpu, entry.pid,
              *((text(rows[i]) or b"-").decode(errors="replace") for text in texts))


if __name__ == "__main__":
    main()
