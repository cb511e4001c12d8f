#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# mctrace on recordings whose truth is known, and other programs on what it exports.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
mkdir "$T/good" "$T/checking" "$T/kept" "$T/installed"

# made FOLDER FLAGS...: as people build it, without a word of the compiler
made()
{
	folder=$1
	shift
	make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/$folder/" "$@" >"$T/made" 2>&1 || {
		cat "$T/made"
		return 1
	}
	! grep -v '^make' "$T/made"
}

truth()
{
	"$REPO/tests/mctrace/answers.py" --header "$tree/include/uapi/linux/mctracer.h" \
		--sanitized "$T/checking/mctrace" --seeds 2 --keep "$T/kept" "$T/good/mctrace" >"$T/truth" 2>&1
	sed 's/^/    /' "$T/truth"
	grep -q '^1\.\.[1-9]' "$T/truth" && ! grep '^not ok' "$T/truth" | grep -v '# TODO'
}

# seen PROGRAM: it has read what was exported for it
seen()
{
	grep "^ok .*$1" "$T/truth" | grep -qv '# SKIP'
}

quick()
{
	"$REPO/tests/mctrace/recordings.py" -o "$T/large" --events 1000000 &&
		timeout 60 "$T/good/mctrace" report "$T/large" | tail -n 1 &&
		timeout 60 "$T/good/mctrace" report "$T/large" | head -n 1 | grep -q '^# mode: graph'
}

installed()
{
	PATH=/usr/bin:$PATH make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/good/" \
		DESTDIR="$T/installed" install || return
	for command in $("$T/good/mctrace" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		case $command in
		stat | list | stream | start | stop | show | reset | snapshot)
			page=control ;;
		*)	page=$command ;;
		esac
		[ -s "$T/installed/usr/share/man/man1/mctrace-$page.1" ] || {
			echo "no man page of $command"
			return 1
		}
	done
	"$T/installed/usr/bin/mctrace" --version
}

completed()
{
	shellcheck -s bash "$tree/tools/tracing/mctrace/mctrace-completion.bash" &&
		PATH="$T/good:$PATH" bash -c '
			. "$1/tools/tracing/mctrace/mctrace-completion.bash"
			COMP_WORDS=(mctrace pro) COMP_CWORD=1
			_mctrace
			[ "${COMPREPLY[*]}" = profile ] || exit 1
			COMP_WORDS=(mctrace export --to fol) COMP_CWORD=3
			_mctrace
			[ "${COMPREPLY[*]}" = folded ] || exit 1
			COMP_WORDS=(mctrace profile --cal) COMP_CWORD=2
			_mctrace
			[ "${COMPREPLY[*]}" = --callers ]' bash "$tree"
}

plan 9
check "it is built without a warning" made good
check "also so that it checks itself" made checking CFLAGS='-O1 -g -fsanitize=address,undefined'
check "its answers are the truth" truth
check "trace-cmd reads what it exports" seen trace.dat
check "so does uftrace" seen "export --to uftrace"
check "and babeltrace2" seen "export --to ctf"
check "a million events" quick
check "it is installed with its man pages" installed
check "bash completes commands and options" completed
finish
