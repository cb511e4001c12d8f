# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Sourced by tests/*.sh: TAP output, a scratch directory, fake trees.
#
#	. "$(dirname -- "$0")/../scripts/test-lib.sh"
#	plan 2
#	check "what must hold" COMMAND...
#	skip "what cannot be tested" "why"

. "${0%/*}/../scripts/lib.sh"
set +e

T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
_count=0 _failed=0

plan()
{
	echo "TAP version 13"
	echo "1..$1"
}

# check NAME COMMAND...: print "ok" if COMMAND succeeds; otherwise its output as comments, and "not ok".
check()
{
	_count=$((_count + 1)) _name=$1
	shift
	if "$@" >"$T/check.out" 2>&1 </dev/null; then
		echo "ok $_count - $_name"
	else
		_failed=1
		sed 's/^/# /' "$T/check.out"
		echo "not ok $_count - $_name"
	fi
}

skip()
{
	_count=$((_count + 1))
	echo "ok $_count - $1 # SKIP $2"
}

# finish: exit with 1 if a check failed; the last line of every test.
finish()
{
	exit $_failed
}

# fails_saying REGEX COMMAND...: succeed if COMMAND fails and prints a matching line to stderr.
fails_saying()
{
	_re=$1
	shift
	if "$@" >"$T/out" 2>"$T/err" </dev/null; then
		echo "it succeeded"
		return 1
	fi
	cat "$T/err"
	grep -qE "$_re" "$T/err" || {
		echo "no line matches $_re"
		return 1
	}
}

# fake_repo DIR: make a copy of the scripts with a series for fake_tree: two postings, of a patch each.
fake_repo()
{
	mkdir -p "$1/patches/one" "$1/patches/two" "$1/configs"
	cp -R -- "$REPO/scripts" "$1/"
	# Compiling all programs for each guest would take long.
	rm -f -- "$1"/scripts/guest/*.c
	echo 'int main(void) { return 0; }' >"$1/scripts/guest/helper.c"
	echo 'CONFIG_A=y' >"$1/configs/base.config"
	echo 'CONFIG_64BIT=y' >"$1/configs/base-64.config"
	echo '# CONFIG_64BIT is not set' >"$1/configs/base-32.config"
	echo 'CONFIG_B=y' >"$1/configs/fake.config"
	echo 'fake 1' >"$1/configs/objects"
	cat >"$1/series" <<'END'
# Banner one

# Banner two, of the first
one/0001-first.patch
# Banner of the second
two/0001-second.patch
END
	cat >"$1/patches/one/0001-first.patch" <<'END'
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Tester <tester@localhost>
Date: Tue, 1 Jan 2008 00:00:00 +0000
Subject: [PATCH] first

A new file and a changed one.
---
diff --git a/init/main.c b/init/main.c
--- a/init/main.c
+++ b/init/main.c
@@ -1,3 +1,3 @@
 one
-two
+two, changed
 three
diff --git a/kernel/trace/new/new.c b/kernel/trace/new/new.c
new file mode 100644
--- /dev/null
+++ b/kernel/trace/new/new.c
@@ -0,0 +1 @@
+new
END
	cat >"$1/patches/two/0001-second.patch" <<'END'
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Tester <tester@localhost>
Date: Tue, 1 Jan 2008 00:00:00 +0000
Subject: [PATCH] second

A program.
---
diff --git a/tools/testing/selftests/mctracer/run.sh b/tools/testing/selftests/mctracer/run.sh
new file mode 100755
--- /dev/null
+++ b/tools/testing/selftests/mctracer/run.sh
@@ -0,0 +1 @@
+#!/bin/sh
END
}

# fake_tree DIR [VERSION PATCHLEVEL]: make a tree that the scripts take for a kernel. Its "build" copies
# init/main.c, and fails at the step that FAKE_FAIL names.
fake_tree()
{
	mkdir -p "$1/init" "$1/kernel" "$1/scripts/kconfig" "$1/include/uapi/linux"
	# The guests' programs include these headers.
	cp -- "$REPO"/include/uapi/linux/mctracer*.h "$1/include/uapi/linux/"
	printf 'one\ntwo\nthree\n' >"$1/init/main.c"
	echo unchanged >"$1/kernel/fork.c"
	cat >"$1/Makefile" <<END
VERSION = ${2-6}
PATCHLEVEL = ${3-12}
SUBLEVEL = 1
END
	cat >>"$1/Makefile" <<'END'
tinyconfig:
	: >$(O)/.config
olddefconfig:
	$(if $(FAKE_UNMET),@echo 'WARNING: unmet direct dependencies detected for U')
	$(if $(FAKE_DROP),sed -i '/$(FAKE_DROP)/d' $(O)/.config)
bzImage:
	@echo '  CC      init/main.o'
	@echo made >>$(O)/made
	@[ "$(FAKE_FAIL)" != bzImage ] || { echo 'main.c:1: error: as told'; exit 1; }
	@[ "$(FAKE_FAIL)" != hang ] || sleep 60
	@[ "$(FAKE_FAIL)" != objtool ] || \
		echo 'init/main.o: warning: objtool: x+0x1: as told'
	mkdir -p $(O)/arch/x86/boot
	cp init/main.c $(O)/arch/x86/boot/bzImage
END
	cat >"$1/scripts/kconfig/merge_config.sh" <<'END'
#!/bin/sh
# -m -O OUT OUT/.config FRAGMENT...
out=$3
shift 4
cat -- "$@" >"$out/.config"
END
	chmod +x "$1/scripts/kconfig/merge_config.sh"
}

# fake_qemu: put a stand-in for QEMU into $PATH. It appends its arguments to $ARGS, writes $CONSOLE to the first serial
# line's file and $OUTPUT to the second's, prints $SCREEN, copies its input of $SLEEP seconds to $MONITOR, if that is
# set, and ends with $STATUS. If $DIES is set, for a kernel that must panic, $CONSOLE is followed by $DEATH.
fake_qemu()
{
	mkdir -p "$T/bin"
	cat >"$T/bin/qemu-system-x86_64" <<'END'
#!/bin/sh
echo "$@" >>"$ARGS"
[ -z "${DIES-}" ] || CONSOLE=$CONSOLE${DEATH-}
for a in "$@"; do
	case $a in
	file:*.console)	printf '%b' "$CONSOLE" >"${a#file:}" ;;
	file:*.output)	printf '%b' "$OUTPUT" >"${a#file:}" ;;
	esac
done
printf '%b' "${SCREEN-}"
[ -z "${MONITOR-}" ] || timeout "${SLEEP:-0.3}" cat >"$MONITOR"
sleep "${SLEEP:-0}"
exit "${STATUS:-0}"
END
	chmod +x "$T/bin/qemu-system-x86_64"
	export PATH="$T/bin:$PATH" ARGS="$T/args"
	: >"$ARGS"
}

# fake_git_tree DIR: make a fake_tree that is a git tree with one commit.
fake_git_tree()
{
	fake_tree "$1" && git_plain -C "$1" init -q -b main && git_plain -C "$1" add -A &&
		git_plain -C "$1" commit -q -m base
}

# sum DIR: print a hash of all names, modes and contents in DIR, without .git.
sum()
{
	(cd "$1" && find . -path ./.git -prune -o -printf '%P %m %l\n' | sort &&
		find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum
}
