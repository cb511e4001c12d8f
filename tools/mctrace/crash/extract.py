# SPDX-License-Identifier: GPL-2.0
"""
python3 extract.py VMCORE FILE

Writes the rings of a crashed kernel into a recording, by nothing but what is in an ELF file: so the
kernel needs CONFIG_KALLSYMS_ALL and CONFIG_DEBUG_INFO_BTF.
"""
import sys

import elf
import recording

if len(sys.argv) != 3:
    sys.exit('usage: extract.py VMCORE FILE')
recording.save(lambda: elf.Elf(sys.argv[1]), sys.argv[2])
