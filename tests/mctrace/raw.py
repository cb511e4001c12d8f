#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""raw.py RECORDING RAW...: the words that raw gave, CPU by CPU, are the last ones of the recording, to the byte.
raw gives first what words before have said: those of the kind are not in the ring."""
import struct
import sys

with open(sys.argv[1], 'rb') as file:
    data = file.read()
words = {}
at = 16
while at < len(data):
    _, kind, size, cpu, _, _, _ = struct.unpack_from('<IIQIIQQ', data, at)
    at += 40
    if kind == 3:
        words[cpu] = words.get(cpu, b'') + data[at:at + size]
    at += size
for cpu, path in enumerate(sys.argv[2:]):
    with open(path, 'rb') as file:
        raw = file.read()
    most = 1 + 9        # a gap, and notes
    for notes in range(1, most + 1):
        if len(raw) > 8 * most and words[cpu].endswith(raw[8 * notes:]):
            break
    else:
        sys.exit(f'CPU {cpu}: raw gave {len(raw)} bytes that are not the ring\'s')
    print(f'CPU {cpu}: {len(raw) // 8 - notes} words, the same')
