// SPDX-License-Identifier: GPL-2.0
/*
 * What the file "triggers" says: lines of FUNCTION:[WHEN:]ACTION[ OPTION=VALUE][:COUNT].
 *
 * What they come to is a table of call sites, which the gate looks at. It is made anew when
 * the file is written, and when a module comes, and replaced whole. How often a function
 * was called is kept from one table to the next, for each line; so no call is missed.
 */
#include <linux/atomic.h>
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
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "awaited.h"
#include "expressions.h"
#include "follow.h"
#include "mctracer.h"
#include "triggers.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

#define MAX_TIME	(24 * 3600 * (u64)NSEC_PER_SEC)

static const char file[] = "triggers";

static const struct {
	const char *name, *option;
	unsigned int usual, min, max;	/* what the option may be */
	bool writes;			/* words for each call */
	bool operand;			/* there is one instead, see operands.c */
} actions[MCTRACER_ACTIONS] = {
	[MCTRACER_DO_TRACEON] = { "traceon" },
	[MCTRACER_DO_COUNT] = { "count" },
	[MCTRACER_DO_FOLLOW] = { "follow", .writes = true, .operand = true },
	[MCTRACER_DO_UNFOLLOW] = { "unfollow", .operand = true },
	[MCTRACER_DO_ARGS] = { "args", .writes = true },
	[MCTRACER_DO_DATA] = { "data", .operand = true, .writes = true },
	[MCTRACER_DO_RET] = { "ret", .writes = true },
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

/* What is written; under the mutex of sets. NULL: nothing. */
static struct mctracer_expressions *lines;

static int refuse(const char *word, const char *why)
{
	return mctracer_expression_refuse(file, -EINVAL, word, why);
}

/* The action that @text begins with, or MCTRACER_ACTIONS. */
static enum mctracer_action action_of(const char *text)
{
	size_t length = strcspn(text, ": \t");
	int i;

	for (i = 0; i < MCTRACER_ACTIONS; i++)
		if (strlen(actions[i].name) == length && !strncmp(text, actions[i].name, length))
			break;
	return i;
}

static bool begins_with_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(text, word, length) && strchr(": \t", text[length]);
}

static bool is_when(const char *text)
{
	return begins_with_word(text, "slow") || begins_with_word(text, "fail") ||
	       begins_with_word(text, "followed");
}

/* The colon before the action, or before when that is; those of "mod:" are others. */
static char *find_action(char *line)
{
	char *colon, *word = line + (*line == '!');

	for (colon = strchr(word, ':'); colon; colon = strchr(word, ':')) {
		if ((colon - word != 3 || strncmp(word, "mod", 3)) &&
		    (action_of(colon + 1) != MCTRACER_ACTIONS || is_when(colon + 1)))
			return colon;
		word = colon + 1;
	}
	return NULL;
}

/* "10ms" */
static int parse_time(u64 *ns, char *text)
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
		return refuse(text, "wants a time: 10ms, or s, us, ns");
	*unit = '\0';
	if (kstrtou64(text, 10, &number) || number > div64_u64(MAX_TIME, units[i].ns))
		return refuse(text, "is too long");
	*ns = number * units[i].ns;
	return 0;
}

/* "slow TIME:", "fail:" or "followed:", if it begins so; what is behind it is in @text then. */
static int parse_when(struct mctracer_trigger *trigger, char **text)
{
	char *word = *text, *colon = strchr(word, ':');

	if (!is_when(word))
		return 0;
	if (begins_with_word(word, "followed") && !IS_ENABLED(CONFIG_MCOUNT_FILTER))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, word,
						  "needs CONFIG_MCOUNT_FILTER");
	if (!begins_with_word(word, "followed") && !IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, word,
						  "needs CONFIG_MCOUNT_RETURNS");
	if (!colon || action_of(colon + 1) == MCTRACER_ACTIONS)
		return refuse(word, "wants an action behind it");
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
	if (!begins_with_word(word, "slow"))
		return refuse(word, "is not how that is written");
	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return -EOPNOTSUPP;	/* as was said */
	trigger->when = MCTRACER_WHEN_SLOW;
	return parse_time(&trigger->longer, skip_spaces(word + strlen("slow"))) ?:
	       mctracer_timed_alloc();
}

/* " OPTION=VALUE" of @trigger, or nothing. */
static int parse_option(struct mctracer_trigger *trigger, char *text)
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
		return refuse(text, "is not an option of this action");
	if (kstrtouint(text + length + 1, 10, &value))
		return refuse(text, "has no number");
	if (value < actions[action].min || value > actions[action].max)
		return refuse(text, "is too small, or too large");
	trigger->option = value;
	return 0;
}

static bool needs_args(enum mctracer_action action)
{
	return action == MCTRACER_DO_ARGS || action == MCTRACER_DO_DATA;
}

static bool needs_filter(enum mctracer_action action)
{
	return action == MCTRACER_DO_FOLLOW || action == MCTRACER_DO_UNFOLLOW;
}

/* What is returned is the object, or what comes of it. */
static bool needs_return(const struct mctracer_trigger *trigger)
{
	return trigger->from == MCTRACER_OPERAND_RET || trigger->to == MCTRACER_OPERAND_RET;
}

static int parse_operand(struct mctracer_trigger *trigger, char *text)
{
	const char *why;
	int ret = mctracer_operand_parse(trigger, text, &why);

	if (ret)
		return mctracer_expression_refuse(file, ret, text, why);
	if (needs_return(trigger) && !IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, text,
						  "needs CONFIG_MCOUNT_RETURNS");
	if (trigger->from == MCTRACER_OPERAND_RET)
		trigger->when = MCTRACER_WHEN_RETURNS;
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && trigger->to == MCTRACER_OPERAND_RET)
		return mctracer_awaited_alloc();
	return IS_ENABLED(CONFIG_MCOUNT_FILTER) && trigger->calls ? mctracer_below_alloc() : 0;
}

/* "[WHEN:]ACTION[ OPTION][:COUNT]" */
static int parse_action(struct mctracer_trigger *trigger, char *text)
{
	char *count;
	u64 n;
	int ret;

	ret = parse_when(trigger, &text);
	if (ret)
		return ret;
	count = strchr(text, ':');
	trigger->action = action_of(text);
	if (trigger->action == MCTRACER_DO_RET && !IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, text,
						  "needs CONFIG_MCOUNT_RETURNS");
	if (needs_args(trigger->action) && !IS_ENABLED(CONFIG_MCOUNT_DYNAMIC))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, text,
						  "needs CONFIG_MCOUNT_DYNAMIC");
	if (needs_filter(trigger->action) && !IS_ENABLED(CONFIG_MCOUNT_FILTER))
		return mctracer_expression_refuse(file, -EOPNOTSUPP, text,
						  "needs CONFIG_MCOUNT_FILTER");
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && needs_filter(trigger->action) &&
	    mctracer_follow_alloc())
		return -ENOMEM;
	if ((needs_args(trigger->action) || needs_filter(trigger->action)) &&
	    trigger->when != MCTRACER_WHEN_CALLED && trigger->when != MCTRACER_WHEN_FOLLOWED)
		return refuse(text, "arguments are known when it is called, not when it returns");
	if ((needs_filter(trigger->action) || trigger->action == MCTRACER_DO_RET) &&
	    trigger->when == MCTRACER_WHEN_FOLLOWED)
		return refuse(text, "is not done when something is followed");
	if (trigger->action == MCTRACER_DO_RET && trigger->when == MCTRACER_WHEN_CALLED)
		trigger->when = MCTRACER_WHEN_RETURNS;
	if (count) {
		*count++ = '\0';
		count = strim(count);
		if (trigger->action == MCTRACER_DO_COUNT)
			return refuse(count, "count counts all calls");
		if (kstrtou64(count, 10, &n) || n > S64_MAX)
			return refuse(count, "is not a count");
		atomic64_set(&trigger->left, n);
		trigger->counted = true;
	}
	text += strlen(actions[trigger->action].name);
	return actions[trigger->action].operand ? parse_operand(trigger, text) :
						  parse_option(trigger, text);
}

/* What tells lines for the same function from each other. To be freed. */
static char *purpose_of(const struct mctracer_trigger *trigger)
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

static bool is_everything(const struct mctracer_expression *e)
{
	return !e->module && !e->name[strspn(e->name, "*?")];
}

/* @line, which is taken apart. */
static int parse_line(struct mctracer_expressions *to, char *line)
{
	struct mctracer_trigger *trigger __free(kfree) = kzalloc(sizeof(*trigger), GFP_KERNEL);
	char *purpose __free(kfree) = NULL;
	struct mctracer_expression *e;
	char *colon;
	int ret;

	if (!trigger)
		return -ENOMEM;
	colon = find_action(line);
	if (!colon)
		return refuse(line,
			      "wants :args :data :stacktrace :count :mark :traceon :traceoff :snapshot :ret :follow or :unfollow");
	*colon = '\0';
	ret = parse_action(trigger, colon + 1);
	if (ret)
		return ret;
	purpose = purpose_of(trigger);
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
	if (actions[trigger->action].writes && !trigger->counted && is_everything(e) &&
	    (trigger->when == MCTRACER_WHEN_CALLED || trigger->when == MCTRACER_WHEN_RETURNS))
		return refuse(e->name, "all functions need a count: more than enough is written");
	e->data = no_free_ptr(trigger);
	return 0;
}

static int parse(struct mctracer_expressions *to, char *text)
{
	char *line;
	int ret;

	while ((line = strsep(&text, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		line = strim(line);
		ret = *line ? parse_line(to, line) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

static u64 sum_of(const struct mctracer_triggered *at)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(at->hits, cpu));
	return sum;
}

/* What @table has at @site for @trigger, or NULL. */
static const struct mctracer_triggered *find(const struct mctracer_triggered_sites *table,
					     unsigned long site,
					     const struct mctracer_trigger *trigger)
{
	const struct mctracer_triggered *at = mctracer_triggered_at(table, site);

	while (at && (at - 1)->site == site)
		at--;
	for (; at && at->site == site; at++)
		if (at->trigger == trigger)
			return at;
	return NULL;
}

/* Without what is in @kept, too. Nobody looks at it any more. */
static void free_table(struct mctracer_triggered_sites *table,
		       const struct mctracer_triggered_sites *kept)
{
	struct mctracer_triggered *at;
	bool gone = false;
	size_t i;

	for (i = 1; table && i <= table->nr; i++) {
		at = &table->sites[i];
		if (find(kept, at->site, at->trigger))
			continue;
		at->trigger->hits += at->unknown ? 0 : sum_of(at);
		at->trigger->unknown += at->unknown ? sum_of(at) : 0;
		gone |= at->begins;
		free_percpu(at->hits);
	}
	if (IS_ENABLED(CONFIG_MCOUNT_RETURNS) && gone)
		mctracer_timed_forget();	/* their returns are not seen */
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && gone)
		mctracer_awaited_forget();
	kvfree(table);
}

static int compare_triggered(const void *a, const void *b)
{
	const struct mctracer_triggered *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (int)x->trigger->action - (int)y->trigger->action;
}

static bool is_recorded(unsigned long site, bool returns)
{
	guard(preempt)();
	return mctracer_site_chosen(site) && (!returns || READ_ONCE(mctracer_graph));
}

/* Is that all the gate has to do there? */
static bool only_counts(const struct mctracer_triggered *at)
{
	return at->trigger->action == MCTRACER_DO_COUNT && !at->begins &&
	       at->trigger->when != MCTRACER_WHEN_FOLLOWED &&
	       at->site != (at - 1)->site && at->site != (at + 1)->site &&
	       !mctracer_gate_everywhere && !READ_ONCE(mctracer_follow_triggered);
}

static bool needs_result(const struct mctracer_trigger *trigger)
{
	return trigger->when == MCTRACER_WHEN_FAILS || trigger->action == MCTRACER_DO_RET ||
	       needs_return(trigger);
}

/* Is @trigger concerned by a site of its function, which is one before a return or not? */
static bool is_for(const struct mctracer_trigger *trigger, bool returns)
{
	if (trigger->when == MCTRACER_WHEN_SLOW || trigger->to == MCTRACER_OPERAND_RET)
		return true;
	return returns == (trigger->when == MCTRACER_WHEN_RETURNS ||
			   trigger->when == MCTRACER_WHEN_FAILS);
}

static int add(struct mctracer_triggered_sites *table, unsigned long site,
	       struct mctracer_trigger *trigger, bool returns, bool tail,
	       const struct mctracer_triggered_sites *old)
{
	const struct mctracer_triggered *before = find(old, site, trigger);
	unsigned long __percpu *hits = before ? before->hits : alloc_percpu(unsigned long);

	if (!hits)
		return -ENOMEM;
	table->sites[++table->nr] = (struct mctracer_triggered) {
		.site = site,
		.trigger = trigger,
		.hits = hits,
		.recorded = is_recorded(site, returns),
		.returns = returns,
		.begins = !returns && (trigger->when == MCTRACER_WHEN_SLOW ||
				       trigger->to == MCTRACER_OPERAND_RET),
		.tail = tail,
		.unknown = tail && needs_result(trigger),
	};
	return 0;
}

/* What @hit says, if that is something to be done. */
static int add_hit(struct mctracer_triggered_sites *table, const struct mctracer_hit *hit,
		   const struct mctracer_triggered_sites *old)
{
	struct mctracer_trigger *trigger = hit->by->data;
	int ret;

	if (!is_for(trigger, hit->returns)) {
		if (!hit->by->why)
			hit->by->why = "it does not return";
		return 0;
	}
	ret = add(table, hit->site, trigger, hit->returns, hit->tail, old);
	if (ret)
		return ret;
	if (table->sites[table->nr].begins)
		hit->by->why = hit->by->why ?: "it does not return";
	else if (table->sites[table->nr].unknown)
		hit->by->why = "it returns nothing itself: it jumps to functions that do";
	else
		hit->by->sites++;
	return 0;
}

static bool is_in(unsigned long site, const struct module *mod)
{
	return mod && within_module(site, mod);
}

/*
 * What @hits come to; with @mod, of it, and of everything else what @old has. That may be
 * nothing, yet.
 */
static struct mctracer_triggered_sites *make_table(const struct mctracer_hits *hits,
						   const struct mctracer_triggered_sites *old,
						   const struct module *mod)
{
	const struct mctracer_hit *hit, *end = hits->hits + hits->nr, *before = NULL;
	size_t others = mod && old ? old->nr : 0, i;
	struct mctracer_triggered_sites *table;
	struct mctracer_triggered *at;
	int ret = 0;

	table = kvzalloc(struct_size(table, sites, hits->nr + others + 2), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	for (i = 1; i <= others && !ret; i++)
		if (!is_in(old->sites[i].site, mod))
			ret = add(table, old->sites[i].site, old->sites[i].trigger,
				  old->sites[i].returns, old->sites[i].tail, old);
	for (hit = hits->hits; hit < end && !ret; before = hit++) {
		if (before && before->site == hit->site && before->by == hit->by)
			continue;	/* another name of the same function */
		ret = add_hit(table, hit, old);
	}
	if (ret) {
		free_table(table, old);
		return ERR_PTR(ret);
	}
	sort(table->sites + 1, table->nr, sizeof(*table->sites), compare_triggered, NULL);
	for (at = table->sites + 1; at->site; at++)
		at->counts = only_counts(at);
	return table;
}

static bool has_returns(const struct mctracer_triggered_sites *table)
{
	size_t i;

	for (i = 1; table && i <= table->nr; i++)
		if (table->sites[i].returns)
			return true;
	return false;
}

static enum mctracer_following what_follows(const struct mctracer_triggered_sites *table)
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

/* Does it time calls that @old does not? */
static bool times_others(const struct mctracer_triggered_sites *table,
			 const struct mctracer_triggered_sites *old)
{
	const struct mctracer_triggered *at;
	size_t i;

	for (i = 1; table && i <= table->nr; i++) {
		at = &table->sites[i];
		if (at->begins && !find(old, at->site, at->trigger))
			return true;
	}
	return false;
}

static struct mctracer_triggered_sites *exchange_table(struct mctracer_triggered_sites *table)
{
	struct mctracer_triggered_sites *old = mctracer_triggered;

	lockdep_assert_held(&mctracer_sets_mutex);
	smp_store_release(&mctracer_triggered, table);	/* filled before it is seen */
	WRITE_ONCE(mctracer_returns_triggered, has_returns(table));
	WRITE_ONCE(mctracer_follow_triggered, what_follows(table));
	return old;
}

/* The triggers of @gone go, but for those of @kept. */
static void free_lines(struct mctracer_expressions *gone, struct mctracer_expressions *kept)
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
			if (trigger && !trigger->kept)
				kfree(trigger);
		}
	}
	mctracer_expressions_free(gone);
}

/* What @expressions come to, now; the mutex of sets is held. */
static struct mctracer_triggered_sites *table_of(struct mctracer_expressions *expressions)
{
	struct mctracer_triggered_sites *table;
	struct mctracer_hits hits;
	int ret;

	if (!expressions)
		return NULL;
	ret = mctracer_functions_find(expressions, NULL, true, &hits);
	table = ret ? ERR_PTR(ret) : make_table(&hits, mctracer_triggered, NULL);
	kvfree(hits.hits);
	return table;
}

/* Other functions may be recorded now, or call the gate; or objects are followed. */
static void update(void)
{
	struct mctracer_triggered *at;
	size_t i;

	lockdep_assert_held(&mctracer_sets_mutex);
	for (i = 1; mctracer_triggered && i <= mctracer_triggered->nr; i++) {
		at = &mctracer_triggered->sites[i];
		WRITE_ONCE(at->recorded, is_recorded(at->site, at->returns));
		WRITE_ONCE(at->counts, only_counts(at));
	}
}

void mctracer_triggers_update(void)
{
	guard(mutex)(&mctracer_sets_mutex);
	update();
}

/* Exchange the lines for @new, or NULL. On error nothing is changed. */
static int exchange(struct mctracer_expressions *new, int (*apply)(u8 *map))
{
	struct mctracer_triggered_sites *table, *old;
	u8 *map = NULL;
	int ret;

	lockdep_assert_held(&mctracer_sets_mutex);

	table = table_of(new);
	if (IS_ERR(table))
		return PTR_ERR(table);
	ret = new ? mctracer_functions_check(file, new) : 0;
	if (ret) {
		free_table(table, mctracer_triggered);
		return ret;
	}
	old = exchange_table(table);
	update();
	ret = mctracer_map_make(&map) ?: apply(map);
	if (ret) {
		exchange_table(old);
		swap(old, table);
		update();
	}
	/* One that begins to be timed has returned unseen while not all call sites were changed. */
	if (IS_ENABLED(CONFIG_MCOUNT_RETURNS) && !ret && times_others(table, old))
		mctracer_timed_forget();
	if (old) {
		mctracer_chosen_synchronize();
		free_table(old, table);
	}
	if (!ret && IS_ENABLED(CONFIG_MCOUNT_FILTER) && !mctracer_follow_triggered)
		mctracer_follow_forget();	/* nobody follows any more */
	return ret;
}

int mctracer_triggers_set(char *text, bool append, int (*apply)(u8 *map))
{
	struct mctracer_expressions *new;
	int ret = 0;

	guard(mutex)(&mctracer_lists_mutex);
	new = mctracer_expressions_alloc();
	if (!new)
		return -ENOMEM;
	if (append)
		ret = mctracer_expressions_copy(lines, new);
	ret = ret ?: parse(new, text);
	scoped_guard(mutex, &mctracer_sets_mutex) {
		ret = ret ?: exchange(list_empty(&new->list) ? NULL : new, apply);
		if (!ret)
			swap(lines, new);
		free_lines(new, lines);
		if (lines && list_empty(&lines->list)) {
			mctracer_expressions_free(lines);
			lines = NULL;
			if (IS_ENABLED(CONFIG_MCOUNT_RETURNS))
				mctracer_timed_count_anew();
		}
	}
	return ret;
}

#ifdef CONFIG_MODULES
bool mctracer_triggers_module_coming(struct module *mod)
{
	struct mctracer_triggered_sites *table, *old;
	struct mctracer_hits hits;
	int ret;

	guard(mutex)(&mctracer_sets_mutex);
	if (!lines)
		return false;
	ret = mctracer_functions_find(lines, mod->name, true, &hits);
	table = ret ? ERR_PTR(ret) : make_table(&hits, mctracer_triggered, mod);
	kvfree(hits.hits);
	if (IS_ERR(table)) {
		pr_warn("%s: no memory for the functions of %s\n", file, mod->name);
		return false;
	}
	old = exchange_table(table);
	update();
	if (old) {
		mctracer_chosen_synchronize();
		free_table(old, table);
	}
	return true;
}
#endif /* CONFIG_MODULES */

/* Where the function begins that has @site, or the part of it. */
static unsigned long begin_of(unsigned long site)
{
	unsigned long size, offset;

	return kallsyms_lookup_size_offset(site, &size, &offset) ? site - offset : site;
}

/* Functions that were called, of those that @e matches, if these are more than one. */
static void show_functions(struct seq_file *m, const struct mctracer_expression *e)
{
	const struct mctracer_triggered_sites *table = mctracer_triggered;
	const struct mctracer_triggered *at;
	unsigned long begin, last = 0;
	u64 hits = 0;
	size_t i;

	for (i = 1; table && i <= table->nr + 1; i++) {
		at = &table->sites[i];		/* the last one is of no trigger */
		if (i <= table->nr && (at->trigger != e->data || at->unknown))
			continue;
		begin = i <= table->nr ? begin_of(at->site) : 0;
		if (begin != last && hits)
			seq_printf(m, "#\t%llu\t%ps\n", hits, (void *)last);
		if (begin != last)
			hits = 0;
		last = begin;
		hits += i <= table->nr ? sum_of(at) : 0;
	}
}

static void show_line(struct seq_file *m, const struct mctracer_expression *e)
{
	const struct mctracer_triggered_sites *table = mctracer_triggered;
	const struct mctracer_trigger *trigger = e->data;
	u64 hits = trigger->hits, unknown = trigger->unknown, sum;
	size_t i, functions = 0;

	for (i = 1; table && i <= table->nr; i++) {
		if (table->sites[i].trigger != trigger)
			continue;
		sum = sum_of(&table->sites[i]);
		if (table->sites[i].unknown)
			unknown += sum;
		else
			hits += sum;
		functions++;
	}
	mctracer_expression_show(e, m);
	seq_printf(m, ":%s", e->purpose);
	if (trigger->counted)
		seq_printf(m, ":%lld", atomic64_read(&trigger->left));
	seq_printf(m, "\t# %llu hits", hits);
	if (unknown)
		seq_printf(m, ", %llu returned by others", unknown);
	seq_printf(m, "%s\n",
		   e->module && !mctracer_module_is_loaded(e->module) ? ", not loaded" : "");
	if (trigger->action == MCTRACER_DO_COUNT && functions > 1)
		show_functions(m, e);
}

void mctracer_triggers_show(struct seq_file *m)
{
	const struct mctracer_expression *e;

	guard(mutex)(&mctracer_sets_mutex);
	if (lines)
		list_for_each_entry(e, &lines->list, list)
			show_line(m, e);
	if (IS_ENABLED(CONFIG_MCOUNT_RETURNS) && mctracer_timed_missed())
		seq_printf(m, "# up to %lu calls were not timed\n", mctracer_timed_missed());
}
