// SPDX-License-Identifier: GPL-2.0
/*
 * Parse and print lists of expressions that select functions, in ftrace's syntax:
 *
 *	vfs_read		functions of this name; *, ? and [a-z] as in a shell
 *	ext4_* [ext4]		functions of this module
 *	ext4_*:mod:ext4		functions of this module, which need not be loaded yet
 *	mod:ext4		all functions of this module
 *	!vfs_read		deselect functions that earlier expressions have selected
 *
 * The last expression of a list that matches a function decides. Copies that the compiler has made
 * of a function, such as foo.isra.0, match by the function's name, too.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/glob.h>
#include <linux/jhash.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include "../ring/cursor.h"
#include "expressions.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

#ifdef CONFIG_MODULES
bool mctracer_module_is_loaded(const char *name)
{
	guard(preempt)();
	return find_module(name);
}
#else /* !CONFIG_MODULES */
bool mctracer_module_is_loaded(const char *name)
{
	return false;
}
#endif /* CONFIG_MODULES */

static bool expression_is_glob(const char *name)
{
	return name[strcspn(name, "*?[\\")];
}

u32 mctracer_expression_key(const char *name)
{
	return hashlen_hash(hashlen_string(NULL, name));
}

/* Return the key in by_whole. */
static u32 expression_whole_key(const char *name, const char *module, const char *purpose)
{
	u32 key = mctracer_expression_key(name);

	key = module ? jhash(module, strlen(module), key) : key;
	return purpose ? jhash(purpose, strlen(purpose), key) : key;
}

static void expression_free_homes(struct mctracer_expression *e)
{
	struct mctracer_home *home;

	while (e->homes) {
		home = e->homes;
		e->homes = home->next;
		kfree(home);
	}
}

void mctracer_expression_drop(struct mctracer_expression *e)
{
	list_del(&e->list);
	list_del(&e->globs);
	hash_del(&e->node);
	hash_del(&e->whole);
	kfree(e->purpose);
	kfree(e->module);
	expression_free_homes(e);
	kfree(e);
}

void mctracer_expressions_free(struct mctracer_expressions *expressions)
{
	struct mctracer_expression *e, *next;

	if (!expressions)
		return;
	list_for_each_entry_safe(e, next, &expressions->list, list)
		mctracer_expression_drop(e);
	kvfree(expressions);
}

struct mctracer_expressions *mctracer_expressions_alloc(void)
{
	struct mctracer_expressions *expressions = kvmalloc(sizeof(*expressions), GFP_KERNEL);

	if (!expressions)
		return NULL;
	INIT_LIST_HEAD(&expressions->list);
	INIT_LIST_HEAD(&expressions->globs);
	hash_init(expressions->by_name);
	hash_init(expressions->by_whole);
	expressions->has_names = false;
	bitmap_zero(expressions->first, U8_MAX + 1);
	return expressions;
}

struct mctracer_expression *mctracer_expression_add(struct mctracer_expressions *to,
						    const char *name, const char *module,
						    const char *purpose)
{
	struct mctracer_expression *e = kzalloc(struct_size(e, name, strlen(name) + 1), GFP_KERNEL);

	if (!e)
		return NULL;
	strscpy(e->name, name, strlen(name) + 1);
	e->module = kstrdup(module, GFP_KERNEL);
	e->purpose = kstrdup(purpose, GFP_KERNEL);
	if (!e->module != !module || !e->purpose != !purpose) {
		kfree(e->module);
		kfree(e->purpose);
		kfree(e);
		return NULL;
	}
	INIT_LIST_HEAD(&e->globs);
	list_add_tail(&e->list, &to->list);
	if (expression_is_glob(name))
		list_add_tail(&e->globs, &to->globs);
	else
		to->has_names = true;
	if (strchr("*?[\\", *name))
		bitmap_fill(to->first, U8_MAX + 1);
	else
		__set_bit((u8)*name, to->first);
	hash_add(to->by_name, &e->node, mctracer_expression_key(name));
	hash_add(to->by_whole, &e->whole, expression_whole_key(name, module, purpose));
	return e;
}

int mctracer_expression_add_home(struct mctracer_expression *e, const char *module)
{
	struct mctracer_home *home;

	for (home = e->homes; home; home = home->next)
		if (!strcmp(home->module, module))
			return 0;
	home = kmalloc(struct_size(home, module, strlen(module) + 1), GFP_KERNEL);
	if (!home)
		return -ENOMEM;
	strscpy(home->module, module, strlen(module) + 1);
	home->next = e->homes;
	e->homes = home;
	return 0;
}

/* Copy the homes of @from, in their order, to @to, which has none. Return 0 or -ENOMEM. */
static int expression_copy_homes(const struct mctracer_expression *from,
				 struct mctracer_expression *to)
{
	struct mctracer_home **end = &to->homes;
	const struct mctracer_home *home;

	for (home = from->homes; home; home = home->next) {
		*end = kmemdup(home, struct_size(home, module, strlen(home->module) + 1),
			       GFP_KERNEL);
		if (!*end)
			return -ENOMEM;
		(*end)->next = NULL;
		end = &(*end)->next;
	}
	return 0;
}

int mctracer_expressions_copy(const struct mctracer_expressions *from,
			      struct mctracer_expressions *to)
{
	struct mctracer_expression *e, *copy;

	if (!from)
		return 0;
	list_for_each_entry(e, &from->list, list) {
		copy = mctracer_expression_add(to, e->name, e->module, e->purpose);
		if (!copy || expression_copy_homes(e, copy))
			return -ENOMEM;
		copy->in_kernel = e->in_kernel;
		copy->data = e->data;
		copy->remove = e->remove;
		copy->may_wait = e->may_wait;
	}
	return 0;
}

static bool expression_strings_equal(const char *a, const char *b)
{
	return !a == !b && (!a || !strcmp(a, b));
}

/* Return the other expression that is as @e would be with @module; or NULL. */
static struct mctracer_expression *expression_find_other(const struct mctracer_expressions *in,
							 const struct mctracer_expression *e,
							 const char *module)
{
	const u32 key = expression_whole_key(e->name, module, e->purpose);
	struct mctracer_expression *other;

	hash_for_each_possible(in->by_whole, other, whole, key)
		if (other != e && !strcmp(other->name, e->name) &&
		    expression_strings_equal(other->module, module) &&
		    expression_strings_equal(other->purpose, e->purpose))
			return other;
	return NULL;
}

/* Return the expression equal to @e; or NULL. An expression that waits is shown with its module. */
static struct mctracer_expression *expression_find_equal(const struct mctracer_expressions *in,
							 const struct mctracer_expression *e)
{
	struct mctracer_expression *other = expression_find_other(in, e, e->module);

	if (other || !e->module)
		return other;
	other = expression_find_other(in, e, NULL);
	return other && mctracer_expression_waits(other) &&
	       !strcmp(other->homes->module, e->module) ? other : NULL;
}

static bool expression_selects_before(const struct mctracer_expression *other,
				      const struct mctracer_expression *e)
{
	return other->order < e->order && !other->remove &&
	       expression_strings_equal(other->purpose, e->purpose);
}

bool mctracer_expression_may_deselect(const struct mctracer_expressions *in,
				      const struct mctracer_expression *e)
{
	const struct mctracer_expression *other;

	if (expression_is_glob(e->name)) {
		list_for_each_entry(other, &in->list, list)
			if (expression_selects_before(other, e))
				return true;
		return false;
	}
	hash_for_each_possible(in->by_name, other, node, mctracer_expression_key(e->name))
		if (expression_selects_before(other, e) && !strcmp(other->name, e->name))
			return true;
	list_for_each_entry(other, &in->globs, globs)
		if (expression_selects_before(other, e) && glob_match(other->name, e->name))
			return true;
	return false;
}

/*
 * Drop the expression equal to @e, if there is one. Note in @e what it was, and where it matched.
 */
static void expression_drop_equal(struct mctracer_expressions *from, struct mctracer_expression *e)
{
	struct mctracer_expression *other = expression_find_equal(from, e);

	if (!other)
		return;
	e->had_equal = !other->remove;
	if (!e->module)
		swap(e->homes, other->homes);
	if (other->fresh)
		kfree(other->data);	/* else an older list shares the data */
	mctracer_expression_drop(other);
}

int mctracer_expression_refuse(const char *file, int error, const char *word, const char *why)
{
	pr_err("%s: \"%s\": %s\n", file, word, why);
	return error;
}

/* Return true for "[module]". */
static bool expression_is_module_word(const char *word)
{
	size_t n;

	if (*word != '[')
		return false;
	for (n = 1; isalnum(word[n]) || word[n] == '_' || word[n] == '-'; n++)
		;
	return n > 1 && !strcmp(word + n, "]");
}

static int expression_refuse_word(const char *file, const char *word, const char *why)
{
	return mctracer_expression_refuse(file, -EINVAL, word, why);
}

/*
 * Parse @word, and the @module that follows it in brackets, or NULL; both are modified. Return 0,
 * -EINVAL or -ENOMEM.
 */
static int expression_parse_word(const char *file, struct mctracer_expressions *to, char *word,
				 char *module,
				 const char *purpose)
{
	bool remove = *word == '!', may_wait = false;
	const char *name = word + remove;
	struct mctracer_expression *e;
	char *colon;

	colon = strstarts(name, "mod:") ? word + remove : strstr(name, ":mod:");
	if (colon) {
		if (module)
			return expression_refuse_word(file, module, "is a second module");
		module = strchr(colon + 1, ':') + 1;
		may_wait = true;
		*colon = '\0';
		if (!*name)
			name = "*";
	}
	if (!*name || expression_is_module_word(name) || (module && !*module))
		return expression_refuse_word(file, word, "names no function");
	if (strchr(name, ':'))
		return expression_refuse_word(file, name, "is not the name of a function");
	if (strchr(name, '[') && !strchr(strchr(name, '['), ']'))
		return expression_refuse_word(file, name, "has a [ without ]");
	if (module && (expression_is_glob(module) || strchr(module, ':')))
		return expression_refuse_word(file, module, "is not the name of a module");
	if (module)
		strreplace(module, '-', '_');
	e = mctracer_expression_add(to, name, module, purpose);
	if (!e)
		return -ENOMEM;
	e->remove = remove;
	e->may_wait = may_wait;
	e->fresh = true;
	expression_drop_equal(to, e);
	return 0;
}

/* Cut the next word off @text, past comments, and return it; NULL at the end. */
static char *expression_next_word(char **text)
{
	char *word;

	for (;;) {
		*text = skip_spaces(*text);
		if (**text != '#')
			break;
		*text += strcspn(*text, "\n");
	}
	if (!**text)
		return NULL;
	word = *text;
	*text += strcspn(word, " \t\n\v\f\r");
	if (**text)
		*(*text)++ = '\0';
	return word;
}

/* If *@next is a module in brackets, return its name, and advance *@next by a word; else NULL. */
static char *expression_module_word(char **next, char **text)
{
	char *module;

	if (!*next || !expression_is_module_word(*next))
		return NULL;
	module = *next + 1;
	module[strlen(module) - 1] = '\0';
	*next = expression_next_word(text);
	return module;
}

int mctracer_expressions_parse(struct mctracer_expressions *to, char *text, const char *file)
{
	char *word, *next = expression_next_word(&text), *module;
	int ret;

	while (next) {
		mctracer_cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		word = next;
		next = expression_next_word(&text);
		module = expression_module_word(&next, &text);
		ret = expression_parse_word(file, to, word, module, NULL);
		if (ret)
			return ret;
	}
	return 0;
}

int mctracer_expression_parse(struct mctracer_expressions *to, char *text, const char *purpose,
			      const char *file)
{
	char *word = expression_next_word(&text), *next = expression_next_word(&text);
	char *module = expression_module_word(&next, &text);

	if (!word)
		return expression_refuse_word(file, purpose, "needs the name of a function");
	if (next)
		return expression_refuse_word(file, next,
					      "is unexpected after the name of a function");
	return expression_parse_word(file, to, word, module, purpose);
}

bool mctracer_expression_waits(const struct mctracer_expression *e)
{
	const struct mctracer_home *home;

	if (e->module)
		return !mctracer_module_is_loaded(e->module);
	if (e->in_kernel)
		return false;
	for (home = e->homes; home; home = home->next)
		if (mctracer_module_is_loaded(home->module))
			return false;
	return e->homes;
}

/* Print @e so that it can be written back while @module is not loaded. */
static void expression_show_waiting(const struct mctracer_expression *e, const char *module,
				    struct seq_file *m)
{
	const bool all = !strcmp(e->name, "*");

	seq_printf(m, "%s%s%smod:%s", e->remove ? "!" : "", all ? "" : e->name, all ? "" : ":",
		   module);
}

void mctracer_expression_show(const struct mctracer_expression *e, struct seq_file *m)
{
	if (e->may_wait || mctracer_expression_waits(e)) {
		expression_show_waiting(e, e->module ?: e->homes->module, m);
		return;
	}
	seq_printf(m, "%s%s", e->remove ? "!" : "", e->name);
	if (e->module)
		seq_printf(m, " [%s]", e->module);
}

/* O(lines). */
void mctracer_expressions_show(const struct mctracer_expressions *expressions, struct seq_file *m)
{
	const struct mctracer_expression *e;
	const struct mctracer_home *home;
	bool waits;

	list_for_each_entry(e, &expressions->list, list) {
		if (seq_has_overflowed(m))
			return;		/* seq_file calls again, with more room */
		waits = mctracer_expression_waits(e);
		mctracer_expression_show(e, m);
		seq_puts(m, waits ? "\t# not loaded\n" : "\n");
		/* A line for each other module, so that all is selected again. */
		for (home = waits && !e->module ? e->homes->next : NULL; home; home = home->next) {
			expression_show_waiting(e, home->module, m);
			seq_puts(m, "\t# not loaded\n");
		}
	}
}
