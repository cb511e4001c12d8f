// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the record path on the real processor: calls, from a program, the code that a
 * traced kernel function runs, as the kernel's build compiled it.
 *
 * The program is linked with hook.o, emit.o, state.o and mcount_64.o of a kernel, in
 * which "run" changes only the names of the per-CPU sections. This file does, for one CPU, what the
 * rest of the kernel does for these objects:
 *
 *  - per-CPU variables are addressed relative to %gs. As in the kernel, the
 *    linked section is only a template: the program copies it, and %gs is the distance
 *    from the template to the copy (setup_per_cpu_areas()).
 *  - at the head of the stub the NOP becomes a jump past the hook's ENDBR
 *    (arch_mcount_switch()). This file defines the stub of the hook for exact times.
 *  - returns are compiled as jumps to __x86_return_thunk. On a processor that
 *    needs no such thunk the kernel replaces them by returns, and so does this
 *    program (apply_returns()). With a mitigation of returns, each return costs more, in
 *    every function of that kernel.
 *  - clock.c: times are those of the cycle counter.
 *
 * Few calls leave the hook for emit.o: the first call in each block of the ring, as in
 * the kernel.
 *
 * Prints "NAME PICOSECONDS ITERATIONS" lines, the median of each loop for an iteration;
 * and "ratio N 1000", "ratio_exact N 1000": the median of a traced call's time, in
 * thousandths of the time of rdtsc and an empty call in the same round. On a busy machine
 * the ratio is more stable.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include <asm/prctl.h>

#include "mctracer_decode.h"

#define ITERATIONS	2000
#define ROUNDS		10001	/* all loops run in each round, so a disturbance affects all */
#define RING_SIZE	(1 << 20)	/* mctracer's default */
#define PAGE		4096
#define PID		0x334241
/* Bit 31 in a count of 32 bits, bit 63 in a count of 64 bits (7.3): hooks use only one of them. */
#define PREEMPT_ENABLED	0x8000000080000000
#define WORD		sizeof(uint64_t)

/* The same as in kernel/trace/mctracer/ring/ring.h; verify() would notice a difference. */
struct mctracer_ring {
	struct mctracer_ring_header user;

	void *task __attribute__((aligned(PAGE)));
	void *skipped;
	char *base;
	uint64_t mask;
	uint32_t lap_factor;
	uint32_t context;
	uint32_t time_low;
	uint64_t others;
	uint64_t noted_at;
	uint64_t lost_noted;
	uint64_t last_time;
	struct mctracer_clock clock;
	bool renew;
};

/*
 * Variables that the kernel keeps in one cache line: 6.12 in this struct, see
 * arch/x86/include/asm/current.h; other kernels in variables with names of their own. In 6.12 the
 * upper half of preempt_count is the CPU's number, which no hook uses.
 */
struct pcpu_hot {
	void *current_task;
	uint64_t preempt_count;
	uint64_t call_depth;
	char rest[40];
};

extern struct mctracer_ring mctracer_rings;
extern char percpu_start[] __asm__("__start_percpu");
extern char percpu_end[] __asm__("__stop_percpu");
extern char text_start[] __asm__("__executable_start");
extern char text_end[] __asm__("etext");
extern char stub[] __asm__("__fentry__");
extern char stub_exact[];
extern char mctracer_hook[], mctracer_hook_timed[];
extern char traced_return[], traced_exact_return[];

struct pcpu_hot pcpu_hot __attribute__((section("percpu"), aligned(64)));
extern struct pcpu_hot const_pcpu_hot __attribute__((alias("pcpu_hot")));
__asm__(
"	.globl current_task, const_current_task, __preempt_count, __x86_call_depth\n"
"	.set current_task, pcpu_hot\n"
"	.set const_current_task, pcpu_hot\n"
"	.set __preempt_count, pcpu_hot + 8\n"
"	.set __x86_call_depth, pcpu_hot + 16\n");
uintptr_t this_cpu_off __attribute__((section("percpu")));

/* Symbols that the objects use. */
extern bool mctracer_pairs;
int mctracer_following;	/* an enum; 0: nothing is followed */
void *mctracer_selected[2];	/* the lists filter and notrace */

bool mctracer_clock_is_cycles(void);
void mctracer_clock_conversion(struct mctracer_clock *clock);
uint64_t mctracer_clock_now(bool is_ns);

bool mctracer_clock_is_cycles(void)
{
	return true;
}

void mctracer_clock_conversion(struct mctracer_clock *clock)
{
	*clock = (struct mctracer_clock) { .mult = 1, .is_ns = 0 };
}

uint64_t mctracer_clock_now(bool is_ns)
{
	return __rdtsc();
}

/* Symbols that the objects refer to, but that the path must not use. */
void (*mcount_hook)(unsigned long, unsigned long);
unsigned long __per_cpu_offset[1], __cpu_possible_mask[1], __cpu_online_mask[1];
unsigned int nr_cpu_ids = 1;
char boot_cpu_data[512];
unsigned long __SCK__preempt_schedule_notrace[2];	/* key of the static call below */
unsigned char mcount_filter[1], mcount_filter_2[1];

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
NOT_REACHED(__SCT__preempt_schedule_notrace);	/* a static call */
NOT_REACHED(mcount_pre_handler);
NOT_REACHED(mcount_return_pre_handler);
NOT_REACHED(_find_next_bit);
NOT_REACHED(__x86_return_thunk);
NOT_REACHED(__x86_indirect_thunk_rax);

/*
 * The functions that the loops call: traced ones, and one that is not traced, with a NOP at
 * its head. They and the loops are in a section that "run" places at addresses with bit 31
 * set, like the kernel's.
 */
#define TRACED_SECTION	"kernel_text"

__asm__(
"	.section " TRACED_SECTION ", \"ax\"\n"
"	.balign 64\n"
"traced:	call __fentry__\n"
"traced_return:	ret\n"
"	.balign 64\n"
"traced_exact:	call stub_exact\n"
"traced_exact_return:	ret\n"
"	.balign 64\n"
"empty:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
"	ret\n"
"	.text\n"
"	.balign 16\n"
"stub_exact:	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
"	ret\n"
"	.balign 32\n"
"	.globl __x86_indirect_thunk_r10\n"
"__x86_indirect_thunk_r10:	jmp *%r10\n");

#define LOOP(name, body)						\
static __attribute__((noipa, section(TRACED_SECTION))) void name(long n)		\
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
LOOP(loop_exact, "call traced_exact\n")

/* These are compared, so they run one after the other. */
enum { RDTSC_EMPTY = 3, TRACED, EXACT, NR_LOOPS };

static struct {
	const char *name;
	void (*loop)(long n);
	uint64_t ns[ROUNDS];
} loops[NR_LOOPS] = {
	{ "nothing", loop_nothing, {} },
	{ "rdtsc", loop_rdtsc, {} },
	{ "empty", loop_empty, {} },
	[RDTSC_EMPTY] = { "rdtsc_empty", loop_rdtsc_empty, {} },
	[TRACED] = { "traced", loop_traced, {} },
	[EXACT] = { "exact", loop_exact, {} },
};

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

/* Replace jumps to __x86_return_thunk by returns. Return their number. */
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

static void switch_on(char *at, char *target)
{
	static const uint8_t nop[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (memcmp(at, nop, sizeof(nop)))
		die("the stub does not begin with a NOP");
	if (!memcmp(target, endbr, sizeof(endbr)))
		target += sizeof(endbr);
	*(uint8_t *)at = 0xe9;
	put_distance(at, target);
}

static void patch(void)
{
	make_writable(text_start, text_end);
	if (patch_returns(text_start, text_end) < 4)
		fprintf(stderr, "native harness: this kernel has plain returns\n");
	switch_on(stub, mctracer_hook);
	switch_on(stub_exact, mctracer_hook_timed);
}

/* Allocate the CPU's variables and its ring, and set %gs. Return the ring. */
static struct mctracer_ring *set_up_cpu(void)
{
	static uint32_t task[4 * PAGE];	/* has PID everywhere, so offsets in it don't matter */
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
	ring->user.head = -2ULL * RING_SIZE & MCTRACER_POSITION_MASK;
	ring->noted_at = -1;
	*(uintptr_t *)(area + ((char *)&this_cpu_off - percpu_start)) = area - percpu_start;
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, area - percpu_start))
		die("can't set %gs");
	return ring;
}

/*
 * Let the hook for exact times (@pairs) or the other one record from now on, beginning with all
 * sync words.
 */
static void use_pairs(struct mctracer_ring *ring, bool pairs)
{
	mctracer_pairs = pairs;
	ring->renew = true;
	ring->task = NULL;
}

/*
 * Verify that @n calls follow position @from, with their addresses, their task's pid, and
 * times that never decrease; if @exact, each call has a time. Verify the sync words' count.
 */
static void verify(struct mctracer_ring *ring, uint64_t from, uint64_t n, bool exact)
{
	const char *ip = exact ? traced_exact_return : traced_return;
	const void *loop = exact ? (void *)loop_exact : (void *)loop_traced;
	struct mctracer_state state = {};
	uint64_t pos, end = ring->user.head & MCTRACER_POSITION_MASK, calls = 0, before = 0, word;
	uint64_t counted = 0;
	bool any = false, timed = false;
	enum mctracer_event event;

	for (pos = from; pos != end; pos = (pos + WORD) & MCTRACER_POSITION_MASK) {
		word = *(uint64_t *)(ring->base + (pos & ring->mask));
		if (pos & RING_SIZE)
			word ^= MCTRACER_WORD_VALID;
		if (!(word & MCTRACER_WORD_VALID))
			die("a word of another lap");
		event = mctracer_decode(&state, word);
		switch (event) {
		case MCTRACER_EVENT_CALL:
			calls++;
			if (state.ip != (uint32_t)(uintptr_t)ip)
				die("a call with another ip");
			if (state.parent_ip - (uint32_t)(uintptr_t)loop > 256)
				die("a call with another parent_ip");
			if (state.known & MCTRACER_KNOWS_TASK && state.pid != PID)
				die("a call with another pid");
			if (exact && !timed)
				die("a call without its time");
			break;
		case MCTRACER_EVENT_TIME:
			if (state.time < before)
				die("a time that went back");
			before = state.time;
			break;
		case MCTRACER_EVENT_COUNT:
			if (any && state.calls - counted != calls)
				die("a count that is not right");
			any = true;
			counted = state.calls - calls;
			break;
		case MCTRACER_EVENT_UNKNOWN:
			die("a word that is not known");
		default:
			break;
		}
		timed = event == MCTRACER_EVENT_TIME;
	}
	if (calls != n)
		die("not as many calls as there were");
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

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

/* Print the median ratio of @loop to rdtsc and an empty call, taken round by round. */
static void print_ratio(const char *name, size_t loop)
{
	static uint64_t ratios[ROUNDS];
	size_t r;

	for (r = 0; r < ROUNDS; r++)
		ratios[r] = loops[loop].ns[r] * 1000 / loops[RDTSC_EMPTY].ns[r];
	printf("%s %llu 1000\n", name, (unsigned long long)median(ratios));
}

int main(void)
{
	struct mctracer_ring *ring;
	uint64_t start;
	size_t l, r;

	patch();
	ring = set_up_cpu();
	for (r = 0; r < ROUNDS; r++) {
		for (l = 0; l < NR_LOOPS; l++) {
			uint64_t head;

			if (l >= TRACED) {
				use_pairs(ring, l == EXACT);
				loops[l].loop(1);
			}
			head = ring->user.head & MCTRACER_POSITION_MASK;
			start = now();
			loops[l].loop(ITERATIONS);
			loops[l].ns[r] = now() - start;
			verify(ring, head, l >= TRACED ? ITERATIONS : 0, l == EXACT);
		}
	}
	print_ratio("ratio", TRACED);
	print_ratio("ratio_exact", EXACT);
	for (l = 0; l < NR_LOOPS; l++)
		printf("%s %llu %u\n", loops[l].name,
		       median(loops[l].ns) * 1000ULL / ITERATIONS, ITERATIONS);
	return 0;
}
