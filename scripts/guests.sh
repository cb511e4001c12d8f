# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced, after lib.sh, by the scripts that run tests in guests. The results go to $taps as TAP, and
# scripts/tap.py counts them.

# taps_begin NAME: make $taps an empty directory, and remove the output of earlier guests.
taps_begin()
{
	taps=$LOGS/$1
	rm -rf "$taps" "$LOGS/boot-mctracer"*.output
	mkdir -p "$taps"
}

# guest FLAVOUR NAME JOB [QEMU-OPTION...]: run JOB in a guest and keep its results as FLAVOUR-NAME.tap. A guest that
# fails without a failing test counts as a failure, too.
guest()
{
	flavour=$1 name=$1-$2 job=$3 rc=0
	shift 3
	LOG=$name "$REPO/scripts/${BOOT:-boot}" "$flavour" "$job" -- "$@" || rc=$?
	sed -e 's/\r$//' -e '/^MCT-EXIT /d' "$LOGS/boot-$name.output" >"$taps/$name.tap" || :
	if [ $rc != 0 ] && ! grep -qE '^ *not ok ' "$taps/$name.tap"; then
		echo "Bail out! $name in the guest ended with status $rc: see above" >>"$taps/$name.tap"
	fi
}

# module_guest VERSION JOB [QEMU-OPTION...]: run JOB in Debian's own kernel VERSION, with the module. The demo prints no
# TAP.
module_guest()
{
	_version=$1 _job=$2
	shift 2
	BOOT=module-boot guest "$_version" "$_job" "$_job" "$@"
	[ "$_job" != demo ] || [ $rc != 0 ] || printf '1..1\nok 1 - the demo\n' >>"$taps/$name.tap"
}

# packets_guest FLAVOUR: run the jobs that follow packets and other objects, with a disk
packets_guest()
{
	disk=$CACHE/packets.disk
	rm -f "$disk"
	truncate -s 512M "$disk"
	/sbin/mkfs.ext4 -q "$disk"
	guest "$1" packets packets -drive "if=virtio,format=raw,file=$disk"
	rm -f "$disk"
	guest "$1" drops drops
}

# ftrace_dies FLAVOUR: run selftest 96, which makes ftrace fail; ftrace's warnings are expected then.
ftrace_dies()
{
	APPEND='mct.only=96_ftrace_dies mct.REFUSED=on' BEARS='WARNING:.*kernel/(trace/)?ftrace[.]c:' \
		guest "$1" ftrace-dies selftests
}

# built FLAVOUR: build the kernel, with a result of its own: if it can't be built, later flavours still run.
built()
{
	echo "TAP version 13
1..1" >"$taps/$1-build.tap"
	if "$REPO/scripts/build" "$1" >/dev/null; then
		echo "ok 1 - the $1 kernel is built"
	else
		echo "not ok 1 - the $1 kernel is built"
	fi >>"$taps/$1-build.tap"
	! grep -q '^not ok' "$taps/$1-build.tap"
}

# The selftests, by subject. 18_lockup has a guest of its own, or is left out if the guest's clock is the host's. Those in
# $last change the machine until it is rebooted.
everywhere=00_memory,01_format,02_order,03_syscall_order,04_comm_escape,05_both_cpus
everywhere=$everywhere,06_read_while_tracing,07_clear,08_stats,09_bad_input,10_module,11_hotplug
everywhere=$everywhere,12_stress,13_toggles,62_armed_on_dying_cpu,65_long_wait
# shellcheck disable=SC2034	# for the scripts that source this
sites=14_sites,15_module_loads,16_registers,17_kprobes
# shellcheck disable=SC2034
rings=20_options,21_counts,22_trace_pipe,23_raw,24_resize,25_consumers,26_context,27_stuck_reader
rings=$rings,28_permissions,46_names,47_pid,54_latency
# shellcheck disable=SC2034
choices=44_choices,48_filter,49_triggers,50_max_stack,55_args,56_follow,57_data,58_follow_many,59_freeze
choices=$choices,63_lists_in_pieces
# shellcheck disable=SC2034
returns=51_returns,52_return_triggers,53_return_probes,66_holes,67_caught_returns
# shellcheck disable=SC2034
tools=60_mctrace,68_recordings
# shellcheck disable=SC2034
hooks=40_preempt_count,41_preempted_hook,42_clobbering_hook,43_fuzz
# shellcheck disable=SC2034
last=98_clock_lost,99_lockdown

# Tests of the repository that need another kernel, or a browser.
# shellcheck disable=SC2034
long_host="tests/instrumented.sh tests/pictures.sh"
# Tests of the repository that boot a guest.
# shellcheck disable=SC2034
guest_host="tests/recorded.sh tests/vmcore.sh tests/crash.sh"

# selftests FLAVOUR TOGGLES LOADS STRESS-SECONDS ONLY [QEMU-OPTION...]: run the selftests ONLY in a guest, by the job
# "selftests", or $JOB. The guest's name is $NAME, or the job's.
selftests()
{
	flavour=$1 only=${ONLY-$5}
	loops="mct.TOGGLES=${TOGGLES:-$2} mct.MODULE_LOADS=${LOADS:-$3} mct.STRESS_SECONDS=$4"
	# Without SEED the random steps are the same each time.
	loops="$loops mct.FUZZ_STEPS=${FUZZ_STEPS:-200} mct.SEED=${SEED:-297263}"
	shift 5
	APPEND="mct.only=$only mct.timeout=900 $loops ${APPEND-}" TIMEOUT=${TIMEOUT:-3600} \
		guest "$flavour" "${NAME:-${JOB:-selftests}}" "${JOB:-selftests}" "$@"
}

# host_tests TEST...: run tests of the repository. Their results go to host.tap, or $NAME.tap, as one result for each
# test with its own results indented above.
host_tests()
{
	tap=$taps/${NAME:-host}.tap one=$taps/${NAME:-host}.one
	cd "$REPO" || exit
	echo "TAP version 13
1..$#" >"$tap"
	n=0
	for t in "$@"; do
		n=$((n + 1)) start=$(date +%s) rc=0
		step "$t"
		echo "    # Subtest: $t" >>"$tap"
		"$t" >"$one" 2>&1 </dev/null || rc=$?
		sed 's/^/    /' "$one" >>"$tap"
		grep -E '^not ok |# SKIP' "$one" | sed 's/^/    /' >&2 || :
		seconds=$(($(date +%s) - start))
		if [ $rc != 0 ]; then
			echo "not ok $n - $t (exit status $rc)" >>"$tap"
			note "$t failed after $seconds s"
		elif ! grep -qE '^(1\.\.|ok [0-9])' "$one"; then
			echo "not ok $n - $t (no results)" >>"$tap"
			note "$t: no results"
		else
			echo "ok $n - $t" >>"$tap"
			[ "$seconds" -lt 5 ] || note "$t: $seconds s"
		fi
	done
	rm -f "$one"
}

# count_results: show the results of all guests; the last line has their number.
count_results()
{
	step "results (the output of all tests: $(shown "$taps"))"
	cd "$taps" || exit
	exec "$REPO/scripts/tap.py" ./*.tap
}
