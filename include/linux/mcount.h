/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mcount: one hook that is called at the head of every kernel function.
 *
 * See Documentation/trace/mcount.rst.
 */
#ifndef _LINUX_MCOUNT_H
#define _LINUX_MCOUNT_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/types.h>

/**
 * typedef mcount_func_t - a hook
 * @ip: an address in the traced function, just behind its call of the stub
 * @parent_ip: the return address in the traced function's caller
 *
 * Called in whatever context the traced function was called in: NMI, any
 * interrupt, with any lock held, with RCU not watching, on a CPU that is
 * going offline. A hook must be notrace and so must be everything that it
 * calls; it must not fault, sleep, or take a lock that a traced function
 * could hold. It must be marked with NOKPROBE_SYMBOL(), since what handles a
 * kprobe is traced.
 */
typedef void (*mcount_func_t)(unsigned long ip, unsigned long parent_ip);

/**
 * typedef mcount_direct_func_t - a hook that the stub jumps straight to
 *
 * Defined with __mcount_direct, and called with nothing but the stack of the
 * traced function's head: mcount_direct_ip() and mcount_direct_parent_ip() get
 * the addresses from there. All that is said of mcount_func_t holds. Not a
 * function that C code can call.
 */
typedef __no_caller_saved_registers void (*mcount_direct_func_t)(void);

struct mcount_regs;	/* the architecture's, see asm/mcount.h: from ips on, the stack's */

/**
 * typedef mcount_gate_t - what some functions call before the hook
 * @ip: as a hook's
 * @parent_ip: as a hook's
 * @regs: what registers hold at the function's head, see mcount_args()
 *
 * All that is said of mcount_func_t holds.
 *
 * Return: whether the hook is to be called, too.
 */
typedef bool (*mcount_gate_t)(unsigned long ip, unsigned long parent_ip,
			      const struct mcount_regs *regs);

/**
 * typedef mcount_return_gate_t - what some functions call before they return
 * @ip: an address in the function, MCOUNT_SITE_SIZE behind the site
 * @parent_ip: where it returns to
 * @regs: what registers hold there
 * @result: what the function returns, if it does and that is no struct: mcount_is_tail()
 *
 * All that is said of mcount_func_t holds.
 *
 * Return: whether the hook at returns is to be called, too.
 */
typedef bool (*mcount_return_gate_t)(unsigned long ip, unsigned long parent_ip,
				     const struct mcount_regs *regs, unsigned long result);

/**
 * enum mcount_site - what a call site does
 * @MCOUNT_NOTHING: nothing
 * @MCOUNT_HOOK: it calls the hook
 * @MCOUNT_GATE: it calls the gate, and that decides whether the hook is called
 */
enum mcount_site {
	MCOUNT_NOTHING,
	MCOUNT_HOOK,
	MCOUNT_GATE,
};

/**
 * struct mcount_choice - which functions are to call a direct hook
 * @kind: what the call site is to do, now, of a function: see mcount_function_site(); NULL: call
 *	the hook
 * @gate: what is called where that is MCOUNT_GATE; NULL: there is no such site
 * @return_kind: the same for sites before returns; NULL: none of these is to do anything
 * @return_gate: what is called there if that is MCOUNT_GATE
 * @on_return: what is called there if it is MCOUNT_HOOK, or the gate says so: a direct hook,
 *	for which all registers hold something
 * @on_tail: the same before a jump to another function, which returns in the place of this
 * @plain: what is called instead of the hook where the call site can't have the stub called, since
 *	somebody else has made it lead elsewhere, see CONFIG_MCOUNT_FTRACE; NULL: nobody is
 *
 * @kind and @return_kind must not sleep; beside ftrace its mutex is held. They are also asked
 * when a module comes: after its notifiers of the highest priority, INT_MAX, and before all others.
 * A notifier of the hook has that priority if it finds out what these must say for the module; else
 * it calls mcount_choose().
 *
 * What concerns returns is for CONFIG_MCOUNT_RETURNS, and ignored without. @on_return and
 * @on_tail are looked at again by replace_mcount_direct().
 */
struct mcount_choice {
	enum mcount_site (*kind)(unsigned long site);
	mcount_gate_t gate;
	enum mcount_site (*return_kind)(unsigned long site);
	mcount_return_gate_t return_gate;
	mcount_direct_func_t on_return;
	mcount_direct_func_t on_tail;
	mcount_func_t plain;
};

/*
 * For the definition of a direct hook: has the compiler preserve each register
 * that the hook uses, and so not those that it doesn't. Whatever it calls out
 * of line makes it save them all. On x86 its file needs -mgeneral-regs-only. A
 * frame pointer backtrace from within it misses the traced function's caller.
 *
 * Where the architecture defines $(CC_FLAGS_MCOUNT_DIRECT), a file of nothing but
 * direct hooks may be compiled with that: then registers that hold nothing at a
 * function's head are not preserved. But the compiler believes the same of
 * functions that are called, and does not warn: nothing may be called out of line
 * there that does not preserve all others.
 */
#ifdef MCOUNT_DIRECT_BY_FLAGS
#define __mcount_direct	notrace __flatten
#else
#define __mcount_direct	notrace __no_caller_saved_registers
#endif

#ifdef CONFIG_MCOUNT

#include <asm/mcount.h>

int register_mcount_function(mcount_func_t func);
int unregister_mcount_function(mcount_func_t func);
void clear_mcount_function(void);

int register_mcount_direct(mcount_direct_func_t func);
int register_mcount_direct_chosen(mcount_direct_func_t func, const struct mcount_choice *wanted);
int mcount_choose(mcount_direct_func_t func, const struct mcount_choice *wanted);
int replace_mcount_direct(mcount_direct_func_t old, mcount_direct_func_t new);
int unregister_mcount_direct(mcount_direct_func_t func);
bool mcount_direct_registered(mcount_direct_func_t func);
bool mcount_direct_is_current(mcount_direct_func_t func);
int mcount_error(void);

int mcount_set_enabled(bool enable);

/*
 * The call site of the function that begins at @func; 0 if there is no such function, or
 * it calls no hook. A hook's ip is MCOUNT_SITE_SIZE behind it. May sleep.
 */
unsigned long mcount_function_site(unsigned long func);

/*
 * The first site before a return at @addr or behind it; 0 if there is none, or no
 * CONFIG_MCOUNT_RETURNS. Any context. mcount_is_tail() tells whether the function does not
 * return there, but jumps to another one.
 */
unsigned long mcount_next_return(unsigned long addr);
bool mcount_is_tail(unsigned long site);

/*
 * Another number when a hook, or its gates, may not have been called for a while: of a call
 * that they have seen they may not have seen the return.
 */
extern unsigned int mcount_away;

/* Only in the body of a direct hook itself: what a plain hook has as arguments. */
#define mcount_direct_ip()		arch_mcount_direct_ip()
#define mcount_direct_parent_ip()	arch_mcount_direct_parent_ip()
/* The address of both, one behind the other. */
#define mcount_direct_ips()		arch_mcount_direct_ips()

/*
 * For direct hooks: call @func(@arg) and return what it does. All registers are
 * preserved, so it may be called from where nothing else may be. It costs about 30
 * instructions. What is said of mcount_func_t holds for @func.
 */
#define mcount_direct_call(func, arg)	arch_mcount_direct_call(func, arg)

/* Whether @func(@arg) is not 0: changes no register but the flags. */
#define mcount_direct_ask(func, arg)	arch_mcount_direct_ask(func, arg)

/* The same for a void function without argument: changes no register but the flags. */
#define mcount_direct_call_void(func)	arch_mcount_direct_call_void(func)

/*
 * What the registers hold in which arguments are passed, in the order of these: how many, six at
 * most. A function need not have so many. Arguments on the stack and parts of structures that are
 * passed in two registers are none of them. Any context.
 */
#define mcount_args(regs, args)	arch_mcount_args(regs, args)
/* The lowest address of the current stack, given one on it. CONFIG_MCOUNT_FILTER. */
#define mcount_stack(where)	arch_mcount_stack(where)

/*
 * A direct hook that calls the gate of its choice, and so must have one, if one of the registers
 * of arguments holds a value that mcount_filter_add() was told of; or one that looks like it,
 * which the gate is to find out. What the gate answers is not asked for. CONFIG_MCOUNT_FILTER.
 *
 * A value may be added several times, and is to be removed as often. Any context.
 */
__no_caller_saved_registers void mcount_filter_hook(void);
/* The same; or if the lowest address of the current stack, of THREAD_SIZE, is such a value. */
__no_caller_saved_registers void mcount_filter_stack_hook(void);
void mcount_filter_add(unsigned long value);
void mcount_filter_remove(unsigned long value);

/*
 * Between the core and the architecture, for nobody else.
 *
 * arch_mcount_switch() makes every traced function call @entry from now on, or
 * nothing if @entry is NULL. A CPU that is already in the old entry code
 * finishes it; to wait for that is the core's job. May sleep; the core
 * serializes the calls and holds cpus_read_lock().
 *
 * arch_mcount_call_hook is the entry code for plain C functions: it saves what
 * a C function may clobber and calls what mcount_hook points at, never NULL.
 */
void arch_mcount_switch(mcount_direct_func_t entry);
__no_caller_saved_registers void arch_mcount_stub(void);
__no_caller_saved_registers void arch_mcount_call_hook(void);
extern mcount_func_t mcount_hook;
/* What mcount_filter_hook() looks into: 0 where no value is. */
extern u8 mcount_filter[1 << MCOUNT_FILTER_BITS];
extern u8 mcount_filter_2[1 << MCOUNT_FILTER_BITS_2];

/*
 * arch_mcount_gate() is what a site of MCOUNT_GATE calls: it calls what mcount_gate points
 * at, never NULL, as arch_mcount_call_hook does, and goes on at the stub or returns.
 */
__no_caller_saved_registers void arch_mcount_gate(void);
extern mcount_gate_t mcount_gate;

/*
 * With CONFIG_MCOUNT_RETURNS, what sites before returns call: like the stub, each returns or
 * jumps to what arch_mcount_switch_returns() has been told. And what sites of MCOUNT_GATE
 * call there, which call what mcount_return_gate points at. arch_mcount_is_tail() tells
 * which of both is called.
 */
__no_caller_saved_registers void arch_mcount_return(void);
__no_caller_saved_registers void arch_mcount_tail(void);
__no_caller_saved_registers void arch_mcount_return_gate(void);
__no_caller_saved_registers void arch_mcount_tail_gate(void);
void arch_mcount_switch_returns(mcount_direct_func_t on_return, mcount_direct_func_t on_tail);
bool arch_mcount_is_tail(const void *site);
extern mcount_return_gate_t mcount_return_gate;

/*
 * The return addresses of the callers of the function for which a gate was called, the
 * nearest first, which is @parent_ip: how many of them were put into @callers, @max at
 * most, and at least 1; the low halves. Into @stacks, unless it is NULL, where on the stack
 * each of them is. By @regs, which may be NULL: then it takes longer. Any context, with
 * preemption disabled.
 */
unsigned int arch_mcount_callers(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				 unsigned int max);

/*
 * arch_mcount_site_insn() puts into @insn the MCOUNT_SITE_SIZE bytes that the call site
 * @site holds as one of @kind: a NOP, or a call; arch_mcount_site_kind() tells what it is
 * now, an enum mcount_site, or -EINVAL for anything else. @returns: it is one before a
 * return. Such a site of MCOUNT_NOTHING need not be a NOP: where the return behind it will
 * stay one it can be that itself. The return behind it is not reached then.
 */
void arch_mcount_site_insn(u8 *insn, void *site, enum mcount_site kind, bool returns);
int arch_mcount_site_kind(const void *site, bool returns);

/* Whether it is that now. */
bool arch_mcount_holds_return(const void *site);

#ifdef CONFIG_MCOUNT_SITES

/*
 * arch_mcount_site_init() makes a site what arch_mcount_site_insn() says of MCOUNT_NOTHING:
 * at boot, before other CPUs run, or of a module whose text can be written yet.
 */
void arch_mcount_site_init(void *site, bool returns);

/*
 * arch_mcount_site_queue() is to make a call site one of @kind;
 * arch_mcount_sites_finish() has made it so for all that were queued. Process context,
 * under cpus_read_lock() and text_mutex.
 */
void arch_mcount_site_queue(void *site, enum mcount_site kind, bool returns);
void arch_mcount_sites_finish(void);

#endif /* CONFIG_MCOUNT_SITES */

#ifdef CONFIG_MCOUNT_FTRACE

struct ftrace_regs;

/*
 * From an ftrace_ops' function, for a call site of ftrace, with all registers: has ftrace go on at
 * the stub, or the gate, as if the site had called it, unless in the end the function is to go on
 * elsewhere than at @ip, behind the site. False if it can't be so. Any context.
 */
bool arch_mcount_ftrace_call(struct ftrace_regs *fregs, unsigned long ip, bool gate);
void arch_mcount_stub_in_turn(void);
void arch_mcount_gate_in_turn(void);

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

static inline int register_mcount_direct_chosen(mcount_direct_func_t func,
						const struct mcount_choice *wanted)
{
	return -EOPNOTSUPP;
}

static inline int mcount_choose(mcount_direct_func_t func, const struct mcount_choice *wanted)
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

static inline int mcount_error(void)
{
	return 0;
}

static inline int mcount_set_enabled(bool enable)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_MCOUNT */

/* For whoever else loads, changes or frees kernel text. */
struct module;

#ifdef CONFIG_MCOUNT_SITES

/* Whether mcount may change the instruction at @addr at any time. Any context. */
bool mcount_is_site(unsigned long addr);

/* A probe at a function's entry is behind the call site, if there is one: its address, or @addr. */
static inline unsigned long mcount_site_before(unsigned long addr)
{
	return mcount_is_site(addr - MCOUNT_SITE_SIZE) ? addr - MCOUNT_SITE_SIZE : addr;
}

/*
 * Whether what is at @addr is not reached now, since the call site before it is the return
 * itself: where it is, a debugger's breakpoint is never met. Any context.
 */
bool mcount_is_unreached(unsigned long addr);

/*
 * What is at @insn is about to become a jump or a breakpoint: if it is a return with a call
 * site before it, this one lets it be reached. Of a kprobe get_kprobe() must tell already.
 * Under cpus_read_lock() and text_mutex.
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
