#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Only call sites change in the kernel's text, and all are restored
# requires: root tracer hackbench kcore helper:kerneltext helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 15

at_end()
{
	! mod_loaded mct_target || mod_unload mct_target
}

# number KEY FILE: print a number of kerneltext's output
number()
{
	awk -v key="$1" '$1 == key { print $2; n++ } END { if (!n) print 0 }' \
		"$MCT_TMP/$2"
}

differences()
{
	"$MCT_BIN/kerneltext" diff -l "$MCT_TMP/text.off" "$MCT_TMP/text.on" \
		> "$MCT_TMP/diff"
	local status=$?
	grep '^other ' "$MCT_TMP/diff"
	[ "$status" = 0 ] && branches_are_static diff
}

# branches_are_static FILE: kerneltext must report no branches if the kernel has no jump labels
branches_are_static()
{
	[ "$(number branches "$1")" = 0 ] || grep -qw arch_jump_label_transform /proc/kallsyms
}

# sites_same NAME NAME: succeed if no call site differs. The tracer's static branches may differ:
# they follow its state.
sites_same()
{
	text_same "$1" "$2" > "$MCT_TMP/same" && return
	cat "$MCT_TMP/same"
	grep -qx 'other 0' "$MCT_TMP/same" &&
		! grep -qE '^(sites|unsites|returns|stub) [1-9]' "$MCT_TMP/same" &&
		branches_are_static same
}

# Compare a module's text, too, if the module is built.
reason=$(missing testmod:mct_target)
[ -n "$reason" ] || mod_load mct_target

# The first start changes some text permanently; the comparison begins after it.
trace_on
trace_off

kind=$(text_kind)
diag "call sites are $kind"
"$MCT_BIN/kerneltext" heads > "$MCT_TMP/heads.off"
text_save off
put 1 "$MCT_CTRL"
text_save ctrl
put 0 "$MCT_CTRL"
put 1 "$MCT_SYSCTL"
text_save sysctl
trace_on
text_save on
"$MCT_BIN/kerneltext" heads -l > "$MCT_TMP/heads.on"
[ -n "$reason" ] || mod_set mct_target calls 10
hackbench -g 1 -f 2 -l 20 > /dev/null
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$MCT_TMP/trace"
text_save without_ctrl
put 1 "$MCT_CTRL"
put 0 "$MCT_SYSCTL"
text_save without_sysctl
put 0 "$MCT_CTRL"
text_save after

check "ctrl alone changes no call site" sites_same off ctrl
check "the sysctl alone changes no call site" sites_same off sysctl
check "both together change only whole call sites at functions' heads" \
	differences
equal "the stub is patched to a jump" 1 "$(number stub diff)"
sites=$(number sites diff)
equal "no call site changes from call to NOP" 0 "$(number unsites diff)"
diag "$sites call sites changed"
sed 's/^/# while off: /' "$MCT_TMP/heads.off"
tail -n 10 "$MCT_TMP/heads.on" | sed 's/^/# while on: /'

if [ "$kind" = dynamic ]; then
	at_least "call sites of the kernel's functions change" 10000 "$sites"
	equal "no function calls the stub while tracing is off" \
		0 "$(number calls heads.off)"
	# A few untraced functions begin with a NOP for another purpose: an alternative, a jump
	# label, or BPF.
	check "few functions begin with a NOP while tracing is on" \
		test "$(number nops heads.on)" -le 8

	# The kernel counts its sites at boot, including those of init functions.
	name="the changed call sites are those found at boot without init functions"
	all=$(dmesg | sed -n 's/.*mcount: \([0-9]*\) call sites$/\1/p')
	kernel=$((sites - $(awk '$1 == "module" { n += $3 }
				 END { print n + 0 }' "$MCT_TMP/diff")))
	init=$("$MCT_BIN/kerneltext" init | awk '{ print $2 }')
	if [ -z "$all" ]; then
		skip "$name" "the log's beginning is gone, or they are ftrace's"
	else
		diag "$kernel of the kernel, $all at boot, $init init functions"
		check "$name" test "$kernel" -le "$all" -a \
			"$((kernel + init))" -ge "$all"
	fi

	# Each recorded function must have a changed call site.
	"$MCT_BIN/tracecheck" -l "$MCT_TMP/trace" | cut -f 3 | sort -u |
		grep -Fvx '[unknown]' > "$MCT_TMP/traced"
	diag "$(wc -l < "$MCT_TMP/traced") functions in the trace"
	at_least "the trace has functions" 100 \
		"$(wc -l < "$MCT_TMP/traced")"
	equal "each function of the trace has a changed call site" "" \
		"$(awk '$1 == "site" { site[$2] }
			NF == 1 && !($1 in site)' \
			"$MCT_TMP/diff" "$MCT_TMP/traced" | head -n 5)"

	# The module has two functions and two for its parameter. Its exit function is notrace.
	name="call sites of a module's functions change"
	if [ -n "$reason" ]; then
		skip "$name" "$reason"
	else
		at_least "$name" 4 \
			"$(awk '$2 == "mct_target" { print $3 }' \
				"$MCT_TMP/diff")"
	fi
else
	equal "no static call site changes" 0 "$sites"
	at_least "functions call the stub while tracing is off" 10000 \
		"$(number calls heads.off)"
	equal "the same functions call the stub while tracing is on" \
		"$(number calls heads.off)" "$(number calls heads.on)"
	for name in "the changed call sites are those found at boot" \
		    "the trace has functions" \
		    "each function of the trace has a changed call site" \
		    "call sites of a module's functions change"; do
		skip "$name" "call sites are static"
	done
fi

check "ctrl alone restores the text" text_same off without_ctrl
check "the sysctl alone restores the text" \
	sites_same off without_sysctl
check "the text is the same as before with both off" text_same off after
finish
