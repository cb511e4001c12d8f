// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace flame: draw a flame graph, after Brendan Gregg's. The width of a frame is the time, or
 * the number of calls, of its call path. The output is one self-contained SVG file, as wide as the
 * window: a click zooms, one field searches, and two fields select a task and a CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "mctrace.h"
#include "output.h"
#include "select.h"
#include "tally.h"
#include "util.h"

static const char usage[] = "flame [OPTION...] [FILE...]";
static const char help[] =
"Draws a flame graph: by time on a CPU if returns were recorded, else by calls. Several recordings\n"
"are summed up.\n";

static struct {
	const char *output, *by;
	bool off_cpu;
} asked = { .output = "mctrace.svg" };

static const struct option options[] = {
	OPT_TEXT('o', "output", &asked.output, "FILE",
		 "the SVG file (mctrace.svg); '-': standard output"),
	OPT_BOOLEAN(0, "off-cpu", &asked.off_cpu, "add the time off the CPU, in blue"),
	OPT_WORD(0, "by", &asked.by, "time|calls", "what the width of frames shows"),
	OPT_PARENT(select_depth_options)
};

#define WIDTH	1200.0		/* of the window, assumed before the script runs */
#define HEIGHT	17		/* of a frame, in pixels */
#define TOP	64		/* height of the title and fields, in pixels */
#define NARROW	0.0001		/* omit narrower frames; fraction of the whole width */
#define LETTER	7.0		/* estimated width of a letter, in pixels */

struct flame {
	struct tally tally;
	bool by_time;
	bool off_cpu;		/* draw the time off the CPU, too */
	uint64_t (*value)(const struct path *path);	/* of a place's CPUs: see value_calls() */
	uint64_t all;		/* sum of value */
	unsigned int depth;	/* of the deepest frame that is drawn */
	unsigned long frames;
	uint64_t *cpus;		/* values by CPU, for put_cpus() */
	FILE *to;
};

/* The picture's script, for clicks and fields. */
static const char script[] =
#include "flame.js.h"
;

static void put_escaped(struct buffer *to, const char *text)
{
	int length;

	for (; *text; text += length ?: 1) {
		length = utf8_length(text);
		switch (*text) {
		case '&':
			buffer_puts(to, "&amp;");
			break;
		case '<':
			buffer_puts(to, "&lt;");
			break;
		case '>':
			buffer_puts(to, "&gt;");
			break;
		case '"':
			buffer_puts(to, "&quot;");
			break;
		default:
			if (!length || (unsigned char)*text < ' ')
				buffer_char(to, '?');
			else
				buffer_put(to, text, length);
		}
	}
}

/* Append a warm color that depends on the name only. */
static void put_color(struct buffer *to, const char *name)
{
	unsigned int hash = 5381;

	for (; *name; name++)
		hash = hash * 33 ^ (unsigned char)*name;
	buffer_printf(to, "rgb(%u,%u,%u)", 205 + hash % 50, 90 + hash / 50 % 120,
		      hash / 6000 % 55);
}

static void put_amount(struct buffer *to, const struct flame *flame, uint64_t n)
{
	if (flame->by_time)
		buffer_duration(to, n);
	else
		buffer_printf(to, "%llu call%s", (unsigned long long)n, n == 1 ? "" : "s");
}

/*
 * The values that widths show. Only the places of CPUs, with ids from TALLY_CPU on, have own
 * values.
 */
static uint64_t value_calls(const struct path *path)
{
	return path->id >= TALLY_CPU ? path->calls : 0;
}

static uint64_t value_cpu(const struct path *path)
{
	return path->self_cpu;
}

static uint64_t value_off(const struct path *path)
{
	return path->self - path->self_cpu;
}

static bool is_drawn(const struct flame *flame, uint64_t value)
{
	return value && value >= flame->all * NARROW;
}

/* Append as much of the name as fits into @width. label() of flame.js does the same. */
static void put_label(struct buffer *to, const char *name, double width)
{
	int letters = (width - 6) / LETTER;
	char *label;

	if (letters < 3)
		return;
	if ((int)strlen(name) <= letters)
		label = xstrdup(name);
	else
		label = xasprintf("%.*s..", letters - 2, name);
	put_escaped(to, label);
	free(label);
}

/* Add the @value of @place, by CPU, to flame->cpus. @deep: add the places below it, too. */
static void add_cpus(struct flame *flame, uint32_t place,
		     uint64_t (*value)(const struct path *path), bool deep)
{
	const struct path *all = flame->tally.paths.all;
	uint32_t at;

	for (at = all[place].first; at; at = all[at].next) {
		if (all[at].id >= TALLY_CPU)
			flame->cpus[all[at].id - TALLY_CPU] += value(&all[at]);
		else if (deep)
			add_cpus(flame, at, value, true);
	}
}

/* Append flame->cpus as "0:123 2:456", for the field that selects a CPU. */
static void put_cpus(struct buffer *to, struct flame *flame)
{
	unsigned int cpu, nr = flame->tally.nr_cpus;
	const char *between = "";

	for (cpu = 0; cpu < nr; cpu++) {
		if (!flame->cpus[cpu])
			continue;
		buffer_printf(to, "%s%u:%llu", between, cpu,
			      (unsigned long long)flame->cpus[cpu]);
		between = " ";
	}
}

/* A frame to be drawn; flame->cpus has its values by CPU. */
struct frame {
	const char *name;
	uint64_t from, value, calls;
	unsigned int depth;
	bool off;
};

static void put_frame(struct flame *flame, const struct frame *frame)
{
	double from = (double)frame->from / flame->all, wide = (double)frame->value / flame->all;
	unsigned int y = TOP + (flame->depth - frame->depth) * HEIGHT;
	struct buffer line = { };

	buffer_printf(&line, "<g class=\"f\" data-x=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\"",
		      from, wide, frame->depth);
	buffer_printf(&line, " data-c=\"%llu\" data-v=\"", (unsigned long long)frame->calls);
	put_cpus(&line, flame);
	buffer_puts(&line, "\" data-n=\"");
	put_escaped(&line, frame->name);
	buffer_puts(&line, "\"><title>");
	put_escaped(&line, frame->name);
	buffer_puts(&line, ": ");
	put_amount(&line, flame, frame->value);
	buffer_printf(&line, ", %.2f %%</title><rect x=\"%.4f%%\" y=\"%u\"", 100 * wide, 100 * from,
		      y);
	buffer_printf(&line, " width=\"%.4f%%\" height=\"%d\" fill=\"", 100 * wide, HEIGHT - 1);
	if (frame->off)
		buffer_puts(&line, "rgb(110,150,220)");
	else
		put_color(&line, frame->name);
	buffer_printf(&line, "\"/><text x=\"%.4f%%\" dx=\"3\" y=\"%u\">", 100 * from,
		      y + HEIGHT - 5);
	put_label(&line, frame->name, WIDTH * wide);
	buffer_puts(&line, "</text></g>\n");
	buffer_write(&line, flame->to);
	buffer_free(&line);
	flame->frames++;
}

static void set_cpus(struct flame *flame, uint32_t place,
		     uint64_t (*value)(const struct path *path), bool deep)
{
	memset(flame->cpus, 0, flame->tally.nr_cpus * sizeof(*flame->cpus));
	add_cpus(flame, place, value, deep);
}

static uint64_t off_of(const struct flame *flame, uint32_t place)
{
	const struct path *all = flame->tally.paths.all;
	uint64_t off = 0;
	uint32_t at;

	for (at = all[place].first; flame->off_cpu && at; at = all[at].next)
		if (all[at].id >= TALLY_CPU)
			off += value_off(&all[at]);
	return off;
}

/* Draw the frames of all children of @place side by side, beginning at @from. */
static void put_frames(struct flame *flame, uint32_t place, uint64_t from, unsigned int depth)
{
	const struct path *all = flame->tally.paths.all;
	struct frame frame = { .depth = depth };
	uint32_t at;

	for (at = all[place].first; at; at = all[at].next) {
		if (all[at].id >= TALLY_CPU || !is_drawn(flame, all[at].sum))
			continue;
		frame.name = tally_name(&flame->tally, at);
		frame.from = from;
		frame.value = all[at].sum;
		frame.calls = all[at].calls;
		set_cpus(flame, at, flame->value, true);
		put_frame(flame, &frame);
		put_frames(flame, at, from, depth + 1);
		from += all[at].sum;
	}
	frame = (struct frame) {
		.name = "[off CPU]",
		.from = from,
		.value = off_of(flame, place),
		.depth = depth,
		.off = true,
	};
	if (!is_drawn(flame, frame.value))
		return;
	set_cpus(flame, place, value_off, false);
	put_frame(flame, &frame);
}

static void find_depth(struct flame *flame, uint32_t place, unsigned int depth)
{
	const struct path *all = flame->tally.paths.all;
	uint32_t at;

	if (is_drawn(flame, off_of(flame, place)) && depth >= flame->depth)
		flame->depth = depth + 1;
	if (depth > flame->depth)
		flame->depth = depth;
	for (at = all[place].first; at; at = all[at].next)
		if (all[at].id < TALLY_CPU && is_drawn(flame, all[at].sum))
			find_depth(flame, at, depth + 1);
}

static void put_title(struct buffer *to, const struct flame *flame, uint64_t off)
{
	put_escaped(to, flame->tally.view->title);
	if (!flame->by_time)
		buffer_puts(to, ": ");
	else if (flame->off_cpu)
		buffer_puts(to, ": total time, ");
	else
		buffer_puts(to, ": time on a CPU, ");
	put_amount(to, flame, flame->all);
	if (!flame->by_time || !off)
		return;
	buffer_puts(to, flame->off_cpu ? "; in blue the time off the CPU, " : "; off the CPU ");
	buffer_duration(to, off);
	if (!flame->off_cpu)
		buffer_puts(to, " more (--off-cpu draws it)");
}

static void put_head(struct flame *flame, uint64_t off)
{
	struct buffer head = { };

	buffer_printf(&head,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\"\n"
		      " font-family=\"Verdana,sans-serif\" font-size=\"11\" data-time=\"%d\">\n",
		      TOP + (flame->depth + 1) * HEIGHT + 10, flame->by_time);
	buffer_puts(&head,
		    "<style>.f{cursor:pointer} .f rect{stroke:#fffdf5;stroke-width:.5}\n"
		    ".f:hover rect{stroke:#000}\n"
		    ".f text{pointer-events:none} .hit rect{fill:#d0f}\n"
		    "text.t{font-size:15px} #reset{cursor:pointer;fill:#06c}</style>\n"
		    "<rect width=\"100%\" height=\"100%\" fill=\"#fffdf5\"/>\n"
		    "<text class=\"t\" x=\"8\" y=\"22\">");
	put_title(&head, flame, off);
	buffer_puts(&head, "</text>\n"
		    "<text id=\"reset\" x=\"8\" y=\"48\">all of it</text>\n"
		    "<text id=\"found\" x=\"690\" y=\"48\"></text>\n"
		    "<foreignObject x=\"70\" y=\"32\" width=\"610\" height=\"26\">\n"
		    "<div xmlns=\"http://www.w3.org/1999/xhtml\">\n"
		    "<select id=\"task\" title=\"one task\" style=\"width:170px\"/>\n"
		    "<select id=\"cpu\" title=\"one CPU\" style=\"width:100px\"/>\n"
		    "<input id=\"search\" placeholder=\"search: a regular expression\"\n"
		    "style=\"width:220px\"/>\n</div></foreignObject>\n");
	buffer_write(&head, flame->to);
	buffer_free(&head);
}

static void put_picture(struct flame *flame, uint64_t off)
{
	struct frame all = { .name = "all", .value = flame->all };

	flame->cpus = xcalloc(flame->tally.nr_cpus, sizeof(*flame->cpus));
	find_depth(flame, 0, 0);
	put_head(flame, off);
	set_cpus(flame, 0, flame->value, true);
	put_frame(flame, &all);
	put_frames(flame, 0, 0, 1);
	fputs("<script><![CDATA[\n", flame->to);
	fputs(script, flame->to);
	fputs("]]></script>\n</svg>\n", flame->to);
	free(flame->cpus);
}

/* Choose and sum up the value that widths show. Return the time of tasks off the CPU, in ns. */
static uint64_t sum_up(struct flame *flame)
{
	uint64_t off = flame->by_time ? paths_sum(&flame->tally.paths, value_off) : 0;

	if (!flame->by_time)
		flame->value = value_calls;
	else
		flame->value = flame->off_cpu ? path_self : value_cpu;
	flame->all = paths_sum(&flame->tally.paths, flame->value);
	if (!flame->all)
		die("%s has no calls to draw", flame->tally.view->title);
	return off;
}

int cmd_flame(int argc, char **argv)
{
	struct flame flame = { };
	struct view view = { .no_pager = true };
	const char *output, *by;
	uint64_t off;

	options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (view_asked.json)
		die_usage("flame", "a picture is not JSON: use 'mctrace export --to speedscope'");
	output = asked.output;
	by = asked.by;
	tally_begin(&flame.tally, &view);
	flame.tally.by_task = true;
	flame.tally.by_cpu = true;
	view_each(&view, argv + 1, tally_add, &flame.tally);
	flame.by_time = by ? !strcmp(by, "time") : flame.tally.returns;
	if (flame.by_time && !flame.tally.returns)
		die("%s has no returns, and so no times: 'mctrace record -g' records them",
		    view.title);
	flame.off_cpu = asked.off_cpu;
	if (flame.off_cpu && !flame.by_time)
		die_usage("flame", "--off-cpu needs times, not calls");
	off = sum_up(&flame);
	flame.to = output_open(output);
	put_picture(&flame, off);
	output_close(flame.to, output);
	if (flame.to != stdout)
		printf("%s: %lu frames\n", output, flame.frames);
	tally_end(&flame.tally);
	return view_close(&view);
}
