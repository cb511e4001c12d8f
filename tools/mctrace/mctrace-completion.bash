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

# Names of errors, as the C library's header has them.
_mctrace_errors()
{
	sed -n 's/^#define[[:space:]]*\(E[A-Z0-9]*\)[[:space:]].*/\1/p' \
		/usr/include/asm-generic/errno-base.h /usr/include/asm-generic/errno.h 2>/dev/null
}

# Names of sets of rules.
_mctrace_rules()
{
	local file

	for file in ${MCTRACE_RULES:+"$MCTRACE_RULES"/*.rules} /usr/share/mctrace/rules/*.rules; do
		[ -f "$file" ] && basename "$file" .rules
	done
}

_mctrace()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
	local command=${COMP_WORDS[1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		words=$(mctrace --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$word")
		return
	fi
	# What letters mean that are something else, or nothing, to other commands.
	case $command:$before in
	record:-[ln] | start:-[ln] | stream:-[ln])
		before=--func ;;
	record:-[pP] | start:-[pP] | stream:-[pP])
		before=--pid ;;
	esac
	case $before in
	--func | --notrace | graph | latency | slow)
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_functions)" -- "$word")
		return
		;;
	--to)
		words=$(mctrace export --help | sed -n '/^Writes/,/--to/s/^  \([a-z.]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
		;;
	--rules)
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_rules)" -- "$word"; compgen -f -- "$word")
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
	--by)
		mapfile -t COMPREPLY < <(compgen -W "time calls" -- "$word")
		return
		;;
	-e | --errno)
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_errors)" -- "$word")
		return
		;;
	--pid | --task)
		words=$(cd /proc && echo [0-9]*)
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
		return
		;;
	-o | --output | -i | --input | --vmlinux | --btf | --functions)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac
	# Behind "--" stands a command.
	if [ "$before" = -- ] && [ "$COMP_CWORD" -gt 2 ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
		return
	fi
	if [ "${word#-}" != "$word" ]; then
		words=$(mctrace "$command" --help | grep -o -e ' --*[A-Za-z][a-z-]*')
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	elif [ "$command" = record ] || [ "$command" = why ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	elif [ "$command" = object ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_rules)" -- "$word")
	elif [ "$command" = list ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_mctrace_functions)" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _mctrace mctrace
