#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the benchmark: the report shows the figures and each missed bound; the driver fails if a bound is
# missed; the check of the hot path finds forbidden accesses; the documents show the latest results of the
# main kernel.
. "${0%/*}/../scripts/test-lib.sh"

# figures: print made-up figures that meet all bounds. A stat() loop has 1000000 calls.
figures()
{
	cat <<'END'
none stat_off 100000000 0
none stat_off 100100000 0
none stat_off 100050000 0
mctracer path 26 0
mctracer path_exact 33 0
native nothing 300 2000
native rdtsc 9000 2000
native empty 1000 2000
native rdtsc_empty 10000 2000
native traced 4000 2000
native exact 12000 2000
native ratio 400 1000
native ratio_exact 1200 1000
follow seen 2000000 0
follow lost 0 0
follow bad 0 0
follow written 2000000 0
END
	for w in read pipe file exec tcp hackbench; do
		echo "none ${w}_off 100000000 0"
	done
	for w in stat read pipe file exec tcp hackbench; do
		echo "none ${w}_times 1000 0"
		echo "mctracer ${w}_off 101000000 0
mctracer ${w}_on 125050000 1000000
mctracer ${w}_times 1000 0
mctracer-static ${w}_off 104000000 0
mctracer-static ${w}_on 130000000 1000000
mctracer-static ${w}_times 1000 0
mctracer-returns ${w}_off 101500000 0
mctracer-returns ${w}_on 126000000 1000000
mctracer-returns ${w}_graph 151500000 2000000
mctracer-returns ${w}_times 1000 0
ftrace ${w}_off 102000000 0
ftrace ${w}_on 600000000 1010000
ftrace ${w}_graph 1500000000 2020000
ftrace ${w}_times 1000 0"
	done
	for k in mctracer mctracer-static mctracer-returns ftrace; do
		echo "$k ring 8500000 1000000
$k text 140000000 70000
$k pipe 147000000 70000
$k raw 630000 70000
$k switch_on 40000000 9
$k switch_off 90000000 9
$k sites 80000 20000"
	done
	for name in function graph; do
		echo "mctracer-returns rec_setup_$name 10000000 0
mctracer-returns rec_traced_$name 205000000 1000000
mctracer-returns rec_$name 250000000 900000
mctracer-returns rec_missed_$name 0 0
ftrace rec_setup_$name 10000000 0
ftrace rec_$name 1010000000 910000
ftrace rec_missed_$name 810000 0"
	done
	echo "mctracer-returns rec_plain 100000000 0
ftrace rec_plain 102000000 0"
	echo "ftrace ring_graph 1048576 30000"
	echo "mctracer-returns stat_graph_exact 168500000 2000000
mctracer-returns hackbench_graph_exact 190000000 2000000
mctracer-returns ring_exact 16500000 1000000
mctracer-returns stat_exact 131050000 1000000"
	for k in mctracer mctracer-static; do
		echo "$k ring_exact 16500000 1000000
$k stat_exact 131050000 1000000
$k stat_keep 127050000 1000000
$k stat_context 140050000 1000000
$k stat_unchosen 111050000 0"
	done
	echo "mctracer stat_count 101600000 10000
mctracer stat_mark 105000000 10000
mctracer stat_stack 211050000 1000000
mctracer stat_chosen 101400000 10000
mctracer stat_unfiltered 101050000 0
mctracer tcp_unfiltered 10000000 0
mctracer tcp_chosen 10100000 1000
mctracer tcp_chain 12100000 1000
mctracer tcp_callers 14100000 1000
mctracer switch_one 1000000 1
mctracer-static stat_unfiltered 111050000 0
ftrace stat_chosen 107000000 10000
ftrace stat_unfiltered 102000000 0
ftrace tcp_unfiltered 10000000 0
ftrace tcp_chosen 10500000 1000
ftrace tcp_callers 18500000 1000
ftrace switch_one 2000000 1"
	for w in stat read pipe file exec tcp hackbench idle; do
		for name in apart_words apart_ns span_ns error_ns; do
			for point in median p90 p99 p999 max; do
				echo "times ${w}_${name}_$point 4000 0"
			done
		done
		echo "times-multi ${w}_adjacent_pairs 1000 0
times-multi ${w}_adjacent_wrong 25 0
times-multi ${w}_near_pairs 1000000 0
times-multi ${w}_near_checked 2000 0
times-multi ${w}_near_wrong 1 0"
	done
	for k in none mctracer mctracer-static mctracer-returns ftrace; do
		echo "$k boot 250000000 0
$k size_data 1024000 0
$k size_bss 1024000 0"
		[ "$k" = mctracer-returns ] || echo "$k size_text 4096000 0"
	done
	echo "mctracer-returns size_text 4198400 0"
	for n in 1 2 4; do
		echo "smp$n events 9000000 3000
smp$n events 9010000 3000"
		for cpu in 0 1 2 3; do
			echo "smp$n cpu$cpu 1000000 0"
		done
	done
}

# report RC [KERNEL NAME VALUE ITEMS]...: succeed if the report exits with RC after these figures are replaced, or
# removed if VALUE is empty.
report()
{
	_want=$1
	shift
	figures >"$T/figures"
	while [ $# != 0 ]; do
		grep -v "^$1 $2 " "$T/figures" >"$T/changed"
		[ -z "$3" ] || echo "$1 $2 $3 $4" >>"$T/changed"
		mv "$T/changed" "$T/figures"
		shift 4
	done
	_rc=0
	"$REPO/bench/report.py" "$T/figures" "$T/chart" >"$T/report" 2>"$T/said" || _rc=$?
	cat "$T/said"
	[ "$_rc" = "$_want" ]
}

good()
{
	report 0 && [ ! -s "$T/said" ] && ! grep -q '\*\*missed by' "$T/report" &&
		grep -q '^| instructions that tracing adds to a call | 24.05 | at most 28 | met |' "$T/report"
}

# peer_figures: print made-up figures of scripts/bench-peers
peer_figures()
{
	echo "series peer_off 20000000 10000
series peer_count_mctracer 20600000 10000
peers peer_off 30000000 10000
peers peer_first_attach 2800000000 0
peers peer_count_mctracer 30700000 10000
peers peer_count_fentry 31500000 10000
peers peer_count_bpftrace 33000000 10000"
	for k in series:mctracer peers:mctracer peers:fentry peers:bpftrace; do
		echo "${k%:*} peer_count_${k#*:}_attach 1500000 0
${k%:*} peer_count_${k#*:}_detach 2500000 0
${k%:*} peer_count_${k#*:}_missed 3 30000"
	done
}

peers()
{
	peer_figures >"$T/peers"
	"$REPO/bench/peers.py" "$T/peers" >"$T/report" &&
		grep -q '^| count the calls of one function | .mctracer., in the kernel | 60 | 0.002 | 0.003 | 3 |$' "$T/report" &&
		grep -q '^|  | .mctracer., a module | 70 | 0.002 | 0.003 | 3 |$' "$T/report" &&
		grep -q '2.800 s as a module' "$T/report" &&
		grep -q '^|  | bpftrace | 300 | 0.002 | 0.003 | 3 |$' "$T/report" &&
		grep -q '^| count the calls of one function | 60 | 70 | 150 | - | 300 |$' "$T/report" &&
		! grep -q '^|  | BPF, kprobe.multi' "$T/report" || return
	# A tool need not answer each question, but an answer has all its figures.
	grep -v 'peers peer_count_fentry_detach' "$T/peers" >"$T/fewer"
	fails_saying 'printed no figure for peer_count_fentry_detach' "$REPO/bench/peers.py" "$T/fewer"
}

# missed TEXT FIGURE...: succeed if the report with these figures fails with exactly this error
missed()
{
	_text=$1
	shift
	report 1 "$@" && [ "$(cat "$T/said")" = "error: $_text" ] &&
		grep -q '\*\*missed by' "$T/report"
}

all_missing()	# remove each figure in turn: the report must fail and name it
{
	figures | awk '{ print $1, $2 }' | sort -u >"$T/names"
	_n=0
	while read -r _kernel _what; do
		# Of kernels with a tracer, the report needs only stat()'s number of loops; these figures may be
		# missing.
		case $_kernel:$_what in
		none:stat_times | mctracer:stat_times | mctracer-static:stat_times | ftrace:stat_times | \
			mctracer-returns:stat_times)
			;;
		smp1:cpu[123] | smp2:cpu[23] | mctracer*:*_times | ftrace:*_times | mctracer-static:sites | \
			mctracer-returns:sites | mctracer-static:stat_keep | mctracer-static:stat_context | mctracer-static:stat_unchosen)
			continue ;;
		esac
		_n=$((_n + 1))
		report 2 "$_kernel" "$_what" '' '' &&
			grep -q "the $_kernel guest printed no figure for $_what\$" "$T/said" || {
			echo "without $_kernel $_what"
			return 1
		}
	done <"$T/names"
	[ "$_n" -gt 310 ]
}

unstable()
{
	figures >"$T/figures"
	echo "mctracer hackbench_on 129050000 1000000" >>"$T/figures"
	"$REPO/bench/report.py" "$T/figures" "$T/chart" >"$T/report" &&
		grep -q '^| hackbench -g 2 -l 50, on .* 127,050 (1.27x) ~ |' "$T/report" &&
		grep -q '^- hackbench -g 2 -l 50, on, mctracer: 3.1 %$' "$T/report" &&
		! grep -q '^- .*stat.*:' "$T/report"
}

chart()
{
	[ "$(sed -n 2p "$T/chart")" = "stat 1.009 1.250 1.514 5.997 14.993" ] &&
		[ "$(wc -l <"$T/chart")" = 8 ]
}

# hot, hot_7_3, hot_6_1: print the data that the kernels' pcpu_hot, or its like, has
hot()
{
	printf '.type pcpu_hot, @object\npcpu_hot: .skip 64\n.size pcpu_hot, 64\n'
}

hot_7_3()
{
	printf '__per_cpu_hot_start:\ncurrent_task: .quad 0\npcpu_hot2: .skip 47\n__per_cpu_hot_end:\n.balign 64\n'
}

hot_6_1()
{
	for variable in current_task __preempt_count; do
		printf '.type %s, @object\n%s: .quad 0\n.size %s, 8\n' "$variable" "$variable" "$variable"
	done
}

# hook BODY [DISTANCE [HOT]]: make a program with such a hook, and run hotpath.py on it
hook()
{
	{
		printf '.text\n.globl mctracer_hook\n.type mctracer_hook, @function\n'
		printf 'mctracer_hook:\n\tpush %%rax\n\tmov %%gs:mctracer_rings+0x1018(%%rip), %%rax\n'
		printf '\tadd %%gs:mctracer_rings+0x1010(%%rip), %%rax\n'
		printf '%b\n\tpop %%rax\n\tret\n' "$1"
		printf '.size mctracer_hook, . - mctracer_hook\n.data\n.balign 4096\n'
		printf '.type mctracer_rings, @object\nmctracer_rings: .skip 8192\n'
		printf '.size mctracer_rings, 8192\n.skip %s\n' "${2-64}"
		"${3-hot}"
		printf 'elsewhere: .quad 0\n'
	} >"$T/hook.s"
	gcc -nostdlib -static -no-pie -Wl,-e,0 -o "$T/hook" "$T/hook.s" &&
		"$REPO/bench/hotpath.py" "$T/hook"
}

stores_found()
{
	hook '\tmov %edx, 4(%rax)\n\tincl %gs:pcpu_hot+8(%rip)' >"$T/path" || return 1
	cat "$T/path"
	grep -q '^Stores: 1 per CPU, 1 slot of the record, 1 stack\.$' "$T/path" &&
		grep -q 'uninterrupted: 9\.$' "$T/path"
}

other_kernels()	# kernels that have the variables of 6.12's pcpu_hot elsewhere
{
	hook '\tincl %gs:pcpu_hot2+8(%rip)\n\tmov %gs:current_task(%rip), %rdi\n\tmov 8(%rdi), %rdi' 64 hot_7_3 \
		>"$T/path" || return 1
	cat "$T/path"
	grep -q '^| .incl .* | load, store | per CPU: pcpu_hot+0x10 |$' "$T/path" &&
		grep -q '^| .mov 0x8(%rdi),%rdi. | load | running task |$' "$T/path" &&
		grep -q '^.pcpu_hot. (64 bytes at .*: whole cache lines), and whole pages' "$T/path" || return 1
	hook '\tincl %gs:__preempt_count\n\tmov %gs:current_task, %rdi\n\tmov 8(%rdi), %rdi' 64 hot_6_1 \
		>"$T/path" || return 1
	cat "$T/path"
	grep -q '^| .incl .* | load, store | per CPU: __preempt_count+0x0 |$' "$T/path" &&
		grep -q '^| .mov 0x8(%rdi),%rdi. | load | running task |$' "$T/path" &&
		grep -q '^of .__preempt_count. (8 bytes at 0x[0-9a-f]*), and whole pages' "$T/path" &&
		fails_saying 'none of the variables' hook '\tincl %gs:elsewhere' 64 hot_6_1 &&
		fails_saying 'no variables in place of pcpu_hot' hook '' 64 true
}

refused()	# REGEX BODY [DISTANCE]
{
	fails_saying "$1" hook "$2" "${3-0}"
}

# fake_bench: make a repository whose guests and programs print the figures above. FAIL names a job that must fail.
fake_bench()
{
	mkdir -p "$T/repo/bench" "$T/linux/arch" "$T/cache"
	cp -R -- "$REPO/scripts" "$T/repo/"
	cp -- "$REPO/bench/"*.py "$REPO/bench/chart.gp" "$T/repo/bench/"
	mkdir "$T/repo/bench/native"
	printf 'VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n' >"$T/linux/Makefile"
	echo 'config HOTPLUG_CORE_SYNC' >"$T/linux/arch/Kconfig"
	cat >"$T/repo/scripts/boot" <<'END'
#!/bin/sh
case $2 in
bench | recorders)
	case $1 in
	mctracer)	kernel=mctracer-returns ;;
	mctracer-calls)	kernel=mctracer ;;
	*)		kernel=$1 ;;
	esac ;;
follow)	kernel=follow ;;
times)	kernel=times${THREAD:+-$THREAD} ;;
scale)	kernel=smp$SMP ;;
peers)
	case $1 in
	6.12)	kernel=peers ;;
	*)	kernel=series ;;
	esac ;;
esac
[ "$2" != "${FAIL-}" ] || exit 1
sed -n "s/^$kernel //p" "$FIGURES"
END
	cp -- "$T/repo/scripts/boot" "$T/repo/scripts/module-boot"
	printf '#!/bin/sh\n' >"$T/repo/scripts/build"
	printf '#!/bin/sh\necho "%s"\n' "$T/linux" >"$T/repo/scripts/kernel-tree"
	printf '#!/bin/sh\nsed -n "s/^native //p" "%s"\n' "$T/figures" >"$T/repo/bench/native/run"
	printf '#!/bin/sh\necho "Instructions from here to there: 26."\n' >"$T/repo/bench/hotpath.py"
	printf '#!/bin/sh\n' >"$T/repo/bench/sizes.py"
	chmod +x "$T/repo/scripts/"* "$T/repo/bench/native/run"
}

driver()
{
	XDG_CACHE_HOME=$T/cache FIGURES=$T/figures "$T/repo/scripts/bench"
}

driver_writes()
{
	fake_bench
	figures >"$T/figures"
	driver || return 1
	set -- "$T/repo/bench/results/"*-6.12.1.md
	[ -f "$1" ] && [ -s "${1%.md}.svg" ] && grep -q '^| calls followed by mmap: lost | 0 |' "$1" &&
		grep -qF "($(basename -- "$1" .md).svg)" "$1"
}

peers_driver()
{
	fake_bench
	peer_figures >"$T/figures"
	XDG_CACHE_HOME=$T/cache FIGURES=$T/figures "$T/repo/scripts/bench-peers" || return
	set -- "$T/repo/bench/results/"*-6.12.1-peers.md
	grep -q '^|  | bpftrace | 300 |' "$1" || return
	printf '<!-- peers -->\nold\n<!-- end -->\n[all](bench/results/2001-01-01-6.1-peers.md) [others](bench/results/1-6.1.md)\n' \
		>"$T/document"
	"$REPO/bench/readme.py" "$1" "$T/document" && grep -q '^| count the calls of one function | 60 |' "$T/document" &&
		grep -qF "[all](bench/results/$(basename -- "$1")) [others](bench/results/1-6.1.md)" "$T/document" || return
	rm -f "$1"
	export FAIL=peers
	fails_saying "the job peers did not run in Debian's 6.12" env XDG_CACHE_HOME="$T/cache" FIGURES="$T/figures" \
		"$T/repo/scripts/bench-peers" && [ ! -e "$1" ]
}

driver_misses()
{
	figures | sed 's/^follow lost 0/follow lost 3/' >"$T/figures"
	fails_saying '^error: calls followed by mmap: lost: 3, at most 0: missed by 3' driver &&
		grep -q '^error: a promised bound was missed' "$T/err" &&
		grep -q 'missed by 3' "$T/repo/bench/results/"*.md
}

driver_fails()
{
	figures >"$T/figures"
	export FAIL=follow
	fails_saying "^error: the benchmark's job follow did not run in the mctracer-calls guest" driver
}

driver_follows_nothing()
{
	: >"$T/linux/arch/Kconfig"
	export FAIL=follow	# this job must not run
	driver && ! grep -q '^| calls followed by mmap: lost ' "$T/repo/bench/results/"*-6.12.1.md
}

readme()
{
	_shown=$(sed -n 's,.*[(/]\(bench/results/[^)]*\)\.svg).*,\1,p' "$REPO/docs/measured.md")
	_latest=$(find "$REPO/bench/results" -name "*-$MAIN_KERNEL.*.md" ! -name '*-peers.md' | sort | tail -n 1)
	_peers=$(find "$REPO/bench/results" -name "*-$MAIN_KERNEL.*-peers.md" | sort | tail -n 1)
	[ "$REPO/$_shown.md" = "$_latest" ] || {
		echo "docs/measured.md shows $_shown, $MAIN_KERNEL's latest is $_latest"
		return 1
	}
	[ -f "$REPO/$_shown.svg" ] || return 1
	# shellcheck disable=SC2086	# there may be none
	shown_tables "$_latest" $_peers >"$T/latest"
	[ "$(wc -l <"$T/latest")" -gt 20 ] &&
		shown_tables "$REPO/docs/measured.md" "$REPO/README.md" | diff - "$T/latest"
}

shown_tables()	# FILE...
{
	cat "$@" | sed -n '/^<!-- promised/,/^<!-- end/p'
	cat "$@" | sed -n '/^<!-- summary/,/^<!-- end/p'
	cat "$@" | sed -n '/^<!-- peers/,/^<!-- end/p'
}

plan 52
check "good figures miss no bound" good
check "the chart's data are right" chart
check "other tools' costs are shown beside mctracer's" peers
check "a missed bound is reported: a traced call" missed \
	"instructions that tracing adds to a call: 31, at most 28: missed by 3" \
	mctracer stat_on 132000000 1000000 mctracer stat_keep 134000000 1000000 \
	mctracer stat_context 144000000 1000000
check "a missed bound is reported: the hook's path" missed \
	"instructions a traced call, from call to return: 29, at most 28: missed by 1" \
	mctracer path 29 0
check "a missed bound is reported: a traced call with its time" missed \
	"instructions that tracing adds to a call, with times: 34, at most 33: missed by 1" \
	mctracer stat_exact 135000000 1000000
check "a missed bound is reported: nooverwrite" missed \
	"instructions that nooverwrite adds to a call: 5, at most 4: missed by 1" \
	mctracer stat_keep 130050000 1000000
check "a missed bound is reported: context" missed \
	"instructions that context adds to a call: 20.50, at most 20: missed by 0.500" \
	mctracer stat_context 145550000 1000000
check "a missed bound is reported: a task that is not traced" missed \
	"instructions a call of a task that is not traced: 13, at most 12: missed by 1" \
	mctracer stat_unchosen 114000000 0
check "a missed bound is reported: a function that is not selected" missed \
	"instructions a call of a function that is not selected: 1, at most 0.200: missed by 0.800" \
	mctracer stat_unfiltered 102000000 0
check "a missed bound is reported: a function that is not selected, with static call sites" missed \
	"instructions a call of a function that is not selected, static call sites: 13.95, at most 12.10: missed by 1.850" \
	mctracer-static stat_unfiltered 114000000 0
check "a missed bound is reported: a count" missed \
	"instructions that a counting trigger adds to a call: 65, at most 60: missed by 5" \
	mctracer stat_count 101700000 10000
check "a missed bound is reported: callers" missed \
	"instructions that 10 callers add to a recorded call: 2,600, at most 2,500: missed by 100" \
	mctracer tcp_chain 12700000 1000
check "a missed bound is reported: callers against ftrace" missed \
	"instructions that all callers add to a recorded call, against ftrace: 9,000, at most 8,000: missed by 1,000" \
	mctracer tcp_callers 19100000 1000
check "a missed bound is reported: the deepest stack" missed \
	"instructions that max_stack adds to a call: 106.0, at most 95: missed by 10.95" \
	mctracer stat_stack 231000000 1000000
check "a missed bound is reported: a call and its return" missed \
	"instructions that tracing adds to a call and its return: 63, at most 62: missed by 1" \
	mctracer-returns stat_graph 164500000 2000000
check "a missed bound is reported: a call and its return with times" missed \
	"instructions that tracing adds to a call and its return, with times: 76, at most 75: missed by 1" \
	mctracer-returns stat_graph_exact 177500000 2000000
check "a missed bound is reported: hackbench with returns" missed \
	"hackbench, all calls and returns traced: slowed by: 2.800, at most 2.700: missed by 0.100" \
	mctracer-returns hackbench_graph 280000000 2000000
check "a missed bound is reported: call sites before returns while off" missed \
	"all workloads while off, with call sites before returns: slowed by: 1.051, at most 1.030: missed by 0.021" \
	mctracer-returns tcp_off 130000000 0
check "a missed bound is reported: the size of text" missed \
	"% of text that call sites before returns add: 4.000, at most 3.500: missed by 0.500" \
	mctracer-returns size_text 4259840 0
check "a missed bound is reported: ftrace's graph" missed \
	"instructions that tracing adds to an event, graph: ftrace's / mctracer's: 5, at least 10: missed by 5" \
	mctracer-returns stat_graph 134050000 1000000 mctracer-returns stat_on 126000000 1000000 \
	ftrace stat_graph 443450000 2020000
check "a missed bound is reported: switching one function on" missed \
	"switching on for one function: % of that for all: 4, at most 3: missed by 1" \
	mctracer switch_one 1600000 1
check "a missed bound is reported: bytes" missed "bytes an event, hackbench: 9, at most 8.600: missed by 0.400" \
	mctracer ring 9000 1000
check "a missed bound is reported: hackbench" missed \
	"hackbench, all functions traced: slowed by: 1.720, at most 1.620: missed by 0.100" \
	mctracer hackbench_on 172000000 5000000
check "a missed bound is reported: workloads while off" report 1 mctracer pipe_off 120000000 0
check "a missed bound is reported: the ratio to ftrace, a lower bound" missed \
	"instructions that tracing adds to a call: ftrace's / mctracer's: 8.151, at least 10: missed by 1.849" \
	ftrace stat_on 300000000 1010000
check "a missed bound is reported: counts that differ from ftrace's" missed \
	"calls in a stat(): % from ftrace's count: 4.762, at most 2: missed by 2.762" \
	ftrace stat_on 600000000 1050000
check "a missed bound is reported: native time" missed \
	"on this processor: a traced call / rdtsc and an empty call: 0.600, at most 0.550: missed by 0.050" \
	native ratio 600 1000
check "a missed bound is reported: native time of a call with its time" missed \
	"on this processor: a traced call with its time / rdtsc and an empty call: 1.300, at most 1.250: missed by 0.050" \
	native ratio_exact 1300 1000
check "a missed bound is reported: a line of text" missed "instructions a line of trace: 4,000, at most 2,500: missed by 1,500" \
	mctracer text 280000000 70000
check "a missed bound is reported: reading a record" missed "instructions a call read from raw: 11, at most 9.200: missed by 1.800" \
	mctracer raw 770000 70000
check "a missed bound is reported: switching" missed \
	"microseconds to switch off, against ftrace: 91,000, at most 90,000: missed by 1,000" \
	mctracer switch_off 91000000 9
check "a missed bound is reported: a lost record" missed "calls followed by mmap: lost: 3, at most 0: missed by 3" follow lost 3 0
check "a missed bound is reported: a record that no reader saw" missed "calls followed by mmap: not seen by the readers: 7, at most 0: missed by 7" \
	follow written 2000007 0
check "a missed bound is reported: recording a word" missed \
	"mctrace record, calls: instructions a word: 45, at most 40: missed by 5" \
	mctracer-returns rec_function 260000000 900000
check "a missed bound is reported: an event that the recorder missed" missed \
	"mctrace record, calls and returns with times: % missed: 1, at most 0: missed by 1" \
	mctracer-returns rec_missed_graph 9000 0
check "a missed bound is reported: a recorder against trace-cmd" missed \
	"mctrace record, calls: slowed by, against trace-cmd: 2.400, at most 2: missed by 0.400" \
	ftrace rec_function 214000000 910000
check "a missed bound is reported: too few calls to prove anything" missed \
	"calls followed by mmap: 5,000, at least 1,000,000: missed by 995,000" \
	follow seen 5000 0 follow written 5000 0
check "a missing figure is named" all_missing
check "a figure that does not repeat is marked and listed" unstable
check "the hot path: kinds of stores are recognized" stores_found
check "the hot path: variables of other kernels are recognized" other_kernels
check "the hot path: a store to a global is refused" refused 'store to' '\tmov %edx, elsewhere(%rip)'
check "the hot path: a store through a loaded pointer is refused" refused 'store to' \
	'\tmov %gs:pcpu_hot(%rip), %rdx\n\tmov %eax, 8(%rdx)'
check "the hot path: a locked store through an exchanged register is refused" refused 'load from|store to' \
	'\txchg %rdx, %rax\n\tcmpxchg %rcx, (%rax)'
check "the hot path: a cache line that two CPUs share is refused" refused 'not whole cache lines' \
	'\tmov %edx, 4(%rax)' 8
check "make bench writes its results" driver_writes
check "make bench fails when a bound is missed" driver_misses
check "the comparison with other tools writes its results" peers_driver
check "make bench fails when a guest fails" driver_fails
check "calls are not followed if the guest can have one processor only" driver_follows_nothing
check "the documents show the main kernel's latest results" readme
finish
