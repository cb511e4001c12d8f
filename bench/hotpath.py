#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: hotpath.py VMLINUX [HOOK]

Print, from the disassembly of a hook in VMLINUX, the memory that a recorded call touches, in
Markdown. Each operand must be the stack, a per-CPU variable (relative to %gs), the running
task (loads only), a global (loads only), or the slot of the record: memory at a register whose
last change was the addition of the ring's base. Exit status 1 if there is any other operand, or
if two CPUs' variables could share a cache line.
"""
import re
import subprocess
import sys

HOOK = "mctracer_hook"
LINE = 64
PAGE = 4096
RINGS = "mctracer_rings"
# The kernel's per-CPU variables that a hook uses: in 6.12 a struct of one cache line; in newer kernels variables between
# two symbols, with nothing else in their cache line; up to 6.1 variables that may lie anywhere.
HOT = "pcpu_hot"
HOT_BOUNDS = "__per_cpu_hot_start", "__per_cpu_hot_end"
CURRENT = "current_task"
HOT_SINGLE = CURRENT, "__preempt_count"
BASE = PAGE + 16	# offset of base in struct mctracer_ring: after the mapped page and two tasks
INSN = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
PER_CPU = "%gs:"
ABSOLUTE = PER_CPU + "(0x[0-9a-f]+)(?![0-9a-f(])"
MEMORY = re.compile(rf"(?:{PER_CPU})?(?:-?0x[0-9a-f]+)?\((%\w+)\)|{ABSOLUTE}")
NARROW = {"eax": "rax", "ecx": "rcx", "edx": "rdx", "esi": "rsi", "edi": "rdi"} | \
    {f"r{n}d": f"r{n}" for n in range(8, 16)}
IMPLIED = {"rdtsc": ["rax", "rdx"], "cmpxchg": ["rax"]}
ONLY_READS = re.compile(r"(cmp[bwlq]?|test[bwlq]?|push|j.*|call|nop.*|bt[bwlq]?|imul)$")
EXCHANGES = ("xchg", "xadd", "cmpxchg")	# these write to both operands, or always to memory


class Broken(Exception):
    """The hot path or its variables are not as they must be."""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(vmlinux):
    """Return {name: (address, size)}."""
    found = {}
    for line in run("nm", "-S", vmlinux).splitlines():
        words = line.split()
        if len(words) == 4:
            found[words[3]] = int(words[0], 16), int(words[1], 16)
        elif len(words) == 3:
            found.setdefault(words[2], (int(words[0], 16), 0))
    return found


def instructions(vmlinux, hook):
    """Return the hook's instructions: [(mnemonic, operands, address of a %rip-relative or absolute operand or None)]."""
    text = run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={hook}", vmlinux)
    found = []
    for line in text.splitlines():
        match = INSN.match(line)
        if match and not match.group(2).startswith(("nop", "data16", "cs", "xchg   %ax")):
            operands, _, note = match.group(3).partition("#")
            where = note.split() or re.findall(ABSOLUTE, operands)
            address = int(where[0], 16) if where else None
            found.append((match.group(2), operands.strip(), address))
    if not found:
        raise Broken(f"no {hook} in {vmlinux}")
    return found


def register(text):
    name = text.lstrip("%")
    return NARROW.get(name, name)


def split(operands):
    return [o for o in re.split(r",(?![^(]*\))", operands) if o]


class Path:
    def __init__(self, vmlinux):
        self.symbols = symbols(vmlinux)
        self.rings, self.rings_size = self.symbols[RINGS]
        self.hot = self.find_hot()
        self.holds = {}	# register: "slot" or "task"

    def find_hot(self):
        """Return {name: (address, size)} of the kernel's variables that a hook uses."""
        if HOT in self.symbols:
            return {HOT: self.symbols[HOT]}
        if HOT_BOUNDS[0] in self.symbols:
            start, end = (self.symbols[name][0] for name in HOT_BOUNDS)
            return {HOT: (start, (end - start + LINE - 1) // LINE * LINE)}
        if not all(name in self.symbols for name in HOT_SINGLE):
            raise Broken(f"no variables in place of {HOT}: there is no {' or '.join((*HOT_BOUNDS, *HOT_SINGLE))}")
        return {name: self.symbols[name] for name in HOT_SINGLE}

    def name(self, address):
        for name, (start, size) in {RINGS: (self.rings, self.rings_size), **self.hot}.items():
            if start <= address < start + size:
                return f"{name}+{address - start:#x}"
        raise Broken(f"%gs:{address:#x} is none of the variables that are known here")

    def classify(self, operand, address, store):
        """Return the kind of memory that the operand addresses."""
        base = register(operand.group(1) or "%rip")
        if operand.group(0).startswith(PER_CPU):
            if base != "rip":
                raise Broken(f"%gs with a register: {operand.group(0)}")
            return f"per CPU: {self.name(address)}"
        if base in ("rsp", "rbp"):
            return "stack"
        if self.holds.get(base) == "slot":
            return "slot of the record"
        if not store and self.holds.get(base) == "task":
            return "running task"
        if not store and base == "rip":
            return "global"
        raise Broken(f"{'store to' if store else 'load from'} {operand.group(0)}")

    def known(self, insn, operands):
        """Refuse other operands than registers, constants and MEMORY: they could be memory in another form."""
        if insn.startswith("lea"):
            return	# touches no memory
        for part in split(operands):
            if not re.fullmatch(r"%\w+|\$-?0x[0-9a-f]+", part) and not MEMORY.fullmatch(part) and \
                    not insn.startswith(("j", "call")):
                raise Broken(f"unknown operand: {insn} {operands}")

    def step(self, insn, operands, address):
        """Return the memory operand's (text, kind of access, class) or None, and update self.holds."""
        self.known(insn, operands)
        parts = split(operands)
        touched = None
        match = MEMORY.search(operands)
        is_per_cpu = match and match.group(0).startswith(PER_CPU)
        if match and not insn.startswith(("lea", "nop", "data16")):
            store = insn.startswith(EXCHANGES) or \
                (MEMORY.fullmatch(parts[-1]) and not ONLY_READS.match(insn))
            kind = "load" if not store else "store" if insn.startswith("mov") else "load, store"
            where = self.classify(match, address, store)
            touched = f"{insn} {operands}", kind, where
        if insn in ("push", "pop"):
            touched = f"{insn} {operands}", "store" if insn == "push" else "load", "stack"

        for name in IMPLIED.get(insn, []):
            self.holds.pop(name, None)
        for part in parts if insn.startswith(EXCHANGES) else parts[-1:]:
            self.holds.pop(register(part), None)
        if parts:
            if is_per_cpu and address == self.rings + BASE and insn == "add":
                self.holds[register(parts[-1])] = "slot"
            if is_per_cpu and insn == "mov" and \
                    address == self.symbols.get(CURRENT, self.hot.get(HOT))[0]:
                self.holds[register(parts[-1])] = "task"
        return touched

    def check_layout(self):
        """Check that the variables share no cache line with other CPUs' ones: copies must be whole lines or pages."""
        if HOT in self.hot:
            hot, hot_size = self.hot[HOT]
            if hot % LINE or hot_size % LINE:
                raise Broken(f"pcpu_hot at {hot:#x}, {hot_size} bytes, is not whole cache lines")
        if self.rings % PAGE or self.rings_size % PAGE:
            raise Broken(f"{RINGS} at {self.rings:#x}, {self.rings_size} bytes, is not whole pages")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = Path(sys.argv[1])
    hook = sys.argv[2] if len(sys.argv) == 3 else HOOK
    count = 2	# the call of the stub, and the stub's jump
    done = False
    touched = []
    for insn, operands, address in instructions(sys.argv[1], hook):
        if insn == "endbr64":
            continue	# the stub jumps past the ENDBR
        touched.append(path.step(insn, operands, address))
        count += not done
        # The code after the return reschedules, which is not part of the usual path.
        done |= insn == "ret" or "__x86_return_thunk" in operands
    touched = [t for t in touched if t]
    path.check_layout()

    print("| instruction | access | memory |")
    print("|---|---|---|")
    for text, kind, where in touched:
        if where != "stack":
            print(f"| `{text}` | {kind} | {where} |")
    stores = [where.split(":")[0] for _, kind, where in touched if "store" in kind]
    print()
    print(f"Instructions from the call of the stub to its return, uninterrupted: {count}.")
    print("Stores: " + ", ".join(f"{stores.count(w)} {w}" for w in sorted(set(stores))) + ".")
    print(f"Each CPU has its own copy of `{RINGS}` ({path.rings_size} bytes from a page's start), of")
    print(",\nof ".join(f"`{name}` ({size} bytes at {address:#x}{': whole cache lines' if name == HOT else ''})"
                       for name, (address, size) in path.hot.items()) + ", and whole pages for its ring.")


if __name__ == "__main__":
    try:
        main()
    except Broken as what:
        sys.exit(f"hotpath.py: {what}")
