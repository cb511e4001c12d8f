// SPDX-License-Identifier: GPL-2.0
/*
 * Reads per_cpu/cpuN/raw, knowing no more of it than linux/mctracer.h says.
 *
 *	rawreader read FILE [SIZE [N]]	takes all records by reads of SIZE bytes, or
 *					at least N of them; prints "records N",
 *					"gaps N", "missed N"
 *	rawreader match FILE TEXT	takes all records and holds each against the
 *					line of TEXT, made with the option "time"
 *	rawreader errors FILE KB	what must not work with a ring of that size:
 *					one line "WHAT ERROR" for each
 *	rawreader header FILE		"NAME NUMBER" for each field of a mapping
 *	rawreader hold FILE		maps it, says so, and sleeps
 *	rawreader follow FILE		maps it and follows the ring, until SIGTERM
 *					comes and then nothing more; prints "seen N",
 *					"lost N", "bad N"
 *
 * The exit status is 1 if anything that was read is not as it must be.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* Not from where linux/ is: that would put the kernel's before the system's. */
#include "mctracer.h"

#define RECORD		sizeof(struct mctracer_record)
#define COMPLAINTS	8
#define PID_MASK	((1ULL << MCTRACER_PID_BITS) - 1)
#define SYMBOL_PAST	0x1000
#define LINE_SIZE	2048

/* As the kernel's: a load that the compiler neither leaves out nor splits. */
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)

struct symbol {
	__u32 address;
	char *name;
};

static struct symbol *symbols;
static size_t nr_symbols;
static __u32 text_low = -1, text_high;
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

static void complain(const char *what, const struct mctracer_record *record)
{
	if (complaints++ < COMPLAINTS)
		fprintf(stderr, "%s: ip %#x parent_ip %#x stamp %#llx\n", what,
			record->ip, record->parent_ip,
			(unsigned long long)record->stamp);
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

/* What is code, by the low half of its address. */
static void load_symbols(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[1024], name[1000], type;
	unsigned long long address;
	size_t room = 0;

	if (!file)
		die("/proc/kallsyms");
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
	if (!text_low) {
		fprintf(stderr, "no addresses in /proc/kallsyms\n");
		exit(2);
	}
	qsort(symbols, nr_symbols, sizeof(*symbols), by_name);
}

/* Is the address what the text says? Names may be those of several symbols. */
static int is_symbol(__u32 address, const char *text)
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

/* Addresses have this bit in any case; in ip it says that there is no context. */
static __u32 called(const struct mctracer_record *record)
{
	return record->ip | MCTRACER_PLAIN;
}

static int has_context(const struct mctracer_record *record)
{
	return !(record->ip & MCTRACER_PLAIN);
}

/* The bits of the clock that a record has, and what they are. */
static __u64 clock_mask(const struct mctracer_record *record)
{
	unsigned int bits = MCTRACER_CLOCK_BITS;

	if (has_context(record))
		bits += MCTRACER_CONTEXT_SHIFT - MCTRACER_CONTEXT_BITS;
	return (1ULL << bits) - 1;
}

static __u64 clock_bits(const struct mctracer_record *record)
{
	__u64 bits = record->stamp >> MCTRACER_PID_BITS;

	if (has_context(record))
		bits = bits >> MCTRACER_CONTEXT_BITS << MCTRACER_CONTEXT_SHIFT;
	return bits;
}

static int is_text(__u32 address)
{
	return address >= text_low && address <= text_high + SYMBOL_PAST;
}

/* --- read() --- */

struct reader {
	int fd;
	struct mctracer_record *buf;
	size_t size, have, at;
	unsigned long reads;
};

/* The next record; 0 at the end. */
static int next_record(struct reader *reader, struct mctracer_record *record)
{
	ssize_t n;

	if (reader->at == reader->have) {
		n = read(reader->fd, reader->buf, reader->size);
		if (n < 0)
			die("read");
		if (n % RECORD || (size_t)n > reader->size) {
			fprintf(stderr, "read gave %zd bytes\n", n);
			exit(1);
		}
		reader->reads++;
		reader->have = n / RECORD;
		reader->at = 0;
		if (!n)
			return 0;
	}
	*record = reader->buf[reader->at++];
	return 1;
}

static struct reader begin_reading(const char *path, size_t size)
{
	struct reader reader = { .fd = open_raw(path, 0), .size = size };

	reader.buf = aligned_alloc(RECORD, (size / RECORD + 1) * RECORD);
	if (!reader.buf)
		die("aligned_alloc");
	return reader;
}

/* @before: the record before it, or 0 */
static void judge(const struct mctracer_record *record,
		  struct mctracer_record *before)
{
	__u64 mask = clock_mask(record) & clock_mask(before);
	__u64 ago = (clock_bits(record) - clock_bits(before)) & mask;

	if (!is_text(called(record)))
		complain("ip is not in the text", record);
	if (!is_text(record->parent_ip))
		complain("parent_ip is not in the text", record);
	/* Up to one unit may be hidden where the option changed. */
	if (before->ip && ago > mask / 2 &&
	    (has_context(record) == has_context(before) ||
	     mask - ago >= 1 << MCTRACER_CONTEXT_SHIFT))
		complain("the time went back", record);
	*before = *record;
}

static void read_all(const char *path, size_t size, unsigned long most)
{
	struct reader reader = begin_reading(path, size);
	unsigned long long records = 0, gaps = 0, missed = 0;
	struct mctracer_record record, before = {};

	load_symbols();
	while ((records < most || reader.at < reader.have) &&
	       next_record(&reader, &record)) {
		if (record.ip) {
			records++;
			judge(&record, &before);
		} else {
			gaps++;
			missed += record.stamp;
			if (!record.stamp)
				complain("empty gap", &record);
		}
	}
	printf("records %llu\ngaps %llu\nmissed %llu\nreads %lu\n", records, gaps,
	       missed, reader.reads);
}

/* --- the time --- */

/* value * mult >> shift, of which the product needs more than 64 bits */
static __u64 mul_shift(__u64 value, __u32 mult, unsigned int shift)
{
	__u64 low = (value & 0xffffffff) * mult;
	__u64 high = (value >> 32) * mult + (low >> 32);	/* of 32 bits above */

	low &= 0xffffffff;
	if (shift >= 32)
		return high >> (shift - 32);
	return high << (32 - shift) | low >> shift;
}

static __u64 nanoseconds(const struct mctracer_ring_header *header,
			 const struct mctracer_record *record)
{
	__u64 now, ago;

	if (!header->clock_offset && header->clock_mult == 1 &&
	    !header->clock_shift) {
		struct timespec time;

		clock_gettime(CLOCK_MONOTONIC, &time);
		now = time.tv_sec * 1000000000ULL + time.tv_nsec;
	} else {
		now = __rdtsc();
	}
	ago = (now - clock_bits(record)) & clock_mask(record);

	return header->clock_offset +
	       mul_shift(now - ago, header->clock_mult, header->clock_shift);
}

/* Takes "[s.n] CPU c: comm:pid function <-- caller\n" apart, from its end. */
static int match_line(const struct mctracer_ring_header *header,
		      const struct mctracer_record *record, char *line)
{
	unsigned long long seconds, ns;
	char *caller, *func, *pid;

	caller = strstr(line, " <-- ");
	if (!caller || sscanf(line, "[%llu.%9llu] CPU ", &seconds, &ns) != 2)
		return 0;
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
	return pid && strtoull(pid + 1, NULL, 10) == (record->stamp & PID_MASK) &&
	       seconds * 1000000000 + ns == nanoseconds(header, record) &&
	       is_symbol(called(record), func) &&
	       is_symbol(record->parent_ip, caller);
}

static void match(const char *path, const char *text)
{
	struct reader reader = begin_reading(path, 4096);
	const struct mctracer_ring_header *header;
	struct mctracer_record record;
	FILE *file = fopen(text, "r");
	unsigned long lines = 0;
	char line[LINE_SIZE] = "", copy[LINE_SIZE];

	if (!file)
		die(text);
	load_symbols();
	header = map(reader.fd, getpagesize());
	while (next_record(&reader, &record)) {
		if (!record.ip)
			continue;
		do {
			if (!fgets(line, sizeof(line), file)) {
				complain("more than in the text", &record);
				exit(1);
			}
		} while (line[0] == '#');
		lines++;
		memcpy(copy, line, sizeof(copy));
		if (!match_line(header, &record, line)) {
			complain("not what the text says", &record);
			if (complaints <= COMPLAINTS)
				fprintf(stderr, "  %llu ns, %s",
					(unsigned long long)
					nanoseconds(header, &record), copy);
		}
	}
	if (fgets(line, sizeof(line), file)) {
		fprintf(stderr, "the text has more: %s", line);
		complaints++;
	}
	printf("matched %lu\n", lines);
}

/* --- what must not work --- */

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
	static __u64 room[8];
	char *buf = (char *)room;
	int fd = open_raw(path, O_NONBLOCK), page = getpagesize();
	size_t whole = page + kb * 1024;
	void *mapping, *nowhere;

	nowhere = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nowhere == MAP_FAILED)
		die("mmap");

	result("read-15", read(fd, buf, 15) < 0);
	result("read-0", read(fd, buf, 0) < 0);
	result("read-unaligned", read(fd, buf + 1, 32) < 0);
	result("read-nowhere", read(fd, nowhere, 32) < 0);
	result("pread", pread(fd, buf, 16, 16) < 0);
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
	/* What the kernel has mapped it can't be made to write to. */
	result("read-into-it", read(fd, (char *)mapping + page, 32) < 0);
}

/* --- mmap() --- */

/* On 32-bit it takes two steps to read what is written in one. */
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

static void print_header(const char *path)
{
	const struct mctracer_ring_header *header;

	header = map(open_raw(path, 0), getpagesize());
	printf("magic %u\nversion %u\n", header->magic, header->version);
	printf("record_size %u\nheader_size %u\n", header->record_size,
	       header->header_size);
	printf("ring_size %llu\n", (unsigned long long)header->ring_size);
	printf("started %llu\n", (unsigned long long)
	       (load(&header->head) - header->start) / RECORD);
	printf("unread %llu\n", (unsigned long long)
	       (load(&header->head) - header->read) / RECORD);
	printf("nr_read %llu\n", (unsigned long long)header->nr_read);
	if (header->magic != MCTRACER_MAGIC || header->version != MCTRACER_VERSION ||
	    header->record_size != RECORD ||
	    header->header_size != (__u32)getpagesize() || !header->clock_mult)
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

/* The steps 1 to 4 of linux/mctracer.h. True if the record was overwritten. */
static int follow_one(const struct mctracer_ring_header *header, __u64 pos,
		      struct mctracer_record *record)
{
	const struct mctracer_record *slot;
	__u64 size = header->ring_size;
	const char *ring = (const char *)header + header->header_size;

	slot = (const void *)(ring + pos % size);
	do {
		record->parent_ip = READ_ONCE(slot->parent_ip);
		barrier();
		record->stamp = READ_ONCE(slot->stamp);
		record->ip = READ_ONCE(slot->ip);
		barrier();
		if (load(&header->head) - pos > size)
			return 1;
		if (pos / size % 2)
			record->parent_ip ^= MCTRACER_LAP_BIT;
	} while (!(record->parent_ip & MCTRACER_LAP_BIT));
	return 0;
}

static void follow(const char *path)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	unsigned long long seen = 0, lost = 0;
	struct mctracer_ring_header *header;
	struct mctracer_record record, before = {};
	__u64 pos, from, head, size;
	int fd = open_raw(path, 0);

	signal(SIGTERM, on_term);
	load_symbols();
	header = map(fd, getpagesize());
	size = header->ring_size;
	munmap(header, getpagesize());
	header = map(fd, getpagesize() + size);
	pos = load(&header->head);
	from = pos;
	puts("mapped");
	fflush(stdout);
	for (;;) {
		int last = READ_ONCE(stop);

		head = load(&header->head);
		if (pos == head) {
			if (last)
				break;
			nanosleep(&nap, NULL);
			continue;
		}
		if (follow_one(header, pos, &record)) {
			head = load(&header->head);
			lost += (head - size / 8 * 7 - pos) / RECORD;
			pos = head - size / 8 * 7;
			continue;
		}
		judge(&record, &before);
		seen++;
		pos += RECORD;
	}
	printf("seen %llu\nlost %llu\nprogress %llu\nbad %lu\n", seen, lost,
	       (unsigned long long)(pos - from) / RECORD, complaints);
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
