#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: After ftrace has died, tracing continues and a new selection is refused
# requires: root tracer hackbench testmod:mct_badsite testmod:mct_target helper:badwrite

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

[ -n "${MCT_REFUSED-}" ] ||
	skip_all "ftrace does nothing any more after it: set MCT_REFUSED=on and reboot then"
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || mount -t tracefs none $tracing 2>/dev/null
grep -qw function $tracing/available_tracers 2>/dev/null ||
	skip_all "this kernel has no other function tracer"

plan 24

filter=$MCT_DIR/filter

# said TEXT: count the kernel's messages with this text
said()
{
	kmsg_since | grep -c "mcount: $1"
}

# into FILE TEXT: write and print the result
into()
{
	echo "$2" | "$MCT_BIN/badwrite" "$1"
}

put vfs_read "$filter"
trace_on
check "records are written" wait_until 10 records_flow
check "a module with a wrong call site loads" mod_load mct_badsite
check "tracing of the selected functions continues" records_flow
equal "the wrong call site can't be selected" "write ENODEV" \
	"$(into "$filter" 'vfs_read mct_badsite_place')"
check "a module that may have selected functions loads" mod_load mct_target calls=10
kmsg_since | grep mcount: | diag_lines
at_least "the log reports that no function can be selected" 1 \
	"$(said 'ftrace can.t make functions call the hook: -')"
at_least "the log names the module" 1 "$(said 'the functions of mct_.* can.t be selected')"
equal "the log reports that call sites stay as they are" \
	1 "$(said 'ftrace is dead: call sites stay as they are')"
at_least "stats has the reason" 1 "$(grep -c '^# failed: ftrace is dead' "$MCT_STATS")"
at_least "the log has ftrace's own complaint" 1 "$(kmsg_since | grep -c 'ftrace failed to modify')"
equal "the log has no other complaint" "" \
	"$(kmsg_since | grep -E 'WARNING:|BUG|Oops|UBSAN|stall|LOCKUP|lockup' |
		grep -vE 'WARNING:.*kernel/(trace/)?ftrace\.c:')"
kmsg_marker="$kmsg_marker, and ftrace is dead"	# ftrace has complained, as expected
kmsg_mark
equal "the wrong call site is unchanged" 1 "$(mod_get mct_badsite same)"
equal "the selection is unchanged" vfs_read "$(cat "$filter")"
check "tracing of the selection continues" records_flow
equal "an option that patches no call site can be set" "ok 8" "$(into "$MCT_DIR/options" context)"
check "the hook for that option records" records_flow
equal "the option can be unset" "ok 10" "$(into "$MCT_DIR/options" nocontext)"
equal "ctrl can be switched off" "ok 2 0" "$(into "$MCT_CTRL" 0) $(cat "$MCT_CTRL")"
check "nothing is recorded with ctrl off" records_stand
equal "ctrl can not be switched on" "write ENODEV 0" "$(into "$MCT_CTRL" 1) $(cat "$MCT_CTRL")"
check "the sysctl can be switched off" put 0 "$MCT_SYSCTL"
check "the sysctl can be switched on without a hook" put 1 "$MCT_SYSCTL"
check "modules unload and load" eval \
	"mod_unload mct_target && mod_unload mct_badsite && mod_load mct_target calls=10"
check "the kernel still works" hackbench -g 1 -f 2 -l 20
finish
