# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC2154
# Sourced by jobs that run a command twice, with the tracer off and on, and compare the results. Meanwhile modules,
# a processor and the tracer come and go. Source /guest/lib.sh, which sets $t and $mcount, before this file.

cpu1=/sys/devices/system/cpu/cpu1/online

# debian COMMAND...: run COMMAND in the guest's Debian
debian()
{
	PATH=/usr/sbin:/usr/bin chroot /proc/1/root /usr/bin/env "$@"
}

# disturb STATE: until killed, load and unload a module, switch a processor off and on and, if STATE is "on", the
# tracer, too
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

# twice COMMAND FILE: run "COMMAND FILE.off" with the tracer off and "COMMAND FILE.on" with it on, both disturbed
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
