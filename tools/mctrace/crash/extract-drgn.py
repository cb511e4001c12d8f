# SPDX-License-Identifier: GPL-2.0
"""
drgn -c VMCORE [-s VMLINUX] extract-drgn.py FILE

Write the rings of a crashed kernel to a recording.
"""
import os
import struct
import sys

import drgn

sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
import elf              # noqa: E402
import recording        # noqa: E402


class Memory:
    def __init__(self, program):
        self.program = program

    def read(self, address, size):
        try:
            return self.program.read(address, size)
        except drgn.FaultError as why:
            raise LookupError(str(why)) from None

    def symbol(self, name):
        try:
            return self.program[name].address_
        except LookupError:
            return None

    def offset(self, name, member):
        try:
            return drgn.offsetof(self.program.type('struct ' + name), member)
        except LookupError:
            return None

    def vmcoreinfo(self):
        try:
            return self.program['VMCOREINFO'].string_().decode('ascii', 'replace')
        except LookupError:             # drgn is older, such as 0.0.22 in Debian 12
            return in_file(core_file())


def core_file():
    """Return the argument of -c in drgn's command line."""
    with open('/proc/self/cmdline', encoding='utf-8') as file:
        words = file.read().split('\0')
    for word, following in zip(words, words[1:]):
        if word in ('-c', '--core'):
            return following
    return None


def in_file(path):
    """Return the VMCOREINFO in the second header of a compressed dump, or in an ELF file."""
    with open(path, 'rb') as file:
        if file.read(8) != b'KDUMP   ':
            return elf.Elf(path).info
        file.seek(428)
        block, = struct.unpack('<I', file.read(4))
        file.seek(block + 32)
        offset, size = struct.unpack('<QQ', file.read(16))
        file.seek(offset)
        return file.read(size).rstrip(b'\0').decode('ascii', 'replace')


if len(sys.argv) != 2:
    sys.exit('usage: drgn -c VMCORE [-s VMLINUX] extract-drgn.py FILE')
recording.save(lambda: Memory(prog), sys.argv[1])       # noqa: F821
