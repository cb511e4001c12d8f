/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Decode mctracer's words into events with their times. Both the kernel and programs use this; it
 * does not depend on rings.
 *
 * Start with a struct mctracer_state of zeroes, and call mctracer_decode() for each word, with bit
 * 63 set. Where earlier words were overwritten, start with the state that a struct
 * mctracer_sync_words collects from the words that follow.
 */
#ifndef _UAPI_LINUX_MCTRACER_DECODE_H
#define _UAPI_LINUX_MCTRACER_DECODE_H

#include "mctracer.h"

enum mctracer_event {
	MCTRACER_EVENT_NONE,	/* part of a packet, or nothing */
	MCTRACER_EVENT_CALL,	/* ip, parent_ip, args, by the task, in the context */
	MCTRACER_EVENT_TIME,	/* time */
	MCTRACER_EVENT_TASK,	/* pid, and with the next words the rest */
	MCTRACER_EVENT_CONTEXT,	/* context */
	MCTRACER_EVENT_COUNT,	/* calls */
	MCTRACER_EVENT_CLOCK,	/* with the next word: clock */
	MCTRACER_EVENT_GAP,	/* value; see mctracer_gap_calls() */
	MCTRACER_EVENT_FRAME,	/* value: the next return address of the last call's chain */
	MCTRACER_EVENT_MARK,	/* value: the kind; ip; took, if has contains it */
	MCTRACER_EVENT_RETURN,	/* value: flags; ip; by the task, in the context; see has */
	MCTRACER_EVENT_STREAM,	/* value: see MCTRACER_STREAM; with the next words: cpu and base */
	MCTRACER_EVENT_UNKNOWN,
};

#define MCTRACER_COMM_LEN	16
#define MCTRACER_PACKET_META	8

/* Bits of known: the parts of the state that words have set so far. */
#define MCTRACER_KNOWS_TASK	1
#define MCTRACER_KNOWS_TIME	2
#define MCTRACER_KNOWS_CLOCK	4
#define MCTRACER_KNOWS_COUNT	8
#define MCTRACER_KNOWS_CONTEXT	16
#define MCTRACER_KNOWS_MODULES	32

/* Bits of has: the attributes of a return, or a mark. */
#define MCTRACER_HAS_RESULT	1
#define MCTRACER_HAS_TOOK	2

#define MCTRACER_TORN		0x10000	/* in nr_pending: a word is missing */

/**
 * struct mctracer_clock - parameters that convert times to nanoseconds, see MCTRACER_CLOCK
 * @offset: nanoseconds at time 0
 * @mult: the factor
 * @shift: right shift of the product, in bits
 * @is_ns: the times are of CLOCK_MONOTONIC; else of the cycle counter
 */
struct mctracer_clock {
	__s64 offset;
	__u32 mult;
	__u32 shift;
	__u32 is_ns;
};

/**
 * struct mctracer_state - what the words so far have set
 * @base: the address that addresses are relative to, from MCTRACER_STREAM. A program that follows a
 *	mapped ring sets it from the header
 * @ip: an address in the function of the last call, return or mark: its offset from @base, with bit
 *	31 set
 * @parent_ip: the return address of the last call, in the same form
 * @time: the last time word's
 * @calls: number of calls and returns before the next word, since counting began
 * @value: of the last gap, its calls; of a mark, its kind; of a return, MCTRACER_RETURN_TAIL and so
 *	on; of a frame, its address, in the form of @ip
 * @result: the result of the last return that has one
 * @args: the argument registers of the last call that recorded any
 * @objects: the values of MCTRACER_OBJECT of the last call or return that has any
 * @nr_objects: number of @objects, if the last event is a call or return
 * @nr_objects_pending: number of pending @objects, for the next call or return
 * @nr_args: number of @args, if the last event is a call
 * @nr_pending: number of pending values, for the next event; MCTRACER_TORN if a word is missing
 * @data: the memory that an argument of the last call with MCTRACER_DATA points to
 * @nr_data: number of bytes of @data, if the last event is a call
 * @nr_data_pending: number of pending bytes, for the next call
 * @took: duration of the call of the last return or mark that has one, in nanoseconds
 * @clock: parameters of @time
 * @context: of the next calls
 * @pid: of the next calls' task
 * @tgid: of the next calls' process
 * @modules: the number of times that modules were loaded or unloaded
 * @cpu: the CPU, from MCTRACER_STREAM
 * @known: MCTRACER_KNOWS_TASK and so on
 * @has: MCTRACER_HAS_RESULT and so on, of the last return or mark
 * @pending: pending attributes, as @has, for the next return or mark
 * @packet: type of the last word that was no MCTRACER_MORE; for a meta word, MCTRACER_PACKET_META
 *	plus its kind
 * @more: number of MCTRACER_MORE since then
 * @comm: name of the next calls' task
 */
struct mctracer_state {
	__u64 base;
	__u32 ip;
	__u32 parent_ip;
	__u64 time;
	__u64 calls;
	__u64 value;
	__u64 result;
	__u64 args[MCTRACER_ARGS];
	__u32 nr_args;
	__u32 nr_pending;
	__u64 objects[MCTRACER_OBJECTS];
	__u32 nr_objects;
	__u32 nr_objects_pending;
	__u8 data[MCTRACER_DATA_MAX];
	__u32 nr_data;
	__u32 nr_data_pending;
	__u64 took;
	struct mctracer_clock clock;
	__u32 context;
	__u32 pid;
	__u32 tgid;
	__u32 modules;
	__u32 cpu;
	__u32 known;
	__u32 has;
	__u32 pending;
	__u32 packet;
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
 * Return nonzero if MCTRACER_COUNT counts @word: if it is a call or a return. Both have the highest
 * values of the lower 32 bits, so that one comparison is enough: readers test every word.
 */
static inline int mctracer_word_counts(__u64 word)
{
	return (__u32)word >= (__u32)MCTRACER_RETURN << MCTRACER_TYPE_SHIFT;
}

/* Return the whole address of @ip, which is in the form of @state's ip. */
static inline __u64 mctracer_address(const struct mctracer_state *state, __u32 ip)
{
	return state->base + (ip & ~(1U << 31));
}

/* Return the number of calls and returns that a gap with @value counts. */
static inline __u64 mctracer_gap_calls(__u64 value)
{
	return value & ((1ULL << MCTRACER_COUNT_BITS) - 1);
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

static inline __u64 mctracer_meta_word(__u32 which, __u64 value)
{
	return mctracer_word(MCTRACER_META, (__u64)which << MCTRACER_META_SHIFT |
			     (value & ((1ULL << MCTRACER_META_SHIFT) - 1)));
}

/* Return the nanoseconds at @time of the clock. */
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

	for (i = 0; i < n && state->nr_data_pending < MCTRACER_DATA_MAX; i++)
		state->data[state->nr_data_pending++] = (__u8)(data >> 8 * i);
}

/* Drop the pending attributes. */
static inline void mctracer_drop_pending(struct mctracer_state *state)
{
	state->pending = 0;
	state->nr_pending = 0;
	state->nr_objects_pending = 0;
	state->nr_data_pending = 0;
}

/*
 * A word is missing, and it may have been a pending attribute. Drop these, and mark the values as
 * torn, because the next ones can't be assigned to arguments.
 */
static inline void mctracer_tear_pending(struct mctracer_state *state)
{
	state->pending = 0;
	state->nr_pending = MCTRACER_TORN;
	state->nr_objects_pending = 0;
	state->nr_data_pending = 0;
}

static inline enum mctracer_event mctracer_decode_more(struct mctracer_state *state, __u64 data)
{
	state->more++;
	if (state->packet == MCTRACER_TASK) {
		if (state->more == 1)
			state->tgid = (__u32)data & ((1U << MCTRACER_PID_BITS) - 1);
		else if (state->more <= 3)	/* as much of the name as comm has room for */
			mctracer_state_put_comm(state, 1 + (state->more - 2) * MCTRACER_COMM_CHARS,
						data);
	} else if (state->packet == MCTRACER_PACKET_META + MCTRACER_STREAM) {
		if (state->more == 1)
			state->cpu = (__u32)data;
		else if (state->more == 2)
			state->base = data << MCTRACER_BASE_SHIFT;
	} else if (state->packet == MCTRACER_PACKET_META + MCTRACER_CLOCK && state->more == 1) {
		state->clock.offset |= (__s64)data;
	} else if (state->packet == MCTRACER_VALUE && state->more == 1) {
		state->result &= (1ULL << MCTRACER_DATA_BITS) - 1;
		state->result |= data << MCTRACER_DATA_BITS;
		if (state->nr_pending - 1 < MCTRACER_ARGS)
			state->args[state->nr_pending - 1] = state->result;
	}
	return MCTRACER_EVENT_NONE;
}

static inline enum mctracer_event mctracer_decode_meta(struct mctracer_state *state, __u64 data)
{
	__u64 value = data & ((1ULL << MCTRACER_META_SHIFT) - 1);
	__u32 which = (__u32)(data >> MCTRACER_META_SHIFT);

	state->packet = MCTRACER_PACKET_META + which;
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
		state->has = state->pending;
		mctracer_drop_pending(state);
		return MCTRACER_EVENT_MARK;
	case MCTRACER_OBJECT:
		if (state->nr_objects_pending < MCTRACER_OBJECTS)
			state->objects[state->nr_objects_pending++] = value;
		return MCTRACER_EVENT_NONE;
	case MCTRACER_TOOK:
		state->took = value;
		state->pending |= MCTRACER_HAS_TOOK;
		return MCTRACER_EVENT_NONE;
	case MCTRACER_MODULES:
		state->modules = (__u32)value;
		state->known |= MCTRACER_KNOWS_MODULES;
		return MCTRACER_EVENT_NONE;
	case MCTRACER_STREAM:
		state->value = value;
		return MCTRACER_EVENT_STREAM;
	}
	return MCTRACER_EVENT_UNKNOWN;
}

static inline enum mctracer_event mctracer_decode(struct mctracer_state *state, __u64 word)
{
	__u64 data;
	__u32 type;

	if (mctracer_word_is_call(word)) {
		state->packet = ~0U;
		state->ip = (__u32)word;
		state->parent_ip = (__u32)(word >> 32) | 1U << 31;
		state->nr_args = state->nr_pending <= MCTRACER_ARGS ? state->nr_pending : 0;
		state->nr_objects = state->nr_objects_pending;
		state->nr_data = state->nr_data_pending;
		mctracer_drop_pending(state);
		state->calls++;
		return MCTRACER_EVENT_CALL;
	}

	data = mctracer_word_data(word);
	type = mctracer_word_type(word);
	if (type == MCTRACER_MORE)
		return mctracer_decode_more(state, data);

	state->more = 0;
	state->packet = type;
	switch (type) {
	case MCTRACER_TIME:
		mctracer_drop_pending(state);
		if (!data)
			return MCTRACER_EVENT_NONE;
		state->time = data << 1;
		state->known |= MCTRACER_KNOWS_TIME;
		return MCTRACER_EVENT_TIME;
	case MCTRACER_RETURN:
		state->ip = (__u32)data | 1U << 31;
		state->value = data >> MCTRACER_RETURN_SHIFT;
		state->has = state->pending;
		state->nr_objects = state->nr_objects_pending;
		mctracer_drop_pending(state);
		state->calls++;
		return MCTRACER_EVENT_RETURN;
	case MCTRACER_VALUE:
		state->result = (data ^ 1ULL << (MCTRACER_DATA_BITS - 1)) -
				(1ULL << (MCTRACER_DATA_BITS - 1));
		if (state->nr_pending < MCTRACER_ARGS)
			state->args[state->nr_pending] = state->result;
		state->nr_pending++;
		state->pending |= MCTRACER_HAS_RESULT;
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
	case MCTRACER_META:
		return mctracer_decode_meta(state, data);
	}
	return MCTRACER_EVENT_UNKNOWN;
}

/* Return nonzero if @word is a clock word with another mult, shift or is_ns than @state has. */
static inline int mctracer_is_other_clock(const struct mctracer_state *state, __u64 word)
{
	struct mctracer_state then = { .calls = 0 };

	if (mctracer_word_is_call(word) || mctracer_word_type(word) != MCTRACER_META)
		return 0;
	return mctracer_decode(&then, word) == MCTRACER_EVENT_CLOCK &&
	       (then.clock.mult != state->clock.mult || then.clock.shift != state->clock.shift ||
		then.clock.is_ns != state->clock.is_ns);
}

/**
 * struct mctracer_sync_words - collects the state before some words from the words themselves
 * @ahead: the state behind the words so far; zeroes at first
 * @time: the first time among them
 * @calls: number of calls and returns before the first MCTRACER_COUNT among them
 * @behind: number of calls and returns before the first word
 * @counted: @behind is valid
 */
struct mctracer_sync_words {
	struct mctracer_state ahead;
	__u64 time;
	__u64 calls;
	__u64 behind;
	__u32 counted;
};

/* Take one more word. Return nonzero when mctracer_sync_state() has all that it needs. */
static inline int mctracer_sync_take(struct mctracer_sync_words *sync, __u64 word)
{
	if (!sync->counted)
		sync->calls += mctracer_word_counts(word);
	mctracer_decode(&sync->ahead, word);
	if (sync->ahead.known & MCTRACER_KNOWS_COUNT && !sync->counted) {
		sync->counted = 1;
		sync->behind = sync->ahead.calls - sync->calls;
	}
	if (sync->ahead.known & MCTRACER_KNOWS_TIME && !sync->time)
		sync->time = sync->ahead.time;
	return sync->ahead.known & MCTRACER_KNOWS_TASK && sync->ahead.more >= 3;
}

/* Return the state in which the first of these words must be decoded. */
static inline struct mctracer_state mctracer_sync_state(const struct mctracer_sync_words *sync)
{
	struct mctracer_state state = sync->ahead;

	state.time = sync->time;
	state.calls = sync->counted ? sync->behind : state.calls - sync->calls;
	state.context = MCTRACER_CONTEXT_UNKNOWN;
	state.packet = ~0U;
	return state;
}

/**
 * struct mctracer_pace - the rate of calls between two times, to estimate the calls' times
 * @usual: the usual time from one call to the next, so far; 0: not known
 * @step: the time from one call to the next, up to the next time
 * @next: @usual behind the next time
 *
 * Calls between two times are assumed to be evenly spaced. If that spacing is more than twice the
 * usual one, they are assumed to come at the usual pace after the first time, with a pause before
 * the second.
 */
struct mctracer_pace {
	__u64 usual;
	__u64 step;
	__u64 next;
};

/*
 * Set the pace up to the next time. @step: the average time between calls; 0: the next time is not
 * known.
 */
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
