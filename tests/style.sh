#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The scripts are clean: shellcheck, codespell, names that must not be in files. Every file says its licence.
. "${0%/*}/../scripts/test-lib.sh"

cd "$REPO" || exit 1
shell=$(for f in scripts/* scripts/bin/* scripts/guest/* bench/native/* tests/*.sh .ci/run; do
	[ -d "$f" ] || head -n 1 "$f" | grep -qvE '^#!/bin/(ba)?sh' || echo "$f"
done)

no_machine_paths()
{
	! grep -nE '(^|[^A-Za-z0-9_.~-])/(root|home|work)/[a-z]' Makefile series scripts/* \
		scripts/bin/* scripts/guest/* bench/* bench/*/* tests/*.sh tests/suites configs/* .ci/run README.md \
		HACKING.md docs/*.md patches/*.patch \
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
			echo "$f: the third line does not say what it is"
			return 1
		}
	done
}

# licensed: COPYING says what holds for the exceptions.
licensed()
{
	git ls-files | while read -r f; do
		case $f in
		README.md | HACKING.md | */README.md)	continue ;;	# shown to people
		series | patches/* | ports/*.diff)	continue ;;	# for quilt; a patch's files have theirs
		tests/mutations/*.patch)		continue ;;	# change such files
		bench/results/*)			continue ;;	# made by scripts/bench
		.gitignore)				continue ;;	# a list of names
		*.png)					continue ;;	# pictures
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

plan 7
# shellcheck disable=SC2086	# a list of files
check "shellcheck finds nothing in the scripts" shellcheck $shell scripts/lib.sh \
	scripts/guests.sh scripts/kbuild.sh scripts/test-lib.sh
check "codespell finds nothing" codespell -q 3 --ignore-words-list whats README.md HACKING.md docs/*.md \
	Makefile scripts bench \
	configs tests/*.sh .ci/run
check "python parses" python
check "every script can be executed" executables
check "every script says what it is" headers
if is_git "$REPO"; then
	check "every file says under which licence it is" licensed
else
	skip "every file says under which licence it is" "not a git tree: which files are ours?"
fi
check "no path of anyone's machine is in a file" no_machine_paths
finish
