/* SPDX-License-Identifier: GPL-2.0 */
/* Names that the series uses and that older kernels lack or have with other arguments: see older.h. */
#ifdef __vmalloc_node
#define __vmalloc_node_noprof		static_call(mctracer___vmalloc_node_noprof)
#else
#define __vmalloc_node			static_call(mctracer___vmalloc_node)
#endif

#ifdef MCTRACER_HAS_KVREALLOC_OLDSIZE
#define kvrealloc			mctracer_compat_kvrealloc
#endif

#ifdef MCTRACER_HAS_CALLTHUNKS
#define callthunks_translate_call_dest	static_call(mctracer_callthunks_translate_call_dest)
#define x86_return_thunk		(*mctracer_at_x86_return_thunk)
#endif

#ifdef MCTRACER_HAS_ORC_TYPES
#define return_to_handler		mctracer_at_return_to_handler
#endif

#ifndef MCTRACER_HAS_SIZED_STRSCPY
#undef strscpy
#define strscpy(to, from, ...)	\
	(strscpy)(to, from, MCTRACER_COMPAT_SECOND(_, ##__VA_ARGS__, sizeof(to)))
#endif

#ifdef MCTRACER_HAS_NOINSTR_CLOCK
#define local_clock_noinstr		static_call(mctracer_local_clock_noinstr)
#else
#define local_clock_noinstr()		sched_clock_cpu(raw_smp_processor_id())
/* RCU does not watch idle CPUs, which are traced, so wait by Tasks Rude RCU instead. */
#define synchronize_rcu			synchronize_rcu_tasks_rude
#define call_rcu_hurry			call_rcu_tasks_rude
#endif

#ifndef wait_rcu_gp_state
/* The state is always TASK_UNINTERRUPTIBLE. */
#define wait_rcu_gp_state(state, ...)	synchronize_rcu_mult(__VA_ARGS__)
#endif

#ifndef MCTRACER_HAS_SYSCORE_ARGUMENT
#define syscore_ops			mctracer_compat_syscore_ops
#endif

#ifndef MCTRACER_HAS_COPY_SPLICE_READ
#define copy_splice_read		generic_file_splice_read
#endif

#ifndef MCTRACER_HAS_ARCH_FTRACE_ARGS
#define arch_ftrace_set_direct_caller(fregs, addr)	\
	arch_ftrace_set_direct_caller(&(fregs)->regs, addr)
#endif
