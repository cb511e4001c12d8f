// SPDX-License-Identifier: GPL-2.0
/*
 * Call functions of all kinds and compare what arrives with what was sent:
 * this shows whether the call of a stub at their heads changes anything.
 *
 *   # insmod mct_regs.ko [rounds=N]
 *   # echo N > /sys/module/mct_regs/parameters/rounds
 *
 * runs N rounds. Each round calls everything with preemption on, with preemption
 * off, and with interrupts off. If anything is wrong the write, or the load,
 * fails with EIO, and the log has the difference. Reads as the number of rounds so far.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/stdarg.h>
#include <linux/string.h>

static DEFINE_MUTEX(rounds_mutex);
static unsigned int rounds;

/* Arguments by registers; some on the stack. */

static noinline __noipa long six(long a, long b, long c, long d, long e, long f)
{
	return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}

static noinline __noipa long nine(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	return six(a, b, c, d, e, f) + 1000000L * g + 10000000L * h + 100000000L * i;
}

static noinline __noipa int narrow(s8 a, u8 b, s16 c, u16 d, bool e, char f)
{
	return a == -2 && b == 200 && c == -300 && d == 40000 && e && f == 'f';
}

static bool arguments_wrong(void)
{
	return six(1, 2, 3, 4, 5, 6) != 654321 ||
	       nine(1, 2, 3, 4, 5, 6, 7, 8, 9) != 987654321 ||
	       !narrow(-2, 200, -300, 40000, true, 'f');
}

/* Any number of arguments. */

static noinline __noipa long sum(int n, ...)
{
	long total = 0;
	va_list ap;

	va_start(ap, n);
	while (n--)
		total = 2 * total + va_arg(ap, long);
	va_end(ap);
	return total;
}

/* kinds: i for int, q for long long */
static noinline __noipa u64 mixed(const char *kinds, ...)
{
	u64 total = 0;
	va_list ap;

	va_start(ap, kinds);
	for (; *kinds; kinds++) {
		total = total << 4 | total >> 60;
		if (*kinds == 'q')
			total ^= va_arg(ap, u64);
		else
			total ^= va_arg(ap, u32);
	}
	va_end(ap);
	return total;
}

static bool variadic_wrong(void)
{
	return sum(0) != 0 || sum(1, 5L) != 5 || sum(3, 1L, 1L, 1L) != 7 ||
	       sum(12, 1L, 0L, 0L, 1L, 0L, 1L, 0L, 1L, 1L, 0L, 1L, 1L) != 0x95b ||
	       mixed("iqiqi", 1, 0x1000000000000000ULL, 2, 0x2000000000000000ULL, 3) !=
			0x10301;
}

/* 64 bits as argument and as result, on 32-bit in two registers each. */

static noinline __noipa u64 wide(u32 a, u64 b, u32 c, u64 d)
{
	return (b ^ d) + ((u64)a << 32) + c;
}

static noinline __noipa s64 negative(s64 a)
{
	return -a;
}

static bool wide_wrong(void)
{
	return wide(0x11111111, 0x0123456789abcdefULL, 0x22222222, 0xf0f0f0f0f0f0f0f0ULL) !=
			0x02e4c6a89b7d5f41ULL ||
	       negative(0x123456789abcdef0LL) != -0x123456789abcdef0LL;
}

/* Structures: by registers, and by a pointer that the caller passes. */

struct small {
	long a;
	long b;
};

struct large {
	long v[9];
};

static noinline __noipa struct small make_small(long a, long b)
{
	return (struct small){ .a = a + 1, .b = b + 2 };
}

static noinline __noipa struct large make_large(long first, long step)
{
	struct large l;
	int i;

	for (i = 0; i < ARRAY_SIZE(l.v); i++)
		l.v[i] = first + i * step;
	return l;
}

static noinline __noipa long take_large(long a, struct large l, long b)
{
	long total = a * b;
	int i;

	for (i = 0; i < ARRAY_SIZE(l.v); i++)
		total += l.v[i];
	return total;
}

static bool structures_wrong(void)
{
	struct small s = make_small(1000, 2000);
	struct large l = make_large(7, 3);
	int i;

	for (i = 0; i < ARRAY_SIZE(l.v); i++)
		if (l.v[i] != 7 + 3 * i)
			return true;
	return s.a != 1001 || s.b != 2002 || take_large(20, l, 30) != 771;
}

/* Through pointers, tail calls, recursion. */

static noinline __noipa long twice(long n)
{
	return 2 * n;
}

static noinline __noipa long square(long n)
{
	return n * n;
}

static noinline __noipa long tail(long n)
{
	return square(n + 1);
}

static noinline __noipa long fibonacci(long n);
static noinline __noipa long count_down(long n);

static long (*pointers[])(long) = {
	twice, square, tail, fibonacci, count_down,
};

/* Call by a pointer that the compiler can't know. */
static noinline __noipa long call(int i, long n)
{
	long (*func)(long n) = READ_ONCE(pointers[i]);

	return func(n);
}

static noinline __noipa long fibonacci(long n)
{
	return n < 2 ? n : call(3, n - 1) + call(3, n - 2);
}

static noinline __noipa long count_down(long n)
{
	return n ? 1 + call(4, n - 1) : 0;
}

static bool pointers_wrong(void)
{
	return call(0, 21) != 42 || call(1, 12) != 144 || call(2, 11) != 144 ||
	       fibonacci(10) != 55 || count_down(30) != 30;
}

/*
 * All registers that asm/mcount.h preserves, at once. see_registers() stores them first, so they
 * have passed only the stub at its head.
 */
#ifdef CONFIG_64BIT
#define NR_REGS		11
#define PATTERN		0x5eed0000a1b2c300UL
#define CLOBBERED	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9",	\
			"r10", "r11", "r12", "r13", "r14", "r15"
#define LOAD		"movabsq $0x5eed0000a1b2c300 + "
#define LOAD_ALL							\
	LOAD "0, %%rbx\n\t"	LOAD "1, %%rcx\n\t"	LOAD "2, %%rdx\n\t"	\
	LOAD "3, %%rsi\n\t"	LOAD "4, %%rdi\n\t"	LOAD "5, %%r8\n\t"	\
	LOAD "6, %%r9\n\t"	LOAD "7, %%r12\n\t"	LOAD "8, %%r13\n\t"	\
	LOAD "9, %%r14\n\t"	LOAD "10, %%r15\n\t"
#define STORE_ALL			\
	"movq %%rbx, 0+%0\n\t"	\
	"movq %%rcx, 8+%0\n\t"	\
	"movq %%rdx, 16+%0\n\t"	\
	"movq %%rsi, 24+%0\n\t"	\
	"movq %%rdi, 32+%0\n\t"	\
	"movq %%r8, 40+%0\n\t"	\
	"movq %%r9, 48+%0\n\t"	\
	"movq %%r12, 56+%0\n\t"	\
	"movq %%r13, 64+%0\n\t"	\
	"movq %%r14, 72+%0\n\t"	\
	"movq %%r15, 80+%0"
#else
#define NR_REGS		6
#define PATTERN		0xa1b2c300UL
#define CLOBBERED	"eax", "ebx", "ecx", "edx", "esi", "edi"
#define LOAD		"movl $0xa1b2c300 + "
#define LOAD_ALL							\
	LOAD "0, %%eax\n\t"	LOAD "1, %%ebx\n\t"	LOAD "2, %%ecx\n\t"	\
	LOAD "3, %%edx\n\t"	LOAD "4, %%esi\n\t"	LOAD "5, %%edi\n\t"
#define STORE_ALL			\
	"movl %%eax, 0+%0\n\t"	\
	"movl %%ebx, 4+%0\n\t"	\
	"movl %%ecx, 8+%0\n\t"	\
	"movl %%edx, 12+%0\n\t"	\
	"movl %%esi, 16+%0\n\t"	\
	"movl %%edi, 20+%0"
#endif

static unsigned long seen[NR_REGS];

static noinline __noipa void see_registers(void)
{
	asm volatile(STORE_ALL : "=m" (seen));
}

static noinline __noipa void send_registers(void)
{
	asm volatile(LOAD_ALL "call %P[func]"
		     : ASM_CALL_CONSTRAINT
		     : [func] "i" (see_registers)
		     : CLOBBERED, "cc", "memory");
}

static bool registers_wrong(void)
{
	int i;

	memset(seen, 0, sizeof(seen));
	send_registers();
	for (i = 0; i < NR_REGS; i++) {
		if (READ_ONCE(seen[i]) != PATTERN + i) {
			pr_err("register %d became %lx\n", i, seen[i]);
			return true;
		}
	}
	return false;
}

static const struct {
	const char *name;
	bool (*wrong)(void);
} checks[] = {
	{ "arguments", arguments_wrong },
	{ "variadic functions", variadic_wrong },
	{ "64-bit values", wide_wrong },
	{ "structures", structures_wrong },
	{ "pointers or recursion", pointers_wrong },
	{ "registers", registers_wrong },
};

static int check_all(const char *context)
{
	int count = preempt_count();
	bool off = irqs_disabled();
	int i;

	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		if (checks[i].wrong()) {
			pr_err("wrong with %s: %s\n", context, checks[i].name);
			return -EIO;
		}
		if (preempt_count() != count) {
			pr_err("with %s the preempt count went from %x to %x: %s\n",
			       context, count, preempt_count(), checks[i].name);
			return -EIO;
		}
		if (irqs_disabled() != off) {
			pr_err("with %s interrupts were switched: %s\n",
			       context, checks[i].name);
			return -EIO;
		}
	}
	return 0;
}

static int do_round(void)
{
	int ret;

	ret = check_all("preemption on");
	if (ret)
		return ret;

	preempt_disable();
	ret = check_all("preemption off");
	preempt_enable();
	if (ret)
		return ret;

	local_irq_disable();
	ret = check_all("interrupts off");
	local_irq_enable();
	return ret;
}

static int rounds_set(const char *text, const struct kernel_param *kp)
{
	unsigned int n;
	int ret;

	ret = kstrtouint(text, 0, &n);
	if (ret)
		return ret;

	mutex_lock(&rounds_mutex);
	for (; n && !ret; n--) {
		ret = do_round();
		if (!ret)
			rounds++;
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	mutex_unlock(&rounds_mutex);
	return ret;
}

static int rounds_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", rounds);
}

static const struct kernel_param_ops rounds_ops = {
	.set	= rounds_set,
	.get	= rounds_get,
};

module_param_cb(rounds, &rounds_ops, NULL, 0600);
MODULE_PARM_DESC(rounds, "Run N rounds");

static int __init mct_regs_init(void)
{
	return 0;
}

static void __exit mct_regs_exit(void)
{
}

module_init(mct_regs_init);
module_exit(mct_regs_exit);

MODULE_DESCRIPTION("Selftest of mcount: arguments, results, registers");
MODULE_LICENSE("GPL");
