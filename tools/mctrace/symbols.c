// SPDX-License-Identifier: GPL-2.0
/* Find the names of addresses in copies of /proc/kallsyms. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "addresses.h"
#include "functions.h"
#include "kallsyms.h"
#include "lines.h"
#include "symbols.h"
#include "util.h"

#define PAGE		4096ULL		/* modules' sections are aligned to it */
#define UNKNOWN		"[unknown]"	/* as the kernel prints it */
#define PADDING		64ULL		/* at most, before a section's first function */
#define TABLES_TRIED	1024U		/* at most, for a name, before and after an event */

struct table {
	struct kallsyms_line *lines;
	size_t nr;
	struct kallsyms_line *modules;	/* a line of each module, by the module's name */
	size_t nr_modules;
	const struct kallsyms_line **by_function;	/* see lines_by_function() */
};

struct symbols {
	struct table *tables;		/* the earliest first */
	unsigned int nr_tables;
	uint64_t at;			/* see symbols_at() */
	const struct recording *from;	/* the recording of these tables */
	uint64_t modules;		/* begin of modules' text, if there are several tables */
	bool *known;			/* by index of from->modules: see know_modules() */
	struct symbol **slots;		/* by hash of the address; NULL: empty */
	size_t nr_slots, used;		/* a power of two */
	struct functions *functions;	/* of this recording */
	struct functions *sums;		/* see symbols_of() */
	struct lines *lines;		/* NULL: not asked for */
};

/* Sort by address; then by place in the text, since the kernel uses the first of several names. */
static int by_address(const void *a, const void *b)
{
	const struct kallsyms_line *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void parse(struct table *table, const char *text, size_t size)
{
	const char *end = text + strnlen(text, size), *eol;
	size_t room = 0;
	struct kallsyms_line line;

	/* A last line without its end is incomplete. */
	for (; (eol = memchr(text, '\n', end - text)); text = eol + 1) {
		if (!kallsyms_parse(text, eol - text, &line))
			continue;
		if (table->nr == room) {
			room = room ? 2 * room : 64;
			table->lines = xrealloc(table->lines, room, sizeof(*table->lines));
		}
		table->lines[table->nr++] = line;
	}
	if (!table->lines)
		table->lines = xcalloc(1, sizeof(*table->lines));
	if (table->nr)
		qsort(table->lines, table->nr, sizeof(*table->lines), by_address);
}

/* Return the module's name, which is not terminated; its length is in @line. */
static const char *module_of(const struct kallsyms_line *line)
{
	return line->name + line->name_length + strlen("\t[");
}

static bool same_module(const struct kallsyms_line *a, const struct kallsyms_line *b)
{
	return a->module_length == b->module_length &&
	       (!a->module_length || !memcmp(module_of(a), module_of(b), a->module_length));
}

/* Return the lowest address of a module. Below it, names are the same in all tables. */
static uint64_t modules_from(const struct symbols *symbols)
{
	uint64_t first = ~0ULL;
	const struct kallsyms_line *line;
	const struct table *table;

	if (symbols->nr_tables < 2 && !symbols->from->nr_modules)
		return first;
	for (table = symbols->tables; table < symbols->tables + symbols->nr_tables; table++)
		for (line = table->lines; line < table->lines + table->nr; line++)
			if (line->module_length && line->address < first)
				first = line->address;
	return first;
}

/* Order by the module's length and name: any order will do. */
static int by_module(const void *a, const void *b)
{
	const struct kallsyms_line *x = a, *y = b;

	if (x->module_length != y->module_length)
		return x->module_length < y->module_length ? -1 : 1;
	return memcmp(module_of(x), module_of(y), x->module_length);
}

/* Collect the modules of a table. A module's lines may be in several places. */
static void find_modules(struct table *table)
{
	const struct kallsyms_line *line, *end = table->lines + table->nr;
	struct kallsyms_line *modules = NULL;
	size_t i, nr = 0, room = 0;

	for (line = table->lines; line < end; line++) {
		if (!line->module_length || (nr && same_module(line, &modules[nr - 1])))
			continue;
		if (nr == room) {
			room = room ? 2 * room : 64;
			modules = xrealloc(modules, room, sizeof(*modules));
		}
		modules[nr++] = *line;
	}
	table->modules = modules;
	if (!nr)
		return;
	qsort(modules, nr, sizeof(*modules), by_module);
	for (i = table->nr_modules = 1; i < nr; i++)
		if (!same_module(&modules[i], &modules[table->nr_modules - 1]))
			modules[table->nr_modules++] = modules[i];
}

/* Return how many modules are in only one of two tables. */
static size_t different_modules(const struct table *a, const struct table *b)
{
	size_t i = 0, j = 0, both = 0;

	while (i < a->nr_modules && j < b->nr_modules) {
		int order = by_module(&a->modules[i], &b->modules[j]);

		both += !order;
		i += order <= 0;
		j += order >= 0;
	}
	return a->nr_modules + b->nr_modules - 2 * both;
}

/*
 * Find out for each two tables in a row whether a module that is in both was there all the time.
 * Each module in only one of them has come or gone at least once. If that is how often modules have
 * come and gone, no other module did: neither one that is in both, nor one that is in none and may
 * have had the same addresses. Each table is compared with the next one only, so this takes linear
 * time, however many counts there are.
 */
static void know_modules(struct symbols *symbols)
{
	const struct recording_modules *then = symbols->from->modules;
	unsigned int i, a, b;

	for (i = 0; i < symbols->nr_tables; i++)
		find_modules(&symbols->tables[i]);
	symbols->known = xcalloc(symbols->from->nr_modules, sizeof(*symbols->known));
	for (i = 0; i + 1 < symbols->from->nr_modules; i++) {
		a = then[i].nr_symbols - 1;
		b = then[i + 1].nr_symbols - 1;
		symbols->known[i] = then[i + 1].count - then[i].count ==
				    (a == b ? 0 : different_modules(&symbols->tables[a],
								    &symbols->tables[b]));
	}
}

struct symbols *symbols_of(const struct recording *from, struct functions *sums)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));
	unsigned int i;

	symbols->from = from;
	symbols->sums = sums;
	symbols->functions = functions_new(false);
	symbols->nr_tables = from->nr_symbols;
	symbols->tables = xcalloc(from->nr_symbols, sizeof(*symbols->tables));
	for (i = 0; i < from->nr_symbols; i++)
		parse(&symbols->tables[i], from->symbols[i], from->symbols_size[i]);
	symbols->modules = modules_from(symbols);
	if (from->nr_modules)
		know_modules(symbols);
	return symbols;
}

void symbols_show_lines(struct symbols *symbols, const char *vmlinux, const char *build_id)
{
	const struct kallsyms_line *line;
	const struct table *table;

	for (table = symbols->tables; table < symbols->tables + symbols->nr_tables; table++) {
		for (line = table->lines; line < table->lines + table->nr; line++) {
			if (line->name_length == 6 && !memcmp(line->name, "_stext", 6)) {
				symbols->lines = lines_open(vmlinux, line->address, build_id);
				return;
			}
		}
	}
	die("the recording has no symbol _stext, so the kernel's address is not known");
}

/* Return the number of lines whose addresses are not above @address. */
static size_t lines_up_to(const struct table *table, uint64_t address)
{
	size_t low = 0, high = table->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (table->lines[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Return the first line with the highest address that is not above @address. Many lines may have
 * that address, so search for the first one, too: two searches of O(log n) steps.
 */
static const struct kallsyms_line *find_line(const struct table *table, uint64_t address)
{
	size_t nr = lines_up_to(table, address);

	if (!nr)
		return NULL;
	address = table->lines[nr - 1].address;
	return &table->lines[address ? lines_up_to(table, address - 1) : 0];
}

/* Return true if @next, in the same module, is the first function of another section. */
static bool begins_section(const struct kallsyms_line *line, const struct kallsyms_line *next)
{
	return line->module_length && next->address - line->address > PAGE &&
	       next->address % PAGE < PADDING;
}

/*
 * Return the end of the function: the beginning of the next one. After the last function of a
 * module's section, the text of modules that the table lacks may follow, so that function ends with
 * the page in which it begins. So does the kernel's own last function if only modules follow.
 */
static uint64_t end_of(const struct table *table, const struct kallsyms_line *line)
{
	const struct kallsyms_line *next = &table->lines[lines_up_to(table, line->address)];
	uint64_t page = (line->address + PAGE) & -PAGE;

	if (next == table->lines + table->nr)
		return line->module_length ? page : line->address;
	if (same_module(next, line) && !begins_section(line, next))
		return next->address;
	return next->address < page ? next->address : page;
}

static const struct kallsyms_line *look_up_in(const struct table *table, uint64_t address,
					      uint64_t *end)
{
	const struct kallsyms_line *line = find_line(table, address);

	if (!line)
		return NULL;
	*end = end_of(table, line);
	return address < *end ? line : NULL;
}

/* Return true if both are the same function of the same module. */
static bool same_line(const struct kallsyms_line *a, const struct kallsyms_line *b)
{
	return a->address == b->address && a->name_length == b->name_length &&
	       !memcmp(a->name, b->name, a->name_length) && same_module(a, b);
}

/*
 * Return the latest count of modules at @count or before. There is one, since the first count is
 * not after @count.
 */
static const struct recording_modules *modules_then(const struct symbols *symbols, uint32_t count)
{
	const struct recording_modules *then = symbols->from->modules;
	unsigned int low = 0, high = symbols->from->nr_modules - 1, middle;

	while (low < high) {
		middle = high - (high - low) / 2;
		if ((int32_t)(count - then[middle].count) >= 0)
			low = middle;
		else
			high = middle - 1;
	}
	return &then[low];
}

/*
 * Look @address up at the time when modules had come and gone @count times. Between the times of
 * two tables, only a function that both tables have is certain, and only if its module did not go
 * in between.
 */
static const struct kallsyms_line *look_up_at(const struct symbols *symbols, uint64_t address,
					      uint32_t count, const struct table **table,
					      uint64_t *end)
{
	const struct recording_modules *then = symbols->from->modules;
	const struct recording_modules *last = then + symbols->from->nr_modules - 1;
	const struct kallsyms_line *line, *later;
	uint64_t unused;

	if ((int32_t)(count - then->count) < 0)
		return NULL;
	then = modules_then(symbols, count);
	*table = &symbols->tables[then->nr_symbols - 1];
	line = look_up_in(*table, address, end);
	if (!line || !line->module_length || then->count == count)
		return line;
	if (then == last || !symbols->known[then - symbols->from->modules])
		return NULL;
	later = look_up_in(&symbols->tables[then[1].nr_symbols - 1], address, &unused);
	return later && same_line(line, later) ? line : NULL;
}

/*
 * Look @address up: in the table of symbols->at, or in later tables, because a new module's
 * functions are called before its symbols are read, or in earlier tables. A file may have many
 * small tables, so try at most TABLES_TRIED of them on both sides, and the first one, which has the
 * kernel's own functions.
 */
static const struct kallsyms_line *look_up(const struct symbols *symbols, uint64_t address,
					   const struct table **table, uint64_t *end)
{
	const unsigned int then = symbols->at && !(symbols->at & SYMBOLS_AT_MODULES) ?
				  symbols->at - 1 : 0;
	const struct kallsyms_line *line;
	unsigned int i;

	if (symbols->at & SYMBOLS_AT_MODULES && address >= symbols->modules)
		return look_up_at(symbols, address, symbols->at, table, end);
	for (i = then; i < symbols->nr_tables && i - then < TABLES_TRIED; i++) {
		*table = &symbols->tables[i];
		line = look_up_in(*table, address, end);
		if (line)
			return line;
	}
	for (i = then; i && then - i < TABLES_TRIED; i--) {
		*table = &symbols->tables[i - 1];
		line = look_up_in(*table, address, end);
		if (line)
			return line;
	}
	*table = symbols->tables;
	return symbols->nr_tables ? look_up_in(*table, address, end) : NULL;
}

static size_t hash(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15ULL;
	return x >> 32 ^ x;
}

/*
 * Return "name [module]"; "name" in the kernel itself; the address if @line is NULL. The caller
 * frees it.
 */
static char *title_of(uint64_t address, const char *name, size_t length,
		      const struct kallsyms_line *line)
{
	if (!line)
		return xasprintf("%#llx", (unsigned long long)address);
	if (!line->module_length)
		return xasprintf("%.*s", (int)length, name);
	return xasprintf("%.*s [%.*s]", (int)length, name, (int)line->module_length,
			 module_of(line));
}

/*
 * Return the id of the function that begins at @address. An address without a name is a function of
 * its own, and @line is NULL.
 */
static uint32_t id_of(struct symbols *symbols, uint64_t address, const char *name, size_t length,
		      const struct kallsyms_line *line)
{
	char *title = title_of(address, name, length, line);
	uint32_t id = functions_id(symbols->functions, address, name, length, title);

	free(title);
	return id;
}

static bool is_any(const char *name, const char * const *names, size_t nr)
{
	while (nr--)
		if (!strcmp(name, names[nr]))
			return true;
	return false;
}

static bool is_entry(const char *name)
{
	static const char * const names[] = {
		"do_syscall_64", "__do_fast_syscall_32", "do_int80_syscall_32",
		"do_int80_emulation", "do_SYSENTER_32", "ret_from_fork", "ret_from_fork_asm",
		"syscall_exit_to_user_mode", "irqentry_exit_to_user_mode",
	};
	static const char leaving[] = "arch_exit_to_user_mode_prepare";	/* with gcc's suffixes */

	return is_any(name, names, ARRAY_SIZE(names)) ||
	       !strncmp(name, leaving, strlen(leaving));
}

static bool is_interrupt(const char *name)
{
	static const char * const names[] = {
		"common_interrupt", "exc_nmi", "default_do_nmi", "irqentry_exit",
		"preempt_schedule_irq",
	};

	return is_any(name, names, ARRAY_SIZE(names)) || !strncmp(name, "sysvec_", 7) ||
	       !strncmp(name, "fred_sysvec_", 12);
}

static bool is_syscall(const char *name)
{
	return !strncmp(name, "__x64_sys_", 10) || !strncmp(name, "__ia32_sys_", 11) ||
	       !strncmp(name, "__ia32_compat_sys_", 18);
}

static bool is_last(const char *name)
{
	static const char * const names[] = {
		"do_exit", "do_group_exit", "make_task_dead", "do_task_dead", "kthread_exit",
		"kthread_complete_and_exit", "module_put_and_kthread_exit", "__x64_sys_exit",
		"__x64_sys_exit_group", "__ia32_sys_exit", "__ia32_sys_exit_group", "get_signal",
		"arch_do_signal_or_restart",
	};

	return is_any(name, names, ARRAY_SIZE(names));
}

/* Return true if the function sleeps or lets other tasks run, and does little else. */
static bool is_schedule(const char *name)
{
	static const char * const names[] = {
		"schedule", "__schedule", "schedule_rtlock", "schedule_preempt_disabled",
		"schedule_timeout", "schedule_timeout_interruptible", "schedule_timeout_killable",
		"schedule_timeout_uninterruptible", "schedule_timeout_idle", "schedule_hrtimeout",
		"schedule_hrtimeout_range", "schedule_hrtimeout_range_clock", "io_schedule",
		"io_schedule_timeout", "do_nanosleep", "preempt_schedule",
		"preempt_schedule_common", "preempt_schedule_irq", "preempt_schedule_notrace",
	};

	return is_any(name, names, ARRAY_SIZE(names));
}

/*
 * Compare a line with the function in @of's module whose name is the first @length bytes of @of's
 * name.
 */
static int compare_function(const struct kallsyms_line *line, const struct kallsyms_line *of,
			    size_t length)
{
	int order;

	if (line->name_length != length)
		return line->name_length < length ? -1 : 1;
	order = memcmp(line->name, of->name, length);
	return order ?: by_module(line, of);
}

static int by_function(const void *a, const void *b)
{
	const struct kallsyms_line *x = *(const struct kallsyms_line * const *)a;
	const struct kallsyms_line *y = *(const struct kallsyms_line * const *)b;

	return compare_function(x, y, y->name_length);
}

/* Return the table's lines in the order of compare_function(). Sort them at the first call. */
static const struct kallsyms_line **lines_by_function(struct table *table)
{
	size_t i;

	if (table->by_function)
		return table->by_function;
	table->by_function = xcalloc(table->nr + 1, sizeof(*table->by_function));
	for (i = 0; i < table->nr; i++)
		table->by_function[i] = &table->lines[i];
	qsort(table->by_function, table->nr, sizeof(*table->by_function), by_function);
	return table->by_function;
}

/*
 * Return the beginning of the function that @cold is a part of: the function with the name before
 * ".cold". If several have that name, return the cold part's own address. Each recorded address in
 * a cold part needs this, so search in O(log n) steps.
 */
static uint64_t whole_of(struct table *table, const struct kallsyms_line *cold, size_t length)
{
	const struct kallsyms_line **lines = lines_by_function(table);
	size_t low = 0, high = table->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (compare_function(lines[middle], cold, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == table->nr || compare_function(lines[low], cold, length))
		return cold->address;
	if (low + 1 < table->nr && !compare_function(lines[low + 1], cold, length))
		return cold->address;
	return lines[low]->address;
}

static void add_line(struct symbols *symbols, struct symbol *symbol, uint64_t address)
{
	const char *line = line_of(symbols->lines, address);
	char *text = (char *)symbol->text;

	if (!line)
		return;
	symbol->text = xasprintf("%s (%s)", text, line);
	free(text);
}

/*
 * Return the line of a trampoline that begins at @address: it replaces a return address while a
 * return probe or function_graph waits. NULL: there is none.
 */
static const struct kallsyms_line *trampoline_at(const struct symbols *symbols, uint64_t address,
						 const struct table **table, uint64_t *end)
{
	static const char * const names[] = {
		"arch_rethook_trampoline", "__kretprobe_trampoline", "return_to_handler",
	};
	const struct kallsyms_line *line = look_up(symbols, address, table, end);
	size_t i;

	for (i = 0; line && line->address == address && i < ARRAY_SIZE(names); i++)
		if (line->name_length == strlen(names[i]) &&
		    !memcmp(line->name, names[i], line->name_length))
			return line;
	return NULL;
}

/*
 * Create the symbol of a recorded address. That address is behind an instruction, which may be
 * the last one of its function: look up the byte before. But there is none before a trampoline.
 */
static struct symbol *new_symbol(struct symbols *symbols, uint32_t low)
{
	uint64_t address = recording_address(symbols->from, low), begin, end;
	const struct table *table;
	const struct kallsyms_line *line = trampoline_at(symbols, address, &table, &end);
	struct symbol *symbol = xcalloc(1, sizeof(*symbol));
	const char *cold;
	size_t length;

	symbol->address = low;
	if (!line)
		line = look_up(symbols, address - 1, &table, &end);
	if (line) {
		symbol->text = xasprintf("%.*s+0x%llx/%#llx%s%.*s%s",
					 (int)line->name_length, line->name,
					 (unsigned long long)(address - line->address),
					 (unsigned long long)(end - line->address),
					 line->module_length ? " [" : "", (int)line->module_length,
					 module_of(line),
					 line->module_length ? "]" : "");
		cold = memmem(line->name, line->name_length, ".cold", strlen(".cold"));
		length = cold ? (size_t)(cold - line->name) : line->name_length;
		symbol->function = cold ? 0 : line->address;
		begin = cold ? whole_of(&symbols->tables[table - symbols->tables], line, length) :
			line->address;
		symbol->id = id_of(symbols, begin, line->name, length, line);
	} else {
		symbol->text = xstrdup(UNKNOWN);
		symbol->id = id_of(symbols, address, UNKNOWN, strlen(UNKNOWN), NULL);
	}
	if (symbols->lines)
		add_line(symbols, symbol, address - 1);
	symbol->length = strlen(symbol->text);
	symbol->name = functions_name(symbols->functions, symbol->id);
	symbol->title = functions_title(symbols->functions, symbol->id);
	symbol->sum_id = symbol->id;
	if (symbols->sums)
		symbol->sum_id = functions_id(symbols->sums, 0, symbol->name, strlen(symbol->name),
					      line ? symbol->title : UNKNOWN);
	symbol->is_entry = is_entry(symbol->name);
	symbol->is_interrupt = is_interrupt(symbol->name);
	symbol->is_syscall = is_syscall(symbol->name);
	symbol->is_last = is_last(symbol->name);
	symbol->is_schedule = is_schedule(symbol->name);
	symbol->is_switched_in = is_named(symbol->name, "finish_task_switch");
	return symbol;
}

static struct symbol **slot_of(struct symbols *symbols, uint32_t address, uint64_t at)
{
	size_t mask = symbols->nr_slots - 1, i = hash(address + hash(at)) & mask;

	while (symbols->slots[i] &&
	       (symbols->slots[i]->address != address || symbols->slots[i]->at != at))
		i = (i + 1) & mask;
	return &symbols->slots[i];
}

static void grow(struct symbols *symbols)
{
	struct symbol **old = symbols->slots;
	size_t nr = symbols->nr_slots, i;

	symbols->nr_slots = nr ? 2 * nr : 16384;
	symbols->slots = xcalloc(symbols->nr_slots, sizeof(*symbols->slots));
	for (i = 0; i < nr; i++)
		if (old[i])
			*slot_of(symbols, old[i]->address, old[i]->at) = old[i];
	free(old);
}

void symbols_at(struct symbols *symbols, uint64_t at)
{
	symbols->at = at;
}

const struct symbol *symbol_of(struct symbols *symbols, uint32_t address)
{
	const uint64_t whole = recording_address(symbols->from, address);
	const uint64_t at = whole >= symbols->modules ? symbols->at : 0;
	struct symbol **slot;

	if (2 * symbols->used >= symbols->nr_slots)
		grow(symbols);
	slot = slot_of(symbols, address, at);
	if (!*slot) {
		*slot = new_symbol(symbols, address);
		(*slot)->at = at;
		symbols->used++;
	}
	return *slot;
}

size_t symbols_functions(const struct symbols *symbols)
{
	return functions_nr(symbols->functions);
}

/* Return true if the function @title is in the module @asked, "[module]" or "": any. */
static bool is_of_module(const char *title, const char *asked)
{
	const char *module = strstr(title, " [");

	return !*asked || (module && !strcmp(module + 1, asked));
}

bool is_named(const char *title, const char *asked)
{
	size_t whole = strcspn(asked, "["), length = whole;

	while (length && asked[length - 1] == ' ')
		length--;
	return length && !strncmp(title, asked, length) &&
	       (!title[length] || title[length] == '.' || title[length] == ' ') &&
	       is_of_module(title, asked + whole);
}

bool is_matched(const char *title, const char *pattern)
{
	const char *open = strrchr(pattern, '['), *bracket = strchr(title, '[');
	char *name, *module, *wanted = NULL;
	bool match;

	if (is_named(title, pattern))
		return true;
	name = xasprintf("%.*s", (int)strcspn(title, " "), title);
	module = bracket ? xasprintf("%.*s", (int)strlen(bracket) - 2, bracket + 1) : xstrdup("");
	if (!strncmp(pattern, "mod:", 4)) {
		match = *module && !fnmatch(pattern + 4, module, 0);
	} else {
		match = !fnmatch(pattern, name, 0);
		if (!match && open && pattern[strlen(pattern) - 1] == ']' && *module) {
			wanted = xasprintf("%.*s", (int)strlen(open) - 2, open + 1);
			match = !fnmatch(wanted, module, 0);
			free(wanted);
			wanted = xasprintf("%.*s", (int)(open - pattern), pattern);
			while (*wanted && wanted[strlen(wanted) - 1] == ' ')
				wanted[strlen(wanted) - 1] = '\0';
			match = match && !fnmatch(wanted, name, 0);
		}
	}
	free(wanted);
	free(module);
	free(name);
	return match;
}

const struct functions *symbols_sums(const struct symbols *symbols)
{
	return symbols->sums ?: symbols->functions;
}

const char *symbols_name(const struct symbols *symbols, uint32_t id)
{
	return functions_name(symbols->functions, id);
}

const char *symbols_title(const struct symbols *symbols, uint32_t id)
{
	return functions_title(symbols->functions, id);
}

uint64_t symbols_address(const struct symbols *symbols, uint32_t id)
{
	return functions_address(symbols->functions, id);
}

/* Give each address the number of the latest table that names the address, counted from 1. */
static void find_latest(const struct symbols *symbols, struct addresses *latest)
{
	const struct kallsyms_line *line;
	const struct table *table;
	unsigned int nr;

	for (nr = 1; nr <= symbols->nr_tables; nr++) {
		table = &symbols->tables[nr - 1];
		for (line = table->lines; line < table->lines + table->nr; line++)
			addresses_set(latest, line->address, nr);
	}
}

void symbols_each(const struct symbols *symbols, void *arg,
		  void (*fn)(void *arg, uint64_t address, const char *name, size_t length,
			     const char *module, size_t module_length))
{
	const struct kallsyms_line *line;
	struct addresses latest = { };
	const struct table *table;
	unsigned int nr;

	find_latest(symbols, &latest);
	for (nr = 1; nr <= symbols->nr_tables; nr++) {
		table = &symbols->tables[nr - 1];
		for (line = table->lines; line < table->lines + table->nr; line++)
			if ((line == table->lines || line->address != line[-1].address) &&
			    addresses_number(&latest, line->address) == nr)
				fn(arg, line->address, line->name, line->name_length,
				   module_of(line), line->module_length);
	}
	addresses_free(&latest);
}

void symbols_free(struct symbols *symbols)
{
	size_t i;

	for (i = 0; i < symbols->nr_tables; i++) {
		free(symbols->tables[i].lines);
		free(symbols->tables[i].modules);
		free(symbols->tables[i].by_function);
	}
	for (i = 0; i < symbols->nr_slots; i++) {
		if (symbols->slots[i])
			free((char *)symbols->slots[i]->text);
		free(symbols->slots[i]);
	}
	functions_free(symbols->functions);
	lines_close(symbols->lines);
	free(symbols->known);
	free(symbols->tables);
	free(symbols->slots);
	free(symbols);
}
