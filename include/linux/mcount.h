/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mcount: one hook that every traced kernel function calls first.
 *
 * See Documentation/trace/mcount.rst.
 */
#ifndef _LINUX_MCOUNT_H
#define _LINUX_MCOUNT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/types.h>

/**
 * typedef mcount_func_t - a hook
 * @ip: the return address of the call site: an address in the traced function
 * @parent_ip: the return address in the traced function's caller
 *
 * A hook runs in the context of the traced function: in an NMI or any interrupt, with any lock
 * held, with RCU not watching, on a CPU that is going offline. The hook and everything that it
 * calls must be notrace, and must not fault, sleep, or take a lock that a traced function could
 * hold. They must be marked with NOKPROBE_SYMBOL(), because the handling of a kprobe is traced.
 */
typedef void (*mcount_func_t)(unsigned long ip, unsigned long parent_ip);

/**
 * typedef mcount_direct_func_t - a hook that the stub jumps straight to
 *
 * A direct hook is defined with __mcount_direct and has no arguments: it gets @ip and @parent_ip of
 * mcount_func_t from the stack, with mcount_direct_ip() and mcount_direct_parent_ip(). The rules of
 * mcount_func_t apply. C code can't call a direct hook.
 */
typedef __no_caller_saved_registers void (*mcount_direct_func_t)(void);

struct mcount_regs;	/* see asm/mcount.h; @ips lie on the stack behind the saved registers */

/**
 * typedef mcount_pre_handler_t - a pre-handler, which some functions call before the hook
 * @ip: as for a hook
 * @parent_ip: as for a hook
 * @regs: the registers at the function's head, see mcount_args()
 *
 * The rules of mcount_func_t apply.
 *
 * Return: true if the hook must be called, too.
 */
typedef bool (*mcount_pre_handler_t)(unsigned long ip, unsigned long parent_ip,
				     const struct mcount_regs *regs);

/**
 * typedef mcount_return_pre_handler_t - a pre-handler, which some functions call before they return
 * @ip: an address in the function, MCOUNT_SITE_SIZE behind the call site
 * @parent_ip: the address that the function returns to
 * @regs: the registers at the return
 * @result: the function's return value; undefined if the function is void, returns a struct, or
 *	jumps to another function (see mcount_is_tail())
 *
 * The rules of mcount_func_t apply.
 *
 * Return: true if the hook for returns must be called, too.
 */
typedef bool (*mcount_return_pre_handler_t)(unsigned long ip, unsigned long parent_ip,
					    const struct mcount_regs *regs, unsigned long result);

/**
 * enum mcount_site - what a call site does
 * @MCOUNT_NOTHING: it calls nothing
 * @MCOUNT_HOOK: it calls the hook
 * @MCOUNT_PRE_HANDLER: it calls the pre-handler, which decides whether the hook is called
 */
enum mcount_site {
	MCOUNT_NOTHING,
	MCOUNT_HOOK,
	MCOUNT_PRE_HANDLER,
};

/**
 * struct mcount_selection - a selection of the functions that call a direct hook
 * @kind: returns what the call site at an address must do, see mcount_function_site(); NULL: all
 *	sites call the hook
 * @pre_handler: the pre-handler of the sites of MCOUNT_PRE_HANDLER; NULL if @kind never returns
 * that
 * @return_kind: the same for a site before a return; NULL: no such site calls anything
 * @return_pre_handler: the pre-handler of the sites before returns for which @return_kind returns
 *	MCOUNT_PRE_HANDLER
 * @on_return: the direct hook for returns, which must preserve all registers. Sites before returns
 *	call it for MCOUNT_HOOK, or for MCOUNT_PRE_HANDLER if @return_pre_handler returns true
 * @on_tail: as @on_return, at jumps to another function, which then returns in place of this one
 * @plain_return: with CONFIG_MCOUNT_RETHOOK, the hook for returns in place of @on_return; then all
 *	returns call @return_pre_handler first, and both with preemption disabled. It, @pre_handler,
 *	@plain and @wants_return must be set, too
 * @wants_return: with CONFIG_MCOUNT_RETHOOK, called at a call; returns false if its return need not
 *	be seen
 * @plain: the hook for a call site that can't call the stub, because another user of ftrace has
 *	redirected the function, see CONFIG_MCOUNT_FTRACE; NULL: such calls are not seen
 *
 * @kind and @return_kind must not sleep; with CONFIG_MCOUNT_FTRACE they run with ftrace_lock held.
 * They are also called for the sites of a module that is loaded: after the module notifiers of the
 * highest priority, INT_MAX, and before all other notifiers. So a notifier of the hook that updates
 * what @kind and @return_kind return for the module must have priority INT_MAX, or it must call
 * mcount_select().
 *
 * @on_return and @on_tail are ignored without CONFIG_MCOUNT_RETURNS, @return_kind and
 * @return_pre_handler without MCOUNT_HAS_RETURNS. replace_mcount_direct() reads @on_return and
 * @on_tail again.
 */
struct mcount_selection {
	enum mcount_site (*kind)(unsigned long site);
	mcount_pre_handler_t pre_handler;
	enum mcount_site (*return_kind)(unsigned long site);
	mcount_return_pre_handler_t return_pre_handler;
	mcount_direct_func_t on_return;
	mcount_direct_func_t on_tail;
	mcount_func_t plain_return;
	bool (*wants_return)(void);
	mcount_func_t plain;
};

/*
 * Attributes of a direct hook's definition. The compiler preserves each register that the hook
 * uses, and only those. A call out of line makes the compiler save all registers. On x86 the hook's
 * file needs -mgeneral-regs-only. A frame pointer backtrace from within a direct hook misses the
 * traced function's caller.
 *
 * Where the architecture defines $(CC_FLAGS_MCOUNT_DIRECT), a file that contains nothing but direct
 * hooks may be compiled with these flags: then the registers that hold nothing at a function's head
 * are not preserved. But the compiler assumes the same of called functions and does not warn: such
 * a file must only call functions out of line that preserve all other registers.
 */
#ifdef MCOUNT_DIRECT_BY_FLAGS
#define __mcount_direct	notrace __flatten
#else
#define __mcount_direct	notrace __no_caller_saved_registers
#endif

/* True if selections can have returns. */
#define MCOUNT_HAS_RETURNS	(IS_ENABLED(CONFIG_MCOUNT_RETURNS) ||	\
				 IS_ENABLED(CONFIG_MCOUNT_RETHOOK))

#ifdef CONFIG_MCOUNT

#include <asm/mcount.h>

int register_mcount_function(mcount_func_t func);
int unregister_mcount_function(mcount_func_t func);
void clear_mcount_function(void);

int register_mcount_direct(mcount_direct_func_t func);
int register_mcount_direct_selected(mcount_direct_func_t func,
				    const struct mcount_selection *wanted);
int mcount_select(mcount_direct_func_t func, const struct mcount_selection *wanted);
int replace_mcount_direct(mcount_direct_func_t old, mcount_direct_func_t new);
int unregister_mcount_direct(mcount_direct_func_t func);
bool mcount_direct_registered(mcount_direct_func_t func);
bool mcount_direct_is_current(mcount_direct_func_t func);
bool mcount_is_enabled(void);
int mcount_error(void);
const char *mcount_restriction(void);

int mcount_set_enabled(bool enable);

/*
 * Return the address of the call site of the function that begins at @func, or 0 if there is no
 * such function or it has no call site. A hook's ip is MCOUNT_SITE_SIZE behind the site. May sleep.
 */
unsigned long mcount_function_site(unsigned long func);

/*
 * mcount_next_return() returns the first site before a return that lies at @addr or behind it; 0 if
 * there is none. With CONFIG_MCOUNT_RETHOOK it only finds the site of a function that begins at
 * @addr, which stands for all of the function's returns. mcount_is_tail() returns true if the
 * function jumps to another one at @site instead of returning. Any context.
 */
unsigned long mcount_next_return(unsigned long addr);
bool mcount_is_tail(unsigned long site);
/* With CONFIG_MCOUNT_RETHOOK: the number of calls since boot whose return could not be caught. */
unsigned long mcount_returns_missed(void);

/*
 * Changes whenever a hook or its pre-handlers may have missed calls: they may have missed the
 * return of a call that they have seen.
 */
extern unsigned int mcount_away;
/*
 * True while a hook or its pre-handlers are being switched on, and see returns already, but maybe
 * no calls yet: they may miss what follows such a return.
 */
extern bool mcount_sees_only_returns;
void mcount_on_resume(void (*func)(void));

/* Only in the body of a direct hook itself: the arguments of a plain hook. */
#define mcount_direct_ip()		arch_mcount_direct_ip()
#define mcount_direct_parent_ip()	arch_mcount_direct_parent_ip()
/* The address of ip, with parent_ip right behind it. */
#define mcount_direct_ips()		arch_mcount_direct_ips()

/*
 * For direct hooks: call @func(@arg) and return its result. All registers are preserved, so this
 * works where no other call is allowed. It costs about 30 instructions. The rules of mcount_func_t
 * apply to @func.
 */
#define mcount_direct_call(func, arg)	arch_mcount_direct_call(func, arg)

/* Return true if @func(@arg) is not 0; changes no register but the flags. */
#define mcount_direct_ask(func, arg)	arch_mcount_direct_ask(func, arg)

/* Call @func(), a void function; changes no register but the flags. */
#define mcount_direct_call_void(func)	arch_mcount_direct_call_void(func)

/*
 * Store the registers that pass arguments into @args, in the order of the arguments. Return their
 * number, six at most; the function may have fewer arguments. Arguments on the stack and structs in
 * two registers are not handled. Any context.
 */
#define mcount_args(regs, args)	arch_mcount_args(regs, args)
/* Return the lowest address of the current stack; @where points into it. CONFIG_MCOUNT_FILTER. */
#define mcount_stack(where)	arch_mcount_stack(where)

/*
 * A direct hook that calls the pre-handler of its selection if an argument register holds a value
 * that was passed to mcount_filter_add(). The selection must have a pre-handler, and the
 * pre-handler must check the values again, because the filter has false positives. Its return value
 * is ignored. For CONFIG_MCOUNT_FILTER.
 *
 * A value that was added several times must be removed as often. Any context.
 */
__no_caller_saved_registers void mcount_filter_hook(void);
/* The same; also if the lowest address of the current stack (of THREAD_SIZE) is such a value. */
__no_caller_saved_registers void mcount_filter_stack_hook(void);
void mcount_filter_add(unsigned long value);
void mcount_filter_remove(unsigned long value);

/*
 * The interface between the core and the architecture. Nothing else uses it.
 *
 * arch_mcount_switch() makes the stub, which every traced function calls, jump to @entry, or return
 * at once if @entry is NULL. A CPU that already runs the old entry code finishes it; the core waits
 * for that. May sleep; the core serializes the calls and holds cpus_read_lock().
 *
 * arch_mcount_call_hook is the entry code for plain C functions: it saves the registers that a C
 * function may clobber and calls mcount_hook, which is never NULL.
 */
void arch_mcount_switch(mcount_direct_func_t entry);
__no_caller_saved_registers void arch_mcount_stub(void);
__no_caller_saved_registers void arch_mcount_call_hook(void);
extern mcount_func_t mcount_hook;
/* The tables of mcount_filter_hook(): an entry is 0 if no added value hashes to it. */
extern u8 mcount_filter[1 << MCOUNT_FILTER_BITS];
extern u8 mcount_filter_2[1 << MCOUNT_FILTER_BITS_2];

/*
 * A site of MCOUNT_PRE_HANDLER calls arch_mcount_pre_handler(), which calls mcount_pre_handler,
 * never NULL, as arch_mcount_call_hook does for the hook, and then continues at the stub or
 * returns.
 */
__no_caller_saved_registers void arch_mcount_pre_handler(void);
extern mcount_pre_handler_t mcount_pre_handler;

/*
 * With CONFIG_MCOUNT_RETURNS, sites before returns call these. arch_mcount_return() and
 * arch_mcount_tail() are stubs: each returns, or jumps to the entry code that was passed to
 * arch_mcount_switch_returns(). Sites of MCOUNT_PRE_HANDLER call the _pre_handler ones, which call
 * mcount_return_pre_handler. arch_mcount_is_tail() returns true if the site calls the tail ones.
 */
__no_caller_saved_registers void arch_mcount_return(void);
__no_caller_saved_registers void arch_mcount_tail(void);
__no_caller_saved_registers void arch_mcount_return_pre_handler(void);
__no_caller_saved_registers void arch_mcount_tail_pre_handler(void);
void arch_mcount_switch_returns(mcount_direct_func_t on_return, mcount_direct_func_t on_tail);
bool arch_mcount_is_tail(const void *site);
extern mcount_return_pre_handler_t mcount_return_pre_handler;

/*
 * Store the return addresses of the callers of the function that called a pre-handler into
 * @callers, the low halves, nearest first: the first one is @parent_ip. Unless @stacks is NULL,
 * store there where on the stack each of them lies. Return their number, from 1 to @max. @regs may
 * be NULL, but then this takes longer. Any context, with preemption disabled.
 */
unsigned int arch_mcount_callers(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				 unsigned int max);

/*
 * arch_mcount_site_insn() stores into @insn the MCOUNT_SITE_SIZE bytes of the call site @site when
 * it is of @kind: a NOP or a call. arch_mcount_site_kind() returns the site's present kind, an enum
 * mcount_site, or -EINVAL if it holds anything else. @returns: the site is one before a return.
 * Such a site of MCOUNT_NOTHING need not be a NOP: if the instruction behind it will stay a return,
 * the site itself can be a return. Then the return behind it is not reached.
 */
void arch_mcount_site_insn(u8 *insn, void *site, enum mcount_site kind, bool returns);
int arch_mcount_site_kind(const void *site, bool returns);

/* Return true if the site itself is a return now. */
bool arch_mcount_holds_return(const void *site);

#ifdef CONFIG_MCOUNT_SITES

/*
 * Make a site what arch_mcount_site_insn() describes for MCOUNT_NOTHING. Only at boot, before other
 * CPUs run, or for a module whose text can still be written.
 */
void arch_mcount_site_init(void *site, bool returns);

/*
 * arch_mcount_site_queue() queues the change of a call site to @kind; arch_mcount_sites_finish()
 * returns when all queued changes are done. Process context, under cpus_read_lock() and text_mutex.
 */
void arch_mcount_site_queue(void *site, enum mcount_site kind, bool returns);
void arch_mcount_sites_finish(void);

#endif /* CONFIG_MCOUNT_SITES */

#ifdef CONFIG_MCOUNT_FTRACE

struct ftrace_regs;

/*
 * Called from an ftrace_ops' function, for a call site of ftrace whose registers are all saved.
 * Make ftrace continue at the stub, or at the pre-handler if @pre_handler, as if the site had
 * called it, unless another user makes the function continue elsewhere than at @ip, which is behind
 * the site. Return false if that is impossible. Any context.
 */
bool arch_mcount_ftrace_call(struct ftrace_regs *fregs, unsigned long ip, bool pre_handler);
void arch_mcount_stub_in_turn(void);
void arch_mcount_pre_handler_in_turn(void);

#endif /* CONFIG_MCOUNT_FTRACE */

#else /* !CONFIG_MCOUNT */

static inline int register_mcount_function(mcount_func_t func)
{
	return -EOPNOTSUPP;
}

static inline int unregister_mcount_function(mcount_func_t func)
{
	return -ENOENT;
}

static inline void clear_mcount_function(void)
{
}

static inline int register_mcount_direct(mcount_direct_func_t func)
{
	return -EOPNOTSUPP;
}

static inline int register_mcount_direct_selected(mcount_direct_func_t func,
						  const struct mcount_selection *wanted)
{
	return -EOPNOTSUPP;
}

static inline int mcount_select(mcount_direct_func_t func, const struct mcount_selection *wanted)
{
	return -ENOENT;
}

static inline int replace_mcount_direct(mcount_direct_func_t old, mcount_direct_func_t new)
{
	return -ENOENT;
}

static inline int unregister_mcount_direct(mcount_direct_func_t func)
{
	return -ENOENT;
}

static inline bool mcount_direct_registered(mcount_direct_func_t func)
{
	return false;
}

static inline bool mcount_direct_is_current(mcount_direct_func_t func)
{
	return false;
}

static inline bool mcount_is_enabled(void)
{
	return false;
}

static inline int mcount_error(void)
{
	return 0;
}

static inline const char *mcount_restriction(void)
{
	return NULL;
}

static inline int mcount_set_enabled(bool enable)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_MCOUNT */

/* For other code that loads, changes or frees kernel text. */
struct module;

#ifdef CONFIG_MCOUNT_SITES

/* Return true if mcount may change the instruction at @addr at any time. Any context. */
bool mcount_is_site(unsigned long addr);

/* A probe at a function's entry lies behind the call site: return that site's address, or @addr. */
static inline unsigned long mcount_site_before(unsigned long addr)
{
	return mcount_is_site(addr - MCOUNT_SITE_SIZE) ? addr - MCOUNT_SITE_SIZE : addr;
}

/*
 * Return true if the instruction at @addr is not reached now, because the call site before it is
 * itself the return. A debugger's breakpoint at @addr would not be hit. Any context.
 */
bool mcount_is_unreached(unsigned long addr);

/*
 * mcount_open_return() must be called before the instruction at @insn becomes a jump or a
 * breakpoint: if @insn is a return behind a call site that is itself a return, turn the site into a
 * NOP, so that @insn is reached. For a kprobe, get_kprobe() must already find it. Under
 * cpus_read_lock() and text_mutex.
 */
void mcount_open_return(void *insn);
void mcount_module_init(struct module *mod);
void mcount_free_init_mem(void);

#else /* !CONFIG_MCOUNT_SITES */

static inline bool mcount_is_site(unsigned long addr)
{
	return false;
}

static inline unsigned long mcount_site_before(unsigned long addr)
{
	return addr;
}

static inline bool mcount_is_unreached(unsigned long addr)
{
	return false;
}

static inline void mcount_open_return(void *insn)
{
}

static inline void mcount_module_init(struct module *mod)
{
}

static inline void mcount_free_init_mem(void)
{
}

#endif /* CONFIG_MCOUNT_SITES */

#endif /* _LINUX_MCOUNT_H */
