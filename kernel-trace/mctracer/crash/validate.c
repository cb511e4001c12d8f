// SPDX-License-Identifier: GPL-2.0
/* Validate persistent rings; see validate.h. */
#include <linux/ctype.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../ring/cursor.h"
#include "../ring/words.h"
#include "validate.h"

#define PAGE_WORDS	(SZ_4K / MCTRACER_WORD_SIZE)

/* At the end, so many words may be uncommitted, with an interrupt's words after them. */
#define UNCOMMITTED	128

#define CONTEXT_BITS	(MCTRACER_PREEMPT_DEPTH | 0xff00 | MCTRACER_HARDIRQ | MCTRACER_NMI | \
			 MCTRACER_IRQS_OFF | MCTRACER_NEED_RESCHED | MCTRACER_PREEMPT_RESCHED | \
			 MCTRACER_CONTEXT_UNKNOWN)

static const char *validate_header(const struct mctracer_persistent *header, size_t size)
{
	if (header->magic != MCTRACER_PERSISTENT_MAGIC)
		return "nothing is there";
	if (header->version != MCTRACER_PERSISTENT_VERSION ||
	    header->words_version != MCTRACER_VERSION ||
	    header->bits != BITS_PER_LONG)
		return "another kind of kernel has written it";
	if (header->sum != mctracer_persistent_sum(header))
		return "its header is damaged";
	if (!is_power_of_2(header->ring_size) || header->ring_size < MCTRACER_RING_MIN_SIZE ||
	    header->ring_size > MCTRACER_RING_MAX_SIZE || !header->nr_rings ||
	    size < MCTRACER_PERSISTENT_RINGS_AT ||
	    header->nr_rings > (size - MCTRACER_PERSISTENT_RINGS_AT) / (size_t)header->ring_size)
		return "the rings do not fit in";
	if (header->text >= header->text_end || header->modules >= header->modules_end ||
	    header->clock.shift > 31 || !header->clock.mult)
		return "its header makes no sense";
	return NULL;
}

const char *mctracer_validate_header(struct mctracer_persistent *header, const void *area,
				     size_t size)
{
	const char *wrong, *first = NULL;
	int i;

	if (size < MCTRACER_PERSISTENT_RINGS_AT)
		return "it is too small";
	for (i = 0; i < 2; i++) {
		memcpy(header, area + MCTRACER_PERSISTENT_HEADER(i), sizeof(*header));
		wrong = validate_header(header, size);
		if (!wrong)
			return NULL;
		first = first ?: wrong;
	}
	return first;
}

bool mctracer_validate_same(const struct mctracer_persistent *header,
			    const struct mctracer_persistent *now)
{
	return header->has_id == 1 && now->has_id &&
	       !memcmp(header->build_id, now->build_id, sizeof(now->build_id)) &&
	       header->text_end - header->text == now->text_end - now->text;
}

bool mctracer_validate_module(const struct mctracer_persistent_module *module)
{
	size_t i, n = strnlen(module->name, sizeof(module->name));

	if (!module->size || !n || n == sizeof(module->name) ||
	    module->sum != mctracer_persistent_module_sum(module))
		return false;
	for (i = 0; i < n; i++)
		if (!isascii(module->name[i]) || !isgraph(module->name[i]))
			return false;
	return true;
}

/*
 * The heads are not stored. Before the head, words have the last lap's bit 63; from the head on,
 * that of the lap before. Find the last place where the fewest words have the wrong bit.
 */
void mctracer_validate_range(struct mctracer_validate_range *range, const u64 *ring, size_t slots)
{
	/* Bits 63 so far: zeroes less ones; the minimum and maximum, and their last places. */
	long sum = 0, least = 0, most = 0;
	size_t least_at = 0, most_at = 0, i;
	bool wrapped = false;

	for (i = 0; i < slots; i++) {
		if (!(i % PAGE_WORDS))
			mctracer_cond_resched();
		sum += ring[i] & MCTRACER_WORD_VALID ? -1 : 1;
		if (sum <= least) {
			least = sum;
			least_at = i + 1;
		}
		if (sum >= most) {
			most = sum;
			most_at = i + 1;
		}
	}
	/* There are (slots - sum) / 2 ones. So many words are wrong if the last lap has 1, or 0: */
	range->lap = ((long)slots - sum) / 2 + least <= ((long)slots + sum) / 2 - most;
	range->head = range->lap ? least_at : most_at;
	for (i = range->head; i < min(range->head + UNCOMMITTED, slots); i++)
		if (!!(ring[i] & MCTRACER_WORD_VALID) == range->lap && ring[i])
			range->head = i + 1;

	for (i = range->head; i < slots && !wrapped; i++)
		wrapped = ring[i];
	range->slots = slots;
	range->from = 0;
	range->words = range->head;
	if (wrapped) {	/* also the lap before, from its first sync point on */
		range->from = round_up(range->head, slots / 4);
		range->words = slots - (range->from - range->head);
	}
}

static bool validate_is_text(const struct mctracer_persistent *header, u32 ip)
{
	return ip - header->text <= header->text_end - header->text ||
	       ip - header->modules <= header->modules_end - header->modules;
}

/* Return true if a MCTRACER_MORE may continue the current packet. */
static bool validate_may_continue(const struct mctracer_state *state)
{
	if (state->packet == MCTRACER_TASK)
		return state->more < 3;
	return (state->packet == MCTRACER_VALUE ||
		state->packet == MCTRACER_PACKET_META + MCTRACER_CLOCK) && state->more < 1;
}

/* Return true for the clock of that boot, whose rate the kernel refines by far less than 1/16. */
static bool validate_clock(const struct mctracer_clock *then, u64 value)
{
	const u64 mult = (u32)value, shift = value >> MCTRACER_CLOCK_SHIFT & 63;
	const u64 other = MCTRACER_CLOCK_IS_NS << 1 | ~0ULL << (MCTRACER_CLOCK_HIGH + 5);
	u64 rate, was;

	if (value & other)
		return false;
	if (value & MCTRACER_CLOCK_IS_NS)
		return mult == 1 && !shift;
	if (then->is_ns || shift > 31)
		return false;
	rate = mult << then->shift;
	was = (u64)then->mult << shift;
	return max(rate, was) - min(rate, was) <= was / 16;
}

static bool validate_meta(const struct mctracer_persistent *header, u64 data)
{
	const u64 value = data & (BIT_ULL(MCTRACER_META_SHIFT) - 1);

	switch (data >> MCTRACER_META_SHIFT) {
	case MCTRACER_COUNT:
	case MCTRACER_GAP:
	case MCTRACER_TOOK:
		return true;
	case MCTRACER_CLOCK:
		return validate_clock(&header->clock, value);
	case MCTRACER_FRAME:
	case MCTRACER_MODULES:
		return !(value >> 32);
	case MCTRACER_MARK:
		return value >> MCTRACER_MARK_SHIFT <= MCTRACER_MARK_FOLLOW_FULL;
	case MCTRACER_OBJECT:
		return value < 2 * MCTRACER_OBJECT_ENDS;
	}
	return false;
}

/* Return true if @word may come in this @state. */
static bool validate_word(const struct mctracer_persistent *header,
			  const struct mctracer_state *state,
			  u64 word)
{
	const u64 data = mctracer_word_data(word);

	if (mctracer_word_is_call(word))
		return validate_is_text(header, word);
	switch (mctracer_word_type(word)) {
	case MCTRACER_MORE:
		return validate_may_continue(state);
	case MCTRACER_CONTEXT:
		return !(data & ~(u64)CONTEXT_BITS);
	case MCTRACER_DATA:
		return (data >> MCTRACER_DATA_SHIFT) - 1 < MCTRACER_DATA_BYTES;
	case MCTRACER_RETURN:
		return data >> MCTRACER_RETURN_SHIFT <= MCTRACER_RETURN_TAIL &&
		       validate_is_text(header, (u32)data | BIT(31));
	case MCTRACER_META:
		return validate_meta(header, data);
	}
	return true;
}

/* Replace a dropped page of @n words by an unknown task and a mark, if there is room for them. */
static void validate_put_damaged(u64 *to, size_t n)
{
	const struct mctracer_state state = {
		.known = MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_CONTEXT,
		.context = MCTRACER_CONTEXT_UNKNOWN, .comm = "<...>",
	};

	if (n < mctracer_words_of(state.known) + 1)
		return;
	to = mctracer_compose(to, &state);
	*to = mctracer_meta_word(MCTRACER_MARK, BIT_ULL(31) |
				 (u64)MCTRACER_MARK_DAMAGED << MCTRACER_MARK_SHIFT);
}

/*
 * Copy a page of @n words, with zeroes for invalid ones. Return false if more than a quarter of the
 * words is invalid or zero.
 */
static bool validate_page(u64 *to, const u64 *ring, const struct mctracer_validate_range *range,
			  size_t at, size_t n, const struct mctracer_persistent *header,
			  struct mctracer_validate_sums *sums)
{
	struct mctracer_state state = { .packet = ~0U };
	size_t i, slot, bad = 0, nothing = 0;
	u64 events = 0, word;
	bool last_lap;

	for (i = 0; i < n; i++) {
		slot = (range->from + at + i) & (range->slots - 1);
		word = ring[slot];
		nothing += !word;
		last_lap = slot < range->head;
		if (last_lap != range->lap)
			word ^= MCTRACER_WORD_VALID;
		/* A page may begin with the end of the previous page's last packet. */
		if (!(word & MCTRACER_WORD_VALID) ||
		    (!validate_word(header, &state, word) &&
		     (i > 2 || mctracer_word_is_call(word) ||
		      mctracer_word_type(word) != MCTRACER_MORE))) {
			bad++;
			to[i] = 0;
			state.packet = ~0U;
			continue;
		}
		to[i] = word;
		events += mctracer_word_counts(word);
		mctracer_decode(&state, word);
	}
	if (max(bad, nothing) > n / 4)
		return false;
	sums->bad_words += bad;
	sums->events += events;
	return true;
}

/* Drop each time later than both of the next two times, unless the clock changes in between. */
static void validate_times(u64 *words, size_t n, struct mctracer_validate_sums *sums)
{
	u64 time, next = U64_MAX, after = U64_MAX;

	while (n--) {
		if (!(n % PAGE_WORDS))
			mctracer_cond_resched();
		if (mctracer_word_is_meta(words[n], MCTRACER_CLOCK)) {
			next = U64_MAX;
			after = U64_MAX;
		}
		if (!words[n] || mctracer_word_is_call(words[n]) ||
		    mctracer_word_type(words[n]) != MCTRACER_TIME)
			continue;
		time = mctracer_word_data(words[n]);
		if (!time)
			continue;
		if (time > next && time > after) {
			words[n] = 0;
			sums->bad_words++;
			continue;
		}
		after = next;
		next = time;
	}
}

void mctracer_validate_words(u64 *to, const u64 *ring, const struct mctracer_validate_range *range,
			     const struct mctracer_persistent *header,
			     struct mctracer_validate_sums *sums)
{
	bool good = true;
	size_t at, n;

	for (at = 0; at < range->words; at += n) {
		mctracer_cond_resched();
		n = min(range->words - at, PAGE_WORDS);
		if (validate_page(to + at, ring, range, at, n, header, sums)) {
			good = true;
			continue;
		}
		memset(to + at, 0, n * sizeof(*to));
		sums->bad_pages++;
		if (good)
			validate_put_damaged(to + at, n);
		good = false;
	}
	validate_times(to, range->words, sums);
}
