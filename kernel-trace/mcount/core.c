// SPDX-License-Identifier: GPL-2.0
/*
 * mcount core: which hook is registered, and whether it is called.
 *
 * Two conditions must hold for a traced function to call anything: a hook is
 * registered, and mcount is enabled. Either may come first. All that the two
 * decide is what the architecture's stub jumps to; see mcount_change().
 *
 * A plain hook is a C function, called by arch_mcount_call_hook. A direct hook
 * is its own entry code.
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
 * Protects what follows, and is held over grace periods. The stub reads
 * mcount_hook without it, and who only wants to show them which hook there is
 * and mcount_enabled.
 */
static DEFINE_MUTEX(mcount_mutex);
static bool mcount_enabled;
/* At most one is not NULL: that is the registered hook. */
static mcount_func_t plain_hook;
static mcount_direct_func_t direct_hook;
/* From where it is called; NULL: from everywhere. */
static const struct mcount_choice *choice;
/* What the stub jumps to; NULL: it returns. */
static mcount_direct_func_t current_entry;

static void no_hook(unsigned long ip, unsigned long parent_ip)
{
}

NOKPROBE_SYMBOL(no_hook);

/*
 * What arch_mcount_call_hook calls. A CPU may load it just before it changes:
 * the function loaded stays valid until mcount_change() has waited.
 */
mcount_func_t mcount_hook __read_mostly = no_hook;

static bool no_gate(unsigned long ip, unsigned long parent_ip, const struct mcount_regs *regs)
{
	return true;
}

NOKPROBE_SYMBOL(no_gate);

/* What arch_mcount_gate() calls. The same holds for it. */
mcount_gate_t mcount_gate __read_mostly = no_gate;

/*
 * Wait until no CPU and no task runs what the stub jumped to before. Entry
 * code and hook run to their end without sleeping, but a hook called with
 * preemption on can be preempted, where there is preemption: Tasks RCU waits for
 * such tasks. It does not for idle ones. They have preemption disabled, for which
 * RCU waits wherever it watches; and where it does not nothing is traced, since
 * what enters and leaves the kernel and idle states is noinstr. A call that begins
 * as the one does not go on as the other, so both waits may be had at once. They
 * may last minutes, of which nobody is to be warned: TASK_IDLE.
 *
 * RCU does not watch CPUs on their way up: those that were so have arrived when
 * the lock is had. What a CPU runs once it reports itself dead is not traced.
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

/* While a hook is called: that, or what stands for a direct one where the stub can't be called. */
static void set_plain_hook(mcount_func_t plain, const struct mcount_choice *of)
{
	WRITE_ONCE(mcount_hook, plain ?: of && of->plain ? of->plain : no_hook);
}

/* The registered hook's gate, while that is called. */
static void set_gate(const struct mcount_choice *of)
{
	WRITE_ONCE(mcount_gate, of && of->gate ? of->gate : no_gate);
}

static bool no_return_gate(unsigned long ip, unsigned long parent_ip,
			   const struct mcount_regs *regs, unsigned long result)
{
	return true;
}

NOKPROBE_SYMBOL(no_return_gate);

/* What arch_mcount_return_gate() calls. The same holds for it. */
mcount_return_gate_t mcount_return_gate __read_mostly = no_return_gate;

unsigned int mcount_away __read_mostly;

/* What sites before returns call if they do as @of says; NULL: nothing. */
static void switch_returns(const struct mcount_choice *of)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return;
	if (!mcount_sees_returns(of))
		of = NULL;
	if (of)
		WRITE_ONCE(mcount_return_gate, of->return_gate ?: no_return_gate);
	cpus_read_lock();
	arch_mcount_switch_returns(of ? of->on_return : NULL, of ? of->on_tail : NULL);
	cpus_read_unlock();
	if (!of)	/* as with the other gate: see mcount_change() */
		WRITE_ONCE(mcount_return_gate, no_return_gate);
}

/* A CPU that starts has no handler yet for the patching's breakpoints. */
static void switch_stub(mcount_direct_func_t entry)
{
	cpus_read_lock();
	arch_mcount_switch(entry);
	cpus_read_unlock();
}

/*
 * Change what the state above says, and make stub and call sites follow. On
 * return nothing that they no longer name is running: if the stub jumped nowhere
 * before, nothing was. On error nothing has changed.
 *
 * The stub jumps only while the sites that are chosen call it, so that a hook sees
 * nothing of the patching, whose code is traced like any other, and is never called from
 * what another one has chosen. Only when a hook chooses anew it is called meanwhile.
 * Returns are switched before calls, on and off, and each has a stub of its own: so a hook may
 * see returns of calls before the first, and at the end not those of the last calls, nor of all
 * functions that it has seen jump to others.
 */
static int mcount_change(mcount_func_t plain, mcount_direct_func_t direct,
			 const struct mcount_choice *new_choice, bool enabled)
{
	mcount_direct_func_t entry = plain ? arch_mcount_call_hook : direct;
	mcount_direct_func_t old_entry = current_entry;
	int ret;

	lockdep_assert_held(&mcount_mutex);

	if (plain_hook == plain && direct_hook == direct && choice == new_choice &&
	    mcount_enabled == enabled && !mcount_sites_error())
		return 0;

	if (!enabled)
		entry = NULL;
	if (old_entry && choice != new_choice) {
		switch_returns(NULL);
		switch_stub(NULL);
		set_plain_hook(NULL, NULL);
	}
	if (entry) {
		ret = mcount_sites_set(true, new_choice, false);
		if (ret) {
			set_plain_hook(old_entry ? plain_hook : NULL, old_entry ? choice : NULL);
			switch_returns(old_entry ? choice : NULL);
			switch_stub(old_entry);
			return ret;
		}
	}

	if (!old_entry || choice != new_choice)
		WRITE_ONCE(mcount_away, mcount_away + 1);
	WRITE_ONCE(plain_hook, plain);
	WRITE_ONCE(direct_hook, direct);
	choice = new_choice;
	WRITE_ONCE(mcount_enabled, enabled);
	current_entry = entry;

	set_plain_hook(entry ? plain : NULL, entry ? choice : NULL);
	if (entry)
		set_gate(choice);
	switch_returns(entry ? choice : NULL);
	switch_stub(entry);
	if (!entry)	/* who has none calls what the gate did not let through */
		set_gate(NULL);
	if (old_entry)
		mcount_synchronize();
	if (!entry)	/* if it fails, they call a stub that returns */
		mcount_sites_set(false, choice, false);
	return 0;
}

/**
 * register_mcount_function() - have a function called by every traced function
 * @func: the hook; see mcount_func_t for what it may do
 *
 * From now on each traced function calls @func, if mcount is enabled
 * (kernel.mcount_enabled). There is one hook: a registration overrides the one
 * before, and on return no CPU is still running the overridden hook.
 * Registering the registered hook again changes nothing.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @func is NULL, or why no call site may be changed: -EIO
 *         or -ENOMEM, or beside ftrace -EBUSY, -ENODEV or -EAGAIN, and the log says more.
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
 * unregister_mcount_function() - take a hook away, if it is the registered one
 * @func: the hook
 *
 * On return no CPU runs @func on behalf of mcount and none will, whatever the
 * result: either it was registered until now, or whoever took its place has
 * waited. A module may be unloaded after this.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
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
 * clear_mcount_function() - take any hook away, plain or direct
 *
 * Nobody is called any more. On return no CPU is still running the old hook.
 * Prefer unregister_mcount_function(), which can't clear another's hook.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
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
 * The same as register_mcount_function(), for a hook that preserves what
 * registers may hold at a function's head: nothing is saved for it and no call
 * is made but the traced function's own. To be preferred where each instruction
 * counts.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @func is NULL, or why no call site may be changed: -EIO
 *         or -ENOMEM, or beside ftrace -EBUSY, -ENODEV or -EAGAIN, and the log says more.
 */
int register_mcount_direct(mcount_direct_func_t func)
{
	return register_mcount_direct_chosen(func, NULL);
}
EXPORT_SYMBOL_GPL(register_mcount_direct);

/**
 * register_mcount_direct_chosen() - register a direct hook for some functions only
 * @func: the hook, defined with __mcount_direct
 * @wanted: which functions; NULL: all
 *
 * The same as register_mcount_direct(), but only the functions that @wanted wants call
 * the hook, and some a gate before it. To the others it costs what it costs when no hook
 * is registered: a NOP. @wanted is not copied.
 * Where call sites are static there is nothing to be chosen: see
 * CONFIG_MCOUNT_DYNAMIC.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @func is NULL, -EOPNOTSUPP if call sites are static, or why no
 *         call site may be changed: as register_mcount_function().
 */
int register_mcount_direct_chosen(mcount_direct_func_t func, const struct mcount_choice *wanted)
{
	if (!func)
		return -EINVAL;
	if (wanted && !IS_ENABLED(CONFIG_MCOUNT_DYNAMIC))
		return -EOPNOTSUPP;

	guard(mutex)(&mcount_mutex);
	return mcount_change(NULL, func, wanted, mcount_enabled);
}
EXPORT_SYMBOL_GPL(register_mcount_direct_chosen);

/**
 * mcount_choose() - have the registered hook called from other functions
 * @func: a direct hook
 * @wanted: which functions; NULL: all
 *
 * To be called, too, when what was given before wants other functions now. The hook is
 * called all the time from those that it wanted before and wants now. On return it is
 * called from all others that it wants, and no function that it does not want any more
 * begins to call it; a call that had begun before may not have ended. But if the gate, or
 * the choice of returns, is another, nobody runs what the one before had called.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
 * Return: 0, -ENOENT if @func is not the registered hook, -EOPNOTSUPP if call sites are
 *         static, or why none may be changed: as register_mcount_function().
 */
int mcount_choose(mcount_direct_func_t func, const struct mcount_choice *wanted)
{
	mcount_func_t old_plain;
	mcount_gate_t old;
	bool leaves;
	int ret;

	if (wanted && !IS_ENABLED(CONFIG_MCOUNT_DYNAMIC))
		return -EOPNOTSUPP;

	guard(mutex)(&mcount_mutex);
	if (!func || direct_hook != func)
		return -ENOENT;
	old = mcount_gate;
	old_plain = mcount_hook;
	leaves = current_entry && mcount_sees_returns(choice) && choice != wanted;
	if (current_entry && wanted && wanted->gate)
		set_gate(wanted);
	if (current_entry && mcount_sees_returns(wanted))
		switch_returns(wanted);
	ret = mcount_sites_set(current_entry, wanted, current_entry);
	if (!ret)
		choice = wanted;
	set_gate(current_entry ? choice : NULL);
	set_plain_hook(NULL, current_entry ? choice : NULL);
	switch_returns(current_entry ? choice : NULL);
	if (mcount_gate != old || mcount_hook != old_plain || leaves)
		mcount_synchronize();
	return ret;
}
EXPORT_SYMBOL_GPL(mcount_choose);

/**
 * replace_mcount_direct() - have one direct hook take the place of another
 * @old: the registered one
 * @new: the one to be registered
 *
 * In one step, so that no other hook can come in between; the choice of functions
 * stays. On return no CPU is still running @old on behalf of mcount, whatever the result.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
 * Return: 0, -EINVAL if @new is NULL, -ENOENT if @old is not the registered hook, or
 *         why no call site may be changed: as register_mcount_function().
 */
int replace_mcount_direct(mcount_direct_func_t old, mcount_direct_func_t new)
{
	if (!new)
		return -EINVAL;

	guard(mutex)(&mcount_mutex);
	if (!old || direct_hook != old)
		return -ENOENT;
	return mcount_change(NULL, new, choice, mcount_enabled);
}
EXPORT_SYMBOL_GPL(replace_mcount_direct);

/**
 * unregister_mcount_direct() - take a direct hook away, if it is the registered one
 * @func: the hook
 *
 * As unregister_mcount_function().
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
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
 * mcount_direct_registered() - tell whether a direct hook is the registered one
 * @func: the hook
 *
 * If it is not, it does not run either: whoever took its place has waited.
 *
 * Context: process context, may sleep.
 * Return: true if @func is registered now, be mcount enabled or not.
 */
bool mcount_direct_registered(mcount_direct_func_t func)
{
	guard(mutex)(&mcount_mutex);
	return func && direct_hook == func;
}
EXPORT_SYMBOL_GPL(mcount_direct_registered);

/**
 * mcount_direct_is_current() - tell whether a direct hook is the registered one just now
 * @func: the hook
 *
 * The same as mcount_direct_registered(), but does not wait for a change that is under way, and so
 * promises nothing about hooks that still run.
 *
 * Context: any.
 * Return: true if @func is registered now, be mcount enabled or not.
 */
bool mcount_direct_is_current(mcount_direct_func_t func)
{
	return func && READ_ONCE(direct_hook) == func;
}
EXPORT_SYMBOL_GPL(mcount_direct_is_current);

/**
 * mcount_error() - tell why the registered hook is not called
 *
 * When a module comes, call sites must be changed, and nobody can be told if they can't be. Any
 * call that registers or chooses tries again.
 *
 * Context: any.
 * Return: 0, or -ENOMEM and so on as register_mcount_function().
 */
int mcount_error(void)
{
	return mcount_sites_error();
}
EXPORT_SYMBOL_GPL(mcount_error);

bool mcount_is_enabled(void)
{
	return READ_ONCE(mcount_enabled);
}

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
 * mcount_set_enabled() - enable or disable mcount
 * @enable: whether the registered hook, if any, is called
 *
 * What kernel.mcount_enabled does, for code that decides for the administrator:
 * the kernel's command line. On return of a disabling call no hook is running.
 *
 * Context: process context, may sleep. The caller must hold neither
 *          cpus_read_lock(), cpus_write_lock() nor text_mutex.
 * Return: 0, or why no call site may be changed: as register_mcount_function().
 */
int mcount_set_enabled(bool enable)
{
	guard(mutex)(&mcount_mutex);
	return mcount_change(plain_hook, direct_hook, choice, enable);
}
