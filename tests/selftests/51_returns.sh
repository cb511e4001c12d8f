#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: In graph mode each return is recorded once and is otherwise unchanged
# requires: root tracer hackbench taskset testmod:mct_shapes testmod:mct_regs helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

mode=$MCT_DIR/mode
filter=$MCT_DIR/filter
never=$MCT_DIR/notrace
pid=$MCT_DIR/pid
toggles=4
rounds=${MCT_REGS_ROUNDS:-200}

needs_returns

plan 99

at_end()
{
	put "" "$filter"
	put "" "$never"
	put "" "$pid"
	put function "$mode"
	put nocontext "$MCT_OPTIONS"
	for mod in mct_shapes mct_regs mct_nmi; do
		! mod_loaded $mod || mod_unload $mod
	done
	rings_restore
}

# in_turn CALLER FUNCTION...: print the calls and returns of functions that CALLER calls one after
# another
in_turn()
{
	caller=$1
	shift
	for name; do
		printf '%s<%s %s>%s ' "$name" "$caller" "$name" "$caller"
	done | xargs
}

# as_recorded CALLS-AND-RETURNS: print these as this kernel records them. Where returns are caught,
# a function that jumps ("name~caller") returns right after the function that it jumped to.
as_recorded()
{
	if ! returns_are_caught; then
		echo "$1"
		return
	fi
	echo "$1" | xargs -n 1 | awk '
		/~/ { sub(/~/, ">"); jumped[++n] = $0; next }
		{ print }
		/>/ { while (n) print jumped[n--] }
		END { while (n) print jumped[n--] }' | xargs
}

# shows SHAPE WANTED: report whether one call of the shape is recorded as expected, in both modes
shows()
{
	put function "$mode"
	traced mod_set mct_shapes shape "$1"
	equal "$1: each call is recorded" "$(echo "$2" | xargs -n 1 | grep '<' | xargs)" "$(seen)"
	put graph "$mode"
	traced mod_set mct_shapes shape "$1"
	equal "$1: each call and return is recorded" "$(as_recorded "$2")" "$(seen)"
}

# Succeed if the duration of each return equals the difference of both times. For traces of the
# module, with times.
durations_fit()
{
	awk '/^#/ { next }
	{
		split(substr($1, 2, length($1) - 2), t, ".")
		ns = t[1] * 1000000000 + ("1" t[2])	# 0123 may be octal
		split($4, who, ":")
		name = $5
		sub(/[+].*/, "", name)
		sub(/[.]cold$/, "", name)
	}
	/ <-- / { open[++depth] = name; began[depth] = ns; next }
	{
		took = $0
		sub(/^.* after ~*/, "", took)
		sub(/ ns .*/, "", took)
		if (open[depth] != name || took != ns - began[depth]) {
			print "not " ns - began[depth] " ns since " open[depth] ": " $0
			bad = 1
		}
		depth--
		n++
	}
	END { exit bad || depth || !n }' "$MCT_TRACE"
}

# took FUNCTION: print the sum of its calls' durations
took()
{
	awk -v want=" $1[+]" '$0 ~ want && / after / {
		sub(/^.* after ~*/, "")
		sub(/ ns .*/, "")
		n += $0
	} END { print n + 0 }' "$MCT_TRACE"
}

# right NAME: report whether both modules run their rounds without a difference
right()
{
	wrong=
	for mod in mct_shapes mct_regs; do
		before=$(mod_get $mod rounds)
		mod_set $mod rounds "$rounds" 2>/dev/null || wrong="$wrong $mod"
		[ $(($(mod_get $mod rounds) - before)) = "$rounds" ] || wrong="$wrong $mod"
	done
	if [ -z "$wrong" ]; then
		ok "$1"
	else
		not_ok "$1" "wrong:$wrong"
		kmsg_since | grep -E 'mct_(regs|shapes): ' | diag_lines
	fi
}

# toggled NAME FILE [ON OFF]: like right, while the file is toggled under load
toggled()
{
	wrong=
	before=$(mod_get mct_shapes rounds)
	light_load_start
	toggles_start "$2" "${3-}" "${4-}"
	while [ -z "$wrong" ] && ! toggles_reach $toggles; do
		mod_set mct_shapes rounds 50 2>/dev/null &&
			mod_set mct_regs rounds 50 2>/dev/null || wrong=yes
	done
	toggles_stop
	load_stop
	diag "$(($(mod_get mct_shapes rounds) - before)) rounds"
	equal "$1: the modules find no difference" "" "$wrong"
	[ -z "$wrong" ] || kmsg_since | grep -E 'mct_(regs|shapes): ' | diag_lines
	check "$1: no toggle failed" not toggles_failed
}

# Functions whose returns are not recorded: if rethook catches returns, those that kprobes must not
# probe. Their calls are ignored.
: > "$MCT_TMP/caught_not"
! grep -q '^# returns missed: ' "$MCT_STATS" ||
	awk '{ print $2 }' /sys/kernel/debug/kprobes/blacklist > "$MCT_TMP/caught_not"

# all_matched: succeed if, for each task, each return belongs to its last open call or to a call
# before the trace, and the calls that stay open lead to do_exit, which does not return.
all_matched()
{
	awk -v list="$MCT_TMP/caught_not" 'BEGIN {
		while ((getline line < list) > 0)
			ignored[line]
	}
	/^#/ { next }
	{
		for (i = 1; $i != "CPU"; i++)
			;
		pid = $(i + 2)
		sub(/.*:/, "", pid)
		name = $(i + 3)
		sub(/[+].*/, "", name)
		sub(/[.]cold$/, "", name)
	}
	name in ignored { next }
	/ <-- / { open[pid, ++depth[pid]] = name; calls++; next }
	!depth[pid] { before++; next }
	open[pid, depth[pid]] != name {
		print "of " open[pid, depth[pid]] " there is no return before: " $0
		exit bad = 1
	}
	{ depth[pid]--; returns++ }
	END {
		if (bad)
			exit 1
		print calls " calls, " returns " returns, " before + 0 " of calls before"
		for (pid in depth) {
			tasks++
			for (i = 1; i <= depth[pid]; i++) {
				printf " %s", open[pid, i]
				ends += open[pid, i] == "do_exit"
			}
			print ""
		}
		exit !calls || !returns || ends != tasks
	}' "$MCT_TRACE" > "$MCT_TMP/matched"
	set -- $?
	cat "$MCT_TMP/matched"
	return "$1"
}

# sane_times: succeed if, in a trace with times, no nested call takes longer than its caller, no
# function longer than the trace, and no function's own time exceeds its total time.
sane_times()
{
	awk -v list="$MCT_TMP/caught_not" 'BEGIN {
		while ((getline line < list) > 0)
			ignored[line]
	}
	/^#/ { next }
	{
		split(substr($1, 2, length($1) - 2), t, ".")
		ns = t[1] * 1000000000 + ("1" t[2])	# 0123 may be octal
		if (!first || ns < first)
			first = ns
		if (ns > last)
			last = ns
		for (i = 1; $i != "CPU"; i++)
			;
		pid = $(i + 2)
		sub(/.*:/, "", pid)
		name = $(i + 3)
		sub(/[+].*/, "", name)
		sub(/[.]cold$/, "", name)
	}
	name in ignored { next }
	/ <-- / { below[pid, ++depth[pid]] = 0; in_it[pid, name]++; next }
	!depth[pid] { next }
	{
		took = $0
		if (!sub(/^.* after ~*/, "", took)) {
			print "no time: " $0
			bad = 1
			next
		}
		sub(/ ns .*/, "", took)
		took += 0
		calls++
		self = took - below[pid, depth[pid]]
		if (self < 0) {
			print self " ns less than what it calls: " $0
			bad = 1
		}
		depth[pid]--
		below[pid, depth[pid]] += took
		if (!--in_it[pid, name])	# the outermost call of a recursion
			total[pid, name] += took
		all_self[pid, name] += self
	}
	END {
		for (f in all_self) {
			functions++
			if (total[f] > last - first || (!in_it[f] && all_self[f] > total[f])) {
				print f ": " all_self[f] " of " total[f] " in " last - first " ns"
				bad = 1
			}
		}
		print calls " calls of " functions + 0 " functions in " last - first " ns"
		exit bad || !calls
	}' "$MCT_TRACE"
}

# before_is_right: succeed if a return is shown as "called before" exactly when the trace has no
# open call of its function and task, and each other return shows its duration. Names of several
# functions are ignored, and at most 128 open calls of a task are known. At the first record of a
# CPU whose older records were overwritten, no call counts as open: it may have returned there.
before_is_right()
{
	awk '$2 ~ /^[tTwW]$/ { print $3 }' /proc/kallsyms | sort | uniq -d > "$MCT_TMP/several"
	awk 'FILENAME == several { same[$1]; next }
	FILENAME == stats {
		if ($1 ~ /^[0-9]+$/ && $4 + $7)
			cut[$1 ":"]
		next
	}
	/^# lost [0-9]/ { split("", depth); split("", oldest) }
	/^#/ { next }
	{
		for (i = 1; $i != "CPU"; i++)
			;
		pid = $(i + 2)
		sub(/.*:/, "", pid)
		task = pid == "0" ? "idle " $(i + 1) : pid
		name = $(i + 3)
		sub(/[+].*/, "", name)
		sub(/[.]cold$/, "", name)
		if ($(i + 1) in cut) {
			delete cut[$(i + 1)]
			split("", depth)
			split("", oldest)
		}
	}
	/ <-- / {
		open[task, ++depth[task]] = name
		if (depth[task] - oldest[task] > 128)
			oldest[task] = depth[task] - 128
		next
	}
	{
		before = / called before$/
		for (i = depth[task]; i > oldest[task] && open[task, i] != name; i--)
			;
		known = i > oldest[task]
		if (known && !(before && name in same))
			depth[task] = i - 1
		if (name in same)
			next
		if (known == before || (!before && !/ after ~*[0-9]+ ns --> /)) {
			print (known ? "its call is there: " : "its call is not: ") $0
			exit bad = 1
		}
		n[before]++
	}
	END {
		if (!bad)
			print n[1] + 0 " called before, " n[0] + 0 " that took some time"
		exit bad || !n[0] || !n[1]
	}' several="$MCT_TMP/several" stats="$MCT_STATS" "$MCT_TMP/several" "$MCT_STATS" \
		"$MCT_TRACE" > "$MCT_TMP/before"
	set -- $?
	cat "$MCT_TMP/before"
	return "$1"
}

# child COMMAND...: record only this command and its children, until all have exited
child()
{
	rm -f "$MCT_TMP/go"
	mkfifo "$MCT_TMP/go"
	(
		read -r _ < "$MCT_TMP/go"
		exec "$@"
	) &
	put "$! children" "$pid"
	trace_clear
	trace_on
	echo 1 > "$MCT_TMP/go"
	wait $!
	trace_off
	put "" "$pid"
}

# --- the mode
equal "the mode is function at first" function "$(cat "$mode")"
check "the mode can be graph" put graph "$mode"
equal "the mode reads as graph" graph "$(cat "$mode")"
wrong=
for word in grap graphs Graph "function graph" 1 "" -; do
	! put "$word" "$mode" || wrong="$wrong '$word'"
	[ "$(cat "$mode")" = graph ] || wrong="$wrong '$word' changes it"
	put graph "$mode"
done
equal "other words are refused and leave the mode as graph" "" "$wrong"
put function "$mode"
wrong=
for word in grap graphs 1; do
	! put "$word" "$mode" || wrong="$wrong '$word'"
done
equal "other words are refused in function mode, too" " function" "$wrong $(cat "$mode")"

# --- each shape
mod_load mct_shapes
mod_load mct_regs
put 'mod:mct_shapes' "$filter"
# Run on one CPU, so that the trace has the calls in order.
all_cpus=$(taskset -p $$ | sed 's/.* //')
taskset -p 1 $$ > /dev/null
shows nested "outer<run_nested middle<shape_outer $(in_turn shape_middle "inner" inner) \
middle>shape_outer outer>run_nested"
shows recursion "recurse<run_recursion recurse<shape_recurse recurse<shape_recurse \
recurse<shape_recurse $(in_turn shape_recurse recurse) recurse>shape_recurse \
recurse>shape_recurse recurse>shape_recurse recurse>run_recursion"
shows tail "tail<run_tail tail~run_tail end<run_tail end>run_tail"
shows tails "tails<run_tails tails~run_tails tail<run_tails tail~run_tails end<run_tails \
end>run_tails"
run=run_pointer
shows pointer "pointer_tail<$run pointer_tail~$run six<$run six>$run"
run=run_r10
shows r10 "r10_tail<$run r10_tail~$run six<$run six>$run"
run=run_r11
shows r11 "r11_tail<$run r11_tail~$run six<$run six>$run"
run=run_variadic
shows variadic "variadic_tail<$run variadic_tail~$run sum<$run sum>$run"
run=run_variadic_pointer
shows variadic_pointer "variadic_pointer_tail<$run variadic_pointer_tail~$run sum<$run sum>$run"
shows pair "$(in_turn run_pair pair)"
shows large "$(in_turn run_large large)"
shows widest "$(in_turn run_widest widest)"
shows narrow "$(in_turn run_narrow "bool" bool char)"
shows registers "$(in_turn run_registers pair)"
shows exits "$(in_turn run_exits \
	"exits" exits "exits" exits "exits" exits "exits" exits "exits" exits)"
sed -n 's/.* shape_exits+\([0-9a-fx]*\)\/\([0-9a-fx]*\) .* returns .*/\1 \2/p' "$MCT_TRACE" |
	while read -r offset size; do
		[ $((offset)) -le $((size)) ] && echo "$offset"
	done | sort -u > "$MCT_TMP/exits"
equal "each of the ten returns is at another place inside the function" \
	"$(if returns_are_caught; then echo 1; else echo 10; fi)" \
	"$(wc -l < "$MCT_TMP/exits")"
shows split "$(in_turn run_split split)"
shows ints "$(in_turn run_ints "int" int "int" int "int" int "int" int "int")"
shows int_tail "int_tail<run_int_tail int_tail~run_int_tail $(in_turn run_int_tail int)"
run=run_either
shows either "either<$run either~$run $(in_turn $run int "either" either)"
shows slow_late "sleep_late<run_slow_late sleep_late<shape_sleep_late \
sleep_late<shape_sleep_late sleep_late<shape_sleep_late $(in_turn shape_sleep_late sleep_late) \
sleep_late>shape_sleep_late sleep_late>shape_sleep_late sleep_late>shape_sleep_late \
sleep_late>run_slow_late"
check "a jump that static_call() changes goes to its target" mod_set mct_shapes shape static
put graph "$mode"
traced mod_set mct_shapes shape static
changed="static<run_static static>run_static static<run_static static~run_static note<run_static"
changed="$changed note>run_static"
equal "returns of functions with static_call() are recorded" \
	"$(as_recorded "$changed $changed $changed")" \
	"$(seen | sed 's/static[>~]run_static note/static~run_static note/g')"
check "a jump that static_call() changes goes to its target afterwards" \
	mod_set mct_shapes shape static
traced mod_set mct_shapes shape never
equal "a function that never returns is recorded with its call" "never<kthread" "$(seen)"

# --- a cold part that the compiler has placed elsewhere
traced mod_set mct_shapes shape cold
equal "a return in the cold part is recorded" "split<run_cold rare<X rare>X split>run_cold" \
	"$(seen | sed -e 's/shape_split[.a-z]*/X/g' -e 's/split\.cold/split/g')"
put shape_split "$filter"
traced mod_set mct_shapes shape cold
equal "a return in the cold part is recorded if only its function is selected" \
	"split<run_cold split>run_cold" \
	"$(seen | sed 's/split\.cold/split/g')"

# --- selected functions
put shape_tail "$filter"
traced mod_set mct_shapes shape tail
equal "a selected function is recorded with its call and its jump" \
	"$(as_recorded "tail<run_tail tail~run_tail")" "$(seen)"
put shape_end "$filter"
traced mod_set mct_shapes shape tail
equal "the target of the jump is recorded with its call and its return" \
	"end<run_tail end>run_tail" "$(seen)"
put 'mod:mct_shapes' "$filter"
put 'shape_middle shape_end' "$never"
traced mod_set mct_shapes shape nested
equal "of an excluded function neither call nor return is recorded" \
	"outer<run_nested inner<shape_middle inner>shape_middle inner<shape_middle \
inner>shape_middle outer>run_nested" "$(seen)"
traced mod_set mct_shapes shape tail
equal "of an excluded target of a jump neither call nor return is recorded" \
	"$(as_recorded "tail<run_tail tail~run_tail")" "$(seen)"
put "" "$never"

# --- times
put time "$MCT_OPTIONS"
for shape in nested recursion tails exits slow_late; do
	traced mod_set mct_shapes shape $shape
	check "$shape: each duration is the difference of both times" durations_fit
done
traced mod_set mct_shapes shape nested
diag "$(took shape_outer) $(took shape_middle) $(took shape_inner)"
check "no nested call takes longer than its caller" \
	test "$(took shape_outer)" -ge "$(took shape_middle)" -a \
	"$(took shape_middle)" -ge "$(took shape_inner)"
traced mod_set mct_shapes shape slow
at_least "the duration of a call includes its sleep" 30000000 "$(took shape_sleep)"
put notime "$MCT_OPTIONS"
taskset -p "$all_cpus" $$ > /dev/null

# --- counts
put "" "$filter"
put 4096 "$MCT_SIZE"
trace_clear
trace_on
mod_set mct_shapes rounds 1
trace_off
cat "$MCT_TRACE" > "$MCT_TMP/all"
equal "no record is overwritten" 0 "$(header overwritten "$MCT_TMP/all")"
took=', called before| after ~?[0-9]+ ns --> .*'
equal "written counts calls and returns" "$(header written "$MCT_TMP/all")" \
	"$(grep -cE "^CPU .*( <-- | (returns|goes on)($took)\$)" "$MCT_TMP/all")"
check "the counts add up" counts_add_up

# --- no call of an exited process stays open
put 16384 "$MCT_SIZE"
child sh -c 'for i in 1 2 3; do ls / > /dev/null; done; :'
equal "all records of the processes fit into the rings" 0 "$(stat_sum "$OVERWRITTEN")"
check "all calls of the exited processes have returned" all_matched
tail -n 4 "$MCT_TMP/matched" | diag_lines
put time "$MCT_OPTIONS"
child hackbench -g 1 -f 2 -l 5 > /dev/null
equal "all records of waiting processes fit into the rings" 0 "$(stat_sum "$OVERWRITTEN")"
check "all calls of the exited processes have returned, with times" all_matched
tail -n 4 "$MCT_TMP/matched" | diag_lines
sane_times > "$MCT_TMP/times"
equal "no call takes longer than its caller" 0 $?
diag_lines < "$MCT_TMP/times"
put notime "$MCT_OPTIONS"
# shellcheck disable=SC2016 # a script
child sh -c 'for i in 1 2 3 4 5 6; do
	(for i in 1 2 3; do (:) & done; wait) &
	cat /dev/null &
	done; wait'
equal "all records of concurrent processes fit into the rings" 0 "$(stat_sum "$OVERWRITTEN")"
check "all calls of the concurrent processes have returned" all_matched
tail -n 1 "$MCT_TMP/matched" | diag_lines
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "each line of calls and returns is well-formed" examine "$MCT_TMP/trace"
at_least "the trace has many returns" 1000 "$(found ends)"
put 64 "$MCT_SIZE"

# --- the ring has overwritten the calls of some returns
trace_clear
storm
check "each CPU has overwritten records" each_cpu_has "$OVERWRITTEN" 1
check "exactly the returns without a call in the trace are shown as called before" before_is_right
tail -n 1 "$MCT_TMP/before" | diag_lines
# One task on one CPU with few open calls at a time.
put 'mod:mct_shapes' "$filter"
trace_clear
trace_on
taskset 1 sh -c 'echo 500 > /sys/module/mct_shapes/parameters/rounds'
trace_off
sed '/^#/d' "$MCT_TRACE" > "$MCT_TMP/lines"
at_least "the task with few open calls has overwritten records" 1 "$(stat_cpu 0 "$OVERWRITTEN")"
diag "$(grep -c ', called before$' "$MCT_TMP/lines") of $(wc -l < "$MCT_TMP/lines") called before"
at_least "the trace has returns with a duration" \
	1000 "$(grep -c ' after ~*[0-9]* ns --> ' "$MCT_TMP/lines")"
equal "each return after the first block has a duration" "" \
	"$(sed -n -e 1,64d -e '/ <-- /d' -e '/ after ~*[0-9]* ns --> /d' -e p "$MCT_TMP/lines" |
		head -n 5)"
put "" "$filter"

# --- each combination of these options has hooks of its own
light_load_start
trace_on
for options in "nocontext notime" "nocontext time" "context notime" "context time" \
	       "context nooverwrite notime"; do
	for option in $options; do
		put "$option" "$MCT_OPTIONS"
	done
	right "$options: the modules find no difference"
done
trace_off
load_stop
put nocontext "$MCT_OPTIONS"
put overwrite "$MCT_OPTIONS"
check "the counts add up after that" counts_add_up

# --- change modes and options meanwhile
trace_on
toggled "while the mode changes" "$mode" graph function
if reason=$(missing smp)$(missing testmod:mct_nmi); [ -n "$reason" ]; then
	skip "with NMIs meanwhile: the modules find no difference" "$reason"
	skip "with NMIs meanwhile: no toggle failed" "$reason"
	skip "with NMIs meanwhile: each NMI has arrived" "$reason"
else
	mod_load mct_nmi
	mod_set mct_nmi others 1000 &
	nmis=$!
	toggled "with NMIs meanwhile" "$mode" graph function
	wait $nmis
	equal "with NMIs meanwhile: each NMI has arrived" $((1000 * ($(nproc) - 1))) \
		$(($(mod_get mct_nmi in_task) + $(mod_get mct_nmi in_idle)))
	mod_unload mct_nmi
fi
put graph "$mode"
put nooverwrite "$MCT_OPTIONS"
toggled "while times are switched" "$MCT_OPTIONS" time notime
put notime "$MCT_OPTIONS"
put overwrite "$MCT_OPTIONS"
toggled "while ctrl is toggled" "$MCT_CTRL"
trace_on
toggled "while the selection changes" "$filter" 'mod:mct_shapes' 'shape_*'
check "the kernel has found no wrong call site" \
	not sh -c 'dmesg | grep -e "mcount: .* holds" -e "no call site will"'
trace_off
put function "$mode"
put "" "$filter"
right "the modules find no difference when all is off"
finish
