#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A wrong call site ends all patching until reboot, and nothing else
# requires: root tracer hackbench kcore testmod:mct_badsite testmod:mct_badtext testmod:mct_target
# requires: helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

wrong='the call site mct_badsite_place+0x0/.* \[mct_badsite\] holds 90 90 90 90 90, not what'

[ -n "${MCT_REFUSED-}" ] ||
	skip_all "no call site can be changed after it: MCT_REFUSED=on, off, follow; then reboot"
[ "$(text_kind)" = dynamic ] || skip_all "call sites are static"
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || mount -t tracefs none $tracing 2>/dev/null
! grep -qw function $tracing/available_tracers 2>/dev/null || skip_all "call sites are ftrace's"

at_end()
{
	put nocontext "$MCT_DIR/options"
	! mod_loaded mct_badsite || mod_unload mct_badsite
	! mod_loaded mct_badtext || mod_unload mct_badtext
	! mod_loaded mct_target || mod_unload mct_target
}

# said TEXT: count the kernel's messages with this text
said()
{
	kmsg_since | grep -c "mcount: $1"
}

option()
{
	echo "$1" | "$MCT_BIN/badwrite" "$MCT_DIR/options"
}

ctrl()
{
	echo "$1" | "$MCT_BIN/badwrite" "$MCT_CTRL"
}

found='the call site kernel_halt+0x.* holds 90 90 90 90 90, not what'
filter=$MCT_DIR/filter

# The kernel finds the wrong site when the tracer is switched on, before it changes any site.
if [ "$MCT_REFUSED" = off ]; then
	plan 10
	text_save before
	check "the module can be loaded" mod_load mct_badtext
	check "mcount can be enabled, which patches no site yet" put 1 "$MCT_SYSCTL"
	equal "the tracer can not be switched on" "write EIO" "$(ctrl 1)"
	kmsg_since | grep mcount: | diag_lines
	equal "the log reports the wrong call site and its bytes" 1 "$(said "$found")"
	equal "ctrl reads as off" 0 "$(cat "$MCT_CTRL")"
	check "nothing is recorded" records_stand
	mod_unload mct_badtext
	equal "the tracer can not be switched on after the site is right again" \
		"write EIO" "$(ctrl 1)"
	equal "the log reports each complaint once" "1 1" \
		"$(said 'the call site') $(said 'no call site will be changed')"
	text_save after
	check "no text has changed" text_same before after
	check "the kernel works" hackbench -g 1 -f 2 -l 20
	finish
fi

# A follow trigger can't be removed without patching, so objects stay followed.
if [ "$MCT_REFUSED" = follow ]; then
	triggers=$MCT_DIR/triggers
	put 'vfs_read:follow 1' "$triggers" || skip_all "nothing can be followed"
	plan 8
	trace_on
	read -r _ < /proc/uptime
	at_least "calls with an object are recorded" 1 "$(grep -c '#[0-9]*:1' "$MCT_TRACE")"
	check "the module can be loaded" mod_load mct_badtext
	kmsg_since | grep mcount: | diag_lines
	check "the triggers can't be removed" not put "" "$triggers"
	check "the triggers are unchanged" grep -q '^vfs_read:follow 1' "$triggers"
	trace_clear
	read -r _ < /proc/uptime
	at_least "calls with an object are still recorded" 1 "$(grep -c '#[0-9]*:1' "$MCT_TRACE")"
	equal "no other call is recorded" 0 "$(grep ' <-- ' "$MCT_TRACE" | grep -vc '#[0-9]*:')"
	equal "ctrl can be switched off" "ok 2" "$(ctrl 0)"
	check "nothing is recorded with ctrl off" records_stand
	finish
fi

plan 28

trace_on
check "records are written" wait_until 10 records_flow

# A module's bad call site concerns that module alone.
check "a module with a wrong call site loads" mod_load mct_badsite
equal "the log reports the wrong call site and its bytes" 1 \
	"$(said "$wrong")"
equal "the log reports which call sites stay unchanged" \
	1 "$(said 'no call site of mct_badsite will be changed')"
equal "the module's wrong call site is unchanged" 1 "$(mod_get mct_badsite same)"
equal "stats has the reason" "# failed: the call sites of a module can't be changed" \
	"$(grep '^# failed' "$MCT_STATS")"
equal "other functions can be selected" "ok 9" "$(echo vfs_read | "$MCT_BIN/badwrite" "$filter")"
put "" "$filter"

check "the module that overwrites a call site loads" mod_load mct_badtext
equal "no function can be selected after that" \
	"write EIO" "$(echo vfs_read | "$MCT_BIN/badwrite" "$filter")"
kmsg_since | grep mcount: | diag_lines
equal "the log reports the wrong call site and its bytes" 1 "$(said "$found")"
equal "the log reports which call sites stay unchanged" \
	1 "$(said 'no call site will be changed any more')"
equal "stats reports that, too" "# failed: no call site can be changed any more" \
	"$(grep '^# failed' "$MCT_STATS")"
check "tracing continues" records_flow
equal "an option that patches no call site can be set" "ok 8" "$(option context)"
check "the hook for that option records" records_flow
at_least "records have the option's context" \
	1 "$(grep -c '^[d.][.npN][.sShHzZ][.1-9a-f] CPU' "$MCT_TRACE")"
equal "the option can be unset" "ok 10" "$(option nocontext)"
text_save on

equal "ctrl can be switched off" "ok 2" "$(ctrl 0)"
check "nothing is recorded with ctrl off" records_stand
text_save off
check "only the stub's text changes" test \
	"$("$MCT_BIN/kerneltext" diff "$MCT_TMP/text.on" "$MCT_TMP/text.off" |
		awk '$1 == "sites" || $1 == "unsites" { n += $2 } END { print n + 0 }')" = 0
equal "ctrl can be switched on again, because the call sites still call" "ok 2" "$(ctrl 1)"
check "the tracer records after that" wait_until 10 records_flow
equal "ctrl can be switched off again" "ok 2 0" "$(ctrl 0) $(cat "$MCT_CTRL")"
check "the sysctl can be switched off" put 0 "$MCT_SYSCTL"
check "other modules can be loaded" mod_load mct_target calls=10
check "the module with the wrong call site unloads and loads" \
	eval "mod_unload mct_badsite && mod_load mct_badsite"
equal "the log reports each complaint once" "1 1" \
	"$(said "$found") $(said 'no call site will be changed any more')"
check "the kernel works" hackbench -g 1 -f 2 -l 20
finish
