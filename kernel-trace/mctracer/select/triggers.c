// SPDX-License-Identifier: GPL-2.0
/*
 * Parse the lines of the file triggers, FUNCTION:[WHEN:]ACTION[ OPTION=VALUE][:COUNT], and make the
 * table of call sites in which the pre-handler finds them.
 *
 * A new table replaces the current one as a whole when the file is written or a module is loaded.
 * Hit counters pass from table to table, one for each pair of line and site: so no hit is missed.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/bsearch.h>
#include <linux/cc_platform.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mcount.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "../record/follow.h"
#include "../record/pending.h"
#include "../record/selected.h"
#include "../record/triggers.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "expressions.h"
#include "select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

#define MAX_TIME	(24 * 3600 * (u64)NSEC_PER_SEC)

static const char file[] = "triggers";

/* What actions need: NULL, or why this kernel does not have it. */
#define NEEDS_RETURNS	(MCOUNT_HAS_RETURNS ? NULL : "needs CONFIG_MCOUNT_RETURNS")
#define NEEDS_DYNAMIC	(IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) ? NULL : "needs CONFIG_MCOUNT_DYNAMIC")
#define NEEDS_FILTER	(IS_ENABLED(CONFIG_MCOUNT_FILTER) ? NULL : "needs CONFIG_MCOUNT_FILTER")

/* Only calls, whose arguments are known. */
#define AT_CALLS	(BIT(MCTRACER_WHEN_CALLED) | BIT(MCTRACER_WHEN_FOLLOWED))

static const struct trigger_action {
	const char *name, *option;
	unsigned int usual, min, max;	/* default and range of the option's value */
	bool writes;			/* it writes words for each call */
	bool operand;			/* it has an operand instead of an option, see operands.c */
	const char *needs;		/* why this kernel does not have the action, or NULL */
	unsigned int when;		/* bits: only then; 0: always */
	bool objects;			/* it changes which objects are followed */
} actions[MCTRACER_ACTIONS] = {
	[MCTRACER_DO_TRACEON] = { "traceon" },
	[MCTRACER_DO_COUNT] = { "count" },
	[MCTRACER_DO_FOLLOW] = {
		"follow", .writes = true, .operand = true, .objects = true, .needs = NEEDS_FILTER,
		.when = BIT(MCTRACER_WHEN_CALLED),
	},
	[MCTRACER_DO_UNFOLLOW] = {
		"unfollow", .operand = true, .objects = true, .needs = NEEDS_FILTER,
		.when = BIT(MCTRACER_WHEN_CALLED),
	},
	[MCTRACER_DO_ARGS] = { "args", .writes = true, .needs = NEEDS_DYNAMIC, .when = AT_CALLS },
	[MCTRACER_DO_DATA] = {
		"data", .operand = true, .writes = true, .needs = NEEDS_DYNAMIC, .when = AT_CALLS,
	},
	[MCTRACER_DO_RET] = {
		"ret", .writes = true, .needs = NEEDS_RETURNS,
		.when = BIT(MCTRACER_WHEN_CALLED) | BIT(MCTRACER_WHEN_FAILS) |
			BIT(MCTRACER_WHEN_SLOW),
	},
	[MCTRACER_DO_STACKTRACE] = { "stacktrace", "depth", 16, 1, MCTRACER_FRAMES_MAX, true },
	[MCTRACER_DO_MARK] = { "mark", .writes = true },
	[MCTRACER_DO_SNAPSHOT] = { "snapshot" },
	[MCTRACER_DO_TRACEOFF] = { "traceoff", "after", 0, 0, 24 * 3600 * 1000 },
};

static const struct {
	const char *name;
	u64 ns;
} units[] = {
	{ "s", NSEC_PER_SEC }, { "ms", NSEC_PER_MSEC }, { "us", NSEC_PER_USEC }, { "ns", 1 },
};

/* The file's lines; NULL: none. Under mctracer_sets_mutex. */
static struct mctracer_expressions *lines;

/*
 * A block of hit counters, shared by @users sites, because many small percpu allocations take long.
 * Under mctracer_sets_mutex.
 */
struct mctracer_hit_block {
	unsigned long __percpu *hits;
	size_t users;
};

#define BLOCK_HITS	(PCPU_MIN_UNIT_SIZE / sizeof(unsigned long))

static int trigger_refuse(const char *word, const char *why)
{
	return mctracer_expression_refuse(file, -EINVAL, word, why);
}

/* Return the action whose name @text begins with, or MCTRACER_ACTIONS. */
static enum mctracer_action trigger_action_named(const char *text)
{
	size_t length = strcspn(text, ": \t");
	int i;

	for (i = 0; i < MCTRACER_ACTIONS; i++)
		if (strlen(actions[i].name) == length && !strncmp(text, actions[i].name, length))
			break;
	return i;
}

static bool trigger_begins_with_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(text, word, length) && strchr(": \t", text[length]);
}

static bool trigger_begins_with_when(const char *text)
{
	return trigger_begins_with_word(text, "slow") || trigger_begins_with_word(text, "fail") ||
	       trigger_begins_with_word(text, "followed");
}

/* Return the colon before [WHEN:]ACTION, or NULL. A colon of "mod:" is skipped. */
static char *trigger_find_action(char *line)
{
	char *colon, *word = line + (*line == '!');

	for (colon = strchr(word, ':'); colon; colon = strchr(word, ':')) {
		if ((colon - word != 3 || strncmp(word, "mod", 3)) &&
		    (trigger_action_named(colon + 1) != MCTRACER_ACTIONS ||
		     trigger_begins_with_when(colon + 1)))
			return colon;
		word = colon + 1;
	}
	return NULL;
}

/* Parse a time like "10ms". */
static int trigger_parse_time(u64 *ns, char *text)
{
	char *unit = text + strspn(text, "0123456789"), *end = unit;
	u64 number;
	int i;

	while (isalpha(*end))
		end++;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == end - unit &&
		    !strncmp(unit, units[i].name, end - unit))
			break;
	if (unit == text || *end || i == ARRAY_SIZE(units))
		return trigger_refuse(text, "needs a time like 10ms, in s, ms, us or ns");
	*unit = '\0';
	if (kstrtou64(text, 10, &number) || number > div64_u64(MAX_TIME, units[i].ns))
		return trigger_refuse(text, "is too long");
	*ns = number * units[i].ns;
	return 0;
}

/*
 * Parse "slow TIME:", "fail:" or "followed:", if *@text begins with it, and move *@text behind it.
 */
static int trigger_parse_when(struct mctracer_trigger *trigger, char **text)
{
	char *word = *text, *colon = strchr(word, ':');
	const char *needs;

	if (!trigger_begins_with_when(word))
		return 0;
	needs = trigger_begins_with_word(word, "followed") ? NEEDS_FILTER : NEEDS_RETURNS;
	if (needs)
		return mctracer_expression_refuse(file, -EOPNOTSUPP, word, needs);
	if (!colon || trigger_action_named(colon + 1) == MCTRACER_ACTIONS)
		return trigger_refuse(word, "needs an action after it");
	*colon = '\0';
	*text = colon + 1;
	word = strim(word);
	if (!strcmp(word, "fail")) {
		trigger->when = MCTRACER_WHEN_FAILS;
		return 0;
	}
	if (!strcmp(word, "followed")) {
		trigger->when = MCTRACER_WHEN_FOLLOWED;
		return 0;
	}
	if (!trigger_begins_with_word(word, "slow"))
		return trigger_refuse(word, "takes no parameter");
	if (!MCOUNT_HAS_RETURNS)
		return -EOPNOTSUPP;	/* never reached: the compiler drops the rest */
	/* timed.c reads the counter in the pre-handler: see mctracer_clock_is_lost(). */
	if (cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, word,
						  "may not read the cycle counter in this guest");
	trigger->when = MCTRACER_WHEN_SLOW;
	return trigger_parse_time(&trigger->longer, skip_spaces(word + strlen("slow"))) ?:
	       mctracer_timed_alloc();
}

/* Parse the " OPTION=VALUE" of @trigger; without one, use the default. */
static int trigger_parse_option(struct mctracer_trigger *trigger, char *text)
{
	const enum mctracer_action action = trigger->action;
	const char *name = actions[action].option;
	unsigned int value;
	size_t length;

	trigger->option = actions[action].usual;
	text = strim(text);
	if (!*text)
		return 0;
	length = name ? strlen(name) : 0;
	if (!length || strncmp(text, name, length) || text[length] != '=')
		return trigger_refuse(text, "is not an option of this action");
	if (kstrtouint(text + length + 1, 10, &value))
		return trigger_refuse(text, "has no number");
	if (value < actions[action].min || value > actions[action].max)
		return trigger_refuse(text, "is too small, or too large");
	trigger->option = value;
	return 0;
}

/* Return true if the object, or the object derived from it, is the return value. */
static bool trigger_needs_return(const struct mctracer_trigger *trigger)
{
	return trigger->from == MCTRACER_OPERAND_RET || trigger->to == MCTRACER_OPERAND_RET;
}

static int trigger_parse_operand(struct mctracer_trigger *trigger, char *text)
{
	const char *why;
	int ret = mctracer_operand_parse(trigger, text, &why);

	if (ret)
		return mctracer_expression_refuse(file, ret, text, why);
	if (trigger_needs_return(trigger) && NEEDS_RETURNS)
		return mctracer_expression_refuse(file, -EOPNOTSUPP, text, NEEDS_RETURNS);
	if (trigger->from == MCTRACER_OPERAND_RET)
		trigger->when = MCTRACER_WHEN_RETURNS;
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && trigger->to == MCTRACER_OPERAND_RET)
		return mctracer_pending_alloc();
	return IS_ENABLED(CONFIG_MCOUNT_FILTER) && trigger->calls ? mctracer_nested_alloc() : 0;
}

/* Parse "[WHEN:]ACTION[ OPTION][:COUNT]". */
static int trigger_parse_action(struct mctracer_trigger *trigger, char *text)
{
	const struct trigger_action *action;
	char *count;
	u64 n;
	int ret;

	ret = trigger_parse_when(trigger, &text);
	if (ret)
		return ret;
	count = strchr(text, ':');
	trigger->action = trigger_action_named(text);
	action = &actions[trigger->action];
	if (action->needs)
		return mctracer_expression_refuse(file, -EOPNOTSUPP, text, action->needs);
	if (action->when && !(action->when & BIT(trigger->when)))
		return trigger_refuse(text, trigger->when == MCTRACER_WHEN_FOLLOWED ?
				      "can't be combined with followed:" :
				      "arguments are known at calls only, not at returns");
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && action->objects && mctracer_follow_alloc())
		return -ENOMEM;
	if (trigger->action == MCTRACER_DO_RET && trigger->when == MCTRACER_WHEN_CALLED)
		trigger->when = MCTRACER_WHEN_RETURNS;
	if (count) {
		*count++ = '\0';
		count = strim(count);
		if (trigger->action == MCTRACER_DO_COUNT)
			return trigger_refuse(count, "the action count takes no :COUNT");
		if (kstrtou64(count, 10, &n) || n > S64_MAX)
			return trigger_refuse(count, "is not a count");
		atomic64_set(&trigger->left, n);
		trigger->counted = true;
	}
	text += strlen(action->name);
	return action->operand ? trigger_parse_operand(trigger, text) :
				  trigger_parse_option(trigger, text);
}

/*
 * Return the normalized text of [WHEN:]ACTION[ OPTION], which distinguishes lines for the same
 * function; or NULL if there is no memory. The caller frees it.
 */
static char *trigger_purpose(const struct mctracer_trigger *trigger)
{
	const char *name = actions[trigger->action].name, *option = actions[trigger->action].option;
	const bool usual = trigger->option == actions[trigger->action].usual;
	char when[sizeof("slow 18446744073709551615ms:")] = "";
	u64 number, rest;
	int i;

	if (trigger->when == MCTRACER_WHEN_FAILS)
		strscpy(when, "fail:");
	if (trigger->when == MCTRACER_WHEN_FOLLOWED)
		strscpy(when, "followed:");
	for (i = 0; trigger->when == MCTRACER_WHEN_SLOW && !*when; i++) {
		number = div64_u64_rem(trigger->longer, units[i].ns, &rest);
		if (!rest)
			scnprintf(when, sizeof(when), "slow %llu%s:", number, units[i].name);
	}
	if (actions[trigger->action].operand)
		return kasprintf(GFP_KERNEL, "%s%s %s", when, name, trigger->operand);
	return usual ? kasprintf(GFP_KERNEL, "%s%s", when, name) :
		       kasprintf(GFP_KERNEL, "%s%s %s=%u", when, name, option, trigger->option);
}

static bool trigger_matches_all(const struct mctracer_expression *e)
{
	return !e->module && !e->name[strspn(e->name, "*?")];
}

/* Refuse @line, which has no action, with the names of all actions. */
static int trigger_refuse_line(const char *line)
{
	char why[160] = "needs one of";
	size_t length = strlen(why);
	int i;

	for (i = 0; i < MCTRACER_ACTIONS; i++)
		length += scnprintf(why + length, sizeof(why) - length, " :%s", actions[i].name);
	return trigger_refuse(line, why);
}

/* Parse @line, which is modified, and append its expression to @to, or remove an equal one. */
static int trigger_parse_line(struct mctracer_expressions *to, char *line)
{
	struct mctracer_trigger *trigger __free(kfree) = kzalloc(sizeof(*trigger), GFP_KERNEL);
	char *purpose __free(kfree) = NULL;
	struct mctracer_expression *e;
	char *colon;
	int ret;

	if (!trigger)
		return -ENOMEM;
	colon = trigger_find_action(line);
	if (!colon)
		return trigger_refuse_line(line);
	*colon = '\0';
	ret = trigger_parse_action(trigger, colon + 1);
	if (ret)
		return ret;
	purpose = trigger_purpose(trigger);
	if (!purpose)
		return -ENOMEM;
	ret = mctracer_expression_parse(to, line, purpose, file);
	if (ret)
		return ret;

	e = list_last_entry(&to->list, struct mctracer_expression, list);
	if (e->remove) {
		if (!e->had_equal)
			return mctracer_expression_refuse(file, -ENOENT, e->name,
							  "there is no such trigger");
		mctracer_expression_drop(e);
		return 0;
	}
	if (actions[trigger->action].writes && !trigger->counted && trigger_matches_all(e) &&
	    (trigger->when == MCTRACER_WHEN_CALLED || trigger->when == MCTRACER_WHEN_RETURNS))
		return trigger_refuse(e->name, "all functions write too much: needs a :COUNT");
	e->data = no_free_ptr(trigger);
	return 0;
}

static int trigger_parse(struct mctracer_expressions *to, char *text)
{
	char *line;
	int ret;

	while ((line = strsep(&text, "\n"))) {
		mctracer_cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		line[strcspn(line, "#")] = '\0';
		line = strim(line);
		ret = *line ? trigger_parse_line(to, line) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static u64 trigger_site_hits(const struct mctracer_triggered *at)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(at->hits, cpu));
	return sum;
}

static int trigger_compare_triggers(const void *a, const void *b)
{
	const struct mctracer_triggered *x = *(const struct mctracer_triggered *const *)a;
	const struct mctracer_triggered *y = *(const struct mctracer_triggered *const *)b;

	if (x->trigger != y->trigger)
		return x->trigger < y->trigger ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* Return the entry of @table, which may be NULL, for @site and @trigger, or NULL. O(log n). */
static const struct mctracer_triggered *
trigger_table_find(const struct mctracer_triggered_sites *table,
		   unsigned long site,
		   struct mctracer_trigger *trigger)
{
	const struct mctracer_triggered like = { .site = site, .trigger = trigger };
	const struct mctracer_triggered *key = &like, **found;

	if (!table)
		return NULL;
	found = bsearch(&key, table->by_trigger, table->nr, sizeof(*table->by_trigger),
			trigger_compare_triggers);
	return found ? *found : NULL;
}

static void hit_block_put(struct mctracer_hit_block *block)
{
	if (--block->users)
		return;
	free_percpu(block->hits);
	kfree(block);
}

static void trigger_table_free(struct mctracer_triggered_sites *table)
{
	if (table)
		kvfree(table->by_trigger);
	kvfree(table);
}

/* Add the hits of @at to its trigger, and drop @at, which no hook uses any more. */
static void trigger_site_retire(struct mctracer_triggered *at)
{
	struct mctracer_trigger *trigger = at->trigger;

	if (at->unknown)
		trigger->unknown += trigger_site_hits(at);
	else
		trigger->hits += trigger_site_hits(at);
	hit_block_put(at->block);
	if (!--trigger->pending && trigger->gone)
		kfree(trigger);
}

/*
 * Free @table, which was replaced, and retire its dropped sites, after waiting for hooks that still
 * use it. So the caller must hold none of the mutexes that loading a module takes.
 */
static void trigger_table_retire(struct mctracer_triggered_sites *table)
{
	struct mctracer_triggered *at;
	bool begins = false;
	size_t i;

	if (!table)
		return;
	mctracer_selected_synchronize();
	scoped_guard(mutex, &mctracer_sets_mutex) {
		for (i = 1; i <= table->nr; i++) {
			at = &table->sites[i];
			if (!at->dropped)
				continue;
			begins |= at->begins;
			trigger_site_retire(at);
		}
	}
	if (MCOUNT_HAS_RETURNS && begins)
		mctracer_timed_forget();	/* the tracer misses their returns */
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && begins)
		mctracer_pending_forget();
	trigger_table_free(table);
}

static int trigger_compare_sites(const void *a, const void *b)
{
	const struct mctracer_triggered *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (int)x->trigger->action - (int)y->trigger->action;
}

static bool trigger_site_is_recorded(unsigned long site, bool returns)
{
	guard(preempt)();
	return mctracer_site_selected(site) && (!returns || READ_ONCE(mctracer_graph));
}

/* Return true if the pre-handler only has to count at the site of @at. */
static bool trigger_site_only_counts(const struct mctracer_triggered *at)
{
	return at->trigger->action == MCTRACER_DO_COUNT && !at->begins &&
	       at->trigger->when != MCTRACER_WHEN_FOLLOWED &&
	       at->site != (at - 1)->site && at->site != (at + 1)->site &&
	       !mctracer_pre_handler_everywhere && !READ_ONCE(mctracer_follow_triggered);
}

static bool trigger_needs_result(const struct mctracer_trigger *trigger)
{
	return trigger->when == MCTRACER_WHEN_FAILS || trigger->action == MCTRACER_DO_RET ||
	       trigger_needs_return(trigger);
}

/*
 * Return true if @trigger needs sites of this kind: with @returns those before returns, else those
 * at the head of functions.
 */
static bool trigger_needs_site(const struct mctracer_trigger *trigger, bool returns)
{
	if (trigger->when == MCTRACER_WHEN_SLOW || trigger->to == MCTRACER_OPERAND_RET)
		return true;
	return returns == (trigger->when == MCTRACER_WHEN_RETURNS ||
			   trigger->when == MCTRACER_WHEN_FAILS);
}

static void trigger_table_add(struct mctracer_triggered_sites *table, unsigned long site,
			      struct mctracer_trigger *trigger, bool returns, bool tail)
{
	const struct mctracer_triggered *before = trigger_table_find(mctracer_triggered, site,
								     trigger);

	table->sites[++table->nr] = (struct mctracer_triggered) {
		.site = site,
		.trigger = trigger,
		.hits = before ? before->hits : NULL,
		.block = before ? before->block : NULL,
		.recorded = trigger_site_is_recorded(site, returns),
		.returns = returns,
		.begins = !returns && (trigger->when == MCTRACER_WHEN_SLOW ||
				       trigger->to == MCTRACER_OPERAND_RET),
		.tail = tail,
		.unknown = tail && trigger_needs_result(trigger),
	};
}

/* Add the site of @hit to @table, if its trigger needs it. Else store the reason. */
static void trigger_table_add_hit(struct mctracer_triggered_sites *table,
				  const struct mctracer_hit *hit)
{
	struct mctracer_trigger *trigger = hit->by->data;

	if (!trigger_needs_site(trigger, hit->returns)) {
		if (!hit->by->why)
			hit->by->why = "it does not return";
		return;
	}
	trigger_table_add(table, hit->site, trigger, hit->returns, hit->tail);
	if (table->sites[table->nr].begins)
		hit->by->why = hit->by->why ?: "it does not return";
	else if (table->sites[table->nr].unknown)
		hit->by->why = "it returns nothing itself: it jumps to functions that do";
	else
		hit->by->sites++;
}

static bool trigger_site_is_in_module(unsigned long site, const struct module *mod)
{
	return mod && within_module(site, mod);
}

/* Return a table with room for @nr sites, or NULL if there is no memory. */
static struct mctracer_triggered_sites *trigger_table_alloc(size_t nr)
{
	struct mctracer_triggered_sites *table;

	table = kvzalloc(struct_size(table, sites, nr + 2), GFP_KERNEL);
	if (!table)
		return NULL;
	table->by_trigger = kvcalloc(nr + 1, sizeof(*table->by_trigger), GFP_KERNEL);
	if (!table->by_trigger) {
		kvfree(table);
		return NULL;
	}
	return table;
}

/*
 * Fill @table with the sites of @hits. With @mod, @hits are of this module only, and sites
 * elsewhere are copied from the current table, if any. Return how many sites have no counters yet.
 */
static size_t trigger_table_fill(struct mctracer_triggered_sites *table,
				 const struct mctracer_hits *hits,
				 const struct module *mod)
{
	const struct mctracer_triggered_sites *old = mctracer_triggered;
	const struct mctracer_hit *hit, *end = hits->hits + hits->nr, *before = NULL;
	size_t others = mod && old ? old->nr : 0, missing = 0, i;

	lockdep_assert_held(&mctracer_sets_mutex);
	table->nr = 0;
	for (hit = hits->hits; hit < end; hit++) {
		hit->by->sites = 0;
		hit->by->why = NULL;
	}
	for (i = 1; i <= others; i++)
		if (!trigger_site_is_in_module(old->sites[i].site, mod))
			trigger_table_add(table, old->sites[i].site, old->sites[i].trigger,
					  old->sites[i].returns, old->sites[i].tail);
	for (hit = hits->hits; hit < end; before = hit++) {
		if (before && before->site == hit->site && before->by == hit->by)
			continue;	/* an alias of the function */
		trigger_table_add_hit(table, hit);
	}
	table->sites[table->nr + 1] = (struct mctracer_triggered) {};
	sort(table->sites + 1, table->nr, sizeof(*table->sites), trigger_compare_sites, NULL);
	for (i = 1; i <= table->nr; i++) {
		table->sites[i].counts = trigger_site_only_counts(&table->sites[i]);
		table->by_trigger[i - 1] = &table->sites[i];
		missing += !table->sites[i].hits;
	}
	sort(table->by_trigger, table->nr, sizeof(*table->by_trigger), trigger_compare_triggers,
	     NULL);
	return missing;
}

/* Newly allocated blocks with @nr counters. */
struct new_hits {
	struct mctracer_hit_block **blocks;
	size_t nr;
};

static size_t hit_blocks_for(size_t nr)
{
	return DIV_ROUND_UP(nr, BLOCK_HITS);
}

/* Free @new, except for blocks that hit_blocks_give() has given to sites. */
static void hit_blocks_free(struct new_hits *new)
{
	size_t i;

	for (i = 0; new->blocks && i < hit_blocks_for(new->nr); i++) {
		if (!new->blocks[i] || new->blocks[i]->users)
			continue;
		free_percpu(new->blocks[i]->hits);
		kfree(new->blocks[i]);
	}
	kvfree(new->blocks);
	*new = (struct new_hits) {};
}

static int hits_alloc(struct new_hits *new, size_t nr)
{
	struct mctracer_hit_block *block;
	size_t i;

	*new = (struct new_hits) { .nr = nr };
	if (!nr)
		return 0;
	if (!mctracer_memory_available(size_mul(nr, num_possible_cpus() * sizeof(long))))
		return -ENOMEM;
	new->blocks = kvcalloc(hit_blocks_for(nr), sizeof(*new->blocks), GFP_KERNEL);
	for (i = 0; new->blocks && i < hit_blocks_for(nr); i++) {
		block = kzalloc(sizeof(*block), GFP_KERNEL);
		if (!block)
			break;
		new->blocks[i] = block;
		block->hits = __alloc_percpu(min(nr - i * BLOCK_HITS, BLOCK_HITS) *
					     sizeof(*block->hits), sizeof(*block->hits));
		if (!block->hits)
			break;
	}
	if (new->blocks && i == hit_blocks_for(nr))
		return 0;
	hit_blocks_free(new);
	return -ENOMEM;
}

/* Give counters of @new to all sites of @table without any. @new must have enough. */
static void hit_blocks_give(struct mctracer_triggered_sites *table, struct new_hits *new)
{
	struct mctracer_triggered *at;
	size_t n = 0, i;

	for (i = 1; i <= table->nr; i++) {
		at = &table->sites[i];
		if (at->hits)
			continue;
		at->block = new->blocks[n / BLOCK_HITS];
		at->hits = at->block->hits + n % BLOCK_HITS;
		at->block->users++;
		n++;
	}
}

static bool trigger_table_has_returns(const struct mctracer_triggered_sites *table)
{
	size_t i;

	for (i = 1; table && i <= table->nr; i++)
		if (table->sites[i].returns)
			return true;
	return false;
}

static enum mctracer_following trigger_table_following(const struct mctracer_triggered_sites *table)
{
	enum mctracer_following following = MCTRACER_FOLLOW_NOT;
	const struct mctracer_trigger *trigger;
	size_t i;

	for (i = 1; table && i <= table->nr; i++) {
		trigger = table->sites[i].trigger;
		if (trigger->action == MCTRACER_DO_FOLLOW)
			following = max(following, trigger->calls ? MCTRACER_FOLLOW_CALLS :
								    MCTRACER_FOLLOW_OBJECTS);
	}
	return following;
}

/* Return true if @table times calls that @old does not time. */
static bool trigger_table_times_more(const struct mctracer_triggered_sites *table,
				     const struct mctracer_triggered_sites *old)
{
	const struct mctracer_triggered *at;
	size_t i;

	for (i = 1; table && i <= table->nr; i++) {
		at = &table->sites[i];
		if (at->begins && !trigger_table_find(old, at->site, at->trigger))
			return true;
	}
	return false;
}

/*
 * Make hooks use @table. Return the table before. Its sites that @table lacks are marked as
 * dropped, until trigger_table_retire() or until this function makes hooks use it again.
 */
static struct mctracer_triggered_sites *
trigger_table_exchange(struct mctracer_triggered_sites *table)
{
	struct mctracer_triggered_sites *old = mctracer_triggered;
	struct mctracer_triggered *at;
	size_t i;

	lockdep_assert_held(&mctracer_sets_mutex);
	for (i = 1; table && i <= table->nr; i++) {
		at = &table->sites[i];
		at->trigger->pending -= at->dropped;
		at->dropped = false;
	}
	for (i = 1; old && i <= old->nr; i++) {
		at = &old->sites[i];
		at->dropped = !trigger_table_find(table, at->site, at->trigger);
		at->trigger->pending += at->dropped;
	}
	smp_store_release(&mctracer_triggered, table);	/* contents before the pointer */
	WRITE_ONCE(mctracer_returns_triggered, trigger_table_has_returns(table));
	WRITE_ONCE(mctracer_follow_triggered, trigger_table_following(table));
	return old;
}

/* Free the list @gone and its triggers, except for triggers that the list @kept has, too. */
static void trigger_free_lines(struct mctracer_expressions *gone, struct mctracer_expressions *kept)
{
	struct mctracer_trigger *trigger;
	struct mctracer_expression *e;

	if (gone)
		list_for_each_entry(e, &gone->list, list)
			if (e->data)
				((struct mctracer_trigger *)e->data)->kept = false;
	if (kept)
		list_for_each_entry(e, &kept->list, list)
			((struct mctracer_trigger *)e->data)->kept = true;
	if (gone) {
		list_for_each_entry(e, &gone->list, list) {
			trigger = e->data;
			if (!trigger || trigger->kept)
				continue;
			trigger->gone = true;
			if (!trigger->pending)
				kfree(trigger);
		}
	}
	mctracer_expressions_free(gone);
}

/* Bring each site's recorded and counts up to date after a change of lists, mode or options. */
static void trigger_update_sites(void)
{
	struct mctracer_triggered *at;
	size_t i;

	lockdep_assert_held(&mctracer_sets_mutex);
	for (i = 1; mctracer_triggered && i <= mctracer_triggered->nr; i++) {
		at = &mctracer_triggered->sites[i];
		WRITE_ONCE(at->recorded, trigger_site_is_recorded(at->site, at->returns));
		WRITE_ONCE(at->counts, trigger_site_only_counts(at));
	}
}

void mctracer_triggers_update(void)
{
	guard(mutex)(&mctracer_sets_mutex);
	trigger_update_sites();
}

/* A change of the lines, which can be undone. */
struct change {
	struct mctracer_hits hits;
	struct mctracer_triggered_sites *table;		/* the new one; once in use, the old one */
	struct new_hits counters;
	struct mctracer_expressions *before;		/* the old lines */
	unsigned int modules;				/* mctracer_modules_seen() at the start */
	bool times_others;				/* the new table times more calls */
};

/*
 * Find the sites for the lines @new, NULL for none, and allocate a table. Under no mutex that
 * loading a module takes, because it may wait for memory.
 */
static int trigger_prepare_change(struct change *change, struct mctracer_expressions *new)
{
	int ret;

	kvfree(change->hits.hits);
	trigger_table_free(change->table);
	change->hits = (struct mctracer_hits) {};
	change->table = NULL;
	change->modules = mctracer_modules_seen();
	if (!new)
		return 0;
	ret = mctracer_functions_find(new, NULL, true, &change->hits);
	if (ret)
		return ret;
	change->table = trigger_table_alloc(change->hits.nr);
	return change->table ? 0 : -ENOMEM;
}

/*
 * Make hooks use the prepared table. Return 0, -EAGAIN if a module was loaded meanwhile, -ENOSPC if
 * *@missing counters are needed, or another error.
 */
static int trigger_exchange_lines(struct change *change, struct mctracer_expressions *new,
				  size_t *missing)
{
	int ret;

	guard(mutex)(&mctracer_sets_mutex);
	if (mctracer_modules_seen() != change->modules)
		return -EAGAIN;
	if (new) {
		*missing = trigger_table_fill(change->table, &change->hits, NULL);
		if (*missing > change->counters.nr)
			return -ENOSPC;
		ret = mctracer_functions_check(file, new);
		if (ret)
			return ret;
		hit_blocks_give(change->table, &change->counters);
	}
	change->times_others = trigger_table_times_more(change->table, mctracer_triggered);
	change->before = lines;
	lines = new;
	change->table = trigger_table_exchange(change->table);
	trigger_update_sites();
	return 0;
}

/*
 * Replace the lines with @new. O(n log n) for n sites and lines, repeated for each module that is
 * loaded meanwhile. Return 0 or an error.
 */
static int trigger_begin_change(struct change *change, struct mctracer_expressions *new)
{
	size_t missing;
	int ret;

	do {
		ret = trigger_prepare_change(change, new);
		if (!ret)
			ret = trigger_exchange_lines(change, new, &missing);
		while (ret == -ENOSPC) {
			hit_blocks_free(&change->counters);
			ret = hits_alloc(&change->counters, missing) ?:
			      trigger_exchange_lines(change, new, &missing);
		}
	} while (ret == -EAGAIN);
	kvfree(change->hits.hits);
	hit_blocks_free(&change->counters);
	if (ret)
		trigger_table_free(change->table);
	return ret;
}

/*
 * Make hooks use a new table for the current lines, and return the table before. Without memory,
 * set *@error: then no trigger acts any more. This is rare, so it may wait for memory under
 * mctracer_sets_mutex.
 */
static struct mctracer_triggered_sites *trigger_table_remake(int *error)
{
	struct mctracer_triggered_sites *table = NULL, *gone;
	struct new_hits counters = {};
	struct mctracer_hits hits;

	*error = mctracer_functions_find(lines, NULL, true, &hits);
	if (!*error) {
		table = trigger_table_alloc(hits.nr);
		*error = table ? hits_alloc(&counters, trigger_table_fill(table, &hits, NULL)) :
			 -ENOMEM;
	}
	if (*error) {
		trigger_table_free(table);
		table = NULL;
	} else {
		hit_blocks_give(table, &counters);
	}
	gone = trigger_table_exchange(table);
	kvfree(hits.hits);
	hit_blocks_free(&counters);
	return gone;
}

/*
 * Restore the lines before @change. If a module was loaded since, it has replaced the new table,
 * and the table before may point to counters that were freed with the new one: then make another
 * table.
 */
static void trigger_undo_change(struct change *change)
{
	struct mctracer_triggered_sites *gone, *unused = NULL;
	int ret = 0;

	scoped_guard(mutex, &mctracer_sets_mutex) {
		lines = change->before;
		if (!lines || !mctracer_module_came(change->modules)) {
			gone = trigger_table_exchange(change->table);
		} else {
			gone = trigger_table_remake(&ret);
			unused = change->table;
		}
		trigger_update_sites();
	}
	if (ret)
		mctracer_report_failure("triggers: no line acts", ret);
	trigger_table_retire(gone);
	trigger_table_retire(unused);
}

/*
 * Replace the lines with @new, or NULL for none, and store the old ones at @before for the caller
 * to free. @apply: as in mctracer_functions_set(). Return 0, or an error, and all is as before.
 */
static int trigger_set_lines(struct mctracer_expressions *new, int (*apply)(u8 *map),
			     struct mctracer_expressions **before)
{
	struct change change = {};
	u8 *map = NULL;
	int ret;

	ret = trigger_begin_change(&change, new);
	if (ret)
		return ret;
	scoped_guard(mutex, &mctracer_sets_mutex)
		ret = mctracer_map_make(&map);
	ret = ret ?: apply(map);
	if (ret) {
		trigger_undo_change(&change);
		return ret;
	}
	/* Timed calls may have returned unseen while only some call sites were patched. */
	if (MCOUNT_HAS_RETURNS && change.times_others)
		mctracer_timed_forget();
	trigger_table_retire(change.table);
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && !READ_ONCE(mctracer_follow_triggered))
		mctracer_follow_forget();	/* no trigger follows any more */
	*before = change.before;
	return 0;
}

int mctracer_triggers_set(char *text, bool append, int (*apply)(u8 *map))
{
	struct mctracer_expressions *new, *gone;
	int ret = 0;

	guard(mutex)(&mctracer_lists_mutex);
	new = mctracer_expressions_alloc();
	if (!new)
		return -ENOMEM;
	if (append)
		ret = mctracer_expressions_copy(lines, new);
	ret = ret ?: trigger_parse(new, text);
	gone = new;
	ret = ret ?: trigger_set_lines(list_empty(&new->list) ? NULL : new, apply, &gone);
	scoped_guard(mutex, &mctracer_sets_mutex) {
		trigger_free_lines(gone, lines);
		if (!ret && !lines)
			mctracer_expressions_free(new);
		if (lines && list_empty(&lines->list)) {
			mctracer_expressions_free(lines);
			lines = NULL;
		}
		if (!lines && MCOUNT_HAS_RETURNS)
			mctracer_timed_count_anew();
	}
	return ret;
}

#ifdef CONFIG_MODULES
/*
 * Return true if @table has sites at addresses of @mod, perhaps of a module that was there before.
 */
static bool trigger_table_has_module(const struct mctracer_triggered_sites *table,
				     const struct module *mod)
{
	size_t i;

	for (i = 1; table && i <= table->nr; i++)
		if (trigger_site_is_in_module(table->sites[i].site, mod))
			return true;
	return false;
}

/* A new table that also has the sites of a module, and its memory. */
struct addition {
	struct mctracer_hits hits;
	struct mctracer_triggered_sites *table;	/* with room for so many sites: */
	size_t room;
	struct new_hits counters;
	size_t missing;			/* the number of counters that are needed */
};

/*
 * Make hooks also use the sites that the lines match in @mod, and store the table before at @gone.
 * Return 1 if something has changed, 0, -ENOMEM, or -ENOSPC if @addition needs a table or counters
 * as its room and missing require.
 */
static int trigger_try_add_module(struct addition *addition, struct module *mod,
				  struct mctracer_triggered_sites **gone)
{
	size_t others, room;
	int ret;

	guard(mutex)(&mctracer_sets_mutex);
	if (!lines)
		return 0;
	others = mctracer_triggered ? mctracer_triggered->nr : 0;
	kvfree(addition->hits.hits);
	ret = mctracer_functions_find(lines, mod->name, true, &addition->hits);
	if (ret)
		return ret;
	if (!addition->hits.nr && !trigger_table_has_module(mctracer_triggered, mod))
		return 0;
	room = others + addition->hits.nr;
	if (!addition->table || room > addition->room) {
		addition->room = room;
		return -ENOSPC;
	}
	addition->missing = trigger_table_fill(addition->table, &addition->hits, mod);
	if (addition->missing > addition->counters.nr)
		return -ENOSPC;
	hit_blocks_give(addition->table, &addition->counters);
	*gone = trigger_table_exchange(addition->table);
	addition->table = NULL;
	trigger_update_sites();
	return 1;
}

/* Add the sites of @mod. Return 1 if something has changed, 0, or -ENOMEM. */
static int trigger_add_module(struct module *mod, struct mctracer_triggered_sites **gone)
{
	struct addition addition = {};
	int ret;

	for (;;) {
		ret = trigger_try_add_module(&addition, mod, gone);
		if (ret != -ENOSPC)
			break;
		trigger_table_free(addition.table);
		hit_blocks_free(&addition.counters);
		addition.table = trigger_table_alloc(addition.room);
		ret = addition.table ? hits_alloc(&addition.counters, addition.missing) : -ENOMEM;
		if (ret)
			break;
	}
	kvfree(addition.hits.hits);
	trigger_table_free(addition.table);
	hit_blocks_free(&addition.counters);
	return ret;
}

bool mctracer_triggers_module_coming(struct module *mod)
{
	struct mctracer_triggered_sites *gone = NULL;
	int ret = trigger_add_module(mod, &gone);

	if (ret < 0)
		mctracer_report_failure("triggers: functions of a module that came", ret);
	trigger_table_retire(gone);
	return ret > 0;
}
#endif /* CONFIG_MODULES */

/* The sites of one line: @nr entries from @first on, ascending. */
struct sites_of {
	struct mctracer_triggered **first;
	size_t nr;
};

/* Find the sites of @trigger in the current table. O(log n + its sites). */
static struct sites_of trigger_find_sites(const struct mctracer_trigger *trigger)
{
	const struct mctracer_triggered_sites *table = mctracer_triggered;
	size_t low = 0, high = table ? table->nr : 0, middle;
	struct sites_of sites = {};

	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->by_trigger[middle]->trigger < trigger)
			low = middle + 1;
		else
			high = middle;
	}
	if (!table)
		return sites;
	sites.first = table->by_trigger + low;
	while (low + sites.nr < table->nr && sites.first[sites.nr]->trigger == trigger)
		sites.nr++;
	return sites;
}

/* Return true if nothing more need be printed: the buffer is full, or the reader is killed. */
static bool trigger_shown_enough(struct seq_file *m)
{
	mctracer_cond_resched();
	return seq_has_overflowed(m) || fatal_signal_pending(current);
}

static void trigger_show_function(struct seq_file *m, u64 hits, unsigned long begin)
{
	if (!hits)
		return;
	seq_printf(m, "#\t%llu\t", hits);
	if (!mctracer_function_show(begin, m))
		seq_puts(m, "of a module that is gone");
	seq_putc(m, '\n');
}

/* Print each function that has hits. Sites without a symbol were in a module that is gone. */
static void trigger_show_functions(struct seq_file *m, struct sites_of sites)
{
	unsigned long begin, last = 0, size, offset;
	const struct mctracer_triggered *at;
	u64 hits = 0, of_gone = 0;
	size_t i;

	for (i = 0; i < sites.nr && !trigger_shown_enough(m); i++) {
		at = sites.first[i];
		if (at->unknown)
			continue;
		if (!kallsyms_lookup_size_offset(at->site, &size, &offset)) {
			of_gone += trigger_site_hits(at);
			continue;
		}
		begin = at->site - offset;
		if (begin != last) {
			trigger_show_function(m, hits, last);
			hits = 0;
		}
		last = begin;
		hits += trigger_site_hits(at);
	}
	trigger_show_function(m, hits, last);
	if (of_gone)
		seq_printf(m, "#\t%llu\tof modules that are gone\n", of_gone);
}

static void trigger_show_line(struct seq_file *m, const struct mctracer_expression *e)
{
	const struct mctracer_trigger *trigger = e->data;
	struct sites_of sites = trigger_find_sites(trigger);
	u64 hits = trigger->hits, unknown = trigger->unknown;
	size_t i;

	for (i = 0; i < sites.nr && !trigger_shown_enough(m); i++) {
		if (sites.first[i]->unknown)
			unknown += trigger_site_hits(sites.first[i]);
		else
			hits += trigger_site_hits(sites.first[i]);
	}
	mctracer_expression_show(e, m);
	seq_printf(m, ":%s", e->purpose);
	if (trigger->counted)
		seq_printf(m, ":%lld", atomic64_read(&trigger->left));
	seq_printf(m, "\t# %llu hits", hits);
	if (unknown)
		seq_printf(m, ", %llu returned by others", unknown);
	seq_printf(m, "%s\n", mctracer_expression_waits(e) ? ", not loaded" : "");
	if (trigger->action == MCTRACER_DO_COUNT && sites.nr > 1)
		trigger_show_functions(m, sites);
}

/* Print the file triggers. O(n log n) for n sites and lines. */
void mctracer_triggers_show(struct seq_file *m)
{
	const struct mctracer_expression *e;

	guard(mutex)(&mctracer_sets_mutex);
	if (lines) {
		list_for_each_entry(e, &lines->list, list) {
			if (trigger_shown_enough(m))
				return;		/* seq_file calls this again with a larger buffer */
			trigger_show_line(m, e);
		}
	}
	if (MCOUNT_HAS_RETURNS && mctracer_timed_missed())
		seq_printf(m, "# up to %lu calls were not timed\n", mctracer_timed_missed());
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && mctracer_is_following())
		seq_printf(m, "# %u objects are followed\n", mctracer_follow_now());
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && mctracer_is_following())
		seq_printf(m, "# %u objects were allocated again before an end was seen\n",
			   mctracer_follow_reused());
}
