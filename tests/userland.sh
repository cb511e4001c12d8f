#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that scripts/userland-32 downloads packages once, unpacks them and installs nothing, with stand-ins for apt and
# dpkg.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache" PATH="$T/bin:$PATH" CALLS="$T/calls"
unset MCT_LOCKED
mkdir "$T/bin"

# A stand-in for apt-get: makes the packages to download in the current directory; fails if FAIL names its command.
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

complete()	# although not all lists could be downloaded
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
check "a failing download is an error that shows the log" no_packages
check "a package that cannot be unpacked is an error" half_unpacked
check "after these errors the next run is complete" complete
check "apt downloads only i386 packages and installs nothing" only_i386
check "a second run does nothing" twice
finish
