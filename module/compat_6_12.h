/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MCTRACER_COMPAT_OVERRIDE

/* The part of compat.h that is specific to Linux 6.12, the kernel that the series is for. */
#include <linux/cpuhplock.h>

#define MCTRACER_COMPAT_FUNCTIONS_HERE(F)	\
	F(__vmalloc_node_noprof)		\
	F(local_clock_noinstr)			\
	F(callthunks_translate_call_dest)

#define MCTRACER_COMPAT_DATA_HERE(D)					\
	D(const struct orc_entry, __start_orc_unwind)			\
	D(const int, __start_orc_unwind_ip)				\
	D(const int, __stop_orc_unwind_ip)				\
	D(const char, return_to_handler)				\
	D(void *, x86_return_thunk)

#define MCTRACER_COMPAT_POINTS
#define mctracer_compat_watch()			false
#define mctracer_compat_unwatch(missed)		((void)(missed))

#define mctracer_compat_on_each_symbol		static_call(mctracer_kallsyms_on_each_symbol)
#define mctracer_compat_on_modules_symbol	static_call(mctracer_module_kallsyms_on_each_symbol)

#else /* MCTRACER_COMPAT_OVERRIDE */

#define local_clock_noinstr		static_call(mctracer_local_clock_noinstr)
#define x86_return_thunk		(*mctracer_at_x86_return_thunk)
#define return_to_handler		mctracer_at_return_to_handler
#define __vmalloc_node_noprof		static_call(mctracer___vmalloc_node_noprof)
#define callthunks_translate_call_dest	static_call(mctracer_callthunks_translate_call_dest)

#endif /* MCTRACER_COMPAT_OVERRIDE */
