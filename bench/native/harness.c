// SPDX-License-Identifier: GPL-2.0
/*
 * The record path, on the real processor: what a traced kernel function runs, as the
 * kernel's build compiled it, called from a program.
 *
 * Linked with hook.o and mcount_64.o of a kernel, of which "run" changes nothing
 * but the names of the per-CPU sections. The rest is what the kernel does for
 * them, done here for one CPU:
 *
 *  - per-CPU variables are addressed relative to %gs. As in the kernel, the
 *    linked section is only the pattern: a copy is made, and %gs is the distance
 *    from the one to the other (setup_per_cpu_areas()).
 *  - at the head of the stub the NOP becomes a jump past the hook's ENDBR
 *    (arch_mcount_switch()).
 *  - returns are compiled as jumps to __x86_return_thunk. On a processor that
 *    needs no such thunk the kernel makes them returns, and so does this
 *    (apply_returns()). With a mitigation of returns, each costs more, in every
 *    function of that kernel.
 *
 * Nothing else is in the path: there the hook calls nobody.
 *
 * Prints "NAME PICOSECONDS ITERATIONS" lines: each loop's median, an iteration; and
 * "ratio N 1000": the median of what a traced call takes, in thousandths of rdtsc
 * and an empty call in the same round. On a busy machine that is steadier.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <asm/prctl.h>

#include "mctracer.h"

#define ITERATIONS	2000
#define ROUNDS		10001	/* of all loops, in turns: whatever disturbs them, does so to all */
#define RING_SIZE	(1 << 20)	/* mctracer's default */
#define PAGE		4096
#define PID		1234567
#define PREEMPT_ENABLED	0x80000000

/* As kernel/trace/mctracer/ring.h has it; verify() would notice if not. */
struct mctracer_ring {
	struct mctracer_ring_header user;

	void *base __attribute__((aligned(PAGE)));
	uint64_t mask;
	uint32_t lap_factor;
	uint32_t limit;
};

/* As arch/x86/include/asm/current.h has it. */
struct pcpu_hot {
	void *current_task;
	uint32_t preempt_count;
	uint32_t cpu_number;
	uint64_t call_depth;
	char rest[40];
};

extern struct mctracer_ring mctracer_rings;
extern char percpu_start[] __asm__("__start_percpu");
extern char percpu_end[] __asm__("__stop_percpu");
extern char stub[] __asm__("__fentry__");
extern char entry_of_hook[] __asm__("arch_mcount_call_hook");
extern char mctracer_hook[], mctracer_hook_nothing[];
extern char traced_return[];

struct pcpu_hot pcpu_hot __attribute__((section("percpu"), aligned(64)));
extern struct pcpu_hot const_pcpu_hot __attribute__((alias("pcpu_hot")));

/* What the objects refer to and the path must not reach. */
void (*mcount_hook)(unsigned long, unsigned long);

static void die(const char *what)
{
	fprintf(stderr, "native harness: %s\n", what);
	exit(1);
}

static void unexpected(void)
{
	die("the hook called what it must not");
}

#define NOT_REACHED(name) void name(void) __attribute__((alias("unexpected")))
NOT_REACHED(preempt_schedule_notrace_thunk);
NOT_REACHED(__x86_return_thunk);
NOT_REACHED(__x86_indirect_thunk_rax);

/* The functions that are called: traced, and not traced (what its head holds then). */
__asm__(
"	.text\n"
"	.balign 64\n"
"traced:	call __fentry__\n"
"traced_return:	ret\n"
"	.balign 64\n"
"empty:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
"	ret\n");

#define LOOP(name, body)						\
static __attribute__((noipa)) void name(long n)						\
{									\
	__asm__ volatile(".balign 64\n1:	" body			\
			 "	dec %0\n	jnz 1b\n"		\
			 : "+r" (n) : : "rax", "rdx", "r10", "r11", "cc", "memory");	\
}

LOOP(loop_nothing, "")
LOOP(loop_rdtsc, "rdtsc\n")
LOOP(loop_empty, "call empty\n")
LOOP(loop_rdtsc_empty, "rdtsc\n	call empty\n")
LOOP(loop_traced, "call traced\n")

static struct {
	const char *name;
	void (*loop)(long n);
	uint64_t ns[ROUNDS];
} loops[] = {
	{ "nothing", loop_nothing, {} },
	{ "rdtsc", loop_rdtsc, {} },
	{ "empty", loop_empty, {} },
	/* These two are compared, and so one after the other. */
	{ "rdtsc_empty", loop_rdtsc_empty, {} },
	{ "traced", loop_traced, {} },
};

#define NR_LOOPS (sizeof(loops) / sizeof(loops[0]))

static int32_t distance(const char *from, const char *to)
{
	return to - (from + 5);
}

static void put_distance(char *insn, const char *to)
{
	int32_t rel = distance(insn, to);

	memcpy(insn + 1, &rel, sizeof(rel));
}

static void make_writable(char *from, char *to)
{
	char *page = (char *)((uintptr_t)from & -PAGE);

	if (mprotect(page, to - page, PROT_READ | PROT_WRITE | PROT_EXEC))
		die("can't make the code writable");
}

/* A jump there within a function, to be a return: how many. */
static int patch_returns(char *from, char *to)
{
	int32_t rel;
	int n = 0;

	for (; from + 5 <= to; from++) {
		memcpy(&rel, from + 1, sizeof(rel));
		if (*(uint8_t *)from == 0xe9 && rel == distance(from, (char *)__x86_return_thunk)) {
			memset(from, 0xcc, 5);
			*(uint8_t *)from = 0xc3;
			n++;
		}
	}
	return n;
}

static void patch(void)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	char *target = mctracer_hook;

	/* hook.o begins with hook_nothing; mcount_64.o follows it, and begins with the stub. */
	make_writable(mctracer_hook_nothing, entry_of_hook);
	if (patch_returns(mctracer_hook_nothing, stub) < 2 || !patch_returns(stub, entry_of_hook))
		fprintf(stderr, "native harness: this kernel has plain returns\n");
	if (memcmp(stub, nop, sizeof(nop)))
		die("the stub does not begin with a NOP");
	if (!memcmp(target, endbr, sizeof(endbr)))
		target += sizeof(endbr);
	*(uint8_t *)stub = 0xe9;
	put_distance(stub, target);
}

/* Memory for the CPU's variables; its ring. */
static struct mctracer_ring *set_up_cpu(void)
{
	static uint32_t task[PAGE];	/* whatever offset its pid has */
	size_t size = percpu_end - percpu_start, i;
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct mctracer_ring *ring;
	struct pcpu_hot *hot;

	if (area == MAP_FAILED)
		die("no memory");
	memcpy(area, percpu_start, size);
	ring = (void *)(area + ((char *)&mctracer_rings - percpu_start));
	hot = (void *)(area + ((char *)&pcpu_hot - percpu_start));
	for (i = 0; i < sizeof(task) / sizeof(task[0]); i++)
		task[i] = PID;
	hot->current_task = task;
	hot->preempt_count = PREEMPT_ENABLED;
	ring->base = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ring->base == MAP_FAILED)
		die("no memory");
	ring->mask = RING_SIZE - 1;
	ring->lap_factor = (1U << 31) / RING_SIZE;
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, area - percpu_start))
		die("can't set %gs");
	return ring;
}

/* Each of n calls has left a record, with its addresses, its pid, and times that never decrease. */
static void verify(struct mctracer_ring *ring, uint64_t from, uint64_t n)
{
	const struct mctracer_record *record;
	uint64_t pos, before = 0;
	uint32_t parent_ip, lap;

	if (ring->user.head - from != n * sizeof(*record))
		die("not as many records as calls");
	for (pos = from; pos != ring->user.head; pos += sizeof(*record)) {
		record = ring->base + (pos & ring->mask);
		lap = pos / RING_SIZE % 2 ? MCTRACER_LAP_BIT : 0;
		parent_ip = record->parent_ip ^ lap;
		if (record->ip != (uint32_t)(uintptr_t)traced_return)
			die("a record with another ip");
		if (parent_ip - (uint32_t)(uintptr_t)loop_traced > 256)
			die("a record with another parent_ip");
		if ((record->stamp & ((1 << MCTRACER_PID_BITS) - 1)) != PID)
			die("a record with another pid");
		if (record->stamp >> MCTRACER_PID_BITS < before)
			die("a record whose time went back");
		before = record->stamp >> MCTRACER_PID_BITS;
	}
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static uint64_t ratios[ROUNDS];

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *values)
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

int main(void)
{
	struct mctracer_ring *ring;
	uint64_t start;
	size_t l, r;

	patch();
	ring = set_up_cpu();
	loop_traced(100);
	verify(ring, 0, 100);
	for (r = 0; r < ROUNDS; r++) {
		for (l = 0; l < NR_LOOPS; l++) {
			uint64_t head = ring->user.head;

			start = now();
			loops[l].loop(ITERATIONS);
			loops[l].ns[r] = now() - start;
			verify(ring, head, loops[l].loop == loop_traced ? ITERATIONS : 0);
		}
	}
	for (r = 0; r < ROUNDS; r++)
		ratios[r] = loops[NR_LOOPS - 1].ns[r] * 1000 / loops[NR_LOOPS - 2].ns[r];
	printf("ratio %llu 1000\n", (unsigned long long)median(ratios));
	for (l = 0; l < NR_LOOPS; l++)
		printf("%s %llu %u\n", loops[l].name,
		       median(loops[l].ns) * 1000ULL / ITERATIONS, ITERATIONS);
	return 0;
}
