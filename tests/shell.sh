#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/shell with a pipe and with a terminal, with a stand-in for QEMU and a fake kernel tree; and the shell of
# a real guest, with a pipe.
. "${0%/*}/../scripts/test-lib.sh"

unset MCT_LOCKED
repo=$T/repo
fake_repo "$repo"
mkdir -p "$repo/tests/selftests"
echo 'int main(void) { return 0; }' >"$repo/tests/selftests/helper.c"
cp "$repo/configs/fake.config" "$repo/configs/mctracer.config"
cat >"$repo/scripts/setup" <<'END'
#!/bin/sh
echo setup >>"$ARGS"
END
fake_tree "$T/linux"

real=$PATH
fake_qemu
fake=$PATH PATH=$real
export CONSOLE='Linux\n' OUTPUT='ready\nMCT-EXIT 0\n'

# with_fakes COMMAND...
with_fakes()
{
	: >"$ARGS"
	XDG_CACHE_HOME="$T/cache" LINUX="$T/linux" PATH="$fake" "$@"
}

# booted FLAVOUR REGEX: succeed if QEMU got two serial lines for logs, and arguments that match REGEX
booted()
{
	cat "$ARGS"
	grep -qE "boot-$1-shell.console -serial file:[^ ]*.output -kernel .* mct.run=shell *$2 " "$ARGS"
}

piped()
{
	printf 'echo hi\n' | MONITOR="$T/typed" SCREEN='hi\n' SLEEP=2 \
		with_fakes "$repo/scripts/shell" >"$T/screen" &&
		booted mctracer '-serial stdio' && grep -qx setup "$ARGS" &&
		[ "$(cat "$T/screen")" = hi ] && printf 'echo hi\n\004\004' | cmp - "$T/typed"
}

status()
{
	OUTPUT='ready\nMCT-EXIT 3\n' with_fakes "$repo/scripts/shell"
	[ $? = 3 ]
}

silent()	# the guest prints neither "ready" nor a result
{
	OUTPUT='' with_fakes fails_saying 'ended without a result' "$repo/scripts/shell"
}

hangs()
{
	SLEEP=10 TIMEOUT=1 with_fakes fails_saying 'not done after 1 seconds' "$repo/scripts/shell" &&
		[ -z "$(find "$T/cache/mctracer/logs" -name '*.feed' -o -name '*.end')" ]
}

terminal()	# with a flavour; QEMU ends without a result, as by Ctrl-A X
{
	OUTPUT='' SCREEN='hi\n' SHELL=/bin/sh with_fakes script -qec \
		"stty rows 33 cols 101; TERM=xterm '$repo/scripts/shell' fake" "$T/typescript" &&
		booted fake 'mct.rows=33 mct.cols=101 mct.term=xterm -serial mon:stdio' &&
		grep -q '^hi' "$T/typescript"
}

unknown()
{
	with_fakes fails_saying 'no such flavour: other' "$repo/scripts/shell" other
}

guest()
{
	t=/sys/kernel/debug/mctracer
	printf '%s\n' 'sysctl kernel.mcount_enabled=1' "echo 1 >$t/ctrl" 'hackbench -l 5 -g 1 >/dev/null' \
		"head -3 $t/trace" exit | TIMEOUT=600 "$REPO/scripts/shell" >"$T/said" || return 1
	cat "$T/said"
	[ "$(sed 's/: [1-9][0-9]*$/: N/' "$T/said")" = 'kernel.mcount_enabled = 1
# mode: function
# entries: N
# written: N' ]
}

plan 7
check "piped input goes to the guest, and the guest's output is printed" piped
check "the script's status is the shell's" status
check "a guest that ends without a status is a failure" silent
check "TIMEOUT= stops a guest that hangs" hangs
check "the guest gets the terminal with its size, and can be left" terminal
check "a flavour that does not exist is refused" unknown
name="the tracer can be used from a guest's shell"
if [ -n "${QUICK-}" ]; then
	skip "$name" "quick: nothing is built"
else
	check "$name" guest
fi
finish
