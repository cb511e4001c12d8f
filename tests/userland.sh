#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# scripts/userland-32: gets packages once, unpacks them, installs nothing. With stand-ins for apt and
# dpkg.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache" PATH="$T/bin:$PATH" CALLS="$T/calls"
unset MCT_LOCKED
mkdir "$T/bin"

# Makes the packages that it is told to download where it is; fails where FAIL names what it does.
cat >"$T/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$CALLS"
while [ "$1" = -q ] || [ "$1" = -o ]; do
	[ "$1" = -q ] || shift
	shift
done
[ "$1" != "$FAIL" ] || { echo "E: as told"; exit 100; }
[ "$1" = download ] || exit 0
shift
for p in "$@"; do
	echo "$p" >"${p}_1_i386.deb"
done
END
cat >"$T/bin/dpkg-deb" <<'END'
#!/bin/sh
[ "$1" != "$FAIL" ] || exit 2
mkdir -p "$3/bin"
cp -- "$2" "$3/bin/$(cat "$2")"
END
chmod +x "$T/bin/"*
: >"$CALLS"

userland()
{
	"$REPO/scripts/userland-32"
}

no_packages()
{
	FAIL=download fails_saying '^    \| E: as told' userland &&
		grep -q '^the whole log: ' "$T/err"
}

half_unpacked()
{
	FAIL=-x fails_saying '^error: unpacking them: failed' userland
}

complete()	# though the lists could not all be had
{
	root=$(FAIL=update userland) && cat "$CALLS" && [ -f "$root/bin/busybox-static" ] &&
		[ -f "$root/bin/linux-libc-dev" ] && [ "$(find "$root/.." -maxdepth 1 | wc -l)" = 2 ]
}

only_i386()
{
	! grep -v -e '-o APT::Architecture=i386 ' "$CALLS" && ! grep -w install "$CALLS"
}

twice()
{
	: >"$CALLS"
	[ "$(userland)" = "$root" ] && [ ! -s "$CALLS" ]
}

plan 5
check "a failing download stops it, with the log" no_packages
check "so does one that cannot be unpacked" half_unpacked
check "neither is taken for a finished one" complete
check "it asks for i386, and installs nothing" only_i386
check "a second run does nothing" twice
finish
