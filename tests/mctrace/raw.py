#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""raw.py RECORDING RAW...: check that the words of each CPU's raw file are the recording's last words, byte for byte.
Skip the first words of raw, which are not in the ring: the stream's header, a gap, and sync words."""
import sys

import decoder

words = {}
for kind, of, _, _, _, data in decoder.read_chunks(sys.argv[1]):
    if kind == 3:
        words[of] = words.get(of, b'') + data
for cpu, path in enumerate(sys.argv[2:]):
    with open(path, 'rb') as file:
        raw = file.read()
    most = 3 + 1 + 10   # a header, a gap, and sync words
    for notes in range(1, most + 1):
        if len(raw) > 8 * most and words[cpu].endswith(raw[8 * notes:]):
            break
    else:
        sys.exit(f'CPU {cpu}: raw has {len(raw)} bytes that are not in the ring')
    print(f'CPU {cpu}: {len(raw) // 8 - notes} words, the same')
