// SPDX-License-Identifier: GPL-2.0
/*
 * Read rings from the kernel's files, or from copies of them: last_boot/raw (a header and a ring
 * for each CPU), the mapping of per_cpu/cpuN/raw (a header and a ring), and the words that read()
 * returns from per_cpu/cpuN/raw, which begin with MCTRACER_STREAM.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mctracer_decode.h"
#include "output.h"
#include "recording_parts.h"
#include "ring.h"
#include "util.h"

#define WORD		sizeof(uint64_t)
#define NOTES_OF_WORDS	0x40000000U	/* of bare words: unknown, so never reached */

/* Return true if @word begins the packet that read() begins with. */
static bool is_stream(uint64_t word)
{
	struct mctracer_state state = { };

	return mctracer_decode(&state, word) == MCTRACER_EVENT_STREAM &&
	       (uint32_t)state.value == MCTRACER_MAGIC;
}

enum raw_kind raw_kind(const void *head, size_t size)
{
	const struct mctracer_ring_header *header = head;
	uint64_t word;

	/* MCTRACER_MAGIC and RECORDING_MAGIC begin with the same four letters. */
	if (size < sizeof(struct recording_header) ||
	    !memcmp(head, RECORDING_MAGIC, strlen(RECORDING_MAGIC)))
		return RAW_NONE;
	if (header->magic == MCTRACER_MAGIC)
		return RAW_RINGS;
	memcpy(&word, head, sizeof(word));
	return is_stream(word) ? RAW_WORDS : RAW_NONE;
}

struct found_in_words {
	bool returns, times, contexts;
};

static void look_at(struct found_in_words *found, const uint64_t *words, size_t nr)
{
	const uint64_t *word;
	uint32_t type;

	for (word = words; word < words + nr; word++) {
		type = *word && !mctracer_word_is_call(*word) ? mctracer_word_type(*word) :
								MCTRACER_MORE;
		found->returns |= type == MCTRACER_RETURN;
		found->times |= type == MCTRACER_TIME && mctracer_word_data(*word);
		found->contexts |= type == MCTRACER_CONTEXT &&
				   mctracer_word_data(*word) != MCTRACER_CONTEXT_UNKNOWN;
	}
}

/* Copy the words of one lap, with bit 63 set in whole words; 0 for words that are not whole. */
static uint64_t *copy_lap(struct recording *from, const uint64_t *words, size_t nr, bool odd)
{
	uint64_t flip = odd ? MCTRACER_WORD_VALID : 0, *copy = xcalloc(nr, WORD);
	size_t i;

	for (i = 0; i < nr; i++) {
		copy[i] = words[i] ^ flip;
		if (!(copy[i] & MCTRACER_WORD_VALID))
			copy[i] = 0;
	}
	recording_own(from, copy);
	return copy;
}

static uint64_t distance(uint64_t from, uint64_t to)
{
	return (to - from) & MCTRACER_POSITION_MASK;
}

/*
 * add_ring() - Add the words of a ring
 * @left: how many bytes of @ring the file contains
 * @head: position after the last word
 * @latest: position after the last word that the kernel may have written during the copy
 *
 * Begin at the last clear, or at the first sync point that was not overwritten before @latest.
 */
static void add_ring(struct recording *from, const struct mctracer_ring_header *header,
		     const uint64_t *ring, uint64_t left, uint64_t head, uint64_t latest,
		     struct found_in_words *found)
{
	const uint64_t size = header->ring_size;
	struct recording_chunk chunk = {
		.type = RECORDING_WORDS,
		.cpu = header->cpu,
		.notes = header->sync_every < NOTES_OF_WORDS ? header->sync_every :
								NOTES_OF_WORDS,
		.start = header->start & MCTRACER_POSITION_MASK,
	};
	const uint64_t sync_every = header->sync_every;
	uint64_t pos = chunk.start & -sync_every, offset, part;
	const uint64_t *words;

	if (distance(pos, latest) > size)
		pos = (latest - size + sync_every - 1) & -sync_every;
	for (pos &= MCTRACER_POSITION_MASK; pos != head && distance(pos, head) <= size;
	     pos = (pos + part) & MCTRACER_POSITION_MASK) {
		offset = pos & (size - 1);
		part = size - offset;
		if (part > distance(pos, head))
			part = distance(pos, head);
		chunk.pos = pos;
		chunk.size = offset >= left ? 0 : part < left - offset ? part : left - offset;
		words = copy_lap(from, ring + offset / WORD, chunk.size / WORD, pos & size);
		look_at(found, words, chunk.size / WORD);
		recording_add_words(from, &chunk, words, chunk.size);
	}
}

static bool is_whole(const struct mctracer_ring_header *header, uint64_t left)
{
	return left >= sizeof(*header) && ring_header_is_known(header) &&
	       header->header_size >= sizeof(*header) && !(header->header_size % WORD) &&
	       header->header_size <= left && !(header->head % WORD) && !(header->start % WORD) &&
	       header->sync_every >= WORD && header->cpu < RECORDING_CPUS && header->base;
}

static void add_rings(struct recording *from, struct found_in_words *found)
{
	const struct mctracer_ring_header *header;
	uint64_t at = 0, left, head;

	while (at < from->size) {
		header = (const void *)(from->data + at);
		if (!is_whole(header, from->size - at)) {
			recording_note_damage(from, at, "no ring of a known version begins here");
			return;
		}
		from->base = header->base;
		at += header->header_size;
		left = (from->size - at) & -WORD;
		head = header->head & MCTRACER_POSITION_MASK;
		add_ring(from, header, (const uint64_t *)(from->data + at), left, head, head,
			 found);
		if (left < header->ring_size) {
			recording_note_damage(from, from->size, "it ends within a ring");
			return;
		}
		at += header->ring_size;
	}
}

static void add_bare_words(struct recording *from, struct found_in_words *found)
{
	struct recording_chunk chunk = {
		.type = RECORDING_WORDS,
		.notes = NOTES_OF_WORDS,
		.size = from->size & -WORD,
	};
	struct mctracer_state state = { };
	const uint64_t *words;
	uint64_t version;

	words = copy_lap(from, (const uint64_t *)from->data, chunk.size / WORD, false);
	mctracer_decode(&state, words[0]);
	version = state.value >> MCTRACER_STREAM_VERSION_SHIFT;
	if (version != MCTRACER_VERSION)
		ring_die_version(from->path, version);
	if (chunk.size > 2 * WORD) {
		mctracer_decode(&state, words[1]);
		mctracer_decode(&state, words[2]);
	}
	if (!state.base || state.cpu >= RECORDING_CPUS)
		die("%s does not name its CPU and base (offset 0)", from->path);
	from->base = state.base;
	chunk.cpu = state.cpu;
	look_at(found, words, chunk.size / WORD);
	recording_add_words(from, &chunk, words, chunk.size);
	if (chunk.size != from->size)
		recording_note_damage(from, chunk.size, "it ends within a word");
}

static void describe(struct recording *from, const struct found_in_words *found)
{
	char *info = xasprintf("mode %s\noptions %s %s\n", found->returns ? "graph" : "function",
			       found->times ? "time" : "notime",
			       found->contexts ? "context" : "nocontext");

	recording_add_info(from, info, strlen(info));
	free(info);
	from->is_raw = true;
	from->ended = true;
}

void recording_find_rings(struct recording *from, enum raw_kind kind)
{
	struct found_in_words found = { };

	if (kind == RAW_RINGS)
		add_rings(from, &found);
	else
		add_bare_words(from, &found);
	if (!from->nr_cpus)
		die("%s has no words that this mctrace knows (offset 0)", from->path);
	describe(from, &found);
}

/* Return true if a file that is not the kernel's has @size bytes: beyond its end is no memory. */
static bool is_long_enough(const struct recording *from, int fd, uint64_t size)
{
	struct stat st;

	return from->is_live || (!fstat(fd, &st) && (uint64_t)st.st_size >= size);
}

/*
 * Copy a ring that the kernel may be writing: a barrier separates loading head, copying the ring,
 * and loading head again. Words that may have been overwritten in between are omitted. Return false
 * and set errno if @fd can't be mapped, or is no ring.
 */
static bool copy_ring(struct recording *from, int fd, struct found_in_words *found)
{
	const unsigned int before = from->nr_cpus;
	const struct mctracer_ring_header *mapped;
	struct mctracer_ring_header header;
	uint64_t *ring, latest;
	int tries = 10;
	size_t size;

	errno = EINVAL;
	if (!is_long_enough(from, fd, sizeof(*mapped)))
		return false;
	mapped = mmap(NULL, sizeof(*mapped), PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return false;
	header = *mapped;
	munmap((void *)mapped, sizeof(*mapped));
	if (header.magic == MCTRACER_MAGIC && header.version != MCTRACER_VERSION)
		ring_die_version(from->path, header.version);
	size = header.header_size + header.ring_size;
	errno = EINVAL;
	if (!is_whole(&header, UINT64_MAX) || !is_long_enough(from, fd, size))
		return false;
	mapped = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED)
		return false;
	ring = xcalloc(1, header.ring_size);
	do {
		header = *mapped;
		barrier();
		memcpy(ring, (const char *)mapped + header.header_size, header.ring_size);
		barrier();
		latest = READ_ONCE(mapped->head);
	} while (distance(header.head, latest) >= header.ring_size / 2 && --tries);
	from->base = header.base;
	add_ring(from, &header, ring, header.ring_size, header.head & MCTRACER_POSITION_MASK,
		 latest & MCTRACER_POSITION_MASK, found);
	free(ring);
	munmap((void *)mapped, size);
	if (from->nr_cpus == before && !tries)
		die("%s is written faster than it can be read: 'mctrace stop' first", from->path);
	return true;
}

bool recording_map_ring(struct recording *from, int fd)
{
	struct found_in_words found = { };

	if (!copy_ring(from, fd, &found))
		return false;
	if (!from->nr_cpus)
		die("%s is empty: nothing was recorded on this CPU", from->path);
	describe(from, &found);
	from->is_own = true;
	return true;
}

bool recording_map_rings(struct recording *from, int folder)
{
	struct found_in_words found = { };
	bool any = false;
	unsigned int cpu;
	struct stat st;
	char *name;
	int fd;

	for (cpu = 0; cpu < RECORDING_CPUS; cpu++) {
		name = xasprintf("per_cpu/cpu%u/raw", cpu);
		fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
		free(name);
		if (fd < 0 && errno == ENOENT)
			continue;	/* possible CPUs may have gaps */
		if (fd < 0)
			die_errno("per_cpu/cpu%u/raw in %s", cpu, from->path);
		if (!copy_ring(from, fd, &found))
			die("per_cpu/cpu%u/raw in %s is no ring that can be mapped: %s", cpu,
			    from->path, strerror(errno));
		if (!fstat(fd, &st))
			output_add_input(&st);
		any = true;
		close(fd);
	}
	if (!any)
		return false;
	if (!from->nr_cpus)
		die("%s is empty: nothing was recorded", from->path);
	describe(from, &found);
	from->is_own = from->is_live;
	return true;
}
