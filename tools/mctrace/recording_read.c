// SPDX-License-Identifier: GPL-2.0
/*
 * Find the chunks of a mapped recording, and decompress words when they are needed. Only the head
 * of each chunk is read, so that a large recording opens at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compress.h"
#include "mctracer.h"
#include "recording_parts.h"
#include "util.h"

/*
 * Limits for compression. zstd makes symbols about 6 times smaller. Words of one function in a
 * loop, with a time word in 64, become about 170 times smaller.
 */
#define SYMBOLS_EXPAND	16
#define WORDS_EXPAND	256

#define TOO_MUCH	"more is compressed here than a file of this size can have"

/* A growing recording is mapped once, with this size as its limit. */
#define GROWN		(sizeof(long) == 8 ? 1ULL << 44 : 1ULL << 29)
/* Free a growing recording in pieces of this many bytes: a multiple of the file system's blocks. */
#define DROP		65536ULL
/* Fixed, so that the array of CPUs never moves: cursors keep pointers into it. */
#define GROWING_CPUS	8192

void recording_note_damage(struct recording *from, uint64_t at, const char *what)
{
	from->damage = xasprintf("%s is damaged at offset %llu: %s", from->path,
				 (unsigned long long)at, what);
}

static uint64_t whole_most(const struct recording_chunk *chunk)
{
	return (chunk->type & ~RECORDING_COMPRESSED) == RECORDING_WORDS ? RECORDING_MOST_WORDS :
									   RECORDING_MOST;
}

/* Return the decompressed size of a compressed chunk's data; 0 if it is invalid. */
static uint64_t whole_size(const struct recording_chunk *chunk, const uint64_t *data, uint64_t size)
{
	if (size != chunk->size || size <= sizeof(*data) || data[0] % sizeof(uint64_t) ||
	    data[0] > whole_most(chunk))
		return 0;
	return data[0];
}

/*
 * Add @more bytes to @sum, the decompressed size of all chunks of a type. Return false if @sum is
 * above RECORDING_ANY and more than @times the size of the file, because a small file must not take
 * much memory and time.
 */
static bool may_become(const struct recording *from, uint64_t *sum, uint64_t more,
		       unsigned int times)
{
	*sum += more;
	return *sum <= RECORDING_ANY || *sum / times <= from->size;
}

void recording_add_words(struct recording *from, const struct recording_chunk *chunk,
			 const uint64_t *words, uint64_t size)
{
	bool compressed = chunk->type & RECORDING_COMPRESSED;
	uint64_t whole = compressed ? whole_size(chunk, words, size) : size;
	struct recording_run *run, *before;
	struct recording_cpu *cpu;

	if (chunk->cpu >= from->nr_cpus && from->fd >= 0) {
		from->nr_cpus = chunk->cpu + 1;
	} else if (chunk->cpu >= from->nr_cpus) {
		from->cpus = xrealloc(from->cpus, chunk->cpu + 1, sizeof(*from->cpus));
		memset(from->cpus + from->nr_cpus, 0,
		       (chunk->cpu + 1 - from->nr_cpus) * sizeof(*from->cpus));
		from->nr_cpus = chunk->cpu + 1;
	}
	cpu = &from->cpus[chunk->cpu];
	cpu->from = from;
	if (!(cpu->nr & (cpu->nr - 1)))		/* a power of two, or 0 */
		cpu->runs = xrealloc(cpu->runs, cpu->nr ? 2 * cpu->nr : 1, sizeof(*cpu->runs));
	run = &cpu->runs[cpu->nr++];
	*run = (struct recording_run) {
		.words = compressed ? NULL : words,
		.compressed = compressed ? words + 1 : NULL,
		.compressed_size = compressed ? size - sizeof(*words) : 0,
		.nr = whole / sizeof(*words),
		.pos = chunk->pos,
		.start = chunk->start,
		.nr_symbols = from->nr_symbols,
	};
	before = run - 1;
	run->follows = cpu->nr > 1 && !((before->pos + before->nr * sizeof(*words) - run->pos) &
					MCTRACER_POSITION_MASK);
	cpu->notes = chunk->notes;
}

static void add_symbols(struct recording *from, const char *text, size_t size)
{
	unsigned int nr = from->nr_symbols;

	if (from->fd >= 0 && nr)
		return;
	from->nr_symbols++;
	from->symbols = xrealloc(from->symbols, nr + 1, sizeof(*from->symbols));
	from->symbols_size = xrealloc(from->symbols_size, nr + 1, sizeof(*from->symbols_size));
	from->symbols[nr] = text;
	from->symbols_size[nr] = size;
}

static bool add_modules(struct recording *from, const uint64_t *count, uint64_t size)
{
	unsigned int nr = from->nr_modules;

	if (from->fd >= 0)	/* later symbols are ignored */
		return true;
	if (size < sizeof(*count) || !from->nr_symbols)
		return false;
	if (!(nr & (nr - 1)))		/* a power of two, or 0 */
		from->modules = xrealloc(from->modules, nr ? 2 * nr : 1, sizeof(*from->modules));
	from->modules[from->nr_modules++] = (struct recording_modules) {
		.count = *count,
		.nr_symbols = from->nr_symbols,
	};
	return true;
}

void recording_own(struct recording *from, void *memory)
{
	from->owned = xrealloc(from->owned, from->nr_owned + 1, sizeof(*from->owned));
	from->owned[from->nr_owned++] = memory;
}

static bool add_compressed_symbols(struct recording *from, const struct recording_chunk *chunk,
				   const uint64_t *data, uint64_t size)
{
	uint64_t whole = whole_size(chunk, data, size);
	char *text;

	if (!whole)
		return false;
	if (!may_become(from, &from->become_symbols, whole, SYMBOLS_EXPAND)) {
		recording_note_damage(from, (const char *)data - from->data, TOO_MUCH);
		return false;
	}
	text = xcalloc(1, whole);
	recording_own(from, text);
	if (!decompress_block(text, whole, data + 1, size - sizeof(*data)))
		return false;
	add_symbols(from, text, whole);
	return true;
}

/* Return the value of the last of these lines with @key, valid until the next call, or NULL. */
static const char *find_info(const char *line, const char *key)
{
	static char value[4096];
	const char *found = NULL;
	size_t length = strlen(key);

	for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (!strncmp(line, key, length) && line[length] == ' ')
			found = line + length + 1;
	if (!found)
		return NULL;
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(found, "\n"), found);
	return value;
}

void recording_add_info(struct recording *from, const char *text, size_t size)
{
	const size_t before = from->info_size;
	const char *base;

	size = strnlen(text, size);
	from->info = xrealloc(from->info, from->info_size + size + 1, 1);
	memcpy(from->info + from->info_size, text, size);
	from->info_size += size;
	from->info[from->info_size] = '\0';
	replace_controls(from->info + before, "\n\t");
	base = find_info(from->info + before, "base");
	if (base)
		from->base = strtoull(base, NULL, 16);
}

/* Add the content of a chunk, of which @size bytes are present. Return false if it is invalid. */
static bool add_chunk(struct recording *from, const struct recording_chunk *chunk,
		      const void *data, uint64_t size)
{
	switch (chunk->type) {
	case RECORDING_INFO:
		recording_add_info(from, data, size);
		break;
	case RECORDING_END:
		recording_add_info(from, data, size);
		from->ended = !find_info(from->info, "given_up");
		break;
	case RECORDING_SYMBOLS:
		add_symbols(from, data, size);
		break;
	case RECORDING_MODULES:
		return add_modules(from, data, size);
	case RECORDING_SYMBOLS | RECORDING_COMPRESSED:
		return add_compressed_symbols(from, chunk, data, size);
	case RECORDING_WORDS | RECORDING_COMPRESSED:
		if (size == chunk->size && !whole_size(chunk, data, size))
			return false;
		if (!may_become(from, &from->become_words, whole_size(chunk, data, size),
				WORDS_EXPAND)) {
			recording_note_damage(from, (const char *)data - from->data, TOO_MUCH);
			return false;
		}
		fallthrough;
	case RECORDING_WORDS:
		if (chunk->cpu >= RECORDING_CPUS || !chunk->notes ||
		    chunk->notes & (chunk->notes - 1) || chunk->pos % sizeof(uint64_t) ||
		    !from->base)
			return false;
		recording_add_words(from, chunk, data, size);
		break;
	}
	return true;
}

void recording_find_chunks(struct recording *from)
{
	const struct recording_chunk *chunk;
	uint64_t at = sizeof(struct recording_header), data, left;

	for (; at < from->size; at = data + chunk->size) {
		chunk = (const struct recording_chunk *)(from->data + at);
		data = at + sizeof(*chunk);
		if (data > from->size) {
			recording_note_damage(from, at, "it ends within the head of a chunk");
			return;
		}
		left = from->size - data;
		if (chunk->mark != RECORDING_MARK || chunk->size % sizeof(uint64_t)) {
			recording_note_damage(from, at, "no chunk begins here");
			return;
		}
		if (chunk->size > left && chunk->type == RECORDING_END)
			break;
		if (!add_chunk(from, chunk, from->data + data,
			       chunk->size < left ? chunk->size : left & ~7ULL)) {
			if (!from->damage)
				recording_note_damage(from, at, "a chunk is invalid");
			return;
		}
		if (chunk->size > left) {
			recording_note_damage(from, from->size, "it ends within a chunk");
			return;
		}
	}
	if (from->ended)
		return;
	recording_note_damage(from, from->size, find_info(from->info, "given_up") ?
			      "a second signal ended record, which gave up the last calls" :
			      "the recording is not complete");
}

void recording_add_names(struct recording *from, char *kallsyms, int64_t modules)
{
	uint64_t count = modules;

	recording_own(from, kallsyms);
	add_symbols(from, kallsyms, strlen(kallsyms));
	if (modules >= 0)
		add_modules(from, &count, sizeof(count));
}

/* Only complete chunks are read. */
void recording_more(struct recording *from)
{
	const struct recording_chunk *chunk;
	struct stat st;

	if (fstat(from->fd, &st))
		die_errno("%s", from->path);
	if ((uint64_t)st.st_size > from->mapped)
		die("more than %llu GiB were recorded: mctrace can't go on", GROWN >> 30);
	from->size = st.st_size;
	while (from->size >= from->at + sizeof(*chunk)) {
		chunk = (const struct recording_chunk *)(from->data + from->at);
		if (chunk->mark != RECORDING_MARK || chunk->cpu >= GROWING_CPUS)
			die("%s is damaged at offset %llu: no chunk begins here", from->path,
			    (unsigned long long)from->at);
		if (chunk->size > from->size - from->at - sizeof(*chunk))
			break;
		add_chunk(from, chunk, chunk + 1, chunk->size);
		from->at += sizeof(*chunk) + chunk->size;
		if (from->nr_symbols && !from->dropped)
			from->dropped = from->at;
	}
}

void recording_forget_runs(struct recording_cpu *cpu, size_t nr)
{
	cpu->nr -= nr;
	memmove(cpu->runs, cpu->runs + nr, cpu->nr * sizeof(*cpu->runs));
}

void recording_drop(struct recording *from, uint64_t needed)
{
	uint64_t first;

	needed &= -DROP;
	if (needed <= from->dropped)
		return;
	fallocate(from->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from->dropped,
		  needed - from->dropped);
	/* Free the page tables, too; the addresses stay reserved until recording_close(). */
	first = (from->dropped + DROP - 1) & -DROP;
	if (first < needed)
		mmap((char *)from->data + first, needed - first, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	from->dropped = needed;
}

struct recording *recording_open_growing(const char *path)
{
	struct recording *from = xcalloc(1, sizeof(*from));

	from->path = path;
	from->at = sizeof(struct recording_header);
	from->cpus = xcalloc(GROWING_CPUS, sizeof(*from->cpus));
	from->mapped = GROWN;
	from->fd = open(path, O_RDWR | O_CLOEXEC);	/* recording_drop() writes */
	if (from->fd >= 0)
		from->data = mmap(NULL, from->mapped, PROT_READ, MAP_SHARED | MAP_NORESERVE,
				  from->fd, 0);
	if (from->data == MAP_FAILED)
		die_errno("mapping %s", path);
	if (from->data)
		recording_more(from);
	if (from->nr_symbols)
		return from;
	recording_close(from);
	return NULL;
}

void recording_open_run(struct recording_cpu *cpu, struct recording_run *run)
{
	struct recording_run *gone = cpu->opened[1];
	void *words = xcalloc(run->nr, sizeof(*run->words));

	if (!decompress_block(words, run->nr * sizeof(*run->words), run->compressed,
			      run->compressed_size))
		die("%s is damaged at offset %llu: the compressed data there is not valid",
		    cpu->from->path, (unsigned long long)
		    ((const char *)run->compressed - cpu->from->data));
	if (gone) {
		free((void *)gone->words);
		gone->words = NULL;
	}
	cpu->opened[1] = cpu->opened[0];
	cpu->opened[0] = run;
	run->words = words;
}

const char *recording_info(const struct recording *from, const char *key)
{
	return find_info(from->info, key);
}

uint64_t recording_number(const struct recording *from, const char *key)
{
	const char *value = recording_info(from, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

void recording_close(struct recording *from)
{
	unsigned int i, j;

	for (i = 0; i < from->nr_cpus; i++) {
		for (j = 0; j < ARRAY_SIZE(from->cpus[i].opened); j++)
			if (from->cpus[i].opened[j])
				free((void *)from->cpus[i].opened[j]->words);
		free(from->cpus[i].runs);
	}
	for (i = 0; i < from->nr_owned; i++)
		free(from->owned[i]);
	free(from->owned);
	free(from->cpus);
	free(from->symbols);
	free(from->symbols_size);
	free(from->modules);
	free(from->info);
	free(from->damage);
	free(from->origin);
	if (from->data)
		munmap((void *)from->data, from->mapped);
	if (from->fd >= 0)
		close(from->fd);
	free(from);
}
