#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the program with which mctracer.service saves what a crash left, with a stand-in for mctrace, and folders in
# place of the kernel's. scripts/guest/recorder tests the service itself.
. "${0%/*}/../scripts/test-lib.sh"

plan 23
save=$REPO/tools/mctrace/service/save.sh
mkdir "$T/bin" "$T/pstore"
# A stand-in for "mctrace export --to mctrace --output NAME SOURCE": copies a raw file, or one of the tracer's folder, or
# fails if it is of another kernel.
cat >"$T/bin/mctrace" <<'END'
#!/bin/sh
[ "$1 $2 $3 $4" = "export --to mctrace --output" ] || exit 2
! grep -q another "${6%raw}trace" || { echo "mctrace: it is of another kernel" >&2; exit 1; }
! [ -d "$6" ] || set -- 1 2 3 4 "$5" "$6/per_cpu/cpu0/raw"
cp "$6" "$5"
END
chmod 755 "$T/bin/mctrace"
export PATH="$T/bin:$PATH" STATE_DIRECTORY="$T/state" MCTRACER_CONFIG="$T/config" MCTRACER_DIR="$T/tracer" \
	MCTRACER_PSTORE="$T/pstore"
boot=$(cat /proc/sys/kernel/random/boot_id)
older=11111111-2222-3333-4444-555555555555
date=2026-11-29T22.48.32Z

# crashed [KERNEL]: empty all; the recorder ran in the boot before, and the kernel has its rings
crashed()
{
	rm -rf "$T/state" "$T/tracer" "$T/pstore"
	mkdir -p "$T/state" "$T/tracer/last_boot" "$T/tracer/per_cpu/cpu0" "$T/pstore"
	echo "$older $date" >"$T/state/running"
	touch -d 2026-11-29T22:48:40Z "$T/state/running"
	echo words >"$T/tracer/last_boot/raw"
	printf '# kernel: %s, 12ab\n# entries: 1\nCPU 0: a:1 b <-- c\n' "${1-this one}" >"$T/tracer/last_boot/trace"
	: >"$T/config"
}

# has FILE...: the folder has these files besides "running", which names this boot
has()
{
	ls "$T/state"
	cut -d ' ' -f 1 "$T/state/running" | grep -qx "$boot" &&
		[ "$(ls "$T/state")" = "$(printf '%s\n' "$@" running | sort)" ]
}

first() { crashed && rm "$T/state/running" && "$save" && has; }
saves() { crashed && "$save" | grep -F "last calls are in $T/state/$date.dat" && has "$date.dat" &&
	cmp "$T/state/$date.dat" "$T/tracer/last_boot/raw"; }
frees() { [ -z "$(cat "$T/tracer/last_boot/trace")" ]; }
private() { stat -c '%a %n' "$T/state"/* && [ "$(stat -c %a "$T/state/$date.raw/raw" "$T/state/$date.raw")" = "600
700" ]; }
once() { "$save" && has "$date.dat"; }
again() { echo more >"$T/tracer/last_boot/raw"; echo "# kernel: this one" >"$T/tracer/last_boot/trace"
	echo "$older $date" >"$T/state/running" && "$save" && has "$date.dat" "$date-2.dat" &&
	grep -qx words "$T/state/$date.dat" && grep -qx more "$T/state/$date-2.dat"; }
stopped() { crashed && echo "$boot $date" >"$T/state/running" && "$save" --stopped && [ -z "$(ls "$T/state")" ]; }
not_stopped() { crashed && "$save" --stopped && [ -e "$T/state/running" ]; }
# frozen LINE: the recorder runs; LINE is the first of stats
frozen()
{
	crashed && echo "$boot $date" >"$T/state/running" || return
	printf '%s\n' "$1" '0 100 100 0 0' >"$T/tracer/stats"
	echo calls >"$T/tracer/trace"
	echo 0 >"$T/tracer/tracing_on"
	echo ring >"$T/tracer/per_cpu/cpu0/raw"
}
saves_frozen()
{
	frozen '# frozen: oops' && "$save" --stopping | grep -F "(oops) has frozen the rings: the last calls before are in" &&
		has "$date.dat" && grep -qx ring "$T/state/$date.dat"
}
thaws() { [ -z "$(cat "$T/tracer/trace")" ] && [ "$(cat "$T/tracer/tracing_on")" = 1 ]; }
not_frozen()
{
	frozen '# tracing' && [ -z "$("$save" --stopping 2>&1)" ] && has && grep -qx calls "$T/tracer/trace" &&
		[ "$(cat "$T/tracer/tracing_on")" = 0 ]
}
# Without names for a recording the kernel's text is saved.
saves_text()
{
	frozen '# frozen: oops' && rm "$T/tracer/per_cpu/cpu0/raw" && "$save" --stopping && has "$date.txt" &&
		[ "$(sed -n 2p "$T/state/$date.txt")" = calls ] && grep -qx 'mctracer: frozen: oops' "$T/state/$date.txt" && thaws
}
text_of_boot()
{
	crashed && rm "$T/tracer/last_boot/raw" && "$save" && has "$date.txt" && grep -q '^CPU 0: a:1 b' "$T/state/$date.txt"
}
# What can't be saved is not cleared.
not_saved()
{
	frozen '# frozen: oops' && rm "$T/tracer/per_cpu/cpu0/raw" "$T/tracer/trace" && mkdir "$T/tracer/trace" || return
	! "$save" --stopping >"$T/said" 2>&1 && cat "$T/said" && grep -q "(oops) can't be saved" "$T/said" && has &&
		[ "$(cat "$T/tracer/tracing_on")" = 0 ]
}
another() { crashed "another one" && "$save" && has "$date.raw" && ! grep -q CPU "$T/state/$date.raw/trace" &&
	grep -q another "$T/state/$date.raw/trace"; }
# The recording before is not of this crash, and the log of this crash is cut.
dump()
{
	crashed && rm -r "$T/tracer/last_boot" && mkdir "$T/pstore/1" "$T/pstore/2" || return
	echo "<0>[ 1.1] mctracer: frozen: panic" >"$T/pstore/1/dmesg"
	touch -d 2026-11-28 "$T/pstore/1/dmesg"
	printf '%s\n' 'Panic#1' 'CPU 0: a:1 b <-- c' 'mctracer: end of the last calls' 'Rebooting' >"$T/pstore/2/dmesg"
	"$save" && has "$date.txt" && [ "$(wc -l <"$T/state/$date.txt")" = 3 ]
}
nothing() { crashed && rm -r "$T/tracer/last_boot" && "$save" | grep -F "left no calls" && has; }
rotates()
{
	crashed && echo ' keep = 02' >"$T/config" && mkdir "$T/state/2026-01-01T00.00.00Z.raw" || return
	for n in 2 3; do echo >"$T/state/2026-01-0${n}T00.00.00Z.dat"; done
	touch -d 2026-01-01 "$T/state/2026-01-01T00.00.00Z.raw"
	touch -d 2026-01-02 "$T/state/2026-01-02T00.00.00Z.dat"
	touch -d 2026-01-03 "$T/state/2026-01-03T00.00.00Z.dat"
	"$save" && has 2026-01-03T00.00.00Z.dat "$date.dat"
}
# The clock was set back: what was saved is the oldest by its time, and stays.
keeps_latest()
{
	crashed && echo 'keep = 2' >"$T/config" || return
	for old in 1 2; do
		touch -d "2039-01-0$old" "$T/state/2039-01-0${old}T00.00.00Z.dat" || return
	done
	"$save" && has "$date.dat" 2039-01-02T00.00.00Z.dat
}
# Where nothing is saved, nothing is removed.
keeps_only()
{
	crashed && rm -r "$T/tracer/last_boot" && echo 'keep = 1' >"$T/config" &&
		echo >"$T/state/2026-01-01T00.00.00Z.dat" && "$save" && has 2026-01-01T00.00.00Z.dat
}
keeps_all()
{
	crashed "another one" && rm "$T/tracer/last_boot/raw" && echo 'keep = 1' >"$T/config" &&
		echo >"$T/state/2026-01-01T00.00.00Z.dat" && ! "$save" && has 2026-01-01T00.00.00Z.dat
}
# The rings can't be read: no file may stay, but the recorder is noted.
fails()
{
	crashed "another one" && rm "$T/tracer/last_boot/raw" && echo half >"$T/state/x.new" || return
	! "$save" >"$T/said" 2>&1 && cat "$T/said" && grep -q "can't be saved" "$T/said" && has
}

check "the first start saves nothing" first
check "the rings of a boot that crashed are saved" saves
check "the kernel's copy is freed" frees
check "another start in the same boot saves nothing" once
check "a second recording of one time does not replace the first" again
check "a stop leaves no mark" stopped
check "a stop keeps the mark of another boot" not_stopped
check "frozen rings are saved at a stop" saves_frozen
check "they are cleared and thawed" thaws
check "rings that are not frozen stay as they are" not_frozen
check "frozen rings that can't be saved stay as they are" not_saved
check "frozen rings are saved as text if there are no names" saves_text
check "so are those of the boot before" text_of_boot
check "rings of another kernel are saved as they are" another
check "only root can read what is saved" private
check "calls in the kernel's log are saved, even if it was cut" dump
check "a crash without calls is reported" nothing
check "the oldest recordings are removed" rotates
check "what was just saved is not the oldest, if the clock was set back" keeps_latest
check "a boot without calls removes no recording" keeps_only
check "a failure to save removes no recording" keeps_all
check "a failure leaves no half of a recording" fails
check "other arguments are refused" fails_saying '^usage: ' "$save" --other
finish
