/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations shared by mcount's core, its call sites and its sysctls. */
#ifndef _KERNEL_TRACE_MCOUNT_H
#define _KERNEL_TRACE_MCOUNT_H

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/mcount.h>
#include <linux/types.h>

/*
 * Store the name of the registered hook and of its module, or "none", into @name, at most @size
 * bytes with the NUL. Return the length without the NUL. Any context.
 */
int mcount_name_hook(char *name, size_t size);

/* What mcount_pre_handler points to while there is no pre-handler. */
bool mcount_no_pre_handler(unsigned long ip, unsigned long parent_ip,
			   const struct mcount_regs *regs);

/* Below INT_MAX, so that notifiers of hooks can run earlier: see struct mcount_selection. */
#define MCOUNT_MODULE_PRIORITY	(INT_MAX - 1)

static inline bool mcount_sees_returns(const struct mcount_selection *selection)
{
	return MCOUNT_HAS_RETURNS && selection && selection->return_kind;
}

/*
 * With CONFIG_MCOUNT_RETHOOK:
 *
 * mcount_rethook_site() returns the site that stands for the returns of the function with the call
 * site @site: the address one byte behind it; 0 if its return can't be caught. Any context.
 *
 * mcount_rethook_prepare() allocates what catching the returns of @of needs, and returns 0 or
 * -ENOMEM. May sleep. Under the mutex of the call sites.
 *
 * mcount_rethook_pre_handler() returns the pre-handler for the functions that @of selects, with or
 * without returns. mcount_rethook_switch() lets @of get the caught returns; NULL: nobody gets them.
 *
 * mcount_rethook_plain() handles a call at a site that should call the pre-handler and can't.
 * Returns false if the site was selected for the pre-handler of a selection that is in effect. Any
 * context, with preemption disabled.
 */
unsigned long mcount_rethook_site(unsigned long site);
int mcount_rethook_prepare(const struct mcount_selection *of);
mcount_pre_handler_t mcount_rethook_pre_handler(const struct mcount_selection *of);
void mcount_rethook_switch(const struct mcount_selection *of);
bool mcount_rethook_plain(unsigned long site, unsigned long parent_ip);

#ifdef CONFIG_MCOUNT_DYNAMIC

/* The call sites that the compiler recorded, collected by the linker script; freed after boot. */
extern unsigned long __start_mcount_loc[];
extern unsigned long __stop_mcount_loc[];
extern unsigned long __start_return_loc[];
extern unsigned long __stop_return_loc[];

/*
 * Make the call sites of the functions that @selection selects call the stub or the pre-handler,
 * all sites if @selection is NULL, and make the other sites NOPs; if @call is false, make all sites
 * NOPs. Set @again if @selection is unchanged but may select other functions now. May sleep.
 *
 * Return 0 or an error, in which case no site has changed: -EIO if a site doesn't hold what it
 * should, -ENOMEM if boot had no memory for the table. With CONFIG_MCOUNT_FTRACE: -ENOMEM, -EBUSY
 * while ftrace is switched off, -ENODEV if ftrace has shut itself down, -EAGAIN if modules were
 * unloaded at each of several attempts.
 */
int mcount_sites_set(bool call, const struct mcount_selection *selection, bool again);

/*
 * Return 0, or the error because of which no site calls anything since a module was loaded. Any
 * context.
 */
int mcount_sites_error(void);

/* Return why some sites can't be changed, or NULL. Any context. */
const char *mcount_sites_restriction(void);

#else /* !CONFIG_MCOUNT_DYNAMIC */

/* Static call sites always call the stub. */
static inline int mcount_sites_set(bool call, const struct mcount_selection *selection, bool again)
{
	return 0;
}

static inline int mcount_sites_error(void)
{
	return 0;
}

static inline const char *mcount_sites_restriction(void)
{
	return NULL;
}

#endif /* CONFIG_MCOUNT_DYNAMIC */

#endif /* _KERNEL_TRACE_MCOUNT_H */
