#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks the repository's files: shellcheck, codespell, paths of this machine, headers of scripts, licences, wording, and
# the length of README.md.
. "${0%/*}/../scripts/test-lib.sh"

cd "$REPO" || exit 1
shell=$(for f in scripts/* scripts/bin/* scripts/guest/* bench/native/* tests/*.sh .ci/run; do
	[ -d "$f" ] || head -n 1 "$f" | grep -qvE '^#!/bin/(ba)?sh' || echo "$f"
done)

no_machine_paths()
{
	! grep -nE '(^|[^A-Za-z0-9_.~-])/(root|home|work)/[a-z]' Makefile series scripts/* \
		scripts/bin/* scripts/guest/* bench/* bench/*/* tests/*.sh tests/suites configs/* .ci/run README.md \
		HACKING.md docs/*.md patches/*/*.patch \
		2>/dev/null |
		grep -v 'tests/style.sh'
}

executables()
{
	for f in $shell $(grep -l '^#!' scripts/*.py bench/*.py); do
		[ -x "$f" ] || {
			echo "$f cannot be executed"
			return 1
		}
	done
}

headers()
{
	for f in $shell; do
		sed -n 3p "$f" | grep -q '^# ' || {
			echo "$f: the third line is no comment that describes the script"
			return 1
		}
	done
}

# licensed: COPYING has the licence of the exceptions.
licensed()
{
	git ls-files | while read -r f; do
		case $f in
		README.md | HACKING.md | */README.md)	continue ;;	# shown to people
		series | patches/* | ports/*.patch)	continue ;;	# for quilt; a patch's files have theirs
		tests/mutations/*.patch)		continue ;;	# change such files
		bench/results/*)			continue ;;	# made by scripts/bench
		.gitignore)				continue ;;	# a list of names
		*.png)					continue ;;	# pictures
		debian/copyright | debian/source/format)	continue ;;	# have no comments
		*/.kunitconfig | Documentation/ABI/*)	continue ;;	# as in the kernel
		esac
		[ ! -f "$f" ] || head -n 5 "$f" | grep -q 'SPDX-License-Identifier"*: "*GPL-2\.0' || echo "$f"
	done >"$T/unlicensed"
	sed 's/$/: no SPDX-License-Identifier in its first five lines/' "$T/unlicensed"
	[ -s COPYING ] && [ ! -s "$T/unlicensed" ]
}

python()
{
	for f in scripts/*.py bench/*.py; do
		python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$f" || return 1
	done
}

# plain: no sentence may lack its subject or hide its verb: "who ...", "is to be ...". The names are files of git.
plain()
{
	verbs='(is|are|was|were) to be|may be had|what is behind'
	git ls-files -- ':!patches/*.patch' ':!COPYING' ':!tests/mutations' ':!tests/style.sh' ':!*.png' |
		xargs grep -nP "\b(whoever|Whoever|$verbs|(of|to|by|from|with|at|in) who)\b|(^|[.:;(] |[*#/\"] )[Ww]hose? [a-z]+" \
		>"$T/headless"
	cat "$T/headless"
	[ ! -s "$T/headless" ]
}

# named: static functions of the kernel's side; backtraces and kprobes name them without their file.
named()
{
	git ls-files 'kernel-trace/*.[ch]' 'arch-x86/*.[ch]' 'include/*.h' ':!kernel-trace/*/tests/*' |
		xargs grep -HoE '^static [^=;(]*[ *][a-z_0-9]+\(' |
		sed -n 's/^\([^:]*\):.*[ *]\([a-z0-9_]*\)($/\2 \1/p' | grep -v '^__' | sort -u >"$T/names"
	[ "$(wc -l <"$T/names")" -gt 400 ] || return 1
	cut -d ' ' -f 1 "$T/names" | uniq -d | sed 's/$/ stands in several files/' >"$T/misnamed"
	sed -n '/^[^ ]*_/!s/ .*/ is one bare word/p' "$T/names" >>"$T/misnamed"
	cat "$T/misnamed"
	[ ! -s "$T/misnamed" ]
}

# short: README.md is one page; its long parts belong to docs/ and Documentation/.
short()
{
	words=$(wc -w <README.md)
	echo "README.md has $words words, of at most 1500"
	[ "$words" -le 1500 ]
}

plan 10
# shellcheck disable=SC2086	# a list of files
check "shellcheck finds nothing in the scripts" shellcheck $shell scripts/lib.sh \
	scripts/guests.sh scripts/kbuild.sh scripts/test-lib.sh
check "codespell finds nothing" codespell -q 3 --ignore-words-list whats README.md HACKING.md docs/*.md \
	Makefile scripts bench \
	configs tests/*.sh .ci/run
check "all python files can be parsed" python
check "every script can be executed" executables
check "every script has a comment that describes it" headers
if is_git "$REPO"; then
	check "every file has a licence line" licensed
	check "every sentence has a subject" plain
	check "a static function's name is unique and more than one word" named
else
	skip "every file has a licence line" "not a git tree: there is no list of files"
	skip "every sentence has a subject" "not a git tree: there is no list of files"
	skip "a static function's name is unique and more than one word" "not a git tree: there is no list of files"
fi
check "README.md is short" short
check "no file has a path of someone's machine" no_machine_paths
finish
