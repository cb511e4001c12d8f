#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Records from before a crash or a warning stay until the user resumes recording
# requires: root tracer

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

sysrq=/proc/sysrq-trigger
on=$MCT_DIR/tracing_on
triggers=$MCT_DIR/triggers
kinds="warning hung_task soft_lockup hard_lockup"

[ -w $sysrq ] || skip_all "this kernel has no SysRq"

plan 28

at_end()
{
	put "" "$triggers"
	for kind in $kinds; do
		put "nofreeze_on_$kind" "$MCT_OPTIONS"
	done
	put 1 "$on"
	rings_restore
}

freeze()
{
	echo T >$sysrq
}

is_frozen()
{
	grep -qx "# frozen: sysrq" "$MCT_STATS" && [ "$(cat "$on")" = 0 ]
}

is_not_frozen()
{
	! grep -q frozen "$MCT_STATS" && [ "$(cat "$on")" = 1 ]
}

head_says_so()
{
	sed '/^[^#]/q' "$MCT_TRACE" | grep -qx "# frozen: sysrq"
}

written()
{
	stat_sum 3
}

# Succeed if a command's calls are counted or recorded.
comes()
{
	before=$(written)
	ls / >/dev/null
	[ "$(written)" -gt "$before" ]
}

rings_small
check "recording is not frozen at first" is_not_frozen
trace_on
check "calls are recorded" comes

freeze
check "SysRq-T freezes recording" is_frozen
check "the head of trace shows that recording is frozen" head_says_so
check "no call is recorded while frozen" not comes
cp "$MCT_TRACE" "$MCT_TMP/frozen"
check "the trace has records from before" grep -q "^CPU .* <-- " "$MCT_TMP/frozen"
ls -R /proc/self/ >/dev/null 2>&1
freeze
check "a second SysRq-T changes nothing" is_frozen
cp "$MCT_TRACE" "$MCT_TMP/later"
check "the records stay" cmp "$MCT_TMP/frozen" "$MCT_TMP/later"
check "the counts add up" counts_add_up

put "do_sys_openat2:traceon" "$triggers"
ls / >/dev/null
check "a traceon trigger is hit" grep -q "^do_sys_openat2:traceon.*# [1-9]" "$triggers"
check "a traceon trigger does not resume recording" is_frozen
put "" "$triggers"
put 0 "$on"
check "0 in tracing_on leaves recording frozen" is_frozen
put 1 "$on"
check "1 in tracing_on resumes recording" is_not_frozen
check "calls are recorded after that" comes

freeze
check "recording can be frozen again" is_frozen
put 1 "$MCT_CTRL"
check "1 in ctrl resumes recording" is_not_frozen
check "calls are recorded after 1 in ctrl" comes
trace_off
freeze
trace_on
check "a freeze while tracing is off ends when tracing starts" is_not_frozen
check "calls are recorded when tracing starts" comes
trace_off

for kind in $kinds; do
	check "freeze_on_$kind is off at first" grep -qx "nofreeze_on_$kind" "$MCT_OPTIONS"
done
for kind in $kinds; do
	put "freeze_on_$kind" "$MCT_OPTIONS"
	check "freeze_on_$kind can be set" grep -qx "freeze_on_$kind" "$MCT_OPTIONS"
done
check "an unknown option is refused" not put freeze_on_sunday "$MCT_OPTIONS"

finish
