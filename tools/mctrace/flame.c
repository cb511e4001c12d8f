// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace flame: a flame graph, after Brendan Gregg's: each frame is as wide as the time, or the
 * number of calls, of all that was called that way. One SVG file, which needs nothing else: a
 * click zooms, and a field searches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "mctrace.h"
#include "tally.h"
#include "util.h"

static const char usage[] = "flame [OPTION...] [FILE]";
static const char help[] =
"Draws a flame graph: by time where returns were recorded, else by calls.\n"
"\n"
"  -o, --output FILE     the picture (mctrace.svg); '-': standard output\n"
"  --by time|calls       what is wide\n"
VIEW_HELP;

enum { BY = VIEW_OPTIONS_END };

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "by", required_argument, NULL, BY },
	VIEW_OPTIONS,
	{ }
};

#define WIDTH	1200.0
#define MARGIN	10.0
#define HEIGHT	17		/* of a frame, pixels */
#define TOP	56
#define NARROW	0.15		/* what would be narrower is left out, pixels */
#define LETTER	7.0		/* how wide one is, about */

struct flame {
	struct tally tally;
	bool by_time;
	uint64_t all;
	unsigned int depth;	/* the deepest that is drawn */
	unsigned long frames;
	FILE *to;
};

/* What clicks and the field for searching do. */
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

/* Warm ones; of the same name always the same. */
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
		buffer_thousandths(to, n);
	else
		buffer_number(to, n, 1);
	buffer_puts(to, flame->by_time ? " us" : n == 1 ? " call" : " calls");
}

static bool is_drawn(const struct flame *flame, const struct path *path)
{
	return path->sum && path->sum * (WIDTH - 2 * MARGIN) >= flame->all * NARROW;
}

/* As much of the name as there is room for; the script does the same after a click. */
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

static void put_frame(struct flame *flame, const char *name, uint64_t from, const struct path *path,
		      unsigned int depth)
{
	struct buffer line = { };
	unsigned int y = TOP + (flame->depth - depth) * HEIGHT;

	buffer_printf(&line, "<g class=\"f\" data-x=\"%.9f\" data-w=\"%.9f\" data-n=\"",
		      (double)from / flame->all, (double)path->sum / flame->all);
	put_escaped(&line, name);
	buffer_puts(&line, "\"><title>");
	put_escaped(&line, name);
	buffer_puts(&line, ": ");
	put_amount(&line, flame, path->sum);
	buffer_printf(&line, ", %.2f %%", 100.0 * path->sum / flame->all);
	if (flame->by_time && path->parent) {
		buffer_puts(&line, ", ");
		put_amount(&line, flame, path->self);
		buffer_printf(&line, " of its own, in %llu calls",
			      (unsigned long long)path->calls);
	}
	buffer_printf(&line, "</title><rect x=\"%.2f\" y=\"%u\"",
		      MARGIN + (WIDTH - 2 * MARGIN) * from / flame->all, y);
	buffer_printf(&line, " width=\"%.2f\" height=\"%d\" fill=\"",
		      (WIDTH - 2 * MARGIN) * path->sum / flame->all, HEIGHT - 1);
	put_color(&line, name);
	buffer_printf(&line, "\"/><text x=\"%.2f\" y=\"%u\">",
		      MARGIN + (WIDTH - 2 * MARGIN) * from / flame->all + 3, y + HEIGHT - 5);
	put_label(&line, name, (WIDTH - 2 * MARGIN) * path->sum / flame->all);
	buffer_puts(&line, "</text></g>\n");
	buffer_write(&line, flame->to);
	buffer_free(&line);
	flame->frames++;
}

/* All below @place, from @from on, side by side. */
static void put_frames(struct flame *flame, uint32_t place, uint64_t from, unsigned int depth)
{
	const struct path *all = flame->tally.paths.all;
	uint32_t at;

	for (at = all[place].first; at; from += all[at].sum, at = all[at].next) {
		if (!is_drawn(flame, &all[at]))
			continue;
		put_frame(flame, tally_name(&flame->tally, at), from, &all[at], depth);
		put_frames(flame, at, from, depth + 1);
	}
}

static void find_depth(struct flame *flame, uint32_t place, unsigned int depth)
{
	const struct path *all = flame->tally.paths.all;
	uint32_t at;

	if (depth > flame->depth)
		flame->depth = depth;
	for (at = all[place].first; at; at = all[at].next)
		if (is_drawn(flame, &all[at]))
			find_depth(flame, at, depth + 1);
}

static void put_picture(struct flame *flame)
{
	const struct path *root = &flame->tally.paths.all[0];
	struct buffer head = { };
	unsigned int height;

	find_depth(flame, 0, 0);
	height = TOP + (flame->depth + 1) * HEIGHT + 10;
	buffer_printf(&head,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\"\n"
		      " viewBox=\"0 0 %.0f %u\" font-family=\"Verdana,sans-serif\" font-size=\"11\">\n"
		      "<style>.f{cursor:pointer} .f:hover rect{stroke:#000}\n"
		      ".f text{pointer-events:none} .hit rect{fill:#d0f}\n"
		      "text.t{font-size:16px} #reset{cursor:pointer;fill:#06c}</style>\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf5\"/>\n"
		      "<text class=\"t\" x=\"%.0f\" y=\"24\">",
		      WIDTH, height, WIDTH, height, MARGIN);
	put_escaped(&head, flame->tally.view->from->path);
	buffer_puts(&head, flame->by_time ? ": time, " : ": calls, ");
	put_amount(&head, flame, flame->all);
	buffer_puts(&head, "</text>\n"
		    "<text id=\"reset\" x=\"10\" y=\"44\">all of it</text>\n"
		    "<text id=\"found\" x=\"960\" y=\"44\"></text>\n"
		    "<foreignObject x=\"960\" y=\"8\" width=\"230\" height=\"24\">\n"
		    "<input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\"\n"
		    " placeholder=\"search: a regular expression\" style=\"width:220px\"/>\n"
		    "</foreignObject>\n");
	buffer_write(&head, flame->to);
	buffer_free(&head);
	put_frame(flame, "all", 0, root, 0);
	put_frames(flame, 0, 0, 1);
	fputs("<script><![CDATA[\n", flame->to);
	fputs(script, flame->to);
	fputs("]]></script>\n</svg>\n", flame->to);
}

int cmd_flame(int argc, char **argv)
{
	const char *output = "mctrace.svg";
	struct flame flame = { };
	struct view view = { .no_pager = true };
	const char *by = NULL;
	int c;

	while ((c = next_option(argc, argv, "o:i:h", options)) != -1) {
		if (c == 'o')
			output = optarg;
		else if (c == BY)
			by = optarg;
		else
			view_option(&view, c, optarg, "flame", usage, help);
	}
	if (argc - optind > 1)
		die_usage("flame", "one recording at a time");
	if (by && strcmp(by, "time") && strcmp(by, "calls"))
		die_usage("flame", "--by is time or calls");
	if (view.json)
		die_usage("flame", "a picture is no JSON: 'mctrace export --to speedscope' is");
	view_open(&view, argv[optind]);
	tally_begin(&flame.tally, &view);
	flame.tally.by_task = true;
	tally_walk(&flame.tally);
	flame.by_time = by ? !strcmp(by, "time") : flame.tally.walker.returns;
	if (flame.by_time && !flame.tally.walker.returns)
		die("%s has no returns, and so no times: 'mctrace record -g' records them",
		    view.from->path);
	flame.all = paths_sum(&flame.tally.paths, flame.by_time ? path_self : path_calls);
	if (!flame.all)
		die("%s has no calls that could be drawn", view.from->path);
	flame.to = strcmp(output, "-") ? fopen(output, "w") : stdout;
	if (!flame.to)
		die_errno("%s", output);
	put_picture(&flame);
	if (flame.to != stdout) {
		if (fclose(flame.to))
			die_errno("%s", output);
		printf("%s: %lu frames\n", output, flame.frames);
	}
	tally_end(&flame.tally);
	return view_close(&view);
}
