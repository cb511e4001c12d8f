// SPDX-License-Identifier: GPL-2.0
/*
 * Read a ring while the kernel writes it: the steps of linux/mctracer.h, for a block of words at
 * once. Load head (1), then the words up to head (2), then head again (3). If head is then more
 * than a ring ahead of the block's first word, the kernel may have overwritten the block meanwhile,
 * so drop the block. Bit 63 of a word tells whether the word is written (4).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mctracer.h"
#include "ring.h"
#include "tracer.h"
#include "util.h"

#define WORD	sizeof(uint64_t)

/*
 * Load a 64-bit counter. A 32-bit program needs two loads for what the kernel writes at once:
 * repeat until the high half is stable.
 */
static uint64_t load(const __u64 *counter)
{
	const uint32_t *halves = (const uint32_t *)counter;
	uint32_t high, low;

	if (sizeof(long) == sizeof(*counter))
		return READ_ONCE(*counter);
	do {
		high = READ_ONCE(halves[1]);
		barrier();
		low = READ_ONCE(halves[0]);
		barrier();
	} while (high != READ_ONCE(halves[1]));
	return (uint64_t)high << 32 | low;
}

/*
 * Load a word: in a 32-bit program the half with bit 63 first, because the kernel writes that half
 * last.
 */
static uint64_t load_word(const uint64_t *word)
{
	const uint32_t *halves = (const uint32_t *)word;
	uint32_t high;

	if (sizeof(long) == sizeof(*word))
		return READ_ONCE(*word);
	high = READ_ONCE(halves[1]);
	barrier();
	return (uint64_t)high << 32 | READ_ONCE(halves[0]);
}

static uint64_t distance(uint64_t from, uint64_t to)
{
	return (to - from) & MCTRACER_POSITION_MASK;
}

static uint64_t head_of(const struct ring *ring)
{
	return load(&ring->header->head) & MCTRACER_POSITION_MASK;
}

/* Return the first sync point at or after @pos. */
static uint64_t next_notes(const struct ring *ring, uint64_t pos)
{
	return (pos + ring->notes - 1) & -ring->notes & MCTRACER_POSITION_MASK;
}

static void find_start(struct ring *ring)
{
	uint64_t head;

	ring->start = load(&ring->header->start);
	barrier();
	head = head_of(ring);
	ring->pos = ring->start & -ring->notes;
	if (distance(ring->pos, head) > ring->size)
		ring->pos = next_notes(ring, head - ring->size);
}

void ring_die_version(const char *name, uint64_t version)
{
	die("%s is of version %llu, this mctrace knows %u: use that of its kernel", name,
	    (unsigned long long)version, MCTRACER_VERSION);
}

bool ring_header_is_known(const struct mctracer_ring_header *header)
{
	return header->magic == MCTRACER_MAGIC && header->version == MCTRACER_VERSION &&
	       header->ring_size && !(header->ring_size & (header->ring_size - 1)) &&
	       header->sync_every && !(header->ring_size % header->sync_every);
}

void ring_open(struct ring *ring, int cpu)
{
	const struct mctracer_ring_header *header;
	long page = sysconf(_SC_PAGESIZE);
	char *file = xasprintf("per_cpu/cpu%d/raw", cpu);
	int fd = open(tracer_path(file), O_RDONLY | O_CLOEXEC);

	memset(ring, 0, sizeof(*ring));
	if (fd < 0)
		tracer_die(file);
	header = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		die_errno("mapping %s", tracer_path(file));
	if (!ring_header_is_known(header))
		ring_die_version(tracer_path(file), header->version);
	ring->size = header->ring_size;
	ring->notes = header->sync_every;
	ring->mapped = header->header_size + ring->size;
	munmap((void *)header, page);

	header = mmap(NULL, ring->mapped, PROT_READ, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		die_errno("mapping %s", tracer_path(file));
	close(fd);
	free(file);
	ring->header = header;
	ring->words = (const uint64_t *)((const char *)header + header->header_size);
	find_start(ring);
}

void ring_close(struct ring *ring)
{
	munmap((void *)ring->header, ring->mapped);
}

uint64_t ring_ahead(const struct ring *ring)
{
	return distance(ring->pos, head_of(ring));
}

/*
 * Continue at the first sync point of the newest 3/4 of the ring: the kernel is about to overwrite
 * the older words.
 */
static void go_on_later(struct ring *ring)
{
	ring->pos = next_notes(ring, head_of(ring) - ring->size / 4 * 3);
}

static size_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

size_t ring_copy(struct ring *ring, uint64_t *words, size_t room, uint64_t *pos)
{
	uint64_t offset, head, word, flip;
	size_t i, n;

	for (;;) {
		head = head_of(ring);						/* 1 */
		barrier();
		*pos = ring->pos;
		offset = ring->pos & (ring->size - 1);
		flip = ring->pos & ring->size ? MCTRACER_WORD_VALID : 0;	/* an odd lap */
		n = at_most(room, (ring->size - offset) / WORD);
		n = at_most(n, distance(ring->pos, head) / WORD);
		for (i = 0; i < n; i++) {
			word = load_word(&ring->words[offset / WORD + i]) ^ flip;	/* 2 */
			if (!(word & MCTRACER_WORD_VALID)) {				/* 4 */
				if (distance(ring->pos + i * WORD, head) <= ring->size / 2)
					break;		/* not written yet */
				word = 0;
			}
			words[i] = word;
		}
		barrier();
		if (distance(ring->pos, head_of(ring)) <= ring->size) {		/* 3 */
			ring->pos = (ring->pos + i * WORD) & MCTRACER_POSITION_MASK;
			return i;
		}
		go_on_later(ring);
	}
}
