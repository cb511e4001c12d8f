# SPDX-License-Identifier: GPL-2.0
"""
drgn -c VMCORE [-s VMLINUX] extract-drgn.py FILE

Writes the rings of a crashed kernel into a recording.
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
        except LookupError:             # an older drgn: Debian 12 has 0.0.22
            return in_file(core_file())


def core_file():
    """What drgn was called with."""
    with open('/proc/self/cmdline', encoding='utf-8') as file:
        words = file.read().split('\0')
    for word, following in zip(words, words[1:]):
        if word in ('-c', '--core'):
            return following
    return None


def in_file(path):
    """What a compressed dump's second header says; or an ELF file."""
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
