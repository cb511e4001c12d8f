// SPDX-License-Identifier: GPL-2.0
/*
 * The core of mcount: registers the one hook, and switches it on and off.
 *
 * A traced function calls the hook only if a hook is registered and mcount is enabled, in either
 * order. These two conditions decide what the architecture's stub jumps to; see mcount_change().
 *
 * A plain hook is a C function, called by arch_mcount_call_hook. A direct hook is its own entry
 * code.
 */
#include <linux/cache.h>
#include <linux/cleanup.h>
#include <linux/cpuhplock.h>
#include <linux/export.h>
#include <linux/kconfig.h>
#include <linux/kprobes.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/sprintf.h>

#include "mcount.h"

/*
 * Protects the variables below, and is held over grace periods. The stub reads mcount_hook without
 * it. Functions that only show the registered hook or mcount_enabled read them without it, too.
 */
static DEFINE_MUTEX(mcount_mutex);
static bool mcount_enabled;
/* The registered hook: at most one of these is not NULL. */
static mcount_func_t plain_hook;
static mcount_direct_func_t direct_hook;
/* The functions that call the registered hook; NULL: all. */
static const struct mcount_selection *selection;
/* The entry code that the stub jumps to; NULL: the stub returns. */
static mcount_direct_func_t current_entry;

static void mcount_no_hook(unsigned long ip, unsigned long parent_ip)
{
}

NOKPROBE_SYMBOL(mcount_no_hook);

/*
 * The hook that arch_mcount_call_hook calls. A CPU may load it just before it changes: the loaded
 * function stays valid until mcount_change() has waited.
 */
mcount_func_t mcount_hook __read_mostly = mcount_no_hook;

bool mcount_no_pre_handler(unsigned long ip, unsigned long parent_ip,
			   const struct mcount_regs *regs)
{
	return true;
}

NOKPROBE_SYMBOL(mcount_no_pre_handler);

/* The pre-handler that arch_mcount_pre_handler() calls, valid for as long as mcount_hook is. */
mcount_pre_handler_t mcount_pre_handler __read_mostly = mcount_no_pre_handler;

/*
 * Wait until no CPU and no task runs the previous entry code and hook.
 *
 * Both run to their end without sleeping, but a hook that is called with preemption enabled can be
 * preempted in preemptible kernels: Tasks RCU waits for such tasks, except idle ones. Idle tasks
 * have preemption disabled, so RCU waits for them wherever it watches. Where RCU does not watch,
 * nothing is traced, because the code that enters and leaves the kernel and idle states is noinstr.
 * Each running call is covered by one of the two grace periods, so wait for both concurrently. The
 * wait may last minutes: TASK_IDLE avoids a warning about a hung task.
 *
 * RCU does not watch CPUs that are coming up: cpus_read_lock() waits until they are online. A CPU
 * that has reported itself dead runs no traced code.
 */
static void mcount_synchronize(void)
{
	cpus_read_lock();
	cpus_read_unlock();
	if (IS_ENABLED(CONFIG_TASKS_RCU))
		wait_rcu_gp_state(TASK_IDLE, call_rcu_hurry, call_rcu_tasks);
	else
		synchronize_rcu();
}

/*
 * Set the plain hook: @plain if it is not NULL, else the plain substitute of the direct hook that
 * the selection @of has, for sites that can't call the stub.
 */
static void mcount_set_plain_hook(mcount_func_t plain, const struct mcount_selection *of)
{
	WRITE_ONCE(mcount_hook, plain ?: of && of->plain ? of->plain : mcount_no_hook);
}

/* Set the pre-handler to that of the selection @of. */
static void mcount_set_pre_handler(const struct mcount_selection *of)
{
	mcount_pre_handler_t new = mcount_no_pre_handler;

	if (of && of->pre_handler)
		new = IS_ENABLED(CONFIG_MCOUNT_RETHOOK) ? mcount_rethook_pre_handler(of) :
							  of->pre_handler;
	WRITE_ONCE(mcount_pre_handler, new);
}

static bool mcount_no_return_pre_handler(unsigned long ip, unsigned long parent_ip,
					 const struct mcount_regs *regs, unsigned long result)
{
	return true;
}

NOKPROBE_SYMBOL(mcount_no_return_pre_handler);

/*
 * The pre-handler that arch_mcount_return_pre_handler() calls, valid for as long as mcount_hook is.
 */
mcount_return_pre_handler_t mcount_return_pre_handler __read_mostly = mcount_no_return_pre_handler;

unsigned int mcount_away __read_mostly;
bool mcount_sees_only_returns __read_mostly;
static void (*resume_func)(void);	/* see mcount_on_resume() */

/* Make sites before returns call what the selection @of wants; NULL: nothing. */
static void mcount_switch_returns(const struct mcount_selection *of)
{
	if (!mcount_sees_returns(of))
		of = NULL;
	if (IS_ENABLED(CONFIG_MCOUNT_RETHOOK))
		mcount_rethook_switch(of);
	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return;
	if (of)
		WRITE_ONCE(mcount_return_pre_handler,
			   of->return_pre_handler ?: mcount_no_return_pre_handler);
	cpus_read_lock();
	arch_mcount_switch_returns(of ? of->on_return : NULL, of ? of->on_tail : NULL);
	cpus_read_unlock();
	if (!of)	/* after the stubs, as in mcount_change() */
		WRITE_ONCE(mcount_return_pre_handler, mcount_no_return_pre_handler);
}

/* Lock out CPU hotplug: a starting CPU can't handle the breakpoints of text patching yet. */
static void mcount_switch_stub(mcount_direct_func_t entry)
{
	cpus_read_lock();
	arch_mcount_switch(entry);
	cpus_read_unlock();
}

/* Tell users that hooks were not called for some time, before they are called again. */
static void mcount_note_absence(void)
{
	WRITE_ONCE(mcount_away, mcount_away + 1);
	if (resume_func)
		resume_func();
}

/*
 * Set the state above, and switch the stub and the call sites accordingly. On return no hook or
 * pre-handler runs that the state no longer names; there is no wait if the stub jumped nowhere
 * before. On error nothing has changed.
 *
 * The stub jumps only while the selected sites call it. So a hook does not see the patching,
 * although that code is traced like any other, and is never called from functions that another hook
 * selected. Only a hook that changes its own selection is called during the patching.
 *
 * Returns are switched before calls, both on and off, and each kind has a stub of its own. So a
 * hook may see returns of calls that came before its first call. At the end it may miss the returns
 * of its last calls, and of functions that it has seen jump to other functions.
 */
static int mcount_change(mcount_func_t plain, mcount_direct_func_t direct,
			 const struct mcount_selection *new_selection, bool enabled)
{
	mcount_direct_func_t entry = plain ? arch_mcount_call_hook : direct;
	mcount_direct_func_t old_entry = current_entry;
	/* After an error no hook was called, although current_entry names one. */
	bool was_away = !old_entry || selection != new_selection || mcount_sites_error();
	int ret;

	lockdep_assert_held(&mcount_mutex);

	if (plain_hook == plain && direct_hook == direct && selection == new_selection &&
	    mcount_enabled == enabled && !mcount_sites_error())
		return 0;

	if (!enabled)
		entry = NULL;
	if (old_entry && selection != new_selection) {
		mcount_switch_returns(NULL);
		mcount_switch_stub(NULL);
		mcount_set_plain_hook(NULL, NULL);
		mcount_set_pre_handler(NULL);
	}
	if (entry) {
		ret = mcount_sites_set(true, new_selection, false);
		if (ret) {
			mcount_set_plain_hook(old_entry ? plain_hook : NULL,
					      old_entry ? selection : NULL);
			mcount_set_pre_handler(old_entry ? selection : NULL);
			if (old_entry && selection != new_selection)
				mcount_note_absence();
			mcount_switch_returns(old_entry ? selection : NULL);
			mcount_switch_stub(old_entry);
			return ret;
		}
	}

	if (was_away) {
		WRITE_ONCE(mcount_sees_only_returns, true);
		mcount_note_absence();
	}
	WRITE_ONCE(plain_hook, plain);
	WRITE_ONCE(direct_hook, direct);
	selection = new_selection;
	WRITE_ONCE(mcount_enabled, enabled);
	current_entry = entry;

	mcount_set_plain_hook(entry ? plain : NULL, entry ? selection : NULL);
	if (entry)
		mcount_set_pre_handler(selection);
	mcount_switch_returns(entry ? selection : NULL);
	mcount_switch_stub(entry);
	WRITE_ONCE(mcount_sees_only_returns, false);
	if (!entry)	/* after the stub: mcount_no_pre_handler() lets all calls through */
		mcount_set_pre_handler(NULL);
	if (old_entry)
		mcount_synchronize();
	if (!entry)	/* if it fails, sites call a stub that returns */
		mcount_sites_set(false, selection, false);
	return 0;
}

/**
 * register_mcount_function() - make every traced function call a hook
 * @func: the hook; see mcount_func_t for its restrictions
 *
 * From now on each traced function calls @func if mcount is enabled (kernel.mcount_enabled). There
 * is only one hook: a registration overrides the previous one, and on return no CPU runs the
 * overridden hook. Registering the registered hook again changes nothing.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @func is NULL, or an error if the call sites can't be changed: -EIO or
 *         -ENOMEM, or with CONFIG_MCOUNT_FTRACE -EBUSY, -ENODEV or -EAGAIN; the log has details.
 */
int register_mcount_function(mcount_func_t func)
{
	if (!func)
		return -EINVAL;

	guard(mutex)(&mcount_mutex);
	return mcount_change(func, NULL, NULL, mcount_enabled);
}
EXPORT_SYMBOL_GPL(register_mcount_function);

/**
 * unregister_mcount_function() - remove a hook, if it is the registered one
 * @func: the hook
 *
 * On return no CPU runs @func on behalf of mcount and none will, whatever the result: if @func was
 * registered, this function has waited for it; if another hook had overridden @func, that
 * registration has waited. A module may be unloaded after this.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, or -ENOENT if @func is not the registered hook.
 */
int unregister_mcount_function(mcount_func_t func)
{
	guard(mutex)(&mcount_mutex);
	if (!func || plain_hook != func)
		return -ENOENT;

	mcount_change(NULL, NULL, NULL, mcount_enabled);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_mcount_function);

/**
 * clear_mcount_function() - remove any hook, plain or direct
 *
 * On return no hook is registered, and no CPU runs the old one. Prefer
 * unregister_mcount_function(), which can't remove the hook of another user.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 */
void clear_mcount_function(void)
{
	guard(mutex)(&mcount_mutex);
	mcount_change(NULL, NULL, NULL, mcount_enabled);
}
EXPORT_SYMBOL_GPL(clear_mcount_function);

/**
 * register_mcount_direct() - register a hook that the stub jumps straight to
 * @func: the hook, defined with __mcount_direct
 *
 * Like register_mcount_function(), but for a hook that preserves the registers which may hold
 * something at a function's head: nothing is saved for it, and the traced function's call of the
 * stub is the only call. Use it where each instruction counts.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @func is NULL, or an error if the call sites can't be changed: -EIO or
 *         -ENOMEM, or with CONFIG_MCOUNT_FTRACE -EBUSY, -ENODEV or -EAGAIN; the log has details.
 */
int register_mcount_direct(mcount_direct_func_t func)
{
	return register_mcount_direct_selected(func, NULL);
}
EXPORT_SYMBOL_GPL(register_mcount_direct);

/**
 * register_mcount_direct_selected() - register a direct hook for selected functions
 * @func: the hook, defined with __mcount_direct
 * @wanted: the selection of functions; NULL: all
 *
 * Like register_mcount_direct(), but only the functions that @wanted selects call the hook, some of
 * them after a pre-handler. The other functions have a NOP, as if no hook was registered. @wanted
 * is not copied, so it must stay valid while it is registered. Static call sites allow no
 * selection: see CONFIG_MCOUNT_DYNAMIC.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @func is NULL, -EOPNOTSUPP if call sites are static, or an error if they
 *         can't be changed: as register_mcount_function().
 */
int register_mcount_direct_selected(mcount_direct_func_t func,
				    const struct mcount_selection *wanted)
{
	if (!func)
		return -EINVAL;
	if (wanted && !IS_ENABLED(CONFIG_MCOUNT_DYNAMIC))
		return -EOPNOTSUPP;

	guard(mutex)(&mcount_mutex);
	return mcount_change(NULL, func, wanted, mcount_enabled);
}
EXPORT_SYMBOL_GPL(register_mcount_direct_selected);

/**
 * mcount_select() - change the selection of functions that call the registered hook
 * @func: a direct hook
 * @wanted: the new selection; NULL: all functions
 *
 * Call this also when the present selection wants other functions than before. The functions that
 * are in both the old and the new selection call the hook all the time. On return all selected
 * functions call the hook, and no other function begins to call it; an earlier call may still be
 * running. But if the pre-handler or the handling of returns changes, no CPU runs the old handlers
 * on return.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, -ENOENT if @func is not the registered hook, -EOPNOTSUPP if call sites are static, or
 *         an error if they can't be changed: as register_mcount_function().
 */
int mcount_select(mcount_direct_func_t func, const struct mcount_selection *wanted)
{
	mcount_func_t old_plain;
	mcount_pre_handler_t old;
	bool leaves;
	int ret;

	if (wanted && !IS_ENABLED(CONFIG_MCOUNT_DYNAMIC))
		return -EOPNOTSUPP;

	guard(mutex)(&mcount_mutex);
	if (!func || direct_hook != func)
		return -ENOENT;
	old = mcount_pre_handler;
	old_plain = mcount_hook;
	leaves = current_entry && mcount_sees_returns(selection) && selection != wanted;
	if (current_entry && mcount_sites_error())	/* then no hook was called */
		mcount_note_absence();
	if (current_entry && wanted && wanted->pre_handler)
		mcount_set_pre_handler(wanted);
	if (current_entry && mcount_sees_returns(wanted))
		mcount_switch_returns(wanted);
	ret = mcount_sites_set(current_entry, wanted, current_entry);
	if (!ret)
		selection = wanted;
	mcount_set_pre_handler(current_entry ? selection : NULL);
	mcount_set_plain_hook(NULL, current_entry ? selection : NULL);
	mcount_switch_returns(current_entry ? selection : NULL);
	if (mcount_pre_handler != old || mcount_hook != old_plain || leaves)
		mcount_synchronize();
	return ret;
}
EXPORT_SYMBOL_GPL(mcount_select);

/**
 * replace_mcount_direct() - replace the registered direct hook by another
 * @old: the registered hook
 * @new: the hook to register instead
 *
 * This is one step, so that no other hook can be registered in between; the selection of functions
 * stays. On return no CPU runs @old on behalf of mcount, unless the call sites could not be
 * changed.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @new is NULL, -ENOENT if @old is not the registered hook, or an error if
 *         the call sites can't be changed: as register_mcount_function().
 */
int replace_mcount_direct(mcount_direct_func_t old, mcount_direct_func_t new)
{
	if (!new)
		return -EINVAL;

	guard(mutex)(&mcount_mutex);
	if (!old || direct_hook != old)
		return -ENOENT;
	return mcount_change(NULL, new, selection, mcount_enabled);
}
EXPORT_SYMBOL_GPL(replace_mcount_direct);

/**
 * unregister_mcount_direct() - remove a direct hook, if it is the registered one
 * @func: the hook
 *
 * As unregister_mcount_function().
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, or -ENOENT if @func is not the registered hook.
 */
int unregister_mcount_direct(mcount_direct_func_t func)
{
	guard(mutex)(&mcount_mutex);
	if (!func || direct_hook != func)
		return -ENOENT;

	mcount_change(NULL, NULL, NULL, mcount_enabled);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_mcount_direct);

/**
 * mcount_direct_registered() - return whether a direct hook is the registered one
 * @func: the hook
 *
 * If @func is not registered, it does not run either: the call that removed it has waited.
 *
 * Context: process context, may sleep.
 * Return: true if @func is registered now, whether mcount is enabled or not.
 */
bool mcount_direct_registered(mcount_direct_func_t func)
{
	guard(mutex)(&mcount_mutex);
	return func && direct_hook == func;
}
EXPORT_SYMBOL_GPL(mcount_direct_registered);

/**
 * mcount_direct_is_current() - return whether a direct hook is registered, without waiting
 * @func: the hook
 *
 * Unlike mcount_direct_registered(), this does not wait for a change that is under way, and so
 * promises nothing about hooks that still run.
 *
 * Context: any.
 * Return: true if @func is registered now, whether mcount is enabled or not.
 */
bool mcount_direct_is_current(mcount_direct_func_t func)
{
	return func && READ_ONCE(direct_hook) == func;
}
EXPORT_SYMBOL_GPL(mcount_direct_is_current);

/**
 * mcount_error() - return why the registered hook is not called
 *
 * Call sites may have to change when a module is loaded, and that caller gets no error if they
 * can't be changed. Any later call that registers a hook or changes the selection tries again.
 *
 * Context: any.
 * Return: 0, or an error such as -ENOMEM, as register_mcount_function().
 */
int mcount_error(void)
{
	return mcount_sites_error();
}
EXPORT_SYMBOL_GPL(mcount_error);

/**
 * mcount_restriction() - return why some functions can't be made to call the hook, or not to
 *
 * Context: any.
 * Return: a sentence for users, or NULL if all functions can be selected.
 */
const char *mcount_restriction(void)
{
	return mcount_sites_restriction();
}
EXPORT_SYMBOL_GPL(mcount_restriction);

/**
 * mcount_is_enabled() - return whether a registered hook is called
 *
 * Context: any.
 * Return: the sysctl kernel.mcount_enabled, whether a hook is registered or not.
 */
bool mcount_is_enabled(void)
{
	return READ_ONCE(mcount_enabled);
}
EXPORT_SYMBOL_GPL(mcount_is_enabled);

int mcount_name_hook(char *name, size_t size)
{
	mcount_direct_func_t direct = READ_ONCE(direct_hook);
	mcount_func_t plain = READ_ONCE(plain_hook);

	if (plain)
		return scnprintf(name, size, "%ps", plain);
	if (direct)
		return scnprintf(name, size, "%ps", direct);
	return scnprintf(name, size, "none");
}

/**
 * mcount_on_resume() - set the function that runs before a hook is called again
 * @func: the function, or NULL for none; it replaces the previous one
 *
 * mcount calls @func each time that mcount_away changes: when hooks were not called for a while, or
 * not for all of the functions that are selected now. No hook runs before @func has returned. @func
 * runs in process context, must not sleep, and must not call mcount.
 *
 * Context: process context, may sleep.
 */
void mcount_on_resume(void (*func)(void))
{
	guard(mutex)(&mcount_mutex);
	resume_func = func;
}
EXPORT_SYMBOL_GPL(mcount_on_resume);

/**
 * mcount_set_enabled() - enable or disable mcount
 * @enable: true to call the registered hook, if any
 *
 * The same as writing kernel.mcount_enabled, for code that acts for the administrator, such as the
 * parser of the kernel's command line. When mcount is disabled, no hook is running on return.
 *
 * Context: process context, may sleep. The caller must hold neither cpus_read_lock(),
 *          cpus_write_lock() nor text_mutex.
 * Return: 0, or an error if the call sites can't be changed: as register_mcount_function().
 */
int mcount_set_enabled(bool enable)
{
	guard(mutex)(&mcount_mutex);
	return mcount_change(plain_hook, direct_hook, selection, enable);
}
