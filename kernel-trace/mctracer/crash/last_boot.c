// SPDX-License-Identifier: GPL-2.0
/* Copy the trace of an earlier boot, and convert its addresses; see last_boot.h. */
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/words.h"
#include "last_boot.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

#define GFP_LAST	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Return true if @low, a return address, is of code in the range: it may be the range's end. */
static bool last_boot_range_has(u32 low, u32 begin, u32 size)
{
	return low - begin - 1 < size;
}

static const struct mctracer_old_module *last_boot_module(const struct mctracer_last_boot *last,
							  u32 low)
{
	const struct mctracer_old_module *module;

	for (module = last->modules; module < last->modules + last->nr_modules; module++)
		if (last_boot_range_has(low, module->was.text, module->was.size))
			return module;
	return NULL;
}

/* Return @word with @map(@last, address, @modules) in place of each address. */
static u64 last_boot_map_word(const struct mctracer_last_boot *last, u64 word,
			      u32 (*map)(const struct mctracer_last_boot *last, u32 low,
					 u32 modules),
			      u32 modules)
{
	const u64 low_half = U32_MAX, data = mctracer_word_data(word);
	u64 parent;

	if (!(word & MCTRACER_WORD_VALID))
		return 0;
	if (mctracer_word_is_call(word)) {
		parent = map(last, word >> 32 | BIT(31), modules);
		return parent << 32 | MCTRACER_WORD_VALID | map(last, word, modules);
	}
	if (mctracer_word_type(word) == MCTRACER_RETURN)
		return mctracer_word(MCTRACER_RETURN,
				     (data & ~(u64)(u32)INT_MAX) |
				     (map(last, data | BIT(31), modules) & INT_MAX));
	if (mctracer_word_is_meta(word, MCTRACER_FRAME) ||
	    mctracer_word_is_meta(word, MCTRACER_MARK))
		return mctracer_word(MCTRACER_META,
				     (data & ~low_half) | map(last, data, modules));
	return word;
}

static void last_boot_free(struct mctracer_last_boot *last)
{
	u32 i;

	if (IS_ENABLED(CONFIG_MODULES) && last->modules)
		mctracer_persistent_modules_forget(last->modules);
	for (i = 0; i < last->header.nr_rings; i++)
		kvfree(last->rings[i].copy.words);
	kvfree(last->modules);
	kvfree(last->streams);
	vfree(last->shape);
	kvfree(last);
}

static bool last_boot_copy_modules(struct mctracer_last_boot *last, const void *area)
{
	const struct mctracer_persistent_module *from = area + MCTRACER_PERSISTENT_MODULES_AT;
	struct mctracer_persistent_module one;
	int i;

	last->modules = kvmalloc_array(MCTRACER_PERSISTENT_MODULES, sizeof(*last->modules),
				       GFP_LAST);
	if (!last->modules)
		return false;
	for (i = 0; i < MCTRACER_PERSISTENT_MODULES; i++) {
		one = from[i];
		if (!mctracer_validate_module(&one))
			continue;
		last->modules[last->nr_modules++].was = one;
		last->latest = max(last->latest, one.since);
	}
	return true;
}

static bool last_boot_is_text(const struct mctracer_last_boot *last, u32 low)
{
	return last_boot_range_has(low, last->header.text,
				   last->header.text_end - last->header.text);
}

/* Return @low, or MCTRACER_NOWHERE if the module there was loaded after the count @modules. */
static u32 last_boot_known_at(const struct mctracer_last_boot *last, u32 low, u32 modules)
{
	const struct mctracer_old_module *module;

	if (last_boot_is_text(last, low))
		return low;
	module = last_boot_module(last, low);
	return module && modules < module->was.since ? MCTRACER_NOWHERE : low;
}

/*
 * Forget the addresses of modules that were unloaded before another module took their place. There
 * are none behind the load of the latest module. O(words before that * modules).
 */
static void last_boot_forget_unloaded(const struct mctracer_last_boot *last,
				      const struct mctracer_copy *copy)
{
	u32 modules = 0;
	bool known = false;
	u64 i;

	for (i = 0; i < copy->end / MCTRACER_WORD_SIZE; i++) {
		if (!(i % (PAGE_SIZE / MCTRACER_WORD_SIZE)))
			mctracer_cond_resched();
		if (mctracer_word_is_meta(copy->words[i], MCTRACER_MODULES)) {
			modules = mctracer_word_data(copy->words[i]);
			known = true;
			if (modules >= last->latest)
				return;
		} else if (known) {
			copy->words[i] = last_boot_map_word(last, copy->words[i],
							    last_boot_known_at, modules);
		}
	}
}

static bool last_boot_copy_ring(struct mctracer_last_boot *last, u32 i, const u64 *ring)
{
	struct mctracer_stream *stream = &last->streams[i];
	struct mctracer_copy *copy = &last->rings[i].copy;
	struct mctracer_validate_range range;

	mctracer_validate_range(&range, ring, last->header.ring_size / MCTRACER_WORD_SIZE);
	if (!range.words)
		return true;
	copy->words = kvmalloc_array(range.words, sizeof(u64), GFP_LAST);
	if (!copy->words)
		return false;
	mctracer_validate_words(copy->words, ring, &range, &last->header, &last->sums);
	copy->end = range.words * MCTRACER_WORD_SIZE;
	last_boot_forget_unloaded(last, copy);
	mctracer_cursor_begin(&stream->cursor, last->shape, copy, false, 0, false);
	if (!(stream->cursor.state.known & MCTRACER_KNOWS_CLOCK)) {
		stream->cursor.state.clock = last->header.clock;
		stream->cursor.state.known |= MCTRACER_KNOWS_CLOCK;
	}
	if (!(stream->cursor.state.known & MCTRACER_KNOWS_CONTEXT))
		stream->cursor.state.context = MCTRACER_CONTEXT_UNKNOWN;
	last->rings[i].calls = stream->cursor.state.calls;
	stream->found = mctracer_cursor_next(&stream->cursor);
	return true;
}

struct mctracer_last_boot *mctracer_last_boot_take(const void *area, size_t size,
						   const char **wrong)
{
	struct mctracer_persistent header, now;
	struct mctracer_last_boot *last;
	u32 i;

	*wrong = mctracer_validate_header(&header, area, size);
	if (*wrong)
		return ERR_PTR(-ENODATA);
	last = kvzalloc(struct_size(last, rings, header.nr_rings), GFP_LAST);
	if (!last)
		return ERR_PTR(-ENOMEM);
	refcount_set(&last->users, 1);
	mctracer_persistent_fill(&now);
	last->header = header;
	last->text = now.text;
	last->same = mctracer_validate_same(&header, &now);
	last->shape = vzalloc(sizeof(*last->shape));
	last->streams = kvmalloc_array(header.nr_rings, sizeof(*last->streams), GFP_LAST);
	if (!last->shape || !last->streams || !last_boot_copy_modules(last, area))
		goto no_memory;
	last->shape->mask = header.ring_size - 1;
	for (i = 0; i < header.nr_rings; i++)
		if (!last_boot_copy_ring(last, i,
					 area + MCTRACER_PERSISTENT_RINGS_AT + i *
					 header.ring_size))
			goto no_memory;
	return last;

no_memory:
	last_boot_free(last);
	return ERR_PTR(-ENOMEM);
}

void mctracer_last_boot_put(struct mctracer_last_boot *last)
{
	if (refcount_dec_and_test(&last->users))
		last_boot_free(last);
}

/* Relocate *@low to the running kernel. Return false if its code is not there. */
static bool last_boot_relocate(const struct mctracer_last_boot *last, u32 *low)
{
	const struct mctracer_old_module *module;
	u32 now;

	if (!last->same)
		return false;
	if (last_boot_is_text(last, *low)) {
		*low += last->text - last->header.text;
		return true;
	}
	module = last_boot_module(last, *low);
	now = module ? READ_ONCE(module->now) : 0;
	if (now)
		*low += now - module->was.text;
	return now;
}

size_t mctracer_last_boot_name(const void *data, char *name, u32 *low)
{
	const struct mctracer_last_boot *last = data;
	const struct mctracer_old_module *module;

	if (last_boot_relocate(last, low))
		return 0;
	if (last_boot_is_text(last, *low))
		return scnprintf(name, KSYM_SYMBOL_LEN, "[_stext+%#x]", *low - last->header.text);
	module = last_boot_module(last, *low);
	if (module)
		return scnprintf(name, KSYM_SYMBOL_LEN, "[%s+%#x]", module->was.name,
				 *low - module->was.text);
	return scnprintf(name, KSYM_SYMBOL_LEN, "[unknown]");
}

static u32 last_boot_convert(const struct mctracer_last_boot *last, u32 low, u32 modules)
{
	if (last_boot_relocate(last, &low))
		return low | BIT(31);
	if (!last->same && last_boot_is_text(last, low))
		return (low - last->header.text + last->header.linked) | BIT(31);
	return MCTRACER_NOWHERE;
}

u64 mctracer_last_boot_word(const struct mctracer_last_boot *last, u64 word)
{
	return last_boot_map_word(last, word, last_boot_convert, 0);
}

static bool possible;
static DEFINE_MUTEX(found_mutex);
static struct mctracer_last_boot *found;

bool mctracer_last_boot_possible(void)
{
	return possible;
}

void mctracer_last_boot_found(const void *area, size_t size)
{
	struct mctracer_last_boot *last;
	const char *wrong;

	possible = true;
	last = mctracer_last_boot_take(area, size, &wrong);
	if (PTR_ERR_OR_ZERO(last) == -ENODATA) {
		pr_info("no trace of an earlier boot in reserved memory: %s\n", wrong);
	} else if (IS_ERR(last)) {
		pr_warn("no memory for the trace of an earlier boot: it is lost\n");
	} else {
		pr_info("the trace of an earlier boot: %llu calls and returns; %llu words and %llu pages were damaged\n",
			last->sums.events, last->sums.bad_words, last->sums.bad_pages);
		if (IS_ENABLED(CONFIG_MODULES))
			mctracer_persistent_modules_match(last->modules, last->nr_modules);
		guard(mutex)(&found_mutex);
		found = last;
	}
}

struct mctracer_last_boot *mctracer_last_boot_get(void)
{
	guard(mutex)(&found_mutex);
	if (found)
		refcount_inc(&found->users);
	return found;
}

void mctracer_last_boot_clear(void)
{
	struct mctracer_last_boot *last;

	scoped_guard(mutex, &found_mutex) {
		last = found;
		found = NULL;
	}
	if (last)
		mctracer_last_boot_put(last);
}
