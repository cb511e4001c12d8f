#!/bin/sh
# The hooks in hook.o are compiled to believe that functions preserve the registers of their arguments,
# so they must not call any: only the thunk that preserves all may be there.
. "${0%/*}/../scripts/test-lib.sh"

calls()
{
	objdump -dr --no-show-raw-insn "$1" |
		sed -n 's/.*R_X86_64_\(PLT32\|PC32\)[[:space:]]*\([a-zA-Z_][^+-]*\).*/\2/p' |
		grep -vE '^(pcpu_hot|const_pcpu_hot|mctracer_rings|__x86_return_thunk|\.)' | sort -u | xargs
}

nothing_else_called()
{
	got=$(calls "$1")
	echo "$1 refers to: $got"
	[ -z "$got" ] || [ "$got" = preempt_schedule_notrace_thunk ]
}

plan 2
for flavour in mctracer mctracer-static; do
	if [ -n "${QUICK-}" ]; then
		skip "$flavour: the hooks call nothing" "quick: nothing is built"
		continue
	fi
	image=$("$REPO/scripts/build" "$flavour") || exit 1
	check "$flavour: the hooks call nothing" \
		nothing_else_called "${image%/arch/*}/kernel/trace/mctracer/hook.o"
done
finish
