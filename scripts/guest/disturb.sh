# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
# Sourced by jobs that do something twice, without the tracer and with it, and compare: what goes on meanwhile.
# /guest/lib.sh, of which $t and $mcount are, must be sourced before.

cpu1=/sys/devices/system/cpu/cpu1/online

# debian COMMAND...: in the Debian whose guest this is
debian()
{
	PATH=/usr/sbin:/usr/bin chroot /proc/1/root /usr/bin/env "$@"
}

# disturb STATE: until it is killed, modules come and go, and so does a processor; the tracer, too, if
# STATE is "on".
disturb()
{
	while :; do
		if [ "$1" = on ]; then
			on
			sleep 2
			echo 0 >"$mcount"
			sleep 0.5
			on
			sleep 1
			echo 0 >"$t/ctrl"
			sleep 0.5
			on
			echo toggled >>/tmp/disturbed
		fi
		modprobe dummy && sleep 0.5 && rmmod dummy && echo loaded >>/tmp/disturbed
		echo 0 >$cpu1 && sleep 0.5 && echo 1 >$cpu1 && echo plugged >>/tmp/disturbed
		sleep 1
	done
}

# twice COMMAND FILE: "COMMAND FILE.off" and "COMMAND FILE.on", disturbed, the second one traced, too
twice()
{
	for _state in off on; do
		: >/tmp/disturbed
		disturb $_state &
		_disturber=$!
		[ $_state = off ] || on
		"$1" "$2.$_state"
		kill $_disturber
		wait $_disturber 2>/dev/null
		echo 1 >$cpu1 2>/dev/null
		off
		echo "# $2.$_state: $(sort /tmp/disturbed | uniq -c | xargs)"
	done
}
