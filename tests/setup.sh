#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that scripts/setup installs missing packages and no others, with stand-ins for apt and dpkg.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache" PATH="$T/bin:$PATH" CALLS="$T/calls"
mkdir "$T/bin"

cat >"$T/bin/dpkg-query" <<'END'
#!/bin/sh
for p in "$@"; do
	case " -W -f $MISSING " in
	*" $p "*)	;;
	*)		echo "$p installed" ;;
	esac
done
END
cat >"$T/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$CALLS"
echo "E: as told"
exit "${STATUS:-0}"
END
printf '#!/bin/sh\nexec "$@"\n' >"$T/bin/sudo"
chmod +x "$T/bin/"*
: >"$CALLS"

nothing()
{
	MISSING='' "$REPO/scripts/setup" && [ ! -s "$CALLS" ]
}

two()
{
	MISSING='bison quilt' "$REPO/scripts/setup" && cat "$CALLS" &&
		head -n 1 "$CALLS" | grep -q ' update$' &&
		tail -n 1 "$CALLS" | grep -q ' install bison quilt$'
}

guest()
{
	: >"$CALLS"
	MISSING='bison quilt' "$REPO/scripts/setup" guest && cat "$CALLS" &&
		tail -n 1 "$CALLS" | grep -q ' install bison$'
}

try()
{
	: >"$CALLS"
	MISSING='bison busybox-static quilt' "$REPO/scripts/setup" try && cat "$CALLS" &&
		tail -n 1 "$CALLS" | grep -q ' install busybox-static$'
}

deb()
{
	: >"$CALLS"
	MISSING='busybox-static dh-dkms quilt' "$REPO/scripts/setup" deb && cat "$CALLS" &&
		tail -n 1 "$CALLS" | grep -q ' install dh-dkms$'
}

fails()
{
	MISSING=bison STATUS=100 fails_saying '^    \| E: as told' "$REPO/scripts/setup" &&
		grep -q '^the whole log: ' "$T/err"
}

plan 6
check "nothing is done if all packages are installed" nothing
check "only missing packages are installed" two
check "\"guest\" installs only packages that a guest needs" guest
check "\"try\" installs only packages that need no kernel built" try
check "\"deb\" installs only packages that building the packages needs" deb
check "a failing apt is an error that shows the log" fails
finish
