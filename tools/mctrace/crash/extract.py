# SPDX-License-Identifier: GPL-2.0
"""
python3 extract.py VMCORE FILE

Write the rings of a crashed kernel to a recording. VMCORE is an ELF file. Symbols and types come
from its memory, so the kernel needs CONFIG_KALLSYMS_ALL and CONFIG_DEBUG_INFO_BTF.
"""
import sys

import elf
import recording

if len(sys.argv) != 3:
    sys.exit('usage: extract.py VMCORE FILE')
recording.save(lambda: elf.Elf(sys.argv[1]), sys.argv[2])
