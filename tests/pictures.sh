#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests pictures of a recording in the programs that show them: a flame graph in Chromium, and an export in speedscope.
# Chromium comes from Debian and speedscope from npm; screenshots stay in the cache.
. "${0%/*}/../scripts/test-lib.sh"

"$REPO/scripts/setup" chromium || exit 1
command -v npm >/dev/null || "$REPO/scripts/setup" npm || exit 1
tree=$("$REPO/scripts/kernel-tree") || exit 1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mctracer
modules=$cache/npm shots=$cache/pictures
mkdir -p "$modules" "$shots" "$T/mctrace"

prepared()
{
	make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/mctrace/" &&
		"$REPO/tests/mctrace/recordings.py" -o "$T/recording" --events 3000 &&
		"$T/mctrace/mctrace" flame -o "$T/flame.svg" "$T/recording" &&
		"$T/mctrace/mctrace" flame --off-cpu -o "$T/off-cpu.svg" "$T/recording" &&
		for to in folded speedscope; do
			"$T/mctrace/mctrace" export --to "$to" -o "$T/$to" "$T/recording" || return
		done &&
		"$T/mctrace/mctrace" export --to pprof -o "$T/pprof" "$T/recording" "$T/recording" &&
		(cd "$modules" && npm install --no-audit --no-fund --no-save playwright-core speedscope)
}

seen()
{
	node "$REPO/tests/mctrace/pictures.mjs" "$modules" "$(command -v chromium)" "$T/flame.svg" \
		"$T/off-cpu.svg" "$T/folded" "$T/speedscope" "$T/pprof" "$shots"
}

plan 2
check "a recording can be drawn and exported, and speedscope installed" prepared
check "the pictures show the recorded calls" seen
finish
