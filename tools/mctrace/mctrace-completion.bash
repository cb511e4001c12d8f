# SPDX-License-Identifier: GPL-2.0
# bash: what may follow "mctrace". Commands and options are what --help says, so there is no list of
# them here; functions are those that can be traced, or else those of the running kernel.

_mctrace_functions()
{
	local file=/sys/kernel/debug/mctracer/functions

	if [ -r $file ]; then
		cut -d ' ' -f 1 $file
	else
		awk '$2 ~ /[tT]/ { print $3 }' /proc/kallsyms
	fi 2>/dev/null
}

_mctrace()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		words=$(mctrace --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$word")
		return
	fi
	case $before in
	-l | --func | -n | --notrace | graph | latency | slow)
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_functions)" -- "$word")
		return
		;;
	--to)
		words=$(mctrace export --help | sed -n '/^Writes/,/--to/s/^  \([a-z.]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
		;;
	--compress)
		mapfile -t COMPREPLY < <(compgen -W "zstd none" -- "$word")
		return
		;;
	--color)
		mapfile -t COMPREPLY < <(compgen -W "yes no auto" -- "$word")
		return
		;;
	-s | --sort)
		mapfile -t COMPREPLY < <(compgen -W "total self avg max calls name" -- "$word")
		return
		;;
	-e | --errno)
		words=$(errno -l 2>/dev/null | cut -d ' ' -f 1)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
		;;
	esac
	if [ "${word#-}" != "$word" ]; then
		words=$(mctrace "${COMP_WORDS[1]}" --help | grep -o -e ' --*[A-Za-z][a-z-]*')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	elif [ "${COMP_WORDS[1]}" = record ] || [ "${COMP_WORDS[1]}" = why ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	elif [ "${COMP_WORDS[1]}" = list ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_functions)" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _mctrace mctrace
