#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: When ftrace has died what calls goes on, and to choose anew is refused
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

plan 23

filter=$MCT_DIR/filter

# said TEXT: how often the kernel has
said()
{
	kmsg_since | grep -c "mcount: $1"
}

# into FILE TEXT
into()
{
	echo "$2" | "$MCT_BIN/badwrite" "$1"
}

put vfs_read "$filter"
trace_on
check "records are written" wait_until 10 records_flow
check "a module can be loaded that has a call site which is none" mod_load mct_badsite
check "what was chosen goes on" records_flow
equal "the call site can't be chosen" "write ENODEV" \
	"$(into "$filter" 'vfs_read mct_badsite_place')"
check "a module can be loaded that might have some of the functions" mod_load mct_target calls=10
kmsg_since | grep mcount: | diag_lines
at_least "the log says that nothing can be chosen" 1 \
	"$(said 'ftrace can.t make functions call the hook: -')"
at_least "and of which module on" 1 "$(said 'the functions of mct_.* can.t be selected')"
equal "and what follows" 1 "$(said 'ftrace is dead: call sites stay as they are')"
at_least "and what ftrace has found" 1 "$(kmsg_since | grep -c 'ftrace failed to modify')"
equal "and nothing else has complained" "" \
	"$(kmsg_since | grep -E 'WARNING:|BUG|Oops|UBSAN|stall|LOCKUP|lockup' |
		grep -vE 'WARNING:.*kernel/(trace/)?ftrace\.c:')"
kmsg_marker="$kmsg_marker, and ftrace is dead"	# it has complained, which is right
kmsg_mark
equal "nobody has written there" 1 "$(mod_get mct_badsite same)"
equal "chosen is what was" vfs_read "$(cat "$filter")"
check "which goes on" records_flow
equal "a change that patches no site is still made" "ok 8" "$(into "$MCT_DIR/options" context)"
check "with another hook, which records" records_flow
equal "and back" "ok 10" "$(into "$MCT_DIR/options" nocontext)"
equal "ctrl can be switched off" "ok 2 0" "$(into "$MCT_CTRL" 0) $(cat "$MCT_CTRL")"
check "then nothing is recorded" records_stand
equal "it can not be switched on" "write ENODEV 0" "$(into "$MCT_CTRL" 1) $(cat "$MCT_CTRL")"
check "the sysctl can be switched off" put 0 "$MCT_SYSCTL"
check "and on, as there is nobody to call" put 1 "$MCT_SYSCTL"
check "modules go and come" eval \
	"mod_unload mct_target && mod_unload mct_badsite && mod_load mct_target calls=10"
check "the kernel works" hackbench -g 1 -f 2 -l 20
finish
