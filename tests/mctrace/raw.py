#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""raw.py RECORDING RAW...: the words that raw gave, CPU by CPU, are the last ones of the recording, to the byte.
raw gives first what words before have said: those of the kind are not in the ring."""
import sys

import decoder

words = {}
for kind, of, _, _, _, data in decoder.read_chunks(sys.argv[1]):
    if kind == 3:
        words[of] = words.get(of, b'') + data
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
