// SPDX-License-Identifier: GPL-2.0
/* mctrace report: print a recording as text in the kernel's format, as JSON, or as a tree. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "events.h"
#include "mctrace.h"
#include "prototypes.h"
#include "select.h"
#include "symbols.h"
#include "text.h"
#include "tree.h"
#include "util.h"
#include "view.h"

#define MOST_LOG	(16 << 20)	/* bytes of text of the kernel's log */

static const char usage[] = "report [OPTION...] [FILE]";
static const char help[] =
"Prints a recording, one event a line, in the format of the kernel's own trace.\n";

static struct {
	const char *vmlinux, *btf;
	unsigned long lines;
	bool tree, times;
} asked;

static const struct option options[] = {
	OPT_BOOLEAN(0, "tree", &asked.tree,
		    "nested calls by task, with durations if returns were recorded"),
	OPT_BOOLEAN(0, "clock", &asked.times, "with --tree: begin each line with its time"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "the first N events; of --tree, calls"),
	OPT_TEXT(0, "btf", &asked.btf, "FILE",
		 "recorded arguments by name and type, with the types in FILE"),
	OPT_TEXT(0, "vmlinux", &asked.vmlinux, "FILE",
		 "add the source line to each address; FILE has debug information"),
	OPT_PARENT(select_depth_options)
};

/* Functions that end a boot. A kernel that crashes stops recording in panic(). */
static bool ends_boot(const struct symbol *symbol)
{
	static const char * const names[] = {
		"panic", "vpanic", "kernel_restart", "emergency_restart", "kernel_halt",
		"kernel_power_off", "kernel_kexec",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(symbol->title, names[i]))
			return true;
	return false;
}

/*
 * Print what ended an earlier boot: the latest call of a function that ends boots. Leave out a call
 * by another such function, such as that of vpanic() by panic(), because its caller is no cause.
 */
static void put_end_of_boot(const struct view *view)
{
	const struct symbol *symbol, *caller;
	struct events events;
	struct event event;
	char *line = NULL;

	events_begin(&events, view->from);
	while (events_next(&events, &event)) {
		if (event.found != FOUND_CALL)
			continue;
		symbols_at(view->symbols, event.symbols_at);
		symbol = symbol_of(view->symbols, event.state->ip);
		if (!ends_boot(symbol))
			continue;
		caller = symbol_of(view->symbols, event.state->parent_ip);
		if (line && ends_boot(caller))
			continue;
		free(line);
		line = xasprintf("# ended: %s <-- %s, on CPU %u\n", symbol->title, caller->title,
				 event.cpu);
	}
	events_end(&events);
	if (line)
		fputs(line, stdout);
	free(line);
}

static void put_header(const struct recording *from, uint64_t entries)
{
	uint64_t written = recording_number(from, "written");
	uint64_t lost = recording_number(from, "lost");
	const char *mode = recording_info(from, "mode");

	if (written < entries + lost)	/* the recording has no final counts */
		written = entries + lost;
	printf("# mode: %s\n# entries: %llu\n# written: %llu\n# overwritten: %llu\n# lost: %llu\n",
	       mode ?: "function", (unsigned long long)entries, (unsigned long long)written,
	       (unsigned long long)(written - lost - entries), (unsigned long long)lost);
}

static void put_text(struct view *view, struct prototypes *prototypes)
{
	struct text *text = text_new(view->from, view->symbols);
	struct events events;
	struct event event;
	uint64_t nr = 0, shown = 0;

	text_name_arguments(text, prototypes);
	if (!view->json && !view->select) {
		if (view->from->origin) {
			fputs(view->from->origin, stdout);
			put_end_of_boot(view);
		}
		put_header(view->from, events_count(view->from));
		view->counted = true;
	}
	select_prepare(view->select, true);
	events_begin(&events, view->from);
	while (events_next(&events, &event) && !ferror(stdout)) {
		if (text_event(text, &event, view, stdout) && ++shown == asked.lines)
			break;
		if (!(++nr % EVENTS_PROGRESS))
			view_progress(view, events_done(&events));
	}
	events_end(&events);
	if (!ferror(stdout) && !(asked.lines && shown == asked.lines))
		select_check(view->select);
	text_free(text);
}

/* Return @line of the kernel's log without its level, time and task: "<0>[   12.345678][ T57] ". */
static const char *without_prefix(const char *line)
{
	const char *at = line;

	if (*at == '<')
		at += strspn(at + 1, "0123456789") + 1;
	if (*at == '>')
		at++;
	while (*at == '[' && at[strcspn(at, "]\n")] == ']')
		at += strcspn(at, "]") + 1;
	return *at == ' ' ? at + 1 : line;
}

static void put_log_line(char *line)
{
	replace_controls(line, "\t");
	puts(without_prefix(line));
}

/* End mctrace if an option selects or converts a recording's events, which a log's text lacks. */
static void check_log_options(const char *path)
{
	if (asked.tree || asked.lines || asked.btf || asked.vmlinux || view_asked.json ||
	    view_asked.kallsyms || select_is_asked())
		die_usage("report",
			  "%s is text of the kernel's log: no option selects or converts its lines",
			  path);
}

/*
 * Print the calls in @path if it is text of the kernel's log with the calls that the kernel printed
 * when it crashed. Return false if it is another file.
 */
static bool put_log(const char *path)
{
	char *text, *line;
	struct stat st;
	bool found;

	/* Read neither a pipe, nor a file of the kernel (of size 0), nor a large recording. */
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size ||
	    st.st_size > MOST_LOG)
		return false;
	text = read_file(path);
	found = text && (strstr(text, "mctracer: frozen: ") ||
			 strstr(text, "mctracer: end of the last calls"));
	if (found) {
		check_log_options(path);
		for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			put_log_line(line);
	}
	free(text);
	return found;
}

int cmd_report(int argc, char **argv)
{
	struct view view = { };
	struct prototypes *prototypes = NULL;

	argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (argc > 2)
		die_usage("report", "one recording at a time");
	if (asked.btf && (asked.tree || view_asked.json))
		die_usage("report",
			  "--btf names arguments in lines of text: not with --tree or --json");
	if (asked.times && (!asked.tree || view_asked.json))
		die_usage("report",
			  "--clock is for the text of --tree: other output has the times already");
	if (put_log(argv[1] ?: view_asked.input))
		return flush_output();
	view_open(&view, argv[1]);
	if (asked.vmlinux)
		symbols_show_lines(view.symbols, asked.vmlinux,
				   recording_info(view.from, "build_id"));
	if (asked.btf)
		prototypes = prototypes_open(asked.btf);
	if (asked.tree)
		tree_print(&view, asked.lines, asked.times, stdout);
	else
		put_text(&view, prototypes);
	if (prototypes)
		prototypes_close(prototypes);
	return view_close(&view);
}
