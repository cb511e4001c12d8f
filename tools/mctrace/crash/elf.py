# SPDX-License-Identifier: GPL-2.0
"""
Read a kernel's memory from an ELF file of x86-64, as written by /proc/vmcore, makedumpfile -E and
QEMU's dump-guest-memory. No other program is needed.
"""
import mmap
import struct

NOTE, LOAD = 4, 1                       # types of segments
PRESENT, LARGE = 1, 0x80                # flags of a page table's entry
ADDRESS = 0x000ffffffffff000            # mask of a page table's entry
START_KERNEL = 0xffffffff80000000       # where the kernel's text is mapped


class Elf:
    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:6] != b'\x7fELF\x02\x01' or self.data[18:20] != b'\x3e\0':
            raise LookupError(f'{path} is not an ELF file of x86-64')
        at, = struct.unpack_from('<Q', self.data, 32)
        size, nr = struct.unpack_from('<HH', self.data, 54)
        self.segments = []              # (physical address, offset in the file, size)
        self.info = None
        for i in range(nr):
            kind, _, offset, _, address, filesz, _, _ = \
                struct.unpack_from('<IIQQQQQQ', self.data, at + i * size)
            if kind == LOAD and filesz:
                self.segments.append((address, offset, filesz))
            elif kind == NOTE:
                self.read_notes(offset, offset + filesz)
        if self.info is None:
            raise LookupError(f"{path} has no VMCOREINFO: the kernel's address is not known")
        info = dict(line.split('=', 1) for line in self.info.split('\n') if '=' in line)
        self.top = int(info['SYMBOL(swapper_pg_dir)'], 16) - START_KERNEL + \
            int(info['NUMBER(phys_base)'])
        self.levels = 5 if info.get('NUMBER(pgtable_l5_enabled)') == '1' else 4
        self.pages = {}

    def read_notes(self, at, end):
        while at + 12 <= end:
            name, desc, _ = struct.unpack_from('<III', self.data, at)
            at += 12
            if self.data[at:at + name].rstrip(b'\0') == b'VMCOREINFO':
                at += name + 3 & ~3
                self.info = self.data[at:at + desc].rstrip(b'\0').decode('ascii', 'replace')
                return
            at += (name + 3 & ~3) + (desc + 3 & ~3)

    def read_physical(self, address, size):
        for start, offset, length in self.segments:
            if start <= address and address + size <= start + length:
                found = self.data[offset + address - start:offset + address - start + size]
                if len(found) == size:  # else the file is cut
                    return found
        raise LookupError(f'physical address {address:#x} is not in the dump')

    def physical(self, address):
        """Return the physical address of a virtual one, by the kernel's page tables."""
        table = self.top
        for level in range(self.levels - 1, -1, -1):
            shift = 12 + 9 * level
            entry, = struct.unpack('<Q', self.read_physical(
                table + (address >> shift & 511) * 8, 8))
            if not entry & PRESENT:
                break
            if not level or entry & LARGE and level < 3:
                return (entry & ADDRESS) >> shift << shift | address & (1 << shift) - 1
            table = entry & ADDRESS
        raise LookupError(f'nothing is mapped at {address:#x}')

    def read(self, address, size):
        parts = []
        while size:
            page = address & ~0xfff
            if page not in self.pages:
                self.pages[page] = self.physical(page)
            part = min(size, page + 4096 - address)
            parts.append(self.read_physical(self.pages[page] + address - page, part))
            address += part
            size -= part
        return b''.join(parts)

    def vmcoreinfo(self):
        return self.info

    def symbol(self, name):
        return None

    def offset(self, name, member):
        return None
