// SPDX-License-Identifier: GPL-2.0
/*
 * Read per_cpu/cpuN/raw and check its words, with no other knowledge than
 * linux/mctracer.h and linux/mctracer_decode.h provide.
 *
 *	rawreader read FILE [SIZE [N]]	read all words by reads of SIZE bytes, or
 *					the words of at least N calls; print
 *					"records N" (calls), "gaps N", "missed N"
 *					(calls in gaps), and "skipped N" (calls that
 *					are missing, but in no gap)
 *	rawreader match FILE TEXT	read all words and compare each call with its
 *					line of TEXT, made with the option "time"
 *	rawreader errors FILE KB	try operations that must fail with a ring of
 *					that size: print one line "WHAT ERROR" for each
 *	rawreader modules FILE		read all words; print for each call how many
 *					times modules had been loaded or unloaded
 *	rawreader header FILE		print "NAME NUMBER" for each field of a mapping
 *	rawreader hold FILE		map it, print "mapped", and sleep
 *	rawreader follow FILE		map it and follow the ring from the last clear,
 *					until SIGTERM and the end of the ring; print
 *					"seen N", "lost N", "bad N"
 *
 * The exit status is 1 if anything that was read is wrong.
 *
 * Times: a call that directly follows a time word has exactly that time. The time of any
 * other call is estimated, and must lie between the previous and the next time. The times
 * of calls never decrease.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Not <linux/...>: with -I all UAPI headers of the kernel would come before the system's. */
#include "mctracer_decode.h"

#ifndef KALLSYMS
#define KALLSYMS	"/proc/kallsyms"
#endif

#define WORD		sizeof(__u64)
#define COMPLAINTS	8
#define SYMBOL_PAST	0x1000
#define LINE_SIZE	2048
#define COUNT_MASK	((1ULL << MCTRACER_COUNT_BITS) - 1)
#define NEVER		(~0ULL)
#define MAGIC_AND_VERSION (MCTRACER_MAGIC | \
			   (__u64)MCTRACER_VERSION << MCTRACER_STREAM_VERSION_SHIFT)
/* Limit of the waits at the end for a word that is not written yet: its writer may be gone. */
#define MOST_NAPS	2000
/* Limit of calls before the first sync words. */
#define MOST_PENDING	(MCTRACER_SYNC_WITHIN / WORD)
#define KNOWS		(MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_TIME | \
			 MCTRACER_KNOWS_CLOCK | MCTRACER_KNOWS_COUNT | MCTRACER_KNOWS_MODULES)

/* Like the kernel's: a load that the compiler neither removes nor splits. */
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)

struct symbol {
	__u64 address;
	char *name;
};

static struct symbol *symbols;
static size_t nr_symbols;
static __u64 text_low = -1, text_high;
static unsigned long complaints;

static void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void complain(const char *what, const struct mctracer_state *state)
{
	if (complaints++ < COMPLAINTS)
		fprintf(stderr, "%s: call %llu ip %#x parent_ip %#x time %llu pid %u (%s)\n",
			what, (unsigned long long)state->calls, state->ip, state->parent_ip,
			(unsigned long long)state->time, state->pid, state->comm);
}

static int open_raw(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);

	if (fd < 0)
		die(path);
	return fd;
}

static void *map(int fd, size_t size)
{
	void *mapping = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (mapping == MAP_FAILED)
		die("mmap");
	return mapping;
}

/* --- symbols --- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name,
		      ((const struct symbol *)b)->name);
}

/* Load the symbols of code. */
static void load_symbols(void)
{
	FILE *file = fopen(KALLSYMS, "r");
	char line[1024], name[1000], type;
	unsigned long long address;
	size_t room = 0;

	if (!file)
		die(KALLSYMS);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %c %999s", &address, &type, name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (nr_symbols == room) {
			room = room ? 2 * room : 65536;
			symbols = realloc(symbols, room * sizeof(*symbols));
			if (!symbols)
				die("realloc");
		}
		symbols[nr_symbols].address = address;
		symbols[nr_symbols].name = strdup(name);
		if (symbols[nr_symbols].address < text_low)
			text_low = symbols[nr_symbols].address;
		if (symbols[nr_symbols].address > text_high)
			text_high = symbols[nr_symbols].address;
		nr_symbols++;
	}
	fclose(file);
	if (!text_low || !nr_symbols) {
		fprintf(stderr, "no addresses in " KALLSYMS "\n");
		exit(2);
	}
	qsort(symbols, nr_symbols, sizeof(*symbols), by_name);
}

/* Return 1 if the text names this address. Several symbols may have one name. */
static int is_symbol(__u64 address, const char *text)
{
	struct symbol key, *found;
	char name[1000];
	unsigned int offset;

	if (!strcmp(text, "[unknown]"))
		return 1;
	if (sscanf(text, "%999[^+]+%x", name, &offset) != 2)
		return 0;
	key.name = name;
	found = bsearch(&key, symbols, nr_symbols, sizeof(key), by_name);
	if (!found)
		return 0;
	while (found > symbols && !strcmp(found[-1].name, name))
		found--;
	for (; found < symbols + nr_symbols && !strcmp(found->name, name); found++)
		if (found->address + offset == address)
			return 1;
	return 0;
}

static int is_text(__u64 address)
{
	return address >= text_low && address <= text_high + SYMBOL_PAST;
}

/* --- checks of each call --- */

/* The previous call. */
struct before {
	int any;
	__u64 ns;
	struct mctracer_clock clock;
};

static __u64 nanoseconds(const struct mctracer_state *state)
{
	return mctracer_clock_ns(&state->clock, state->time);
}

static int same_clock(const struct mctracer_clock *a, const struct mctracer_clock *b)
{
	return a->offset == b->offset && a->mult == b->mult && a->shift == b->shift &&
	       a->is_ns == b->is_ns;
}

static void judge(const struct mctracer_state *state, struct before *before)
{
	__u64 ns = nanoseconds(state);

	if (!is_text(mctracer_address(state, state->ip)))
		complain("ip is not in the text", state);
	if (!is_text(mctracer_address(state, state->parent_ip)))
		complain("parent_ip is not in the text", state);
	if ((state->known & KNOWS) != KNOWS)
		complain("task, time, clock, count or modules are not known", state);
	if (before->any && ns < before->ns && same_clock(&state->clock, &before->clock))
		complain("the time decreased", state);
	before->any = 1;
	before->ns = ns;
	before->clock = state->clock;
}

/* --- read() --- */

struct reader {
	int fd;
	int seekable;	/* a copy in a file: the sizes of its reads are unknown */
	__u64 *buf;
	size_t size, have, at;
	unsigned long reads;
};

/* Read the next word. Return 0 at the end. */
static int next_word(struct reader *reader, __u64 *word)
{
	ssize_t n;

	if (reader->at == reader->have) {
		n = read(reader->fd, reader->buf, reader->size);
		if (n < 0)
			die("read");
		if (n % WORD || (size_t)n > reader->size) {
			fprintf(stderr, "read gave %zd bytes\n", n);
			exit(1);
		}
		reader->reads++;
		reader->have = n / WORD;
		reader->at = 0;
		if (!n)
			return 0;
	}
	*word = reader->buf[reader->at++];
	return 1;
}

static struct reader begin_reading(const char *path, size_t size)
{
	struct reader reader = { .fd = open_raw(path, 0), .size = size };

	reader.seekable = lseek(reader.fd, 0, SEEK_CUR) >= 0;
	reader.buf = aligned_alloc(WORD, (size / WORD + 1) * WORD);
	if (!reader.buf)
		die("aligned_alloc");
	return reader;
}

/* Check that all words are valid, and that no read() begins with a continuation word. */
static void judge_word(const struct reader *reader, __u64 word,
		       const struct mctracer_state *state)
{
	if (!(word & MCTRACER_WORD_VALID))
		complain("a word without bit 63", state);
	if (reader->at == 1 && !reader->seekable && !mctracer_word_is_call(word) &&
	    mctracer_word_type(word) == MCTRACER_MORE)
		complain("a read began within a packet", state);
}

/* Read all words and print the module number of each call. */
static void print_modules(const char *path)
{
	struct reader reader = begin_reading(path, 65536);
	struct mctracer_state state = {};
	__u64 word;

	while (next_word(&reader, &word))
		if (mctracer_decode(&state, word) == MCTRACER_EVENT_CALL)
			printf("%u\n", state.modules);
}

static void read_all(const char *path, size_t size, unsigned long most)
{
	unsigned long long records = 0, gaps = 0, missed = 0, skipped = 0, unknown = 0, words = 0;
	struct reader reader = begin_reading(path, size);
	struct mctracer_state state = {};
	struct before before = {};
	__u64 word, calls, since_call = 0, jump;
	enum mctracer_event event;
	int counted = 0, is_stream;

	load_symbols();
	while ((records < most || reader.at < reader.have) && next_word(&reader, &word)) {
		judge_word(&reader, word, &state);
		calls = state.calls;
		event = mctracer_decode(&state, word);
		is_stream = event == MCTRACER_EVENT_STREAM;
		if (is_stream != !words++)
			complain("MCTRACER_STREAM is not at the begin, or again", &state);
		switch (event) {
		case MCTRACER_EVENT_STREAM:
			if (state.value != MAGIC_AND_VERSION)
				complain("another magic or version", &state);
			break;
		case MCTRACER_EVENT_CALL:
			records++;
			since_call = 0;
			judge(&state, &before);
			break;
		case MCTRACER_EVENT_GAP:
			gaps++;
			missed += mctracer_gap_calls(state.value);
			if (state.value & MCTRACER_GAP_OVERWRITTEN)
				since_call += mctracer_gap_calls(state.value);
			if (state.value == MCTRACER_GAP_OVERWRITTEN)
				complain("empty gap", &state);
			break;
		case MCTRACER_EVENT_COUNT:
			/* A gap directly before reports what was overwritten. */
			jump = (state.calls - calls) & COUNT_MASK;
			if (counted && jump > since_call)
				skipped += jump - since_call;
			counted = 1;
			break;
		case MCTRACER_EVENT_UNKNOWN:
			unknown++;
			break;
		default:
			break;
		}
	}
	if (state.packet == MCTRACER_TASK && state.more < 3)
		complain("a task packet is incomplete", &state);
	printf("records %llu\ngaps %llu\nmissed %llu\nskipped %llu\nunknown %llu\nreads %lu\n",
	       records, gaps, missed, skipped, unknown, reader.reads);
}

/* --- text --- */

struct words {
	__u64 *word;
	size_t n;
};

static struct words take_all(const char *path)
{
	struct reader reader = begin_reading(path, 4096);
	struct words words = {};
	size_t room = 0;
	__u64 word;

	while (next_word(&reader, &word)) {
		if (words.n == room) {
			room = room ? 2 * room : 65536;
			words.word = realloc(words.word, room * WORD);
			if (!words.word)
				die("realloc");
		}
		words.word[words.n++] = word;
	}
	return words;
}

/* Return the next time from word @i on in ns, or NEVER if there is none of the same clock. */
static __u64 next_time(const struct words *words, size_t i, const struct mctracer_state *state)
{
	struct mctracer_state ahead = *state;

	for (; i < words->n; i++)
		if (mctracer_decode(&ahead, words->word[i]) == MCTRACER_EVENT_TIME)
			return same_clock(&ahead.clock, &state->clock) ?
			       nanoseconds(&ahead) : NEVER;
	return NEVER;
}

/* Return 1 if the call of word @i has its own time. */
static int has_time(const struct words *words, size_t i)
{
	struct mctracer_state state = {};

	return i && mctracer_decode(&state, words->word[i - 1]) == MCTRACER_EVENT_TIME;
}

/*
 * Return 1 if @ns is a possible time of the call of word @i. @before is the time of the previous
 * line.
 */
static int is_time(const struct words *words, size_t i, const struct mctracer_state *state,
		   __u64 ns, __u64 before)
{
	__u64 from = nanoseconds(state), to;

	if (from < before)
		from = before;
	if (has_time(words, i))
		return ns == from;
	to = next_time(words, i + 1, state);
	return ns >= from && (ns <= to || ns == before);
}

/* Return 1 if the text shows this name, with '?' for control characters. */
static int is_comm(const struct mctracer_state *state, const char *text)
{
	const char *c = state->comm;

	for (; *c && *text; c++, text++)
		if (*text != (iscntrl((unsigned char)*c) ? '?' : *c))
			return 0;
	return *c == *text;
}

/*
 * Compare "[s.n] [context ]CPU c: comm:pid function <-- caller\n" with the call, parsed from the
 * end.
 */
static int match_line(const struct mctracer_state *state, char *line, __u64 *ns)
{
	char *caller, *func, *pid, *cpu, *comm;
	unsigned long long seconds, fraction;

	caller = strstr(line, " <-- ");
	if (!caller || sscanf(line, "[%llu.%9llu] ", &seconds, &fraction) != 2)
		return 0;
	*ns = seconds * 1000000000 + fraction;
	*caller = '\0';
	caller += strlen(" <-- ");
	caller[strcspn(caller, "\n ")] = '\0';	/* a module's name follows */
	func = strrchr(line, ' ');
	if (func && func[1] == '[' && strcmp(func + 1, "[unknown]")) {
		*func = '\0';
		func = strrchr(line, ' ');
	}
	if (!func)
		return 0;
	*func++ = '\0';
	pid = strrchr(line, ':');
	if (!pid)
		return 0;
	*pid++ = '\0';
	cpu = strstr(line, "CPU ");
	comm = cpu ? strstr(cpu, ": ") : NULL;
	return comm && is_comm(state, comm + strlen(": ")) &&
	       strtoull(pid, NULL, 10) == state->pid &&
	       strtoull(cpu + strlen("CPU "), NULL, 10) == state->cpu &&
	       is_symbol(mctracer_address(state, state->ip), func) &&
	       is_symbol(mctracer_address(state, state->parent_ip), caller);
}

/* Read the next line of a call. Return 0 at the end. */
static int next_line(FILE *file, char *line)
{
	do {
		if (!fgets(line, LINE_SIZE, file))
			return 0;
	} while (line[0] == '#');
	return 1;
}

static void match(const char *path, const char *text)
{
	struct words words = take_all(path);
	struct mctracer_state state = {};
	FILE *file = fopen(text, "r");
	unsigned long lines = 0, exact = 0;
	char line[LINE_SIZE] = "", copy[LINE_SIZE];
	__u64 ns = 0, before = 0;
	size_t i;
	int good;

	if (!file)
		die(text);
	load_symbols();
	for (i = 0; i < words.n; i++) {
		if (mctracer_decode(&state, words.word[i]) != MCTRACER_EVENT_CALL)
			continue;
		if (!next_line(file, line)) {
			complain("raw has more calls than the text", &state);
			exit(1);
		}
		lines++;
		exact += has_time(&words, i);
		memcpy(copy, line, sizeof(copy));
		good = match_line(&state, line, &ns);
		if (!good)
			complain("the call differs from the text", &state);
		else if (!is_time(&words, i, &state, ns, before))
			complain("the time differs from the text", &state);
		else
			good = 2;
		if (good < 2 && complaints <= COMPLAINTS)
			fprintf(stderr, "  %llu to %llu ns, %s",
				(unsigned long long)nanoseconds(&state),
				(unsigned long long)next_time(&words, i + 1, &state), copy);
		before = ns;
	}
	if (next_line(file, line)) {
		fprintf(stderr, "the text has more: %s", line);
		complaints++;
	}
	printf("matched %lu\nexact %lu\n", lines, exact);
}

/* --- operations that must fail --- */

static void result(const char *what, int failed)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EACCES, "EACCES" }, { EAGAIN, "EAGAIN" },
		{ EBUSY, "EBUSY" }, { EFAULT, "EFAULT" },
		{ EINVAL, "EINVAL" }, { EPERM, "EPERM" },
		{ ESPIPE, "ESPIPE" }, { 0, NULL }
	};
	unsigned int i;

	if (!failed) {
		printf("%s ok\n", what);
		return;
	}
	for (i = 0; names[i].name; i++)
		if (names[i].err == errno)
			break;
	if (names[i].name)
		printf("%s %s\n", what, names[i].name);
	else
		printf("%s %d\n", what, errno);
}

static void try_map(const char *what, int fd, size_t size, int prot, int flags,
		    off_t offset)
{
	void *mapping = mmap(NULL, size, prot, flags, fd, offset);

	result(what, mapping == MAP_FAILED);
	if (mapping != MAP_FAILED)
		munmap(mapping, size);
}

static void errors(const char *path, size_t kb)
{
	static __u64 room[2 * MCTRACER_READ_MIN / WORD];
	char *buf = (char *)room;
	int fd = open_raw(path, O_NONBLOCK), page = getpagesize();
	size_t whole = page + kb * 1024;
	void *mapping, *nowhere;

	nowhere = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nowhere == MAP_FAILED)
		die("mmap");

	result("read-less", read(fd, buf, MCTRACER_READ_MIN - 1) < 0);
	result("read-0", read(fd, buf, 0) < 0);
	result("read-unaligned", read(fd, buf + 1, MCTRACER_READ_MIN) < 0);
	result("read-nowhere", read(fd, nowhere, MCTRACER_READ_MIN) < 0);
	result("pread", pread(fd, buf, MCTRACER_READ_MIN, 16) < 0);
	try_map("map-header", fd, page, PROT_READ, MAP_SHARED, 0);
	try_map("map-whole", fd, whole, PROT_READ, MAP_SHARED, 0);
	try_map("map-private", fd, whole, PROT_READ, MAP_PRIVATE, 0);
	try_map("map-writable", fd, whole, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	try_map("map-private-writable", fd, whole, PROT_READ | PROT_WRITE,
		MAP_PRIVATE, 0);
	try_map("map-offset", fd, page, PROT_READ, MAP_SHARED, page);
	try_map("map-long", fd, whole + page, PROT_READ, MAP_SHARED, 0);
	mapping = map(fd, whole);
	result("mprotect-writable", mprotect(mapping, page, PROT_READ | PROT_WRITE));
	result("remap-long", mremap(mapping, whole, whole + page, MREMAP_MAYMOVE) ==
	       MAP_FAILED);
	/* The kernel must not write to its own read-only mapping. */
	result("read-into-it", read(fd, (char *)mapping + page, MCTRACER_READ_MIN) < 0);
}

/* --- mmap() --- */

/* Read a counter that the kernel writes at once. On 32-bit this takes two loads. */
static __u64 load(const __u64 *counter)
{
	const __u32 *halves = (const __u32 *)counter;
	__u32 high, low;

	do {
		high = READ_ONCE(halves[1]);
		barrier();
		low = READ_ONCE(halves[0]);
		barrier();
	} while (high != READ_ONCE(halves[1]));
	return (__u64)high << 32 | low;
}

/* Return the distance from @from to @to in bytes. */
static __u64 distance(__u64 from, __u64 to)
{
	return (to - from) & MCTRACER_POSITION_MASK;
}

static __u64 head_of(const struct mctracer_ring_header *header)
{
	return load(&header->head) & MCTRACER_POSITION_MASK;
}

/* Return 1 if the fields agree with their documentation. */
static int is_header(const struct mctracer_ring_header *header)
{
	__u64 size = header->ring_size, notes = header->sync_every;
	__u64 start = load(&header->start), read = load(&header->read), head = head_of(header);

	return header->magic == MCTRACER_MAGIC && header->version == MCTRACER_VERSION &&
	       header->header_size == (__u32)getpagesize() && !header->flags &&
	       size && !(size & (size - 1)) && notes && !(size % notes) && !(notes % WORD) &&
	       !((start | read) & ~MCTRACER_POSITION_MASK) && !((start | read | head) % WORD) &&
	       distance(start, read) <= distance(start, head);
}

static void print_header(const char *path)
{
	const struct mctracer_ring_header *header;

	header = map(open_raw(path, 0), getpagesize());
	printf("magic %u\nversion %u\n", header->magic, header->version);
	printf("header_size %u\ncpu %u\n", header->header_size, header->cpu);
	printf("base %#llx\n", (unsigned long long)header->base);
	printf("ring_size %llu\n", (unsigned long long)header->ring_size);
	printf("sync_every %u\n", header->sync_every);
	printf("started %llu\n", (unsigned long long)
	       (distance(load(&header->start), head_of(header)) / WORD));
	printf("unread %llu\n", (unsigned long long)
	       (distance(load(&header->read), head_of(header)) / WORD));
	printf("lost %llu\n", (unsigned long long)load(&header->lost));
	if (!is_header(header))
		complaints++;
}

static void hold(const char *path)
{
	map(open_raw(path, 0), getpagesize());
	puts("mapped");
	fflush(stdout);
	pause();
}

static sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

struct follower {
	const struct mctracer_ring_header *header;
	const char *ring;
	__u64 size, notes;	/* bytes */
	__u64 pos;		/* of the next word */
	__u64 start;		/* words before are read, but not counted */
	__u64 start_calls;	/* calls before start */
	int started;
	struct mctracer_state state;
	int primed;		/* the state of a sync point is known */
	__u64 pending[MOST_PENDING];	/* calls before that state was known */
	unsigned int nr_pending;
	__u64 count;		/* calls before pos, once counted */
	int counted;
	struct before before;
	unsigned long long seen, lost, gaps, laps, unknown, unwritten, words;
};

enum followed { WORD_IS_THERE, WORD_OVERWRITTEN, WORD_NOT_YET, WORD_NEVER };

/* Do the steps 2 to 4 of linux/mctracer.h. Step 1 is done. */
static enum followed follow_one(const struct follower *f, __u64 *word)
{
	const __u32 *slot = (const __u32 *)(f->ring + (f->pos & (f->size - 1)));
	__u32 low, high;
	__u64 ahead;

	high = READ_ONCE(slot[1]);
	barrier();
	low = READ_ONCE(slot[0]);
	barrier();
	ahead = distance(f->pos, head_of(f->header));
	if (ahead > f->size)
		return WORD_OVERWRITTEN;
	*word = (__u64)high << 32 | low;
	if (f->pos & f->size)	/* an odd lap */
		*word ^= MCTRACER_WORD_VALID;
	if (*word & MCTRACER_WORD_VALID)
		return WORD_IS_THERE;
	return ahead > f->size / 2 ? WORD_NEVER : WORD_NOT_YET;
}

static void follow_from(struct follower *f, __u64 pos)
{
	f->pos = pos;
	memset(&f->state, 0, sizeof(f->state));
	f->state.base = f->header->base;
	f->primed = 0;
	f->nr_pending = 0;
}

/*
 * Begin at the last clear. If that was overwritten, begin at a sync point, and the calls since the
 * clear are lost.
 */
static void follow_begin(struct follower *f)
{
	__u64 head = head_of(f->header);

	do {
		f->start = load(&f->header->start);
		f->start_calls = load(&f->header->start_calls);
	} while (load(&f->header->start) != f->start);
	if (distance(f->start & -f->notes, head) <= f->size) {
		follow_from(f, f->start & -f->notes);
		return;
	}
	f->started = 1;
	f->count = f->start_calls;
	f->counted = 1;
	follow_from(f, ((head - f->size + f->notes - 1) & -f->notes) & MCTRACER_POSITION_MASK);
}

/* The writer has overtaken us: continue at a sync point that is not overwritten soon. */
static void follow_on(struct follower *f)
{
	__u64 head = head_of(f->header);

	f->laps++;
	if (!f->counted)
		f->count = f->start_calls + f->seen;
	f->counted = 1;
	follow_from(f, ((head - f->size / 4 * 3 + f->notes - 1) & -f->notes) &
		       MCTRACER_POSITION_MASK);
}

/* The state of a sync point is known: check the calls before it, which belong to the same task. */
static void follow_pending(struct follower *f)
{
	struct mctracer_state state = f->state;
	unsigned int i;

	for (i = 0; i < f->nr_pending; i++) {
		mctracer_decode(&state, f->pending[i]);
		/* The time of these calls, too, follows them. */
		judge(&state, &f->before);
	}
	f->nr_pending = 0;
	f->primed = 1;
}

static void follow_call(struct follower *f, __u64 word)
{
	f->count++;
	if (!f->started && distance(f->pos, f->start) - 1 < f->size)
		return;	/* before the start */
	f->started = 1;
	f->seen++;
	if (f->primed)
		judge(&f->state, &f->before);
	else if (f->nr_pending < MOST_PENDING)
		f->pending[f->nr_pending++] = word;
	else
		complain("a sync point is missing", &f->state);
}

static void follow_word(struct follower *f, __u64 word)
{
	f->words++;
	switch (mctracer_decode(&f->state, word)) {
	case MCTRACER_EVENT_CALL:
		follow_call(f, word);
		break;
	case MCTRACER_EVENT_COUNT:
		if (f->counted)
			f->lost += (f->state.calls - f->count) & COUNT_MASK;
		f->count = f->state.calls;
		f->counted = 1;
		break;
	case MCTRACER_EVENT_GAP:
		f->gaps += mctracer_gap_calls(f->state.value);
		break;
	case MCTRACER_EVENT_UNKNOWN:
		f->unknown++;
		break;
	default:
		if (!f->primed && f->state.packet == MCTRACER_TASK && f->state.more >= 3 &&
		    (f->state.known & KNOWS) == KNOWS)
			follow_pending(f);
		break;
	}
}

static struct follower *follower_new(const char *path)
{
	struct follower *f = calloc(1, sizeof(*f));
	int fd = open_raw(path, 0);
	size_t header_size;
	void *mapping;

	if (!f)
		die("calloc");
	mapping = map(fd, getpagesize());
	f->header = mapping;
	if (!is_header(f->header)) {
		fprintf(stderr, "the header has invalid fields\n");
		exit(1);
	}
	f->size = f->header->ring_size;
	f->notes = f->header->sync_every;
	header_size = f->header->header_size;
	munmap(mapping, getpagesize());
	f->header = map(fd, header_size + f->size);
	f->ring = (const char *)f->header + header_size;
	return f;
}

/*
 * The header counts a call that a full ring has lost at once; a gap reports it when the ring is
 * written again.
 */
static void follow(const char *path)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct follower *f = follower_new(path);
	enum followed found;
	unsigned int naps = 0;
	__u64 from, word, full;

	signal(SIGTERM, on_term);
	load_symbols();
	full = load(&f->header->lost);
	follow_begin(f);
	from = f->pos;
	puts("mapped");
	fflush(stdout);
	for (;;) {
		int last = READ_ONCE(stop);

		if (f->pos == head_of(f->header)) {	/* step 1 */
			if (last)
				break;
			nanosleep(&nap, NULL);
			continue;
		}
		found = follow_one(f, &word);
		if (found == WORD_OVERWRITTEN) {
			follow_on(f);
			continue;
		}
		if (found == WORD_NOT_YET && (!last || naps++ < MOST_NAPS)) {
			if (last)
				nanosleep(&nap, NULL);
			continue;
		}
		if (found == WORD_IS_THERE)
			follow_word(f, word);
		else
			f->unwritten++;
		f->pos = (f->pos + WORD) & MCTRACER_POSITION_MASK;
	}
	if (f->nr_pending)
		complain("the task of the last calls is not known", &f->state);
	printf("seen %llu\nlost %llu\nprogress %llu\nbad %lu\n", f->seen,
	       f->lost + (unsigned long long)(load(&f->header->lost) - full),
	       (unsigned long long)(distance(from, f->pos) / WORD), complaints);
	printf("words %llu\nlaps %llu\ngaps %llu\nunknown %llu\nunwritten %llu\n", f->words,
	       f->laps, f->gaps, f->unknown, f->unwritten);
}

int main(int argc, char **argv)
{
	const char *mode, *path, *arg;

	if (argc < 3) {
		fprintf(stderr, "usage: rawreader MODE FILE [ARGUMENT]\n");
		return 2;
	}
	mode = argv[1];
	path = argv[2];
	arg = argc > 3 ? argv[3] : NULL;
	if (!strcmp(mode, "read")) {
		read_all(path, arg ? strtoul(arg, NULL, 10) : 65536,
			 argc > 4 ? strtoul(argv[4], NULL, 10) : -1UL);
	} else if (!strcmp(mode, "match") && arg) {
		match(path, arg);
	} else if (!strcmp(mode, "errors") && arg) {
		errors(path, strtoul(arg, NULL, 10));
	} else if (!strcmp(mode, "modules")) {
		print_modules(path);
	} else if (!strcmp(mode, "header")) {
		print_header(path);
	} else if (!strcmp(mode, "hold")) {
		hold(path);
	} else if (!strcmp(mode, "follow")) {
		follow(path);
	} else {
		fprintf(stderr, "rawreader: no such mode\n");
		return 2;
	}
	return complaints ? 1 : 0;
}
