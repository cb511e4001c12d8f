// SPDX-License-Identifier: GPL-2.0
/*
 * usage: timestats [-n START END] [-r RING-BYTES] [-s PAIRS] FILE...
 *
 * Measures the errors of times in compact form, in which most calls have no time. Reads
 * files of words (per_cpu/cpuN/raw of CPU 0, 1 and so on), recorded with the option "time",
 * so that each call has its exact time. Keeps only those times that compact form records
 * (see kernel/trace/mctracer/record/hook.c and emit.c): where the task changed; where the kernel
 * was entered, which means that the caller is in noinstr text (between START and END; by
 * default from /proc/kallsyms); and at the first call of each block of the ring. Estimates
 * the other times as the kernel does (see cursor.c), and prints "NAME VALUE" lines, whole
 * numbers:
 *
 *	calls, words, times, unsure	calls; words in compact form, and how many are
 *					times; calls without an exact time to compare with
 *	apart_ns_*, apart_words_*	from one time to the next
 *	span_ns_*			from a time to the last call before the next, if any
 *	error_ns_*			between a call's estimated and exact time
 *	adjacent_pairs, adjacent_wrong	successive calls of two CPUs; pairs whose order is
 *					wrong by the estimated times
 *	near_pairs, near_checked,	the same for pairs that are closer than 1 ms; of more
 *	near_wrong			than PAIRS, only PAIRS random ones are checked
 *
 * where * is median, p90, p99, p999 and max.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "mctracer_decode.h"

/* In words; the same as in kernel/trace/mctracer/ring/ring.h and cursor.c. */
#define BLOCK		64
#define LOOK_AHEAD	(2 * BLOCK)
#define TASK_WORDS	4
#define ALL_WORDS	4	/* count, clock, context */

#define WORD		8
#define MOST_CPUS	256
#define NEAR_NS		1000000

struct call {
	uint64_t time, estimate;	/* in the clock's units, later in ns; in ns */
	uint8_t change, entry, cpu, unsure;
};

enum kind { IS_CALL, IS_TIME, IS_OTHER };

struct word {
	uint64_t time;	/* or, of a call, its index in cpu.calls */
	enum kind kind;
};

struct vector {
	void *at;
	size_t n, room;
};

struct cpu {
	struct vector calls, words;
	struct mctracer_clock clock;	/* from the latest clock word */
	uint64_t noted_at;		/* the quarter whose sync words are written */
	uint64_t entered_at;		/* the position after the time of the last entry */
};

static uint32_t noinstr_start, noinstr_end;
static uint64_t quarter = (1 << 20) / 4 / WORD;	/* words */
static uint64_t most_pairs = 4000000;
static struct vector apart_ns, apart_words, span_ns, error_ns;
static uint64_t nr_times, nr_words, nr_unsure;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Add an element of @size bytes to @vector and return it. */
static void *more(struct vector *vector, size_t size)
{
	if (vector->n == vector->room) {
		vector->room = vector->room ? 2 * vector->room : 65536;
		vector->at = realloc(vector->at, vector->room * size);
		if (!vector->at)
			die("realloc");
	}
	return (char *)vector->at + vector->n++ * size;
}

static void add(struct vector *vector, uint64_t value)
{
	*(uint64_t *)more(vector, sizeof(value)) = value;
}

static void find_noinstr(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char line[1024], name[1000];

	if (!file)
		die("/proc/kallsyms");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %999s", &address, name) != 2)
			continue;
		if (!strcmp(name, "__noinstr_text_start"))
			noinstr_start = address;
		else if (!strcmp(name, "__noinstr_text_end"))
			noinstr_end = address;
	}
	fclose(file);
	if (!noinstr_start || !noinstr_end) {
		fprintf(stderr, "timestats: no noinstr text in /proc/kallsyms\n");
		exit(1);
	}
}

/* --- reading the recording --- */

struct recording {
	struct cpu *cpu;
	int nr;
	struct mctracer_state state;
	uint32_t pid, tgid;		/* task of the last call */
	char comm[MCTRACER_COMM_LEN];	/* name of that task */
	int any, change, repeated;
	int timed;	/* the last word was a time */
};

static void take_call(struct recording *r)
{
	const struct mctracer_state *state = &r->state;
	struct call *call = more(&r->cpu->calls, sizeof(*call));

	call->time = state->time;
	call->estimate = 0;
	call->cpu = r->nr;
	call->unsure = !r->timed;
	call->entry = state->parent_ip >= noinstr_start && state->parent_ip < noinstr_end;
	call->change = !r->any || r->change || state->pid != r->pid || state->tgid != r->tgid ||
		       memcmp(state->comm, r->comm, sizeof(r->comm));
	nr_unsure += call->unsure;
	r->pid = state->pid;
	r->tgid = state->tgid;
	memcpy(r->comm, state->comm, sizeof(r->comm));
	r->any = 1;
	r->change = 0;
	r->repeated = 0;
}

static void take_word(struct recording *r, uint64_t word)
{
	enum mctracer_event event = mctracer_decode(&r->state, word);

	switch (event) {
	case MCTRACER_EVENT_CALL:
		take_call(r);
		break;
	case MCTRACER_EVENT_COUNT:
		r->repeated = 1;
		break;
	case MCTRACER_EVENT_TASK:
		/* A task word outside of a sync point means that the task may have changed. */
		r->change |= !r->repeated;
		break;
	case MCTRACER_EVENT_CLOCK:
		r->cpu->clock = r->state.clock;
		break;
	default:
		/* The clock's second word. */
		r->cpu->clock.offset = r->state.clock.offset;
		break;
	}
	r->timed = event == MCTRACER_EVENT_TIME;
}

static void take_file(const char *path, struct cpu *cpu, int nr)
{
	static uint64_t buf[8192];
	struct recording recording = { .cpu = cpu, .nr = nr };
	int fd = open(path, O_RDONLY);
	ssize_t n, i;

	if (fd < 0)
		die(path);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		for (i = 0; i < n / WORD; i++)
			take_word(&recording, buf[i]);
	if (n < 0)
		die(path);
	close(fd);
}

/* --- the words of compact form --- */

static void put(struct cpu *cpu, enum kind kind, uint64_t time)
{
	struct word *word = more(&cpu->words, sizeof(*word));

	word->kind = kind;
	word->time = time;
}

static void put_others(struct cpu *cpu, uint64_t n)
{
	while (n--)
		put(cpu, IS_OTHER, 0);
}

/*
 * Put a sync point: a time and, if @task, the task; at the beginning of a quarter all sync words.
 * A sync point never crosses the end of a quarter.
 */
static void put_note(struct cpu *cpu, uint64_t time, int task)
{
	uint64_t n, left;
	int all;

	for (;;) {
		all = cpu->words.n / quarter != cpu->noted_at;
		n = 1 + (all ? ALL_WORDS : 0) + (task || all ? TASK_WORDS : 0);
		left = quarter - cpu->words.n % quarter;
		if (n <= left)
			break;
		put_others(cpu, left);
	}
	if (all)
		cpu->noted_at = cpu->words.n / quarter;
	put(cpu, IS_TIME, time);
	put_others(cpu, (all ? ALL_WORDS : 0) + (task || all ? TASK_WORDS : 0));
}

/* Put the time of an entry, unless only one word follows the time of the previous entry. */
static void put_entry(struct cpu *cpu, uint64_t time)
{
	if (cpu->words.n - cpu->entered_at == 1)
		return;
	if (cpu->words.n % BLOCK) {
		put(cpu, IS_TIME, time);
		cpu->entered_at = cpu->words.n;
	} else {
		put_note(cpu, time, 0);
	}
}

static void make_compact(struct cpu *cpu)
{
	struct call *calls = cpu->calls.at;
	size_t i, at;

	cpu->noted_at = -1;
	cpu->entered_at = -2;
	for (i = 0; i < cpu->calls.n; i++) {
		if (calls[i].change)
			put_note(cpu, calls[i].time, 1);
		if (calls[i].entry)
			put_entry(cpu, calls[i].time);
		at = cpu->words.n;
		put(cpu, IS_CALL, i);
		if (!(at % BLOCK))
			put_note(cpu, calls[i].time, 0);
	}
}

/* --- the times that the kernel would show --- */

struct estimate {
	uint64_t time, steps, step, pace, next_pace, last;
	uint64_t quarter;	/* the quarter that has the time */
};

/* Do the same as cursor_find_pace() of cursor.c. */
static void find_pace(struct estimate *e, const struct word *word, const struct word *end)
{
	uint64_t step;
	uint32_t calls = 0;

	e->steps = 0;
	e->step = e->pace;
	e->next_pace = e->pace;
	if (end - word > LOOK_AHEAD)
		end = word + LOOK_AHEAD;
	for (; word < end && word->kind != IS_TIME; word++)
		calls += word->kind == IS_CALL;
	if (word == end || !calls || word->time < e->time)
		return;
	step = (word->time - e->time) / calls;
	e->step = e->pace && step > 2 * e->pace ? e->pace : step;
	e->next_pace = step;
	if (e->pace)
		e->next_pace = (7 * e->pace + (step < 4 * e->pace ? step : 4 * e->pace)) / 8;
	if (!e->next_pace)
		e->next_pace = 1;
}

/* Do the same as cursor_take_time() of cursor.c: the pace starts anew in each quarter. */
static void take_time(struct estimate *e, const struct cpu *cpu, const struct word *word)
{
	const struct word *words = cpu->words.at;
	uint64_t at = (word + 1 - words) / quarter;

	e->pace = at == e->quarter ? e->next_pace : 0;
	e->quarter = at;
	e->time = word->time;
	find_pace(e, word + 1, words + cpu->words.n);
}

static uint64_t ns_of(const struct cpu *cpu, uint64_t time)
{
	return mctracer_clock_ns(&cpu->clock, time);
}

static void estimate_calls(struct cpu *cpu)
{
	const struct word *words = cpu->words.at, *end = words + cpu->words.n, *word;
	struct call *calls = cpu->calls.at, *call;
	struct estimate e = {};
	uint64_t ns, exact;

	for (word = words; word < end; word++) {
		if (word->kind == IS_TIME)
			take_time(&e, cpu, word);
		if (word->kind != IS_CALL)
			continue;
		call = &calls[word->time];
		exact = ns_of(cpu, call->time);
		ns = ns_of(cpu, e.time + e.steps);
		e.steps += e.step;
		if (ns < e.last)
			ns = e.last;
		e.last = ns;
		call->time = exact;
		call->estimate = ns;
		if (!call->unsure)
			add(&error_ns, ns > exact ? ns - exact : exact - ns);
	}
}

/* Measure the distances of times. Must be called before estimate_calls() makes times ns. */
static void measure_times(struct cpu *cpu)
{
	const struct word *words = cpu->words.at, *end = words + cpu->words.n, *word, *time = NULL;
	const struct call *calls = cpu->calls.at, *last = NULL;

	nr_words += cpu->words.n;
	for (word = words; word < end; word++) {
		if (word->kind == IS_CALL)
			last = &calls[word->time];
		if (word->kind != IS_TIME)
			continue;
		nr_times++;
		if (time) {
			add(&apart_ns, ns_of(cpu, word->time) - ns_of(cpu, time->time));
			add(&apart_words, word - time);
			if (last)
				add(&span_ns, ns_of(cpu, last->time) - ns_of(cpu, time->time));
		}
		time = word;
		last = NULL;
	}
}

/* --- the order of calls of two CPUs --- */

static int by_time(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->cpu - y->cpu;
}

/*
 * Return true if @b is shown before @a, which came first. At equal times the lower CPU comes first.
 */
static int is_wrong(const struct call *a, const struct call *b)
{
	return a->estimate > b->estimate || (a->estimate == b->estimate && a->cpu > b->cpu);
}

static int is_pair(const struct call *a, const struct call *b)
{
	return a->cpu != b->cpu && a->time != b->time && !a->unsure && !b->unsure;
}

static uint64_t random_below(uint64_t n)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % n;
}

struct near {
	const struct call *calls;
	size_t n;
	uint64_t *before;	/* of each call: pairs with an earlier first call */
	size_t *behind;		/* of each call: index of the first later call that is not near */
	struct vector of[MOST_CPUS];	/* of each CPU: the indexes of its calls */
};

/*
 * Count the pairs: for each call, the calls of other CPUs that follow within 1 ms. Two indexes
 * move through the calls, so the time is linear.
 */
static uint64_t find_near(struct near *near)
{
	uint64_t within[MOST_CPUS] = {}, pairs = 0;
	size_t i, end = 0;

	for (i = 0; i < near->n; i++) {
		while (end < near->n && near->calls[end].time - near->calls[i].time < NEAR_NS)
			within[near->calls[end++].cpu]++;
		near->before[i] = pairs;
		near->behind[i] = end;
		pairs += end - i - within[near->calls[i].cpu];
		within[near->calls[i].cpu]--;
		add(&near->of[near->calls[i].cpu], i);
	}
	return pairs;
}

/* Return how many of @n ascending @values are less than @value. */
static size_t below(const uint64_t *values, size_t n, uint64_t value)
{
	size_t low = 0, middle;

	while (low < n) {
		middle = low + (n - low) / 2;
		if (values[middle] < value)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Find the two calls of pair number @which. */
static void find_pair(const struct near *near, uint64_t which, size_t *first, size_t *second)
{
	size_t i = below(near->before, near->n, which + 1) - 1, from, to;
	const struct vector *of;
	int cpu;

	which -= near->before[i];
	*first = i;
	*second = i;
	for (cpu = 0; cpu < MOST_CPUS; cpu++) {
		of = &near->of[cpu];
		if (cpu == near->calls[i].cpu || !of->n)
			continue;
		from = below(of->at, of->n, i);
		to = below(of->at, of->n, near->behind[i]);
		if (which < to - from) {
			*second = ((uint64_t *)of->at)[from + which];
			return;
		}
		which -= to - from;
	}
}

static void print(const char *name, uint64_t value)
{
	printf("%s %llu\n", name, (unsigned long long)value);
}

static void measure_near(const struct call *calls, size_t n)
{
	struct near near = { .calls = calls, .n = n };
	uint64_t pairs, checked = 0, wrong = 0, tries;
	size_t i, j;
	int cpu;

	near.before = calloc(n + 1, sizeof(*near.before));
	near.behind = calloc(n + 1, sizeof(*near.behind));
	if (!near.before || !near.behind)
		die("calloc");
	pairs = find_near(&near);
	for (tries = 0; tries < pairs && tries < most_pairs; tries++) {
		find_pair(&near, pairs <= most_pairs ? tries : random_below(pairs), &i, &j);
		if (!is_pair(&calls[i], &calls[j]))
			continue;
		checked++;
		wrong += is_wrong(&calls[i], &calls[j]);
	}
	print("near_pairs", pairs);
	print("near_checked", checked);
	print("near_wrong", wrong);
	for (cpu = 0; cpu < MOST_CPUS; cpu++)
		free(near.of[cpu].at);
	free(near.before);
	free(near.behind);
}

static void measure_order(const struct cpu *cpus, int n)
{
	uint64_t pairs = 0, wrong = 0;
	struct call *all;
	size_t sum = 0, i;
	int c;

	for (c = 0; c < n; c++)
		sum += cpus[c].calls.n;
	all = malloc((sum + 1) * sizeof(*all));
	if (!all)
		die("malloc");
	for (sum = 0, c = 0; c < n; c++) {
		if (cpus[c].calls.n)
			memcpy(all + sum, cpus[c].calls.at, cpus[c].calls.n * sizeof(*all));
		sum += cpus[c].calls.n;
	}
	qsort(all, sum, sizeof(*all), by_time);
	for (i = 1; i < sum; i++) {
		if (!is_pair(&all[i - 1], &all[i]))
			continue;
		pairs++;
		wrong += is_wrong(&all[i - 1], &all[i]);
	}
	print("adjacent_pairs", pairs);
	print("adjacent_wrong", wrong);
	measure_near(all, sum);
	free(all);
}

/* --- output --- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_distribution(const char *name, struct vector *vector)
{
	static const struct {
		const char *name;
		unsigned int per_mille;
	} points[] = {
		{ "median", 500 }, { "p90", 900 }, { "p99", 990 }, { "p999", 999 }, { "max", 1000 },
	};
	const uint64_t *values = vector->at;
	unsigned int i;
	size_t at;

	if (!vector->n)
		return;
	qsort(vector->at, vector->n, sizeof(*values), by_value);
	for (i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		at = (vector->n - 1) * points[i].per_mille / 1000;
		printf("%s_%s %llu\n", name, points[i].name, (unsigned long long)values[at]);
	}
}

static int usage(void)
{
	fprintf(stderr, "usage: timestats [-n START END] [-r RING-BYTES] [-s PAIRS] FILE...\n");
	return 2;
}

int main(int argc, char **argv)
{
	uint64_t nr_calls = 0;
	struct cpu *cpus;
	int n, i;

	for (argv++, argc--; argc > 1 && argv[0][0] == '-'; argv += 2, argc -= 2) {
		if (!strcmp(argv[0], "-n") && argc > 2) {
			noinstr_start = strtoull(argv[1], NULL, 0);
			noinstr_end = strtoull(argv[2], NULL, 0);
			argv++;
			argc--;
		} else if (!strcmp(argv[0], "-r")) {
			quarter = strtoull(argv[1], NULL, 0) / 4 / WORD;
		} else if (!strcmp(argv[0], "-s")) {
			most_pairs = strtoull(argv[1], NULL, 0);
		} else {
			return usage();
		}
	}
	n = argc;
	if (n < 1 || n > MOST_CPUS || !quarter || quarter % BLOCK)
		return usage();
	if (!noinstr_start)
		find_noinstr();
	cpus = calloc(n, sizeof(*cpus));
	if (!cpus)
		die("calloc");
	for (i = 0; i < n; i++) {
		take_file(argv[i], &cpus[i], i);
		make_compact(&cpus[i]);
		measure_times(&cpus[i]);
		estimate_calls(&cpus[i]);
		nr_calls += cpus[i].calls.n;
		free(cpus[i].words.at);
	}
	print("calls", nr_calls);
	print("words", nr_words);
	print("times", nr_times);
	print("unsure", nr_unsure);
	print_distribution("apart_ns", &apart_ns);
	print_distribution("apart_words", &apart_words);
	print_distribution("span_ns", &span_ns);
	print_distribution("error_ns", &error_ns);
	measure_order(cpus, n);
	for (i = 0; i < n; i++)
		free(cpus[i].calls.at);
	free(cpus);
	free(apart_ns.at);
	free(apart_words.at);
	free(span_ns.at);
	free(error_ns.at);
	return 0;
}
