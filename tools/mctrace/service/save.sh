#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# usage: save [--stopping | --stopped]
# Used by mctracer.service. Before the recorder starts: if it was running when the previous boot
# ended, save what the kernel kept of that boot in /var/lib/mctracer, and note that the recorder
# runs. --stopping: if an event such as an oops froze the rings, but the kernel runs on, save them.
# --stopped: note that the recorder was stopped. No file is replaced, and a file gets its name once
# it is complete.
set -eu
umask 077
export LC_ALL=C

folder=${STATE_DIRECTORY:-/var/lib/mctracer}
config=${MCTRACER_CONFIG:-/etc/mctracer.conf}
tracer=${MCTRACER_DIR:-/sys/kernel/debug/mctracer}
last=$tracer/last_boot
pstore=${MCTRACER_PSTORE:-/var/lib/pstore /sys/fs/pstore}
running=$folder/running
printed='mctracer: (frozen: |end of the last calls)'
boot=$(cat /proc/sys/kernel/random/boot_id)

# put FILE COMMAND...: write the output of COMMAND to FILE, and to the disk
put()
{
	new=$1.new
	shift
	"$@" >"$new" && sync "$new" && mv "$new" "${new%.new}" && sync "$folder" && return
	rm -f "$new"
	return 1
}

# calls WHAT TRACE: print the kernel's own text of its calls, as it prints them when it crashes
calls()
{
	echo "mctracer: frozen: $1" && cat "$2" && echo "mctracer: end of the last calls"
}

# save_text WHAT TRACE: save the kernel's own text instead of a recording, for which the kernel may
# hide the names (kernel.kptr_restrict=2). WHAT stands in its first line.
save_text()
{
	saved=$name.txt
	put "$saved" calls "$@"
}

# save_rings: save the rings that the kernel found in reserved memory, and free the kernel's copy.
# If another kernel runs now, it can't name functions: then save the rings as they are, for
# mctrace report --kallsyms.
save_rings()
{
	saved=$name.dat
	if mctrace export --to mctrace --output "$saved" "$last/raw"; then
		:
	elif head -n 1 "$last/trace" | grep -q ': this one'; then
		save_text "the boot of $began ended" "$last/trace" || return
	else
		saved=$name.raw
		mkdir "$saved.new" && cp "$last/raw" "$saved.new/raw" &&
			sed -n '/^#/!q;p' "$last/trace" >"$saved.new/trace" &&
			sync "$saved.new/raw" "$saved.new/trace" &&
			mv "$saved.new" "$saved" || return
		saved=$saved/raw
	fi
	sync "$folder" && echo >"$last/trace"
}

# find_dump: print the name of a file that is newer than the recorder's start, in pstore or left by
# systemd-pstore, and that has the calls which the kernel printed when it crashed
find_dump()
{
	# shellcheck disable=SC2086	# folders
	find $pstore -type f -newer "$running" -exec grep -lE "$printed" {} + 2>/dev/null |
		sort | head -n 1
}

# save_dump FILE: save these calls; of a log that was cut, what there is
save_dump()
{
	saved=$name.txt
	# shellcheck disable=SC2016	# for awk
	put "$saved" awk '/mctracer: frozen: / { text = "" }
		{ text = text $0 "\n" }
		/mctracer: end of the last calls/ { exit }
		END { printf "%s", text }' "$1"
}

# save: save what is there of the boot that ended
save()
{
	if head -n 1 "$last/trace" >/dev/null 2>&1; then
		save_rings
	else
		dump=$(find_dump)
		[ -n "$dump" ] || {
			echo "the boot of $began ended while the recorder ran, but left no calls"
			return 0
		}
		save_dump "$dump"
	fi || {
		echo "the last calls of the boot of $began can't be saved, see $last and $pstore"
		return 1
	}
	echo "the boot of $began ended while the recorder ran: its last calls are in $saved"
}

# take_name: find the name, without its end, of a recording of the boot that began at $began. A
# clock that was set back may give a date twice, and several events may freeze rings in one boot.
take_name()
{
	case $began in
	'' | *[!0-9TZ.-]*)	began=$(date -u +%Y-%m-%dT%H.%M.%SZ) ;;
	esac
	name=$folder/$began i=1
	while [ -e "$name.dat" ] || [ -e "$name.txt" ] || [ -e "$name.raw" ]; do
		i=$((i + 1)) name=$folder/$began-$i
	done
}

# save_frozen: if the rings are frozen, save them. Then they are saved, so clear and thaw them, or
# the recorder could not start again.
save_frozen()
{
	frozen=$(sed -n '1s/^# frozen: //p' "$tracer/stats") || return
	[ -n "$frozen" ] || return 0
	read -r _ began <"$running" || return
	take_name
	saved=$name.dat
	mctrace export --to mctrace --output "$saved" "$tracer" && sync "$folder" ||
		save_text "$frozen" "$tracer/trace" || {
		echo "the last calls before an event ($frozen) can't be saved, see $tracer/trace"
		return 1
	}
	echo "an event ($frozen) has frozen the rings: the last calls before are in $saved"
	echo >"$tracer/trace" && echo 1 >"$tracer/tracing_on"
}

# rotate: remove the oldest recordings, but not the one just saved, whose time is the oldest if the
# clock was set back
rotate()
{
	keep=$(sed -n 's/[[:space:]]//g; s/^keep=0*\([1-9][0-9]*\)$/\1/p' "$config" | tail -n 1)
	keep=${keep:-10}
	others=$keep
	for new in "${name:-/}".*; do
		[ ! -e "$new" ] || others=$((keep - 1))
	done
	find "$folder" -mindepth 1 -maxdepth 1 -name '[0-9]*.*' ! -path "${name:-/}.*" \
		-printf '%T@ %p\n' | sort -n | head -n "-$others" | cut -d ' ' -f 2- |
		while IFS= read -r old; do
			echo "removing $old: $keep recordings are kept"
			rm -r "$old"
		done
}

case $* in
'')	;;
--stopping)
	save_frozen 2>&1
	rotate
	exit ;;
--stopped)
	! grep -q "^$boot " "$running" 2>/dev/null || rm "$running"
	exit ;;
*)	echo "usage: save [--stopping | --stopped]" >&2
	exit 2 ;;
esac

rc=0
rm -rf "$folder"/*.new
if [ -e "$running" ] && read -r crashed began <"$running" && [ "$crashed" != "$boot" ]; then
	take_name
	save || rc=1
	rm -rf "$folder"/*.new
	rotate
fi 2>&1
began=$(sed -n 's/^btime //p' /proc/stat)
put "$running" echo "$boot $(date -u -d "@$began" +%Y-%m-%dT%H.%M.%SZ)"
exit $rc
