# SPDX-License-Identifier: GPL-2.0
"""
Find symbols, types and values in the memory of a 64-bit little-endian kernel.

A Kernel reads memory by an object with these methods:

    read(address, size)     the bytes; LookupError if they are not there
    symbol(name)            the address of a symbol in vmlinux, or None
    offset(struct, member)  the offset of a member by vmlinux, in bytes, or None
    vmcoreinfo()            the text of VMCOREINFO, or None

Without vmlinux, symbols and types come from memory: kallsyms has the symbols (data only with
CONFIG_KALLSYMS_ALL), BTF the types.
"""
import array
import struct

PAGE = 4096

STRUCT = 4                              # BTF's kind of a struct
# The size of the data after a BTF type, by kind: bytes, and bytes for each of vlen members.
FOLLOWS = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8), 13: (0, 8), 14: (4, 0),
           15: (0, 12), 17: (4, 0), 19: (0, 12)}


class Kernel:
    def __init__(self, memory):
        self.read = memory.read
        self.memory = memory
        self.info = {}                  # VMCOREINFO
        self.functions = []             # lines as in /proc/kallsyms
        self.addresses = {}
        self.structs = None
        self.info = self.find_info()
        self.read_kallsyms()

    def u8(self, address):
        return self.read(address, 1)[0]

    def u32(self, address):
        return struct.unpack('<I', self.read(address, 4))[0]

    def u64(self, address):
        return struct.unpack('<Q', self.read(address, 8))[0]

    def string(self, address):
        text = b''
        while b'\0' not in text:        # the next page may not be there
            text += self.read(address + len(text), PAGE - (address + len(text)) % PAGE)
        return text[:text.index(b'\0')].decode('ascii', 'replace')

    # --- symbols ---

    def find_info(self):
        text = self.memory.vmcoreinfo()
        if text is None:                # the dump has no VMCOREINFO
            text = self.read(self.u64(self.symbol('vmcoreinfo_data')),
                             self.u64(self.symbol('vmcoreinfo_size'))).decode('ascii', 'replace')
        return dict(line.split('=', 1) for line in text.split('\n') if '=' in line)

    def find(self, name):
        """Return the address of a symbol, or None."""
        if f'SYMBOL({name})' in self.info:
            return int(self.info[f'SYMBOL({name})'], 16)
        address = self.memory.symbol(name)
        return self.addresses.get(name) if address is None else address

    def symbol(self, name):
        address = self.find(name)
        if address is None:
            raise LookupError(f'no symbol {name}: vmlinux or CONFIG_KALLSYMS_ALL is needed')
        return address

    def read_kallsyms(self):
        """Read all symbols. Names consist of tokens: see scripts/kallsyms.c."""
        nr = self.u32(self.symbol('kallsyms_num_syms'))
        starts = array.array('H', self.read(self.symbol('kallsyms_token_index'), 512))
        table = self.read(self.symbol('kallsyms_token_table'), starts[255] + 1024)
        tokens = [table[start:table.index(b'\0', start)] for start in starts]
        offsets_at = self.symbol('kallsyms_offsets')
        offsets = array.array('i', self.read(offsets_at, 4 * nr))
        base = self.find('kallsyms_relative_base')      # None: relative to its own address
        base = base and self.u64(base)
        apart = base and min(offsets) < 0       # CONFIG_KALLSYMS_ABSOLUTE_PERCPU
        at = self.symbol('kallsyms_names')
        names = self.read(at, self.symbol('kallsyms_token_table') - at)
        at = 0
        for i, offset in enumerate(offsets):
            length = names[at]
            at += 1
            if length & 0x80:
                length = length & 0x7f | names[at] << 7
                at += 1
            text = b''.join([tokens[token] for token in names[at:at + length]]).decode()
            at += length
            address = offset
            if not base:
                address = offsets_at + 4 * i + offset
            elif offset < 0:
                address = base - 1 - offset
            elif not apart:
                address = base + offset
            self.addresses.setdefault(text[1:], address)
            self.add_function(address, text[0], text[1:])

    def add_function(self, address, kind, name, module=''):
        if kind in 'tTwW':
            self.functions.append(f'{address:016x} {kind} {name}{module}\n')

    # --- types ---

    def offset(self, name, member):
        key = f'OFFSET({name}.{member})'
        offset = self.info.get(key)
        if offset is None:
            offset = self.memory.offset(name, member)
        if offset is None:
            offset = self.find_structs().get(name, {}).get(member)
        if offset is None:
            raise LookupError(f'the offset of {member} in struct {name} is not known: '
                              'vmlinux with debug information or CONFIG_DEBUG_INFO_BTF is needed')
        return int(offset)

    def find_structs(self):
        """Return {struct: {member: offset}}, by the kernel's BTF: see Documentation/bpf/btf.rst."""
        if self.structs is not None:
            return self.structs
        self.structs = {}
        start, end = self.find('__start_BTF'), self.find('__stop_BTF')
        if not start or not end:
            return self.structs
        data = self.read(start, end - start)
        _, _, _, header, types, types_size, names, _ = struct.unpack_from('<HBBIIIII', data)
        names += header

        def name_at(offset):
            return data[names + offset:data.index(b'\0', names + offset)].decode()

        at = header + types
        while at < header + types + types_size:
            name, info, _ = struct.unpack_from('<III', data, at)
            kind, nr = info >> 24 & 0x1f, info & 0xffff
            at += 12
            if kind == STRUCT and name:
                members = struct.iter_unpack('<III', data[at:at + 12 * nr])
                self.structs.setdefault(name_at(name), {
                    name_at(member): (bits & 0xffffff if info >> 31 else bits) // 8
                    for member, _, bits in members})
            fixed, each = FOLLOWS.get(kind, (0, 0))
            at += fixed + each * nr
        return self.structs

    # --- modules ---

    def read_modules(self):
        """Add the functions of modules. LookupError if a part of their tables is not there."""
        head = self.symbol('modules')
        at = {member: self.offset('module', member)
              for member in ('list', 'state', 'name', 'kallsyms')}
        tables = {member: self.offset('mod_kallsyms', member)
                  for member in ('symtab', 'num_symtab', 'strtab', 'typetab')}
        module = self.u64(head) - at['list']
        while module + at['list'] != head:
            if self.u32(module + at['state']) != 3:     # MODULE_STATE_UNFORMED
                name, kallsyms = self.string(module + at['name']), self.u64(module + at['kallsyms'])
                self.read_module(name, {
                    member: self.u64(kallsyms + offset) for member, offset in tables.items()})
            module = self.u64(module + at['list']) - at['list']

    def read_module(self, module, tables):
        nr = tables['num_symtab'] & 0xffffffff
        kinds = self.read(tables['typetab'], nr).decode()
        symbols = self.read(tables['symtab'], 24 * nr)
        for kind, (name, _, _, _, address, _) in zip(kinds, struct.iter_unpack('<IBBHQQ', symbols)):
            if name and kind in 'tTwW':
                self.add_function(address, kind, self.string(tables['strtab'] + name),
                                  f'\t[{module}]')

    # --- CPUs ---

    def each_cpu(self, name):
        """Yield (CPU, address of its per-CPU variable) for all possible CPUs."""
        variable = self.symbol(name)
        offsets = self.find('__per_cpu_offset')
        if offsets is None:
            yield 0, variable
            return
        possible = self.symbol('__cpu_possible_mask')
        for cpu in range(self.u32(self.symbol('nr_cpu_ids'))):
            if self.u8(possible + cpu // 8) >> cpu % 8 & 1:
                yield cpu, (variable + self.u64(offsets + 8 * cpu)) % 2 ** 64
