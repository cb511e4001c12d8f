# SPDX-License-Identifier: GPL-2.0
"""
gdb -x extract-gdb.py VMLINUX VMCORE

Add the command "mctrace-extract FILE" to gdb, which writes the rings of a crashed kernel to a
recording. VMCORE is an ELF file. elf.py reads its memory, because gdb does not use the kernel's
page tables; gdb provides symbols and types.
"""
import os
import re
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elf              # noqa: E402
import recording        # noqa: E402


class Memory(elf.Elf):
    def symbol(self, name):
        try:
            address = int(gdb.parse_and_eval(f'(unsigned long)&{name}'))
        except gdb.error:
            return None
        moved = re.search('^KERNELOFFSET=(.*)$', self.info, re.M)
        return address + int(moved[1], 16) if address >> 63 and moved else address

    def offset(self, name, member):
        try:
            return gdb.lookup_type('struct ' + name)[member].bitpos // 8
        except (gdb.error, KeyError):
            return None


class Extract(gdb.Command):
    def __init__(self):
        super().__init__('mctrace-extract', gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        core = re.search("Local core dump file:\n\t`(.*)', file type",
                         gdb.execute('info files', to_string=True))
        if not core or not argument:
            raise gdb.GdbError('usage: mctrace-extract FILE, with a vmcore open')
        try:
            recording.save(lambda: Memory(core[1]), gdb.string_to_argv(argument)[0])
        except SystemExit as why:       # must not end gdb
            raise gdb.GdbError(str(why)) from None


Extract()
