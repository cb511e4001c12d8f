// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that return in all possible ways. Tests look for them in a trace, and this module
 * checks whether the tracer's call before a return, or before a jump to a function that returns
 * instead, changes the returned value or the passed arguments.
 *
 *   # insmod mct_shapes.ko
 *   # echo NAME > /sys/module/mct_shapes/parameters/shape
 *   # echo N > /sys/module/mct_shapes/parameters/rounds
 *
 * shape: call the entry of this name in shapes[] once. If the returned value is wrong, the
 *	write fails with EIO, and the log has the shape. The traced functions of this module
 *	are named shape_...; functions named run_..., which are not traced, call them.
 * rounds: run N rounds of all shapes that do not sleep, with preemption on, with preemption
 *	off, and with interrupts off. Reads as the number of rounds so far.
 * ms: the sleep of the slow shapes in milliseconds.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/compiler.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/stdarg.h>
#include <linux/static_call.h>
#include <linux/string.h>

#define SHAPE	static noinline __noipa
#define RUN	static notrace noinline __noipa

#define DEPTH	5
#define EXITS	10

static DEFINE_MUTEX(rounds_mutex);
static unsigned int rounds;
static unsigned int ms = 30;
module_param(ms, uint, 0600);
MODULE_PARM_DESC(ms, "The sleep of the slow shapes in milliseconds");

/* Calls that return by themselves. */

SHAPE long shape_inner(long n)
{
	return n + 1;
}

SHAPE long shape_middle(long n)
{
	return shape_inner(n) + shape_inner(n + 1);
}

SHAPE long shape_outer(long n)
{
	return shape_middle(n) + 1;
}

RUN bool run_nested(void)
{
	return shape_outer(3) == 10;
}

/* Code after the recursive call keeps the compiler from making a loop of it. */
SHAPE long shape_recurse(long n)
{
	if (n > 1)
		n += shape_recurse(n - 1);
	barrier();
	return n;
}

RUN bool run_recursion(void)
{
	return shape_recurse(DEPTH) == DEPTH * (DEPTH + 1) / 2;
}

/* Functions that jump to another function, which returns instead. */

SHAPE long shape_end(long n)
{
	return n * n;
}

SHAPE long shape_tail(long n)
{
	return shape_end(n + 1);
}

SHAPE long shape_tails(long n)
{
	return shape_tail(n + 1);
}

RUN bool run_tail(void)
{
	return shape_tail(11) == 144;
}

RUN bool run_tails(void)
{
	return shape_tails(10) == 144;
}

SHAPE long shape_six(long a, long b, long c, long d, long e, long f)
{
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}

static long (*six)(long a, long b, long c, long d, long e, long f) = shape_six;

SHAPE long shape_pointer_tail(long a, long b, long c, long d, long e, long f)
{
	return READ_ONCE(six)(b, a, d, c, f, e);
}

RUN bool run_pointer(void)
{
	return shape_pointer_tail(2, 1, 4, 3, 6, 5) == 654321;
}

SHAPE long shape_sum(int n, ...)
{
	long total = 0;
	va_list ap;

	va_start(ap, n);
	while (n--)
		total = 10 * total + va_arg(ap, long);
	va_end(ap);
	return total;
}

static long (*sum)(int n, ...) = shape_sum;

SHAPE long shape_variadic_tail(long a, long b, long c)
{
	return shape_sum(3, c, b, a);
}

SHAPE long shape_variadic_pointer_tail(long a, long b, long c, long d, long e)
{
	return READ_ONCE(sum)(5, e, d, c, b, a);
}

/*
 * If all argument registers are in use, the compiler has the choice of three registers for the
 * pointer. It may always use %rax, but need not.
 */
#ifdef CONFIG_X86_64
#define POINTER_IN(reg)							\
SHAPE long shape_##reg##_tail(long a, long b, long c, long d, long e, long f)	\
{										\
	register typeof(six) func asm(#reg) = READ_ONCE(six);			\
										\
	asm volatile("" : "+r" (func));						\
	return func(b, a, d, c, f, e);						\
}

POINTER_IN(r10)
POINTER_IN(r11)
#else
#define shape_r10_tail	shape_pointer_tail
#define shape_r11_tail	shape_pointer_tail
#endif

RUN bool run_r10(void)
{
	return shape_r10_tail(2, 1, 4, 3, 6, 5) == 654321;
}

RUN bool run_r11(void)
{
	return shape_r11_tail(2, 1, 4, 3, 6, 5) == 654321;
}

RUN bool run_variadic(void)
{
	return shape_variadic_tail(3, 2, 1) == 123;
}

RUN bool run_variadic_pointer(void)
{
	return shape_variadic_pointer_tail(5, 4, 3, 2, 1) == 12345;
}

/* Results in two registers, in memory, in parts of a register. */

struct pair {
	long a;
	long b;
};

struct large {
	long v[9];
};

#ifdef CONFIG_ARCH_SUPPORTS_INT128
typedef unsigned __int128 widest;
#else
typedef u64 widest;
#endif
#define HALF	(sizeof(widest) * 4)

SHAPE struct pair shape_pair(long a, long b)
{
	return (struct pair){ .a = a + 1, .b = b + 2 };
}

SHAPE struct large shape_large(long first)
{
	struct large l;
	int i;

	for (i = 0; i < ARRAY_SIZE(l.v); i++)
		l.v[i] = first + i;
	return l;
}

SHAPE widest shape_widest(long low, long high)
{
	return (widest)high << HALF | (unsigned long)low;
}

SHAPE bool shape_bool(long a, long b)
{
	return a < b;
}

SHAPE char shape_char(const char *text, int i)
{
	return text[i];
}

RUN bool run_pair(void)
{
	struct pair p = shape_pair(1000, 2000);

	return p.a == 1001 && p.b == 2002;
}

RUN bool run_large(void)
{
	struct large l = shape_large(7);
	int i;

	for (i = 0; i < ARRAY_SIZE(l.v); i++)
		if (l.v[i] != 7 + i)
			return false;
	return true;
}

RUN bool run_widest(void)
{
	widest w = shape_widest(0x1234567, 0x89abcde);

	return (unsigned long)w == 0x1234567 && (unsigned long)(w >> HALF) == 0x89abcde;
}

RUN bool run_narrow(void)
{
	return shape_bool(1, 2) && !shape_bool(2, 1) && shape_char("abc", 1) == 'b';
}

/* All registers that a function preserves must be unchanged. */
RUN bool run_registers(void)
{
#ifdef CONFIG_X86_64
	long a = 5, b = 6, wrong;

	asm volatile("movq $0x5eed0001, %%rbx\n\t"
		     "leaq 1(%%rbx), %%r12\n\t"
		     "leaq 2(%%rbx), %%r13\n\t"
		     "leaq 3(%%rbx), %%r14\n\t"
		     "leaq 4(%%rbx), %%r15\n\t"
		     "call %P[func]\n\t"
		     "subq $0x5eed0001, %%rbx\n\t"
		     "subq $0x5eed0002, %%r12\n\t"
		     "subq $0x5eed0003, %%r13\n\t"
		     "subq $0x5eed0004, %%r14\n\t"
		     "subq $0x5eed0005, %%r15\n\t"
		     "orq %%r12, %%rbx\n\t"
		     "orq %%r13, %%rbx\n\t"
		     "orq %%r14, %%rbx\n\t"
		     "orq %%r15, %%rbx"
		     : "=&b" (wrong), "+D" (a), "+S" (b), ASM_CALL_CONSTRAINT
		     : [func] "i" (shape_pair)
		     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
		       "cc", "memory");
	return !wrong;
#else
	return true;
#endif
}

/* Many returns. Each has its own work, so that the compiler does not merge them. */

static long done;

SHAPE long shape_exits(int n)
{
	switch (n) {
	case 0:
		WRITE_ONCE(done, done - 1);
		return 0;
	case 1:
		WRITE_ONCE(done, done + 1);
		return 3;
	case 2:
		WRITE_ONCE(done, done + 2);
		return 6;
	case 3:
		WRITE_ONCE(done, done + 3);
		return 9;
	case 4:
		WRITE_ONCE(done, done + 4);
		return 12;
	case 5:
		WRITE_ONCE(done, done + 5);
		return 15;
	case 6:
		WRITE_ONCE(done, done + 6);
		return 18;
	case 7:
		WRITE_ONCE(done, done + 7);
		return 21;
	case 8:
		WRITE_ONCE(done, done + 8);
		return 24;
	case 9:
		WRITE_ONCE(done, done + 9);
		return 27;
	}
	return -1;
}

RUN bool run_exits(void)
{
	int i;

	for (i = 0; i < EXITS; i++)
		if (shape_exits(i) != 3 * i)
			return false;
	return true;
}

/* Nothing but a return, so that the call sites of head and return are adjacent. */
SHAPE void shape_empty(void)
{
}

RUN bool run_empty(void)
{
	shape_empty();
	return true;
}

/*
 * A part that rarely runs, which the compiler places elsewhere, with its own return. Not __cold,
 * which is empty if the compiler does not align such functions.
 */
SHAPE __attribute__((__cold__)) long shape_rare(long n)
{
	return n + 2;
}

SHAPE long shape_split(long n)
{
	if (unlikely(n < 0)) {
		n = shape_rare(n);
		WRITE_ONCE(done, n);
		return n - 1;
	}
	return 2 * n;
}

RUN bool run_split(void)
{
	return shape_split(4) == 8;
}

RUN bool run_cold(void)
{
	return shape_split(-4) == -3;
}

/* Returned values that are errors, or look like errors. */

SHAPE int shape_int(int n)
{
	return n;
}

SHAPE u64 shape_u64(u64 n)
{
	return n;
}

SHAPE void *shape_pointer(void *p)
{
	return p;
}

SHAPE int shape_int_tail(int n)
{
	return shape_int(n);
}

/* Return, or jump to a function that returns instead. */
SHAPE int shape_either(int n)
{
	if (n < 0)
		return shape_int(n);
	WRITE_ONCE(done, n);
	return n + 1;
}

static const int ints[] = { 0, 1, 4711, -1, -EINVAL, -MAX_ERRNO, -MAX_ERRNO - 1, INT_MAX, INT_MIN };
static const u64 numbers[] = { 5, 0xfffffffe, 0x123456789abcdef0, -(u64)ENOMEM };

RUN bool run_ints(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ints); i++)
		if (shape_int(ints[i]) != ints[i])
			return false;
	return true;
}

RUN bool run_numbers(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (shape_u64(numbers[i]) != numbers[i])
			return false;
	return true;
}

RUN bool run_pointers(void)
{
	return shape_pointer(shape_six) == shape_six && shape_pointer(current) == current &&
	       !shape_pointer(NULL) && PTR_ERR(shape_pointer(ERR_PTR(-ENOMEM))) == -ENOMEM;
}

RUN bool run_error(void)
{
	return shape_int(-EINVAL) == -EINVAL;
}

RUN bool run_int_tail(void)
{
	return shape_int_tail(-EINVAL) == -EINVAL;
}

RUN bool run_either(void)
{
	return shape_either(-EINVAL) == -EINVAL && shape_either(1) == 2 && shape_either(2) == 3;
}

/* Objects that are created, copied, used, and released. */

static struct thing {
	long a;
	struct thing *other;
	char name[8];
} things[3];

SHAPE struct thing *shape_make(int i)
{
	WRITE_ONCE(things[i].a, i);
	return &things[i];
}

SHAPE void shape_copy(struct thing *to, const struct thing *from)
{
	to->a = from->a;
	to->other = &things[0];
	strscpy(to->name, "copy");
}

/* Return an object that is not an argument. */
SHAPE struct thing *shape_clone(const struct thing *from)
{
	things[1].a = from->a + 1;
	return &things[1];
}

SHAPE long shape_use(long n, const struct thing *thing)
{
	return n + READ_ONCE(thing->a);
}

/* Call functions without passing the object. */
SHAPE long shape_user(const struct thing *thing)
{
	return shape_outer(READ_ONCE(thing->a)) + 1;
}

SHAPE void shape_drop(struct thing *thing)
{
	WRITE_ONCE(thing->a, -1);
}

/* Overwrite the argument registers, which otherwise keep the values of earlier calls. */
RUN void forget(long a, long b, long c, long d, long e, long f)
{
}

SHAPE bool shape_places(const void *a, const void *b, const void *c, const void *d,
			const void *e, const void *f)
{
	return a || b || c || d || e || f;
}

RUN bool run_places(void)
{
	struct thing *one = &things[0];
	bool right = shape_use(0, one) == READ_ONCE(one->a);

	right = shape_places(one, NULL, NULL, NULL, NULL, NULL) && right;
	right = shape_places(NULL, one, NULL, NULL, NULL, NULL) && right;
	right = shape_places(NULL, NULL, one, NULL, NULL, NULL) && right;
	right = shape_places(NULL, NULL, NULL, one, NULL, NULL) && right;
	right = shape_places(NULL, NULL, NULL, NULL, one, NULL) && right;
	right = shape_places(NULL, NULL, NULL, NULL, NULL, one) && right;
	shape_drop(one);
	return right;
}

RUN bool run_objects(void)
{
	struct thing *one = shape_make(0), *two, *three = &things[2];
	bool right;

	right = shape_use(1, one) == 1;
	two = shape_clone(one);
	shape_copy(three, one);
	right = right && shape_use(2, two) == 3;
	forget(0, 0, 0, 0, 0, 0);
	right = right && shape_user(one) == 5;
	forget(0, 0, 0, 0, 0, 0);
	right = right && shape_middle(1) == 5;
	shape_drop(two);
	shape_drop(one);
	right = right && shape_use(3, three) == 3;
	shape_drop(three);
	one = shape_make(0);
	right = right && shape_use(4, one) == 4;
	shape_drop(one);
	return right;
}

/* Release several objects at once, as kmem_cache_free_bulk() does. */
SHAPE void shape_drop_all(size_t nr, struct thing **all)
{
	while (nr--)
		WRITE_ONCE(all[nr]->a, -1);
}

RUN bool run_arrays(void)
{
	static struct thing some[6];
	static struct thing *all[ARRAY_SIZE(some)];
	bool right = true;
	int i;

	for (i = 0; i < ARRAY_SIZE(some); i++) {
		WRITE_ONCE(some[i].a, i);
		all[i] = &some[i];
		right = shape_use(1, &some[i]) == i + 1 && right;
	}
	forget(0, 0, 0, 0, 0, 0);
	shape_drop_all(ARRAY_SIZE(some), all);
	right = shape_use(1, &some[3]) == 0 && right;
	forget(0, 0, 0, 0, 0, 0);
	all[0] = &some[3];
	all[1] = NULL;
	shape_drop_all(1, all);
	return right;
}

/* Slow calls: one that sleeps, and calls that wait for it. */

SHAPE long shape_sleep(long n)
{
	if (n)
		usleep_range(ms * USEC_PER_MSEC, (ms + 1) * USEC_PER_MSEC);
	barrier();
	return n;
}

/* Only the innermost call sleeps, and the others wait for it. */
SHAPE long shape_sleep_deep(long n)
{
	if (n > 1)
		shape_sleep_deep(n - 1);
	else
		usleep_range(ms * USEC_PER_MSEC, (ms + 1) * USEC_PER_MSEC);
	barrier();
	return n;
}

/* The outermost call sleeps after the others, so that only this call is slow. */
SHAPE long shape_sleep_late(long n)
{
	if (n > 1)
		shape_sleep_late(n - 1);
	if (n == DEPTH)
		usleep_range(ms * USEC_PER_MSEC, (ms + 1) * USEC_PER_MSEC);
	barrier();
	return n;
}

RUN bool run_slow(void)
{
	return shape_sleep(1) == 1;
}

RUN bool run_quick(void)
{
	return shape_sleep(0) == 0;
}

RUN bool run_slow_deep(void)
{
	return shape_sleep_deep(DEPTH) == DEPTH;
}

RUN bool run_slow_late(void)
{
	return shape_sleep_late(DEPTH) == DEPTH;
}

/* A function that returns or jumps, as static_call_update() sets. */

SHAPE void shape_note(long n)
{
	WRITE_ONCE(done, n);
}

DEFINE_STATIC_CALL_NULL(shape_target, shape_note);

SHAPE void shape_static(long n)
{
	WRITE_ONCE(done, 0);
	static_call_cond(shape_target)(n);
}

RUN bool run_static(void)
{
	bool right = true;
	int i;

	for (i = 1; i <= 3; i++) {
		shape_static(i);
		right = right && !READ_ONCE(done);
		static_call_update(shape_target, shape_note);
		shape_static(i);
		right = right && READ_ONCE(done) == i;
		static_call_update(shape_target, NULL);
	}
	return right;
}

/* A function that never returns. */

SHAPE int shape_never(void *data)
{
	kthread_complete_and_exit(data, 0);
	return 0;
}

RUN bool run_never(void)
{
	DECLARE_COMPLETION_ONSTACK(gone);

	if (IS_ERR(kthread_run(shape_never, &gone, "mct_never")))
		return false;
	wait_for_completion(&gone);
	return true;
}

static const struct {
	const char *name;
	bool (*run)(void);
	bool sleeps;
} shapes[] = {
	{ "nested", run_nested },
	{ "recursion", run_recursion },
	{ "tail", run_tail },
	{ "tails", run_tails },
	{ "pointer", run_pointer },
	{ "r10", run_r10 },
	{ "r11", run_r11 },
	{ "variadic", run_variadic },
	{ "variadic_pointer", run_variadic_pointer },
	{ "pair", run_pair },
	{ "large", run_large },
	{ "widest", run_widest },
	{ "narrow", run_narrow },
	{ "registers", run_registers },
	{ "exits", run_exits },
	{ "empty", run_empty },
	{ "split", run_split },
	{ "cold", run_cold },
	{ "ints", run_ints },
	{ "numbers", run_numbers },
	{ "pointers", run_pointers },
	{ "error", run_error },
	{ "arrays", run_arrays },
	{ "int_tail", run_int_tail },
	{ "either", run_either },
	{ "objects", run_objects },
	{ "places", run_places },
	{ "quick", run_quick },
	{ "slow", run_slow, true },
	{ "slow_deep", run_slow_deep, true },
	{ "slow_late", run_slow_late, true },
	{ "static", run_static, true },
	{ "never", run_never, true },
};

RUN int run(int i, const char *context)
{
	int count = preempt_count();

	if (!shapes[i].run()) {
		pr_err("wrong with %s: %s\n", context, shapes[i].name);
		return -EIO;
	}
	if (preempt_count() != count) {
		pr_err("with %s the preempt count went from %x to %x: %s\n", context, count,
		       preempt_count(), shapes[i].name);
		return -EIO;
	}
	return 0;
}

RUN int run_all(const char *context)
{
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(shapes) && !ret; i++)
		if (!shapes[i].sleeps)
			ret = run(i, context);
	return ret;
}

RUN int run_round(void)
{
	int ret = run_all("preemption on");

	if (ret)
		return ret;
	preempt_disable();
	ret = run_all("preemption off");
	preempt_enable();
	if (ret)
		return ret;
	local_irq_disable();
	ret = run_all("interrupts off");
	local_irq_enable();
	return ret;
}

static notrace int rounds_set(const char *text, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(text, 0, &n);

	if (ret)
		return ret;
	mutex_lock(&rounds_mutex);
	for (; n && !ret; n--) {
		ret = run_round();
		if (!ret)
			rounds++;
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	mutex_unlock(&rounds_mutex);
	return ret;
}

static notrace int rounds_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", rounds);
}

static notrace int shape_set(const char *text, const struct kernel_param *kp)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		if (sysfs_streq(text, shapes[i].name))
			return run(i, "one call");
	return -EINVAL;
}

static const struct kernel_param_ops rounds_ops = {
	.set	= rounds_set,
	.get	= rounds_get,
};

static const struct kernel_param_ops shape_ops = {
	.set	= shape_set,
};

module_param_cb(rounds, &rounds_ops, NULL, 0600);
MODULE_PARM_DESC(rounds, "Run N rounds");
module_param_cb(shape, &shape_ops, NULL, 0200);
MODULE_PARM_DESC(shape, "Call the shape of this name once");

static int __init mct_shapes_init(void)
{
	return 0;
}

static void __exit mct_shapes_exit(void)
{
}

module_init(mct_shapes_init);
module_exit(mct_shapes_exit);

MODULE_DESCRIPTION("Selftest of mcount: functions that return in all ways");
MODULE_LICENSE("GPL");
