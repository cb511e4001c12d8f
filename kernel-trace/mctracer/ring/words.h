/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compose meta words, which uapi/linux/mctracer_decode.h decodes. Functions that hooks call inline
 * these, too.
 */
#ifndef _KERNEL_TRACE_MCTRACER_WORDS_H
#define _KERNEL_TRACE_MCTRACER_WORDS_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <uapi/linux/mctracer.h>
#include <uapi/linux/mctracer_decode.h>

/* State that is repeated at each sync point, for readers that start there. */
#define MCTRACER_SYNC		(MCTRACER_KNOWS_COUNT | MCTRACER_KNOWS_CLOCK |	\
				 MCTRACER_KNOWS_TIME | MCTRACER_KNOWS_CONTEXT |	\
				 MCTRACER_KNOWS_MODULES | MCTRACER_KNOWS_TASK)
#define MCTRACER_SYNC_WORDS	10

/* Return how many words hold the state in @known, MCTRACER_KNOWS_TASK and so on. */
static __always_inline unsigned int mctracer_words_of(u32 known)
{
	return !!(known & MCTRACER_KNOWS_COUNT) + 2 * !!(known & MCTRACER_KNOWS_CLOCK) +
	       !!(known & MCTRACER_KNOWS_TIME) + !!(known & MCTRACER_KNOWS_CONTEXT) +
	       !!(known & MCTRACER_KNOWS_MODULES) + 4 * !!(known & MCTRACER_KNOWS_TASK);
}

static inline bool mctracer_word_is_meta(u64 word, unsigned int which)
{
	return !mctracer_word_is_call(word) && mctracer_word_type(word) == MCTRACER_META &&
	       mctracer_word_data(word) >> MCTRACER_META_SHIFT == which;
}

/* Return true if @word comes before its event in a packet: an attribute, or the rest of one. */
static inline bool mctracer_word_precedes_event(u64 word)
{
	return !mctracer_word_is_call(word) &&
	       (mctracer_word_type(word) == MCTRACER_MORE ||
		mctracer_word_type(word) == MCTRACER_VALUE ||
		mctracer_word_type(word) == MCTRACER_DATA ||
		mctracer_word_is_meta(word, MCTRACER_TOOK) ||
		mctracer_word_is_meta(word, MCTRACER_OBJECT));
}

static __always_inline u64 mctracer_comm_chars(const char *comm, unsigned int n)
{
	u64 chars = 0;

	while (n--)
		chars = chars << 8 | (u8)comm[n];
	return chars;
}

/* Write all known state to the words from @word on. Return the address behind the last word. */
static __always_inline u64 *mctracer_compose(u64 *word, const struct mctracer_state *state)
{
	const struct mctracer_clock *clock = &state->clock;
	u64 offset = clock->offset;

	if (state->known & MCTRACER_KNOWS_COUNT)
		*word++ = mctracer_meta_word(MCTRACER_COUNT, state->calls);
	if (state->known & MCTRACER_KNOWS_CLOCK) {
		*word++ = mctracer_meta_word(MCTRACER_CLOCK, clock->mult |
					     (u64)clock->shift << MCTRACER_CLOCK_SHIFT |
					     (clock->is_ns ? MCTRACER_CLOCK_IS_NS : 0) |
					     offset >> MCTRACER_DATA_BITS << MCTRACER_CLOCK_HIGH);
		*word++ = mctracer_word(MCTRACER_MORE, offset);
	}
	if (state->known & MCTRACER_KNOWS_TIME)
		*word++ = mctracer_word(MCTRACER_TIME, state->time >> 1);
	if (state->known & MCTRACER_KNOWS_CONTEXT)
		*word++ = mctracer_word(MCTRACER_CONTEXT, state->context);
	if (state->known & MCTRACER_KNOWS_MODULES)
		*word++ = mctracer_meta_word(MCTRACER_MODULES, state->modules);
	if (state->known & MCTRACER_KNOWS_TASK) {
		*word++ = mctracer_word(MCTRACER_TASK, state->pid |
					(u64)(u8)state->comm[0] << MCTRACER_COMM_SHIFT);
		*word++ = mctracer_word(MCTRACER_MORE, state->tgid);
		*word++ = mctracer_word(MCTRACER_MORE, mctracer_comm_chars(state->comm + 1,
									   MCTRACER_COMM_CHARS));
		*word++ = mctracer_word(MCTRACER_MORE,
					mctracer_comm_chars(state->comm + 1 + MCTRACER_COMM_CHARS,
							    MCTRACER_COMM_CHARS));
	}
	return word;
}

/*
 * Compose the sync words for a reader that starts where @state is the state. Return their number.
 */
static inline unsigned int mctracer_compose_sync_words(const struct mctracer_state *state,
						       u64 words[MCTRACER_SYNC_WORDS])
{
	struct mctracer_state sync = *state;

	if (!(sync.known & MCTRACER_KNOWS_CONTEXT))
		sync.context = MCTRACER_CONTEXT_UNKNOWN;
	sync.known |= MCTRACER_KNOWS_TIME | MCTRACER_KNOWS_COUNT | MCTRACER_KNOWS_CONTEXT;
	return mctracer_compose(words, &sync) - words;
}

/* Words contain addresses relative to this: text and modules are in the upper 2 GiB. */
#define MCTRACER_BASE		((unsigned long)INT_MIN)

#define MCTRACER_STREAM_WORDS	3

/* Compose the words that read() begins with. Return their number. */
static inline unsigned int mctracer_compose_stream(u64 words[MCTRACER_STREAM_WORDS], u32 cpu)
{
	words[0] = mctracer_meta_word(MCTRACER_STREAM, MCTRACER_MAGIC |
				      (u64)MCTRACER_VERSION << MCTRACER_STREAM_VERSION_SHIFT);
	words[1] = mctracer_word(MCTRACER_MORE, cpu);
	words[2] = mctracer_word(MCTRACER_MORE, MCTRACER_BASE >> MCTRACER_BASE_SHIFT);
	return MCTRACER_STREAM_WORDS;
}

#define MCTRACER_VALUE_WORDS	2

/* Store @value as one or two words. Return their number. */
static __always_inline unsigned int mctracer_value_words(u64 *words, u64 value)
{
	words[0] = mctracer_word(MCTRACER_VALUE, value);
	if ((s64)(value << (64 - MCTRACER_DATA_BITS)) >> (64 - MCTRACER_DATA_BITS) == (s64)value)
		return 1;
	words[1] = mctracer_word(MCTRACER_MORE, value >> MCTRACER_DATA_BITS);
	return 2;
}

#endif /* _KERNEL_TRACE_MCTRACER_WORDS_H */
