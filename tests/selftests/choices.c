// SPDX-License-Identifier: GPL-2.0
/*
 * Model the lists filter, notrace and triggers: the result of each write, the selected
 * functions, and the expected state of each call site. The model follows the
 * documentation; of the kernel it uses only the names of its functions.
 *
 *	choices random SEED LIST DIR	print a random text for LIST, mostly valid
 *	choices write FILE replace|append LIST DIR
 *					write standard input to FILE and to the model's
 *					LIST, compare both results and both lists, and
 *					print the result: ok, ENOENT, EINVAL
 *	choices check on|off|static DIR	check that each site in DIR/now is as expected
 *	choices trace FILE DIR [FUNCTION...]
 *					check that the trace FILE has only calls of selected
 *					functions, and a call of each selected FUNCTION
 *
 * DIR contains the model: a file for each list, with one expression per line, and two
 * outputs of "kerneltext sites":
 *
 *	sites	all call sites: the kernel's, then those of modules, also of modules
 *		that are not loaded; sites that are freed after a module's init have
 *		the KIND "init"
 *	now	the current call sites
 *
 * The exit status is 1 if anything differs from the model.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define TEXT_MAX	(4 << 20)
#define COMPLAINTS	8

static const char *dir;
static unsigned int complaints;

static void die(const char *what)
{
	fprintf(stderr, "choices: %s: %s\n", what, errno ? strerror(errno) : "not as expected");
	exit(2);
}

static void *need(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

static void complain(const char *format, ...)
{
	va_list args;

	if (complaints++ >= COMPLAINTS)
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Return the contents of a file, which the caller must free. */
static char *contents(int fd, const char *name)
{
	char *text = need(malloc(TEXT_MAX + 1));
	size_t length = 0;
	ssize_t n;

	if (fd < 0)
		die(name);
	while ((n = read(fd, text + length, TEXT_MAX - length)) > 0)
		length += n;
	if (n < 0 || length == TEXT_MAX)
		die(name);
	text[length] = '\0';
	return text;
}

static char *contents_of(const char *name)
{
	int fd = open(name, O_RDONLY);
	char *text = contents(fd, name);

	close(fd);
	return text;
}

static const char *in_dir(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* --- call sites ---------------------------------------------------------- */

struct site {
	char *kind;
	unsigned long long addr;
	char *module;		/* "-": the kernel's */
	char *names;		/* separated by spaces */
	int seen;
};

struct sites {
	struct site *sites;
	size_t nr;
};

static struct sites all, now;

static void load_sites(struct sites *to, const char *name)
{
	FILE *file = fopen(in_dir(name), "r");
	size_t room = 0, size = 0;
	struct site *site;
	char *line = NULL, *addr, *save;

	if (!file)
		die(in_dir(name));
	while (getline(&line, &size, file) > 0) {
		if (to->nr == room) {
			room = room ? 2 * room : 32768;
			to->sites = need(realloc(to->sites, room * sizeof(*site)));
		}
		site = &to->sites[to->nr++];
		memset(site, 0, sizeof(*site));
		save = need(strdup(line));
		site->kind = strtok_r(save, " ", &save);
		addr = strtok_r(NULL, " ", &save);
		site->module = strtok_r(NULL, " ", &save);
		site->names = strtok_r(NULL, "\n", &save);
		if (!site->names)
			die(in_dir(name));
		site->addr = strtoull(addr, NULL, 16);
	}
	free(line);
	fclose(file);
	errno = 0;
	if (!to->nr)
		die(in_dir(name));
}

static int is_kernels(const struct site *site)
{
	return !strcmp(site->module, "-");
}

/* Find a site in DIR/sites: one of the kernel by its address, one of a module by its names. */
static struct site *find_site(const struct site *like)
{
	size_t low = 0, high = all.nr, middle;
	struct site *site;

	if (is_kernels(like)) {
		while (low < high) {
			middle = (low + high) / 2;
			site = &all.sites[middle];
			if (is_kernels(site) && site->addr == like->addr)
				return site;
			if (is_kernels(site) && site->addr < like->addr)
				low = middle + 1;
			else
				high = middle;
		}
		return NULL;
	}
	for (site = all.sites; site < all.sites + all.nr; site++)
		if (!strcmp(site->module, like->module) && !strcmp(site->names, like->names))
			return site;
	return NULL;
}

/*
 * Load both files. Mark the sites of DIR/sites that are in DIR/now as seen. Drop all other sites
 * from @now: their functions can't be selected, so they must be NOPs.
 */
static void load_now(void)
{
	struct site *known;
	size_t i, nr = 0;

	load_sites(&all, "sites");
	load_sites(&now, "now");
	for (i = 0; i < now.nr; i++) {
		known = find_site(&now.sites[i]);
		if (known) {
			known->seen = 1;
			now.sites[nr++] = now.sites[i];
		} else if (strcmp(now.sites[i].kind, "nop")) {
			complain("%s [%s] is a %s", now.sites[i].names, now.sites[i].module,
				 now.sites[i].kind);
		}
	}
	now.nr = nr;
}

static int module_is_loaded(const char *module)
{
	size_t i;

	for (i = 0; i < now.nr; i++)
		if (!strcmp(now.sites[i].module, module))
			return 1;
	return 0;
}

/* --- expressions --------------------------------------------------------- */

enum list {
	FILTER,
	NOTRACE,
	TRIGGERS,
	LISTS,
};

static const char * const list_names[LISTS] = { "filter", "notrace", "triggers" };

static enum list list_of(const char *name)
{
	int list;

	for (list = 0; list < LISTS; list++)
		if (!strcmp(name, list_names[list]))
			return list;
	errno = 0;
	die(name);
	return LISTS;
}

struct expression {
	char *name;
	char *module;		/* NULL: any */
	char *purpose;		/* of a trigger: the action with its option; otherwise "" */
	char *count;		/* of a trigger, or NULL */
	int remove;
	int waits;		/* the module may be absent: its name follows mod: */
	int fresh;		/* part of the current write */
	int had_equal;		/* it replaced an equal expression that selects functions */
};

struct expressions {
	struct expression *e[1024];
	unsigned int nr;
};

static struct expressions lists[LISTS];

static int is_glob(const char *name)
{
	return name[strcspn(name, "*?[\\")];
}

static int matches_name(const struct expression *e, const char *name)
{
	return is_glob(e->name) ? !fnmatch(e->name, name, 0) : !strcmp(e->name, name);
}

/* Match any name of the site, with or without the compiler's suffix. */
static int matches(const struct expression *e, const struct site *site)
{
	const char *from = site->names;
	char name[512], *dot;
	size_t length;

	if (e->module && strcmp(e->module, site->module))
		return 0;
	for (; *from; from += length + (from[length] == ' ')) {
		length = strcspn(from, " ");
		snprintf(name, sizeof(name), "%.*s", (int)length, from);
		if (matches_name(e, name))
			return 1;
		dot = strchr(name + 1, '.');
		if (*name == '.' || !dot)
			continue;
		*dot = '\0';
		if (matches_name(e, name))
			return 1;
	}
	return 0;
}

/* Return 1 if the first @nr expressions select the site. The last matching expression decides. */
static int chosen(const struct expressions *list, unsigned int nr, const struct site *site)
{
	while (nr--)
		if (matches(list->e[nr], site))
			return !list->e[nr]->remove;
	return 0;
}

static int is_recorded(const struct site *site)
{
	return (!lists[FILTER].nr || chosen(&lists[FILTER], lists[FILTER].nr, site)) &&
	       !chosen(&lists[NOTRACE], lists[NOTRACE].nr, site);
}

static int has_trigger(const struct site *site)
{
	return chosen(&lists[TRIGGERS], lists[TRIGGERS].nr, site);
}

static void drop(struct expressions *list, unsigned int i)
{
	list->nr--;
	memmove(&list->e[i], &list->e[i + 1], (list->nr - i) * sizeof(list->e[0]));
}

static int same(const char *a, const char *b)
{
	return !strcmp(a ?: "-", b ?: "-");
}

/* --- writes -------------------------------------------------------------- */

static int is_module_word(const char *word)
{
	const char *c = word + 1;

	while (*word == '[' && (isalnum((unsigned char)*c) || *c == '_' || *c == '-'))
		c++;
	return c > word + 1 && !strcmp(c, "]");
}

static struct expression *last(const struct expressions *list)
{
	return list->e[list->nr - 1];
}

/*
 * Add an expression. @brackets is the module in brackets after it, or NULL. Return 0 or an error.
 */
static int add_word(struct expressions *list, const char *word, const char *brackets,
		    const char *purpose, const char *count, int fresh)
{
	struct expression *e = need(calloc(1, sizeof(*e))), *other;
	char *module = NULL, *c;
	unsigned int i;

	e->fresh = fresh;
	e->remove = *word == '!';
	e->name = need(strdup(word + e->remove));
	e->purpose = need(strdup(purpose));
	e->count = count ? need(strdup(count)) : NULL;
	if (!strncmp(e->name, "mod:", 4)) {
		module = e->name + 4;
		e->name = need(strdup("*"));
	} else {
		c = strstr(e->name, ":mod:");
		if (c) {
			*c = '\0';
			module = c + 5;
		}
	}
	e->waits = !!module;
	if (brackets) {
		if (module)
			return -EINVAL;
		module = need(strdup(brackets + 1));
		module[strlen(module) - 1] = '\0';
	}
	if (!*e->name || is_module_word(e->name) || strchr(e->name, ':'))
		return -EINVAL;
	c = strchr(e->name, '[');
	if (c && !strchr(c, ']'))
		return -EINVAL;
	if (module && (!*module || is_glob(module) || strchr(module, ':')))
		return -EINVAL;
	for (c = module; c && *c; c++)
		if (*c == '-')
			*c = '_';
	e->module = module;

	for (i = 0; i < list->nr; i++) {
		other = list->e[i];
		if (!same(e->name, other->name) || !same(e->module, other->module) ||
		    !same(e->purpose, other->purpose))
			continue;
		e->had_equal = !other->remove;
		drop(list, i);
		break;
	}
	if (list->nr == COUNT(list->e))
		die("the list");
	list->e[list->nr++] = e;
	return 0;
}

static int add_words(struct expressions *list, char *text, int fresh)
{
	char *word = strtok(text, "\n "), *next;
	int error;

	for (; word; word = next) {
		next = strtok(NULL, "\n ");
		if (next && is_module_word(next)) {
			error = add_word(list, word, next, "", NULL, fresh);
			next = strtok(NULL, "\n ");
		} else {
			error = add_word(list, word, NULL, "", NULL, fresh);
		}
		if (error)
			return error;
	}
	return 0;
}

static const char * const actions[] = {
	"stacktrace", "count", "mark", "traceon",
};

/* Return the colon before the action, or NULL. */
static char *find_action(char *line)
{
	size_t length;
	char *colon;
	unsigned int i;

	for (colon = strchr(line, ':'); colon; colon = strchr(colon + 1, ':')) {
		length = strcspn(colon + 1, ": ");
		for (i = 0; i < COUNT(actions); i++)
			if (strlen(actions[i]) == length &&
			    !strncmp(colon + 1, actions[i], length))
				return colon;
	}
	return NULL;
}

static int add_line(struct expressions *list, char *line, int fresh)
{
	char *purpose = find_action(line), *count, *name, *brackets;
	int error;

	if (!purpose)
		return -EINVAL;
	*purpose++ = '\0';
	count = strchr(purpose, ':');
	if (count) {
		*count++ = '\0';
		if (!strcmp(purpose, "count") || !*count || count[strspn(count, "0123456789")])
			return -EINVAL;
	}
	name = strtok(line, " ");
	brackets = strtok(NULL, " ");
	if (!name || (brackets && !is_module_word(brackets)))
		return -EINVAL;
	error = add_word(list, name, brackets, purpose, count, fresh);
	if (error)
		return error;
	if (last(list)->remove) {
		error = last(list)->had_equal ? 0 : -ENOENT;
		drop(list, list->nr - 1);
		return error;
	}
	if (!last(list)->module && !count && !name[strspn(name, "*?")] &&
	    (!strncmp(purpose, "stacktrace", 10) || !strcmp(purpose, "mark")))
		return -EINVAL;
	return 0;
}

static int add_lines(struct expressions *list, char *text, int fresh)
{
	char *line, *end;
	int error;

	for (line = text; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		error = *line ? add_line(list, line, fresh) : 0;
		if (error)
			return error;
	}
	return 0;
}

static int add_text(enum list which, char *text, int fresh)
{
	return which == TRIGGERS ? add_lines(&lists[which], text, fresh) :
				   add_words(&lists[which], text, fresh);
}

/* Return 1 if the expression changes the selection of a function by the earlier ones. */
static int has_effect(const struct expressions *list, unsigned int i)
{
	const struct expression *e = list->e[i];
	size_t j;

	for (j = 0; j < now.nr; j++)
		if (matches(e, &now.sites[j]) &&
		    (!e->remove || chosen(list, i, &now.sites[j])))
			return 1;
	return 0;
}

static int matches_any(const struct expression *e)
{
	size_t i;

	for (i = 0; i < now.nr; i++)
		if (matches(e, &now.sites[i]))
			return 1;
	return 0;
}

/*
 * Return an error if a new expression matches nothing, or if it removes functions and no expression
 * before it selects any. One that removes an equal expression is dropped instead, if it has no
 * effect on others; one that is older is dropped once no expression before it selects functions.
 */
static int check_effects(struct expressions *list)
{
	struct expression *e;
	unsigned int i;
	int selects = 0;

	for (i = 0; i < list->nr;) {
		e = list->e[i];
		if (e->remove && e->had_equal && !has_effect(list, i)) {
			drop(list, i);
			continue;
		}
		if (e->remove && !selects) {
			if (e->fresh)
				return -ENOENT;
			drop(list, i);
			continue;
		}
		selects |= !e->remove;
		if (e->fresh && !matches_any(e) && !e->waits)
			return -ENOENT;
		i++;
	}
	return 0;
}

static void show_purpose(FILE *file, const struct expression *e, int with_counts)
{
	if (*e->purpose)
		fprintf(file, ":%s", e->purpose);
	if (e->count)
		fprintf(file, ":%s", with_counts ? e->count : "N");
	putc('\n', file);
}

static void show_expression(FILE *file, const struct expression *e, int with_counts)
{
	/* The kernel prints a text that can be written back. */
	int waits = e->waits || (!with_counts && e->module && !module_is_loaded(e->module));

	fputs(e->remove ? "!" : "", file);
	if (waits && !strcmp(e->name, "*"))
		fprintf(file, "mod:%s", e->module);
	else if (waits)
		fprintf(file, "%s:mod:%s", e->name, e->module);
	else if (e->module)
		fprintf(file, "%s [%s]", e->name, e->module);
	else
		fputs(e->name, file);
	show_purpose(file, e, with_counts);
}

/* Print the list as the kernel does, without comments; @with_counts: as the model stores it. */
static void show(FILE *file, const struct expressions *list, int with_counts)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++)
		show_expression(file, list->e[i], with_counts);
}

static char *line_end(char *text)
{
	text += strcspn(text, "\n");
	return *text ? text + 1 : text;
}

/*
 * Return the text behind the lines at @text for @e, which matched only functions of modules that
 * are gone: a line with each of these modules. Return @text if it has no such line.
 */
static char *behind_homes(char *text, const struct expression *e)
{
	char begin[600], end[600];
	FILE *file = need(fmemopen(end, sizeof(end), "w"));
	size_t length;
	char *module;

	show_purpose(file, e, 0);
	fclose(file);
	snprintf(begin, sizeof(begin), "%s%s:mod:", e->remove ? "!" : "", e->name);
	length = strlen(begin);
	while (!strncmp(text, begin, length)) {
		module = text + length;
		module += strcspn(module, ":\n");
		if (strncmp(module, end, strlen(end)))
			break;
		text = line_end(text);
	}
	return text;
}

/* Print the kernel's @text, with one line without a module for each such expression. */
static void show_without_homes(FILE *file, char *text, const struct expressions *list)
{
	unsigned int i;
	char *end;

	for (i = 0; i < list->nr && *text; i++) {
		end = text;
		if (!list->e[i]->module && !matches_any(list->e[i]))
			end = behind_homes(text, list->e[i]);
		if (end != text) {
			show_expression(file, list->e[i], 0);
		} else {
			end = line_end(text);
			fwrite(text, 1, end - text, file);
		}
		text = end;
	}
	fputs(text, file);
}

static void load_list(enum list which)
{
	char *text = contents_of(in_dir(list_names[which]));

	lists[which].nr = 0;
	errno = 0;
	if (add_text(which, text, 0))
		die(list_names[which]);
	free(text);
}

static void load_lists(void)
{
	int list;

	for (list = 0; list < LISTS; list++)
		load_list(list);
}

/* Complain if the lists of the kernel and of the model differ. */
static void compare_list(const char *path, enum list which)
{
	char *text = contents_of(path), *want = need(calloc(1, TEXT_MAX)), *from, *to, *colon;
	char *found = need(calloc(1, TEXT_MAX));
	FILE *file = need(fmemopen(want, TEXT_MAX - 1, "w"));

	for (from = text, to = text; *from;) {
		if (*from != '#') {
			*to++ = *from++;
			continue;
		}
		from += strcspn(from, "\n");
		while (to > text && strchr("\t ", to[-1]))
			to--;
		if (to == text || to[-1] == '\n')
			from += *from == '\n';
		/* Ignore a remaining count. */
		for (colon = to; colon > text && isdigit((unsigned char)colon[-1]);)
			colon--;
		if (which == TRIGGERS && colon < to && colon > text && colon[-1] == ':') {
			*colon = 'N';
			to = colon + 1;
		}
	}
	*to = '\0';
	show(file, &lists[which], 0);
	fclose(file);
	file = need(fmemopen(found, TEXT_MAX - 1, "w"));
	show_without_homes(file, text, &lists[which]);
	fclose(file);
	if (strcmp(found, want))
		complain("%s is\n%sand should be\n%s", list_names[which], text, want);
	free(found);
	free(want);
	free(text);
}

static const char *name_of(int error)
{
	switch (error) {
	case 0:		return "ok";
	case -EINVAL:	return "EINVAL";
	case -ENOENT:	return "ENOENT";
	}
	return strerror(-error);
}

static int write_both(const char *path, int replace, enum list which)
{
	char *text = contents(0, "standard input");
	int fd, error = 0, want;
	FILE *file;

	fd = open(path, O_WRONLY | (replace ? O_TRUNC : 0));
	if (fd < 0)
		die(path);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		error = -errno;
	if (close(fd) && !error)
		error = -errno;

	load_now();
	load_list(which);
	if (replace)
		lists[which].nr = 0;
	want = add_text(which, text, 1) ?: check_effects(&lists[which]);
	if (want)
		load_list(which);
	if (error != want)
		complain("the result is %s, and should be %s", name_of(error), name_of(want));
	compare_list(path, which);

	file = fopen(in_dir(list_names[which]), "w");
	if (!file)
		die(list_names[which]);
	show(file, &lists[which], 1);
	if (ferror(file) | fclose(file))
		die(list_names[which]);
	if (!complaints)
		puts(name_of(want));
	return complaints != 0;
}

/* --- checks -------------------------------------------------------------- */

static const char *wanted(const struct site *site, const char *mode)
{
	if (!strcmp(mode, "static"))
		return "hook";
	if (strcmp(mode, "on"))
		return "nop";
	if (has_trigger(site))
		return "gate";
	return is_recorded(site) ? "hook" : "nop";
}

static int check(const char *mode)
{
	unsigned long hooks = 0, gates = 0;
	const struct site *site;
	const char *want;
	size_t i;

	load_now();
	load_lists();
	for (i = 0; i < now.nr; i++) {
		site = &now.sites[i];
		want = wanted(site, mode);
		hooks += *want == 'h';
		gates += *want == 'g';
		if (strcmp(site->kind, want))
			complain("%s [%s] is a %s, and should be a %s", site->names,
				 site->module, site->kind, want);
	}
	for (i = 0; i < all.nr; i++) {
		site = &all.sites[i];
		if (site->seen || !strcmp(site->kind, "init"))
			continue;
		if (is_kernels(site) || module_is_loaded(site->module))
			complain("%s [%s] is neither a NOP nor a call", site->names, site->module);
	}
	if (complaints)
		printf("%u are wrong of %zu\n", complaints, now.nr);
	else
		printf("sites %zu hooks %lu gates %lu\n", now.nr, hooks, gates);
	return complaints != 0;
}

/*
 * Return 1 if calls of the site may be recorded: a stacktrace trigger records functions that are
 * not selected, too.
 */
static int may_be_recorded(const struct site *site)
{
	const struct expressions *triggers = &lists[TRIGGERS];
	unsigned int i;

	for (i = 0; i < triggers->nr; i++)
		if (!strncmp(triggers->e[i]->purpose, "stacktrace", 10) &&
		    matches(triggers->e[i], site))
			return 1;
	return is_recorded(site);
}

static int has_name(const struct site *site, const char *name)
{
	size_t length = strlen(name);
	const char *at;

	for (at = strstr(site->names, name); at; at = strstr(at + 1, name))
		if ((at == site->names || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return 1;
	return 0;
}

/* Return the called function of a trace's line and set *module, or return NULL. */
static char *called(char *line, const char **module)
{
	char *arrow = strstr(line, " <-- "), *name, *end;

	if (strncmp(line, "CPU ", 4) || !arrow)
		return NULL;
	*arrow = '\0';
	*module = "-";
	name = strrchr(line, ' ');
	if (name && name[1] == '[' && strchr(name, ']')) {
		*strchr(name, ']') = '\0';
		*module = name + 2;
		*name = '\0';
		name = strrchr(line, ' ');
	}
	end = name ? strrchr(name, '+') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	return name + 1;
}

/* Return 1 if this function was looked up before: each is looked up once. */
static int is_known(const char *name, const char *module)
{
	static struct known {
		struct known *next;
		char *text;
	} *table[4096];
	unsigned int hash = 0;
	struct known **at;
	char text[600];
	const char *c;

	snprintf(text, sizeof(text), "%s %s", name, module);
	for (c = text; *c; c++)
		hash = 31 * hash + (unsigned char)*c;
	for (at = &table[hash % COUNT(table)]; *at; at = &(*at)->next)
		if (!strcmp((*at)->text, text))
			return 1;
	*at = need(calloc(1, sizeof(**at)));
	(*at)->text = need(strdup(text));
	return 0;
}

static int check_trace(const char *path, char **functions)
{
	FILE *file = fopen(path, "r");
	unsigned long calls = 0;
	const char *module, *name;
	char *line = NULL;
	size_t size = 0, i;
	int found;

	if (!file)
		die(path);
	load_now();
	load_lists();
	while (getline(&line, &size, file) > 0) {
		name = called(line, &module);
		if (!name)
			continue;
		calls++;
		if (is_known(name, module))
			continue;
		found = 0;
		for (i = 0; i < now.nr && !found; i++)
			found = !strcmp(now.sites[i].module, module) &&
				has_name(&now.sites[i], name) && may_be_recorded(&now.sites[i]);
		if (!found)
			complain("a call of %s [%s] is recorded", name, module);
	}
	free(line);
	fclose(file);

	for (i = 0; i < now.nr; i++) {
		name = now.sites[i].names;
		module = now.sites[i].module;
		for (found = 0; functions[found] && strcmp(functions[found], name); found++)
			;
		if (functions[found] && is_recorded(&now.sites[i]) && !is_known(name, module))
			complain("no call of %s [%s] is recorded", name, module);
	}
	if (!complaints)
		printf("%lu calls\n", calls);
	return complaints != 0;
}

/* --- random texts -------------------------------------------------------- */

static unsigned long long state;

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's generators" */
static unsigned int random_below(unsigned int n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned int)(state * 0x2545f4914f6cdd1dULL >> 32) % n;
}

static const char * const modules[] = { "mct_target", "mct-target", "mct_twin", "mct_nowhere" };

static const char *random_module(void)
{
	return modules[random_below(COUNT(modules))];
}

static const struct site *any_site(void)
{
	return &all.sites[random_below(all.nr)];
}

/*
 * Return any site, one with a compiler's suffix, one with aliases, one that is called often, or a
 * module's.
 */
static const struct site *random_site(void)
{
	static const char * const often[] = {
		"vfs_read", "vfs_write", "ksys_read", "ksys_write", "read_zero",
	};
	const char *name = often[random_below(COUNT(often))];
	unsigned int kind = random_below(10);
	const struct site *site;
	size_t i;

	for (i = 0; i < all.nr; i++) {
		site = kind < 6 ? any_site() : &all.sites[i];
		if (kind < 4 || (kind == 4 && strchr(site->names, '.')) ||
		    (kind == 5 && strchr(site->names, ' ')))
			return site;
		if (kind == 6 && has_name(site, name))
			return site;
		if (kind > 6 && !is_kernels(site) && !random_below(8))
			return site;
	}
	return any_site();
}

/* Write a random expression for the function, without its module. */
static void random_pattern(char *to, size_t size, const struct site *site)
{
	unsigned int from, length, at, second;
	char name[512];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(site->names, " "), site->names);
	if (random_below(2))
		name[1 + strcspn(name + 1, ".")] = '\0';
	length = strlen(name);
	at = random_below(length);
	second = random_below(length);
	switch (random_below(12)) {
	case 0: case 1:	/* its beginning */
		snprintf(to, size, "%.*s*", 1 + random_below(5), name);
		return;
	case 2:		/* its end */
		from = 1 + random_below(6);
		snprintf(to, size, "*%s", length > from ? name + length - from : name);
		return;
	case 3: case 4:	/* its middle */
		snprintf(to, size, "*%.*s*", 2 + random_below(4), name + at);
		return;
	case 5: case 6:	/* a set of first letters */
		snprintf(to, size, "[%c%c-%c]*", *name, 'a' + random_below(4),
			 'e' + random_below(20));
		return;
	case 7:
		name[at] = '?';
		if (random_below(2))
			name[second] = '?';
		break;
	case 8:		/* a letter becomes a range or a set */
		snprintf(to, size, "%.*s[%c%s]%s", (int)at, name, name[at],
			 !islower((unsigned char)name[at]) ? "" : random_below(2) ? "-z" : "ae",
			 name + at + 1);
		return;
	}
	snprintf(to, size, "%s", name);
}

static void random_expression(const struct site *site)
{
	const char *module = is_kernels(site) || !random_below(8) ? random_module() : site->module;
	char name[1024];

	random_pattern(name, sizeof(name), site);
	if (is_kernels(site) ? random_below(12) : !random_below(3)) {
		fputs(name, stdout);
		return;
	}
	switch (random_below(6)) {
	case 0:
		printf("mod:%s", module);
		break;
	case 1:
		printf("*:mod:%s", module);
		break;
	case 2:
		printf("mct_*:mod:%s", module);
		break;
	case 3:
		printf("%s:mod:%s", name, module);
		break;
	default:
		printf("%s [%s]", name, module);
	}
}

static const char *random_bad(void)
{
	static const char * const bad[] = {
		"no_such_function", "no_such_*", "!no_such_function", "register_mcount_function",
		"vfs_read [no_such_module]", "mod:mct_*", "vfs_read:mod:a [b]", "vfs_[rw",
		"[mct_target]", "!", "mod:", "vfs_read:mod:", "a:b", "vfs_read:mod:a:b",
	};

	return bad[random_below(COUNT(bad))];
}

static void show_name(const struct expression *e)
{
	if (e->module)
		printf(e->waits ? "%s:mod:%s" : "%s [%s]", e->name, e->module);
	else
		fputs(e->name, stdout);
}

static void random_word(const struct expressions *list)
{
	unsigned int kind = random_below(30);
	const struct site *site;
	int tries;

	if (!kind) {
		fputs(random_bad(), stdout);
		return;
	}
	if (kind < 5 && list->nr) {	/* an existing one: remove it or repeat it */
		if (kind < 4)
			putchar('!');
		show_name(list->e[random_below(list->nr)]);
		return;
	}
	site = random_site();
	if (kind < 12 && list->nr) {	/* remove a selected function, if one is found */
		for (tries = 0; tries < 1000 && !chosen(list, list->nr, site); tries++)
			site = any_site();
		if (tries < 1000)
			putchar('!');
	}
	random_expression(site);
}

static void random_line(const struct expressions *list)
{
	static const char * const does[] = {
		":count", ":count", ":stacktrace:3", ":stacktrace depth=2:5", ":mark:2",
		":traceon:2", ":mark:0",
	};
	static const char * const bad[] = {
		"vfs_read", "vfs_read:dance", "vfs_read:count:5", "*:mark", "??*:stacktrace",
		"vfs_read vfs_write:count", "vfs_read:mark:x", "!vfs_read:mark:77",
		"!no_such_function:count", ":count",
	};
	unsigned int kind = random_below(24);
	const struct expression *e;

	if (!kind) {
		fputs(bad[random_below(COUNT(bad))], stdout);
	} else if (kind < 6 && list->nr) {
		e = list->e[random_below(list->nr)];
		if (kind < 5)
			putchar('!');
		show_name(e);
		printf(":%s%s", e->purpose, e->count ? ":1" : "");
	} else {
		if (kind == 6)
			fputs(random_bad(), stdout);
		else
			random_expression(random_site());
		fputs(does[random_below(COUNT(does))], stdout);
	}
}

static int random_text(unsigned long seed, enum list which)
{
	unsigned int n;

	load_sites(&all, "sites");
	load_list(which);
	/* Let similar seeds begin far apart. */
	state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	for (n = 0; n < 8; n++)
		random_below(2);

	if (!random_below(16))	/* no text: a write that replaces empties the list */
		return 0;
	for (n = 1 + random_below(3); n; n--) {
		if (which == TRIGGERS)
			random_line(&lists[which]);
		else
			random_word(&lists[which]);
		putchar(which == TRIGGERS || random_below(2) ? '\n' : ' ');
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";

	if (argc == 5 && !strcmp(what, "random")) {
		dir = argv[4];
		return random_text(strtoul(argv[2], NULL, 10), list_of(argv[3]));
	}
	if (argc == 6 && !strcmp(what, "write")) {
		dir = argv[5];
		return write_both(argv[2], !strcmp(argv[3], "replace"), list_of(argv[4]));
	}
	if (argc == 4 && !strcmp(what, "check")) {
		dir = argv[3];
		return check(argv[2]);
	}
	if (argc >= 4 && !strcmp(what, "trace")) {
		dir = argv[3];
		return check_trace(argv[2], argv + 4);
	}
	fprintf(stderr,
		"usage: choices random SEED LIST DIR | write FILE replace|append LIST DIR |\n"
		"       check on|off|static DIR | trace FILE DIR [FUNCTION...]\n");
	return 2;
}
