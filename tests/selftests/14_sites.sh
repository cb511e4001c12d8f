#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Only call sites change in the kernel's text, and all change back
# requires: root tracer hackbench kcore helper:kerneltext helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 15

at_end()
{
	! mod_loaded mct_target || mod_unload mct_target
}

# number KEY FILE: out of what kerneltext said
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

# branches_are_static FILE: of what kerneltext calls branches there are none without jump labels
branches_are_static()
{
	[ "$(number branches "$1")" = 0 ] || grep -qw arch_jump_label_transform /proc/kallsyms
}

# sites_same NAME NAME: the tracer's own static branches change sides with it, if anything does
sites_same()
{
	text_same "$1" "$2" > "$MCT_TMP/same" && return
	cat "$MCT_TMP/same"
	grep -qx 'other 0' "$MCT_TMP/same" &&
		! grep -qE '^(sites|unsites|returns|stub) [1-9]' "$MCT_TMP/same" &&
		branches_are_static same
}

# A module's text is looked at, too, if there is one.
reason=$(missing testmod:mct_target)
[ -n "$reason" ] || mod_load mct_target

# What a first start changes for good is not looked at.
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
check "both change whole call sites at functions' heads, and nothing else" \
	differences
equal "the stub jumps" 1 "$(number stub diff)"
sites=$(number sites diff)
equal "no call site is changed against the others" 0 "$(number unsites diff)"
diag "$sites call sites changed"
sed 's/^/# while off: /' "$MCT_TMP/heads.off"
tail -n 10 "$MCT_TMP/heads.on" | sed 's/^/# while on: /'

if [ "$kind" = dynamic ]; then
	at_least "the kernel's functions are among them" 10000 "$sites"
	equal "no function calls the stub while off" \
		0 "$(number calls heads.off)"
	# Few functions that are not traced begin with a NOP of their own:
	# what an alternative, a jump label or BPF may replace.
	check "no more than a few heads are left NOPs while on" \
		test "$(number nops heads.on)" -le 8

	# The kernel counts its sites at boot, those of init functions too.
	name="they are all that boot has found but those of init functions"
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

	# All that was recorded came from somewhere.
	"$MCT_BIN/tracecheck" -l "$MCT_TMP/trace" | cut -f 3 | sort -u |
		grep -Fvx '[unknown]' > "$MCT_TMP/traced"
	diag "$(wc -l < "$MCT_TMP/traced") functions in the trace"
	at_least "there are functions in the trace" 100 \
		"$(wc -l < "$MCT_TMP/traced")"
	equal "each is among those whose call sites changed" "" \
		"$(awk '$1 == "site" { site[$2] }
			NF == 1 && !($1 in site)' \
			"$MCT_TMP/diff" "$MCT_TMP/traced" | head -n 5)"

	# Its two functions and the two of its parameter. Its exit is notrace.
	name="a module's functions are among them"
	if [ -n "$reason" ]; then
		skip "$name" "$reason"
	else
		at_least "$name" 4 \
			"$(awk '$2 == "mct_target" { print $3 }' \
				"$MCT_TMP/diff")"
	fi
else
	equal "no call site is changed" 0 "$sites"
	at_least "functions call the stub while off" 10000 \
		"$(number calls heads.off)"
	equal "the same functions do while on" \
		"$(number calls heads.off)" "$(number calls heads.on)"
	for name in "they are all that boot has found" \
		    "there are functions in the trace" \
		    "each is among those whose call sites changed" \
		    "a module's functions are among them"; do
		skip "$name" "call sites are static"
	done
fi

check "either switch restores the text: ctrl" text_same off without_ctrl
check "either switch restores the text: the sysctl" \
	sites_same off without_sysctl
check "with both off it is what it was" text_same off after
finish
