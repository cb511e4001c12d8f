/* SPDX-License-Identifier: GPL-2.0 */
/* Tell whether a call has returned, by the place of its return address on the stack. */
#ifndef _KERNEL_TRACE_MCTRACER_RETURNED_H
#define _KERNEL_TRACE_MCTRACER_RETURNED_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/rethook.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/* Return true if @value is the return address @parent_ip, or rethook's replacement for it. */
static inline bool mctracer_is_return_address(unsigned long value, unsigned long parent_ip)
{
	return value == parent_ip || (IS_ENABLED(CONFIG_RETHOOK) && is_rethook_trampoline(value));
}

/*
 * Return true if a call has certainly returned: its return address @parent_ip is no longer at
 * @where. That may lie on the stack of any task, also of one that is gone. Any context.
 */
static inline bool mctracer_has_returned(const unsigned long *where, unsigned long parent_ip)
{
	unsigned long value;

	/* Not copy_from_kernel_nofault(): that is traced. */
	pagefault_disable();
	__get_kernel_nofault(&value, where, unsigned long, unmapped);
	pagefault_enable();
	return !mctracer_is_return_address(value, parent_ip);

unmapped:
	pagefault_enable();
	return true;
}

#endif /* _KERNEL_TRACE_MCTRACER_RETURNED_H */
