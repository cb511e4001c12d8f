/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mcount's core offers to its control files.
 */
#ifndef _KERNEL_TRACE_MCOUNT_H
#define _KERNEL_TRACE_MCOUNT_H

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/mcount.h>
#include <linux/types.h>

/* Whether mcount is enabled, be a hook registered or not. Any context. */
bool mcount_is_enabled(void);

/*
 * The name of the registered hook, with its module's, or "none"; at most @size bytes with the
 * NUL. Returns the length without it. Any context.
 */
int mcount_name_hook(char *name, size_t size);

/* Hooks may have notifiers of INT_MAX, which come first: see struct mcount_choice. */
#define MCOUNT_MODULE_PRIORITY	(INT_MAX - 1)

static inline bool mcount_sees_returns(const struct mcount_choice *choice)
{
	return IS_ENABLED(CONFIG_MCOUNT_RETURNS) && choice && choice->return_kind;
}

#ifdef CONFIG_MCOUNT_DYNAMIC

/* What the compiler recorded, by the linker script, in memory that is freed after boot. */
extern unsigned long __start_mcount_loc[];
extern unsigned long __stop_mcount_loc[];
extern unsigned long __start_return_loc[];
extern unsigned long __stop_return_loc[];

/*
 * Make each call site what @choice wants, a call of the stub if it is NULL; or, without
 * @call, NOPs. With @again, also if that is how it was: @choice may want others now. May
 * sleep. If it can't be done no site is changed: -EIO if one doesn't hold what it should,
 * -ENOMEM if boot had no memory for the table. Beside ftrace: -ENOMEM, -EBUSY while ftrace is
 * switched off, -ENODEV if it has given up, -EAGAIN as modules keep going away meanwhile.
 */
int mcount_sites_set(bool call, const struct mcount_choice *choice, bool again);

/* Why no site calls anything though some should, since a module came; or 0. Any context. */
int mcount_sites_error(void);

#else /* !CONFIG_MCOUNT_DYNAMIC */

/* They always call the stub. */
static inline int mcount_sites_set(bool call, const struct mcount_choice *choice, bool again)
{
	return 0;
}

static inline int mcount_sites_error(void)
{
	return 0;
}

#endif /* CONFIG_MCOUNT_DYNAMIC */

#endif /* _KERNEL_TRACE_MCOUNT_H */
