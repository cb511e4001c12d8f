// SPDX-License-Identifier: GPL-2.0
/*
 * Use the tracer's files in random ways.
 *
 *	fuzz [-f] [-v] -s SEED -n STEPS DIR SYSCTL
 *
 * DIR is the tracer's directory, SYSCTL its switch. The same SEED gives the same
 * steps, whatever their results are; -v prints each step first. -f lets allocations
 * of this process fail as the files of Documentation/fault-injection/ are set.
 * Prints at the end how many steps succeeded. Any result is valid: the caller
 * checks whether the kernel has survived.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BUFFER	(256 * 1024)
#define PATH	512

static unsigned long long state;
static int verbose;
static char buffer[BUFFER];
static void *nowhere;	/* memory that can't be accessed */

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's generators" */
static unsigned int random_below(unsigned int n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)(state * 0x2545f4914f6cdd1dULL >> 32) % n;
}

static const char * const files[] = {
	"ctrl", "ctrl", "options", "options", "buffer_size_kb", "stats", "trace",
	"trace_pipe", "per_cpu/cpu0/trace", "per_cpu/cpu0/raw", "per_cpu/cpu1/trace",
	"per_cpu/cpu1/raw", "tracing_on", "snapshot", "mode", NULL	/* the sysctl */
};

/*
 * A write to one of these files walks all symbols, so only one step in LISTS_RARE writes one. A
 * list stays in effect for long and may select few functions, so lists are emptied more often.
 */
#define LISTS_RARE	64
#define EMPTIED_RARE	24

enum kind {
	WORD,		/* all other files */
	FUNCTIONS,
	TRIGGERS,
};

static const struct {
	const char *file;
	enum kind kind;
} lists[] = {
	{ "filter", FUNCTIONS },
	{ "notrace", FUNCTIONS },
	{ "triggers", TRIGGERS },
	{ "triggers", TRIGGERS },
	{ "functions", FUNCTIONS },	/* the last: read-only */
};

static const char * const words[] = {
	"0", "1", "1\n", " 0 ", "time", "notime", "context", "nocontext",
	"overwrite", "nooverwrite", "64", "128", "1000", "2048", "0", "-1", "1048577",
	"18446744073709551615", "", "\n", "no", "nono", "true", "0x40", "64k", "1 1",
	"graph", "function",
};

/* Parts of the lists' lines. About a third of the resulting lines is valid. */
static const char * const functions[] = {
	"vfs_read", "vfs_write", "vfs_*", "ksys_*", "read_zero", "__*_sys_[g-w]*", "vfs_?[a-f]*",
	"tick_nohz_*", "sched_clock*", "schedule", "mct_target_leaf", "mct_target_*", "*_no_such",
	"__fentry__", "vfs_[", "",
};

static const char * const modules[] = {
	"", "", "", "", "", "", " [mct_target]", ":mod:mct_target", "[", ":mod:",
};

static const char * const actions[] = {
	":stacktrace", ":stacktrace depth=3", ":stacktrace depth=64", ":stacktrace depth=0",
	":count", ":count", ":mark", ":mark depth=3", ":traceon", ":traceon", ":traceoff",
	":traceoff after=3", ":snapshot", ":dance", "", ":",
	":args", ":args:3", ":ret", ":ret:3", ":fail:count", ":fail:stacktrace:5",
	":follow 1", ":follow 2:5", ":follow 9", ":unfollow 1", ":unfollow",
	":follow 1 +calls", ":follow 1 -> 2", ":follow 1 -> ret", ":follow ret", ":unfollow ret",
	":data 1", ":data 2->8.16+4,20", ":data 1,99", ":followed:count", ":followed:args",
	":slow 1ms:count", ":slow 10us:mark:5", ":slow x:mark", ":fail:",
};

static const char * const counts[] = {
	"", "", ":0", ":1", ":100", ":2147483648", ":-1", ":x",
};

static const char * const separators[] = { "\n", "\n", "\n", " ", "\t# why\n" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Write "1" or "0" to make-it-fail: select whether allocations of this process may fail. Return 0
 * on success.
 */
static int make_it_fail(int fd, const char *yes_or_no)
{
	return pwrite(fd, yes_or_no, 1, 0) != 1;
}

static size_t add_one_of(const char * const *array, size_t count, size_t size)
{
	const char *word = array[random_below(count)];

	memcpy(buffer + size, word, strlen(word));
	return size + strlen(word);
}

/* Write up to three random lines into the buffer and return their size. */
static size_t random_list(enum kind kind)
{
	unsigned int n = random_below(4);
	size_t size = 0;

	while (n--) {
		if (!random_below(4))
			buffer[size++] = '!';
		if (!random_below(16)) {
			buffer[size++] = '#';
		} else if (!random_below(8)) {
			memcpy(buffer + size, "mod:mct_target", 14);
			size += 14;
		} else {
			size = add_one_of(functions, COUNT(functions), size);
			size = add_one_of(modules, COUNT(modules), size);
		}
		if (kind == TRIGGERS) {
			size = add_one_of(actions, COUNT(actions), size);
			size = add_one_of(counts, COUNT(counts), size);
		}
		size = add_one_of(separators, COUNT(separators), size);
	}
	return size;
}

static size_t random_text(enum kind kind)
{
	const char *word;
	size_t i, size;

	if (kind != WORD && random_below(8))
		return random_list(kind);
	if (random_below(8)) {
		word = words[random_below(COUNT(words))];
		size = strlen(word);
		memcpy(buffer, word, size);
		return size;
	}
	size = random_below(random_below(4) ? 16 : 9000);
	for (i = 0; i < size; i++)
		buffer[i] = random_below(256);
	return size;
}

/* A limit of the size: for more than a page of a sysctl the kernel warns if memory is short. */
static size_t most = BUFFER;

static size_t random_size(void)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 80, 4000, 4096, 65536, BUFFER };
	size_t size = sizes[random_below(COUNT(sizes))];

	return size < most ? size : most;
}

static int map_and_look(int fd)
{
	size_t page = getpagesize(), size = page << random_below(8), i;
	int prot = random_below(8) ? PROT_READ : PROT_READ | PROT_WRITE;
	int flags = random_below(4) ? MAP_SHARED : MAP_PRIVATE;
	size_t offset = random_below(8) ? 0 : page;
	unsigned int microseconds = random_below(2000);	/* also if there is no mapping */
	char *mapping;

	mapping = mmap(NULL, size, prot, flags, fd, offset);
	if (mapping == MAP_FAILED)
		return -1;
	for (i = 0; i < size; i += page)
		__atomic_load_n(&mapping[i], __ATOMIC_RELAXED);
	usleep(microseconds);
	return munmap(mapping, size);
}

/* Make one operation on an open file. Return 0 or more on success. */
static int do_one(int fd, unsigned int what, enum kind kind)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	int milliseconds;
	size_t size;

	switch (what) {
	case 0:
	case 1:
		size = random_text(kind);
		return write(fd, buffer, size);
	case 2:
		size = random_text(kind);
		return pwrite(fd, buffer, size, random_below(4));
	case 3:
	case 4:
		size = random_size();
		return read(fd, buffer, size);
	case 5:
		size = random_size();
		return pread(fd, buffer, size, random_below(1 << 20));
	case 6:
		return read(fd, nowhere, 64);
	case 7:
		return lseek(fd, random_below(1 << 16), random_below(3)) < 0 ? -1 : 0;
	case 8:
		milliseconds = random_below(3);
		return fd < 0 ? -1 : poll(&poller, 1, milliseconds);
	default:
		return map_and_look(fd);
	}
}

static void empty_one(const char *dir)
{
	char path[PATH];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, lists[random_below(COUNT(lists) - 1)].file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (verbose)
		printf("%s emptied\n", path);
	if (fd >= 0)
		close(fd);
}

static int step(const char *dir, const char *sysctl)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC };
	const char *file = files[random_below(COUNT(files))];
	int mode = modes[random_below(COUNT(modes))];
	unsigned int n = 1 + random_below(4), what;
	enum kind kind = WORD;
	char path[PATH];
	int fd, done = 0;

	if (!random_below(LISTS_RARE)) {
		what = random_below(COUNT(lists));
		file = lists[what].file;
		kind = lists[what].kind;
	}
	if (!random_below(EMPTIED_RARE))
		empty_one(dir);
	if (file)
		snprintf(path, sizeof(path), "%s/%s", dir, file);
	else
		snprintf(path, sizeof(path), "%s", sysctl);
	most = file ? BUFFER : 4000;
	/* Never block: the tracer may be off. */
	fd = open(path, mode | O_NONBLOCK);
	if (verbose)
		printf("%s mode %#x %s\n", path, mode, fd < 0 ? "not opened" : "");
	while (n--) {
		what = random_below(10);
		if (verbose)
			printf("  %u\n", what);
		if (do_one(fd, what, kind) >= 0)
			done++;
	}
	if (fd >= 0)
		close(fd);
	return done;
}

int main(int argc, char **argv)
{
	unsigned long seed = 0, steps = 0, i, done = 0;
	int opt, failing = 0, fail_fd = -1;

	while ((opt = getopt(argc, argv, "fvs:n:")) != -1) {
		switch (opt) {
		case 'f':
			failing = 1;
			break;
		case 'v':
			verbose = 1;
			break;
		case 's':
			seed = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			steps = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (optind + 2 != argc || !seed || !steps) {
		fprintf(stderr, "usage: fuzz [-f] [-v] -s SEED -n STEPS DIR SYSCTL\n");
		return 2;
	}
	nowhere = mmap(NULL, getpagesize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nowhere == MAP_FAILED)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (failing) {
		fail_fd = open("/proc/self/make-it-fail", O_WRONLY);
		if (fail_fd < 0 || make_it_fail(fail_fd, "1")) {
			perror("/proc/self/make-it-fail");
			return 2;
		}
	}
	state = seed * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < steps; i++)
		done += step(argv[optind], argv[optind + 1]) > 0;
	if (failing && make_it_fail(fail_fd, "0"))
		return 2;
	printf("%lu of %lu steps did something\n", done, steps);
	return 0;
}
