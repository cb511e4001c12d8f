#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks the memory barriers of the ring and of the tables' slots by litmus tests under the kernel's memory model: the
# states that the barriers prevent can't be reached, and can be reached without any one of the barriers.
#
#	kernel/trace/mctracer/				tests/litmus/*.litmus
#	W1 mctracer_ring_slot()				P0: head before both halves
#	W2 mctracer_ring_put(), _put_ip()		P0: lower half before the upper
#	R1 mctracer_slot_load() on 32-bit		P1: upper half before the lower
#	R2 mctracer_ring_read(), raw_copy_words(), ring_copy_words()	P1: both halves before head
#	F1 mctracer_invalidate_tasks(), __mctracer_task_changed()	P0: a task's attributes before the cached task
#	F2 task_cpus_set(), for emit_describe_task(), mctracer_emit_task()	P1: the cached task before its attributes
#	S1 slot_release()				P0: fields before the state
#	S2 slot_claim()					P0: the claim before fields
#	L1 slot_key(), slot_has()			P1: the key before fields
#	L2 slot_still_has()				P1: fields before the key again
#	load()						load.py: high before low before high
#
# A test's line "Needs:" names barriers. Each is removed in turn, wherever its label marks it, and the state must then
# be reachable; an access that is also a barrier becomes one without. This needs herd7, which Debian 12 has no package
# of. The checks that the code is as modelled, and of load(), need no herd7.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
model=$tree/tools/memory-model
m=kernel/trace/mctracer

# observed FILE WORD: succeed if herd7's result is WORD
observed()
{
	(cd "$model" && herd7 -conf linux-kernel.cfg "$1") >"$T/herd" 2>&1
	cat "$T/herd"
	grep -q "^Observation [^ ]* $2 " "$T/herd"
}

# by_herd NAME COMMAND...: check, or skip without herd7
by_herd()
{
	if command -v herd7 >/dev/null; then
		check "$@"
	else
		skip "$1" "herd7 is not installed"
	fi
}

# without LABEL FILE: write the test without the barriers marked LABEL to $T/without.litmus
without()
{
	sed -E "/\/\/ $1\$/ {
		s/smp_store_release\(/WRITE_ONCE(*/
		s/smp_load_acquire\(/READ_ONCE(*/
		s/cmpxchg\(/cmpxchg_relaxed(/
		/smp_[rw]*mb/d
	}" "$2" >"$T/without.litmus"
	! cmp -s "$2" "$T/without.litmus"
}

reached()	# FILE LABEL
{
	without "$2" "$1" && observed "$T/without.litmus" Sometimes
}

labels()	# print the labels of the barriers in the code
{
	cat "$tree/$m"/*/*.[ch] |
		sed -nE -e 's/.*smp_[rw]*mb\(\);.*\/\* ([WRFL][0-9]+) \*\/.*/\1/p' \
			-e 's/.*(smp_store_release|smp_load_acquire|cmpxchg)\(.*\/\* ([SL][0-9]+) \*\/.*/\2/p' | sort -u
}

covered()	# each barrier with a label has a test, and each barrier of a test is in the code
{
	labels >"$T/code"
	sed -n 's/^ \* Needs: //p' "$REPO"/tests/litmus/*.litmus | tr ' ' '\n' | sort -u >"$T/tests"
	[ "$(wc -l <"$T/code")" -ge 10 ] && diff "$T/code" "$T/tests"
}

order_in()	# FILE FUNCTION PATTERN: print the matches of PATTERN in the function, in order
{
	awk -v f="$2" '$0 ~ "^[a-z0-9_ *]*[ *]" f "\\(" { on = 1 } on { print } on && /^}/ { exit }' "$tree/$1" |
		grep -oE "$3" | xargs
}

# in_order FILE FUNCTION PATTERN WHAT: print an error unless the matches of PATTERN in the function are WHAT
in_order()
{
	_is=$(order_in "$1" "$2" "$3")
	[ "$_is" = "$4" ] || echo "$1: $2(): \"$_is\", not \"$4\""
}

# modelled: succeed if the order of accesses in the code is the modelled order. Checks each user of a slot, F1 and F2,
# too: a user writes head before a slot, and changes a task's attributes before F1. Checks the users of the tables' slots:
# they store fields between claim and release, and load fields between the two looks at the key.
modelled()
{
	w='mctracer_ring_(reserve|reserve_at|slot|put|put_ip|commit)\('
	{
		in_order "$m/ring/ring.h" mctracer_ring_slot 'W1|ring->base' 'W1 ring->base'
		in_order "$m/ring/ring.h" mctracer_ring_put 'WRITE_ONCE\(slot...|W2' \
			'WRITE_ONCE(slot[0] W2 WRITE_ONCE(slot[1]'
		in_order "$m/ring/ring.h" mctracer_ring_put_ip 'WRITE_ONCE\(slot...|W2' 'WRITE_ONCE(slot[0] W2'
		in_order "$m/ring/ring.h" mctracer_ring_commit 'WRITE_ONCE\(slot...' 'WRITE_ONCE(slot[1]'
		in_order "$m/record/hook.c" mctracer_hook_time "$w" \
			'mctracer_ring_reserve_at( mctracer_ring_slot( mctracer_ring_put('
		in_order "$m/record/hook.h" hook_record "$w|hook_reserve_with_time|hook_put_event\(" \
			"mctracer_ring_reserve( hook_reserve_with_time mctracer_ring_reserve_at( mctracer_ring_slot( \
mctracer_ring_put( hook_put_event("
		in_order "$m/record/hook.h" hook_put_event "$w" \
			'mctracer_ring_put_ip( mctracer_ring_commit( mctracer_ring_put_ip( mctracer_ring_commit('
		in_order "$m/record/emit.c" emit_reserve "$w|emit_put_words" \
			'mctracer_ring_reserve_at( mctracer_ring_reserve_at( emit_put_words'
		in_order "$m/record/emit.c" emit_put_event 'emit_reserve|emit_put_words' \
			'emit_reserve emit_put_words emit_put_words emit_put_words emit_put_words'
		in_order "$m/record/emit.c" emit_put_words "$w" 'mctracer_ring_slot( mctracer_ring_put('
		in_order "$m/record/emit.c" emit_words 'emit_reserve|emit_put_words' 'emit_reserve emit_put_words'
		in_order "$m/record/emit.c" mctracer_emit_block "$w|emit_put_words" 'mctracer_ring_reserve_at( emit_put_words'

		in_order "$m/ring/ring.h" mctracer_slot_load 'READ_ONCE\([^)]*\)|R1' \
			'READ_ONCE(*(const u64 *) READ_ONCE(halves[1]) R1 READ_ONCE(halves[0])'
		in_order "$m/ring/ring.c" mctracer_ring_read 'mctracer_ring_load|R2|mctracer_ring_end|V[12]' \
			'mctracer_ring_load R2 mctracer_ring_end V1 V2'
		in_order "$m/control/ring_copy.c" ring_copy_words 'mctracer_ring_load|R2|= mctracer_ring_oldest.*V1' \
			'mctracer_ring_load R2 = mctracer_ring_oldest(ring); /* V1'
		in_order "$m/files/debugfs_raw.c" raw_copy_words 'mctracer_slot_load|V2' 'mctracer_slot_load V2'
		in_order "$m/files/debugfs_raw.c" raw_copy_words_to_user 'mctracer_slot_load|V2|unsafe_put_user' \
			'mctracer_slot_load unsafe_put_user V2 mctracer_slot_load V2 unsafe_put_user'
		in_order "$m/files/debugfs_raw.c" raw_consume_some 'raw_copy_words[a-z_]*|raw_whole_packets\(ring|R2|mctracer_ring_end|V1|mctracer_put|set_read' \
			'mctracer_ring_end raw_copy_words_to_user raw_copy_words raw_whole_packets(ring R2 mctracer_ring_end mctracer_ring_end V1 mctracer_put mctracer_put set_read'
		in_order "$m/ring/ring.c" ring_load_counter 'halves\[[01]\]|smp_rmb' 'halves[1] smp_rmb halves[0] smp_rmb halves[1]'

		in_order "$m/record/emit.c" task_cpus_set 'F2|READ_ONCE\(\*cpus|set_bit' \
			'F2 READ_ONCE(*cpus set_bit F2'
		in_order "$m/record/emit.c" emit_describe_task \
			'WRITE_ONCE\(ring->task|task_cpus_set|current->(pid|tgid)|READ_ONCE\(comm' \
			'WRITE_ONCE(ring->task task_cpus_set current->pid current->tgid READ_ONCE(comm'
		in_order "$m/record/emit.c" mctracer_emit_task 'ring->(skipped|task), [a-zA-Z]*|F2|emit_task_is_recorded\(\)|emit_words\([^)]*\)' \
			"emit_task_is_recorded() ring->task, NULL ring->skipped, current F2 emit_task_is_recorded() ring->skipped, NULL \
emit_words(what, MCTRACER_NO_CONTEXT) emit_task_is_recorded() ring->task, NULL"
		in_order "$m/record/emit.c" emit_invalidate_cpu 'READ_ONCE\(ring->[a-z]*|WRITE_ONCE\(ring->[a-z]*' \
			"READ_ONCE(ring->task WRITE_ONCE(ring->task READ_ONCE(ring->skipped WRITE_ONCE(ring->skipped \
READ_ONCE(ring->described WRITE_ONCE(ring->described"
		in_order "$m/record/emit.c" mctracer_invalidate_tasks 'F1|emit_invalidate_cpu' 'F1 emit_invalidate_cpu'
		in_order "$m/record/emit.c" __mctracer_task_changed 'F1|task_cpus_of|emit_invalidate_cpu' 'F1 task_cpus_of emit_invalidate_cpu'
		in_order "$m/record/slots.h" slot_still_has 'smp_rmb|READ_ONCE' 'smp_rmb READ_ONCE'
		in_order "$m/record/timed.c" mctracer_timed_begin 'timed_claim_any|call->[a-z]+(,| =)' \
			'timed_claim_any call->function, call->since = call->began, call->slot,'
		in_order "$m/record/timed.c" mctracer_timed_end 'timed_is_of|ONCE\(calls.*\.[a-z]+|slot_[a-z]+' \
			'timed_is_of ONCE(calls[i].began ONCE(calls[i].since slot_claim slot_release'
		in_order "$m/record/pending.c" mctracer_pending_take 'slot_[a-z]+|calls\[i\]\.(object|since)' \
			'slot_has slot_claim calls[i].since calls[i].object slot_release'
		in_order "$m/record/pending.c" mctracer_pending_add \
			'pending_claim_any|call->[a-z_]+(,| =)' \
			'pending_claim_any call->object = call->function, call->parent_ip, call->since, call->from, call->slot,'
		in_order "$m/record/nested.c" mctracer_nested_begin \
			'nested_claim_any|ONCE\(stack->[a-z_]+|nested_filter_add|slot_release' \
			"nested_claim_any ONCE(stack->where ONCE(stack->parent_ip ONCE(stack->number ONCE(stack->since \
ONCE(stack->context nested_filter_add slot_release"
		in_order "$m/record/nested.c" nested_drop 'slot_[a-z]+|nested_filter_remove\(base' \
			'slot_claim nested_filter_remove(base slot_release'
		in_order "$m/record/follow.c" mctracer_object_at 'slot_[a-z_]+|ONCE\(places[^)]*' \
			'slot_has ONCE(places[i].since ONCE(places[i].object.number ONCE(places[i].object.calls slot_still_has'
		in_order "$m/record/follow.c" mctracer_follow 'slot_[a-z_]+|mcount_filter_add|follow_publish' \
			'slot_claim_free mcount_filter_add follow_publish'
		in_order "$m/record/follow.c" follow_publish 'ONCE\(place->[a-z.]+|slot_[a-z_]+' \
			'ONCE(place->object.number ONCE(place->object.calls ONCE(place->since slot_release'
		in_order "$m/control/tracer.c" tracer_pause_writers 'mctracer_stopped, [a-z]*|mctracer_invalidate_tasks' \
			'mctracer_stopped, true mctracer_invalidate_tasks'
		in_order "$m/control/tracer.c" tracer_resume_writers 'mctracer_stopped, [a-z]*|mctracer_invalidate_tasks' \
			'mctracer_stopped, false mctracer_invalidate_tasks'
		in_order "$m/select/pids.c" mctracer_set_pids 'pids_apply\(text|WRITE_ONCE\(mctracer_pids|pids_unmark|mctracer_invalidate_tasks' \
			'pids_apply(text WRITE_ONCE(mctracer_pids pids_unmark mctracer_invalidate_tasks'
		# One function writes the name; in 7.3 another one clears its rest.
		named=$(grep -oE '(strscpy_pad|memset)\(&?tsk->comm' "$tree/fs/exec.c" | tail -n 1)
		in_order fs/exec.c __set_task_comm '(strscpy_pad|memset)\(&?tsk->comm|mctracer_task_changed' \
			"$named mctracer_task_changed"
		in_order fs/exec.c de_thread 'exchange_tids|mctracer_task_changed\([a-z]*' \
			'exchange_tids mctracer_task_changed(tsk mctracer_task_changed(leader'
		in_order kernel/fork.c copy_process 'p = dup_task_struct|mctracer_task_changed\(p' \
			'p = dup_task_struct mctracer_task_changed(p'
	} | tee "$T/order"
	[ ! -s "$T/order" ]
}

load()	# NAME WORD
{
	"$REPO/tests/litmus/load.py" | tee "$T/load"
	grep -q "^Observation $1 $2 " "$T/load"
}

set -- "$REPO"/tests/litmus/*.litmus
plan $((6 + $# + $(sed -n 's/^ \* Needs: //p' "$@" | wc -w)))
check "each labelled barrier of the ring has a litmus test" covered
check "the code has the modelled order" modelled
for file; do
	name=$(basename -- "$file" .litmus)
	by_herd "$name: the state is never reached" observed "$file" Never
	needs=$(sed -n 's/^ \* Needs: //p' "$file")
	for label in $needs; do
		by_herd "$name: without $label the state is reached" reached "$file" "$label"
	done
done
check "load(): the returned value is one that the counter had" load load Never
for part in first-barrier second-barrier second-look; do
	check "load(): without the $part a wrong value is returned" load load-without-$part Sometimes
done
finish
