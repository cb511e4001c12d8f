/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * mctracer's words as events, and their times. Used by the kernel and by programs; knows no rings.
 *
 * Begin with a struct mctracer_state of zeroes, and call mctracer_decode() for each word,
 * with bit 63 as it is in words that are whole. Where words before were overwritten, begin with
 * what a struct mctracer_notes finds in those that follow.
 */
#ifndef _UAPI_LINUX_MCTRACER_DECODE_H
#define _UAPI_LINUX_MCTRACER_DECODE_H

#include "mctracer.h"

enum mctracer_event {
	MCTRACER_EVENT_NONE,	/* a part of something, or nothing */
	MCTRACER_EVENT_CALL,	/* ip, parent_ip, args, by the task, in the context */
	MCTRACER_EVENT_TIME,	/* time */
	MCTRACER_EVENT_TASK,	/* pid, and with the next words the rest */
	MCTRACER_EVENT_CONTEXT,	/* context */
	MCTRACER_EVENT_COUNT,	/* calls */
	MCTRACER_EVENT_CLOCK,	/* with the next word: clock */
	MCTRACER_EVENT_GAP,	/* value */
	MCTRACER_EVENT_FRAME,	/* value: one more address of the last call's chain */
	MCTRACER_EVENT_MARK,	/* value: which; ip; took if has says so */
	MCTRACER_EVENT_RETURN,	/* value: how; ip; by the task, in the context; as has says */
	MCTRACER_EVENT_UNKNOWN,
};

#define MCTRACER_COMM_LEN	16
#define MCTRACER_ENTITY_OTHER	8

/* In known: what has been said so far. */
#define MCTRACER_KNOWS_TASK	1
#define MCTRACER_KNOWS_TIME	2
#define MCTRACER_KNOWS_CLOCK	4
#define MCTRACER_KNOWS_COUNT	8
#define MCTRACER_KNOWS_CONTEXT	16
#define MCTRACER_KNOWS_MODULES	32

/* In has: what has been said of a return, or a mark. */
#define MCTRACER_HAS_RESULT	1
#define MCTRACER_HAS_TOOK	2

#define MCTRACER_TORN		0x10000	/* in nr_said: more than there can be */

/**
 * struct mctracer_clock - how times become nanoseconds, see MCTRACER_CLOCK
 * @offset: nanoseconds at time 0
 * @mult: times this
 * @shift: and so many bits to the right
 * @is_ns: times are of CLOCK_MONOTONIC; else, of the cycle counter
 */
struct mctracer_clock {
	__s64 offset;
	__u32 mult;
	__u32 shift;
	__u32 is_ns;
};

/**
 * struct mctracer_state - what the words so far have said
 * @ip: of the last call, return or mark, an address in the function, low half
 * @parent_ip: of the last call, the place in its caller, low half
 * @time: the last time word's
 * @calls: how many calls and returns there are before the next word, since counting began
 * @value: of the last gap, its calls; of a mark, which; of a return, MCTRACER_RETURN_TAIL
 *	and so on; of a frame, its address, low half
 * @result: what the last return that has one returns
 * @args: what the registers of the last call's arguments held that has some
 * @objects: which objects the last call or return that has some concerns, as MCTRACER_OBJECT
 *	has them
 * @nr_objects: how many of these, if the last event is a call or return
 * @nr_objects_said: the same of one that is to come
 * @nr_args: how many of these, if the last event is a call
 * @nr_said: the same of one that is to come, or more than there can be
 * @data: what lay in memory where an argument of the last call points to that has some
 * @nr_data: how many bytes of it, if the last event is a call
 * @nr_data_said: the same of one that is to come
 * @took: how long the call of the last return or mark took that has it, in nanoseconds
 * @clock: what @time is of
 * @context: of the calls that come next
 * @pid: their task's
 * @tgid: their process's
 * @modules: how many times modules had come or gone
 * @known: MCTRACER_KNOWS_TASK and so on
 * @has: MCTRACER_HAS_RESULT and so on, of the last return or mark
 * @said: the same of one that is to come
 * @entity: type of the last word that was no MCTRACER_MORE; of one of MCTRACER_OTHER,
 *	MCTRACER_ENTITY_OTHER and which
 * @more: how many of MCTRACER_MORE came since
 * @comm: the task's name
 */
struct mctracer_state {
	__u32 ip;
	__u32 parent_ip;
	__u64 time;
	__u64 calls;
	__u64 value;
	__u64 result;
	__u64 args[MCTRACER_ARGS];
	__u32 nr_args;
	__u32 nr_said;
	__u64 objects[MCTRACER_OBJECTS];
	__u32 nr_objects;
	__u32 nr_objects_said;
	__u8 data[MCTRACER_DATA_MAX];
	__u32 nr_data;
	__u32 nr_data_said;
	__u64 took;
	struct mctracer_clock clock;
	__u32 context;
	__u32 pid;
	__u32 tgid;
	__u32 modules;
	__u32 known;
	__u32 has;
	__u32 said;
	__u32 entity;
	__u32 more;
	char comm[MCTRACER_COMM_LEN];
};

static inline int mctracer_word_is_call(__u64 word)
{
	return (word & MCTRACER_WORD_CALL) != 0;
}

static inline __u32 mctracer_word_type(__u64 word)
{
	return (__u32)word >> MCTRACER_TYPE_SHIFT & 7;
}

/*
 * Is it one of those that MCTRACER_COUNT counts? Both are at the upper end of what the lower 32
 * bits may be, since readers ask this of every word.
 */
static inline int mctracer_word_counts(__u64 word)
{
	return (__u32)word >= (__u32)MCTRACER_RETURN << MCTRACER_TYPE_SHIFT;
}

static inline __u64 mctracer_word_data(__u64 word)
{
	return (word & 0xfffffff) << 31 | (word >> 32 & 0x7fffffff);
}

static inline __u64 mctracer_word(__u32 type, __u64 data)
{
	return MCTRACER_WORD_VALID | (data & 0x7fffffff) << 32 |
	       (__u64)type << MCTRACER_TYPE_SHIFT | (data >> 31 & 0xfffffff);
}

static inline __u64 mctracer_other_word(__u32 which, __u64 value)
{
	return mctracer_word(MCTRACER_OTHER, (__u64)which << MCTRACER_OTHER_SHIFT |
			     (value & ((1ULL << MCTRACER_OTHER_SHIFT) - 1)));
}

/* Nanoseconds at @time of the clock. */
static inline __u64 mctracer_clock_ns(const struct mctracer_clock *clock, __u64 time)
{
	__u64 low = (time & 0xffffffff) * clock->mult;
	__u64 high = (time >> 32) * clock->mult + (low >> 32);

	low &= 0xffffffff;
	if (clock->shift >= 32)
		return clock->offset + (high >> (clock->shift - 32));
	return clock->offset + (high << (32 - clock->shift)) + (low >> clock->shift);
}

static inline void mctracer_state_put_comm(struct mctracer_state *state, __u32 at, __u64 chars)
{
	__u32 i;

	for (i = 0; i < MCTRACER_COMM_CHARS; i++)
		state->comm[at + i] = (char)(chars >> 8 * i);
}

static inline void mctracer_state_put_data(struct mctracer_state *state, __u64 data)
{
	__u32 i, n = (__u32)(data >> MCTRACER_DATA_SHIFT);

	for (i = 0; i < n && state->nr_data_said < MCTRACER_DATA_MAX; i++)
		state->data[state->nr_data_said++] = (__u8)(data >> 8 * i);
}

/* What was said of an event that does not come. */
static inline void mctracer_forget_said(struct mctracer_state *state)
{
	state->said = 0;
	state->nr_said = 0;
	state->nr_objects_said = 0;
	state->nr_data_said = 0;
}

/* A word is missing: it may have been one of those, so which the others are is not known. */
static inline void mctracer_tear_said(struct mctracer_state *state)
{
	state->said = 0;
	state->nr_said = MCTRACER_TORN;
	state->nr_objects_said = 0;
	state->nr_data_said = 0;
}

static inline enum mctracer_event mctracer_decode_more(struct mctracer_state *state, __u64 data)
{
	state->more++;
	if (state->entity == MCTRACER_TASK) {
		if (state->more <= 2)
			mctracer_state_put_comm(state, 1 + (state->more - 1) * MCTRACER_COMM_CHARS,
						data);
		else if (state->more == 3)
			state->tgid = (__u32)data & ((1U << MCTRACER_PID_BITS) - 1);
	} else if (state->entity == MCTRACER_ENTITY_OTHER + MCTRACER_CLOCK && state->more == 1) {
		state->clock.offset |= (__s64)data;
	} else if (state->entity == MCTRACER_VALUE && state->more == 1) {
		state->result &= (1ULL << MCTRACER_DATA_BITS) - 1;
		state->result |= data << MCTRACER_DATA_BITS;
		if (state->nr_said - 1 < MCTRACER_ARGS)
			state->args[state->nr_said - 1] = state->result;
	}
	return MCTRACER_EVENT_NONE;
}

static inline enum mctracer_event mctracer_decode_other(struct mctracer_state *state, __u64 data)
{
	__u64 value = data & ((1ULL << MCTRACER_OTHER_SHIFT) - 1);
	__u32 which = (__u32)(data >> MCTRACER_OTHER_SHIFT);

	state->entity = MCTRACER_ENTITY_OTHER + which;
	switch (which) {
	case MCTRACER_COUNT:
		state->calls = value;
		state->known |= MCTRACER_KNOWS_COUNT;
		return MCTRACER_EVENT_COUNT;
	case MCTRACER_CLOCK:
		state->clock.mult = (__u32)value;
		state->clock.shift = value >> MCTRACER_CLOCK_SHIFT & 63;
		state->clock.is_ns = (value & MCTRACER_CLOCK_IS_NS) != 0;
		state->clock.offset = (__s64)((value >> MCTRACER_CLOCK_HIGH & 31)
					      << MCTRACER_DATA_BITS);
		state->known |= MCTRACER_KNOWS_CLOCK;
		return MCTRACER_EVENT_CLOCK;
	case MCTRACER_GAP:
		state->value = value;
		return MCTRACER_EVENT_GAP;
	case MCTRACER_FRAME:
		state->value = (__u32)value;
		return MCTRACER_EVENT_FRAME;
	case MCTRACER_MARK:
		state->ip = (__u32)value;
		state->value = value >> MCTRACER_MARK_SHIFT;
		state->has = state->said;
		mctracer_forget_said(state);
		return MCTRACER_EVENT_MARK;
	case MCTRACER_OBJECT:
		if (state->nr_objects_said < MCTRACER_OBJECTS)
			state->objects[state->nr_objects_said++] = value;
		return MCTRACER_EVENT_NONE;
	case MCTRACER_TOOK:
		state->took = value;
		state->said |= MCTRACER_HAS_TOOK;
		return MCTRACER_EVENT_NONE;
	case MCTRACER_MODULES:
		state->modules = (__u32)value;
		state->known |= MCTRACER_KNOWS_MODULES;
		return MCTRACER_EVENT_NONE;
	}
	return MCTRACER_EVENT_UNKNOWN;
}

static inline enum mctracer_event mctracer_decode(struct mctracer_state *state, __u64 word)
{
	__u64 data;
	__u32 type;

	if (mctracer_word_is_call(word)) {
		state->entity = ~0U;
		state->ip = (__u32)word;
		state->parent_ip = (__u32)(word >> 32) | 1U << 31;
		state->nr_args = state->nr_said <= MCTRACER_ARGS ? state->nr_said : 0;
		state->nr_objects = state->nr_objects_said;
		state->nr_data = state->nr_data_said;
		mctracer_forget_said(state);
		state->calls++;
		return MCTRACER_EVENT_CALL;
	}

	data = mctracer_word_data(word);
	type = mctracer_word_type(word);
	if (type == MCTRACER_MORE)
		return mctracer_decode_more(state, data);

	state->more = 0;
	state->entity = type;
	switch (type) {
	case MCTRACER_TIME:
		mctracer_forget_said(state);
		if (!data)
			return MCTRACER_EVENT_NONE;
		state->time = data << 1;
		state->known |= MCTRACER_KNOWS_TIME;
		return MCTRACER_EVENT_TIME;
	case MCTRACER_RETURN:
		state->ip = (__u32)data | 1U << 31;
		state->value = data >> MCTRACER_RETURN_SHIFT;
		state->has = state->said;
		state->nr_objects = state->nr_objects_said;
		mctracer_forget_said(state);
		state->calls++;
		return MCTRACER_EVENT_RETURN;
	case MCTRACER_VALUE:
		state->result = (data ^ 1ULL << (MCTRACER_DATA_BITS - 1)) -
				(1ULL << (MCTRACER_DATA_BITS - 1));
		if (state->nr_said < MCTRACER_ARGS)
			state->args[state->nr_said] = state->result;
		state->nr_said++;
		state->said |= MCTRACER_HAS_RESULT;
		return MCTRACER_EVENT_NONE;
	case MCTRACER_DATA:
		mctracer_state_put_data(state, data);
		return MCTRACER_EVENT_NONE;
	case MCTRACER_TASK:
		state->pid = (__u32)data & ((1U << MCTRACER_PID_BITS) - 1);
		state->tgid = state->pid;
		state->comm[0] = (char)(data >> MCTRACER_COMM_SHIFT);
		state->comm[1] = '\0';
		state->comm[MCTRACER_COMM_LEN - 1] = '\0';
		state->known |= MCTRACER_KNOWS_TASK;
		return MCTRACER_EVENT_TASK;
	case MCTRACER_CONTEXT:
		state->context = (__u32)data;
		state->known |= MCTRACER_KNOWS_CONTEXT;
		return MCTRACER_EVENT_CONTEXT;
	case MCTRACER_OTHER:
		return mctracer_decode_other(state, data);
	}
	return MCTRACER_EVENT_UNKNOWN;
}

/* Whether a word tells of another clock than there was. */
static inline int mctracer_is_other_clock(const struct mctracer_state *state, __u64 word)
{
	struct mctracer_state then = { .calls = 0 };

	if (mctracer_word_is_call(word) || mctracer_word_type(word) != MCTRACER_OTHER)
		return 0;
	return mctracer_decode(&then, word) == MCTRACER_EVENT_CLOCK &&
	       (then.clock.mult != state->clock.mult || then.clock.shift != state->clock.shift ||
		then.clock.is_ns != state->clock.is_ns);
}

/**
 * struct mctracer_notes - what words say of those before them
 * @ahead: what the words so far have said; zeroes at first
 * @time: the first time among them
 * @calls: calls and returns until @counted
 * @behind: how many there had been before the first word
 * @counted: that is known
 */
struct mctracer_notes {
	struct mctracer_state ahead;
	__u64 time;
	__u64 calls;
	__u64 behind;
	__u32 counted;
};

/* One more word. Not 0 when they have said what mctracer_notes_state() needs. */
static inline int mctracer_notes_take(struct mctracer_notes *notes, __u64 word)
{
	if (!notes->counted)
		notes->calls += mctracer_word_counts(word);
	mctracer_decode(&notes->ahead, word);
	if (notes->ahead.known & MCTRACER_KNOWS_COUNT && !notes->counted) {
		notes->counted = 1;
		notes->behind = notes->ahead.calls - notes->calls;
	}
	if (notes->ahead.known & MCTRACER_KNOWS_TIME && !notes->time)
		notes->time = notes->ahead.time;
	return notes->ahead.known & MCTRACER_KNOWS_TASK && notes->ahead.more >= 3;
}

/* The state in which the first of these words is to be decoded. */
static inline struct mctracer_state mctracer_notes_state(const struct mctracer_notes *notes)
{
	struct mctracer_state state = notes->ahead;

	state.time = notes->time;
	state.calls = notes->counted ? notes->behind : state.calls - notes->calls;
	state.context = MCTRACER_CONTEXT_UNKNOWN;
	state.entity = ~0U;
	return state;
}

/**
 * struct mctracer_pace - how fast calls come from one time to the next, to estimate their times
 * @usual: the time from one call to the next, as it was before; 0: not known
 * @step: the same, from here to the next time
 * @next: what is usual behind that
 *
 * The calls between two times are taken to be evenly spaced; but if that is far from the usual
 * pace, to come at the usual pace after the first, and a pause before the second.
 */
struct mctracer_pace {
	__u64 usual;
	__u64 step;
	__u64 next;
};

/* @step: from this time to the next, for each call between them; 0: the next is not known */
static inline void mctracer_pace_set(struct mctracer_pace *pace, __u64 step)
{
	pace->step = step;
	pace->next = step;
	if (!step) {
		pace->step = pace->usual;
		pace->next = pace->usual;
	} else if (pace->usual && step > 2 * pace->usual) {	/* there was a pause */
		pace->step = pace->usual;
		pace->next = pace->usual + pace->usual / 64 + 1;
	} else if (pace->usual) {
		pace->next = (7 * pace->usual + step) / 8;
	}
}

#endif /* _UAPI_LINUX_MCTRACER_DECODE_H */
