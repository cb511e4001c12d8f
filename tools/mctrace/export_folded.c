// SPDX-License-Identifier: GPL-2.0
/*
 * Export to folded stacks, the input of flamegraph.pl. Each line has a stack and its weight:
 * "task;function;function 1234". With returns the weight is the own time on a CPU, and another line
 * has the time off the CPU, in ns: "task;function;function;[off CPU] 5678". Without returns the
 * weight is the number of calls. Several recordings are summed up.
 */
#include "buffer.h"
#include "export.h"
#include "output.h"
#include "tally.h"

static void put_stack(struct buffer *to, const struct tally *tally, uint32_t place)
{
	uint32_t above = tally->paths.all[place].parent;
	const char *name = tally_name(tally, place);

	if (above) {
		put_stack(to, tally, above);
		buffer_char(to, ';');
	}
	for (; *name; name++)			/* a name may contain the separator */
		buffer_char(to, *name == ';' ? ':' : *name);
}

static void put_line(struct buffer *line, const struct tally *tally, uint32_t place,
		     const char *leaf, uint64_t n)
{
	if (!n)
		return;
	put_stack(line, tally, place);
	buffer_puts(line, leaf);
	buffer_char(line, ' ');
	buffer_number(line, n, 1);
	buffer_char(line, '\n');
}

void export_folded(struct view *view, char **files, const char *output)
{
	struct buffer line = { };
	const struct path *path;
	struct tally tally;
	uint32_t place;
	FILE *to;

	tally_begin(&tally, view);
	tally.by_task = true;
	view_each(view, files, tally_add, &tally);
	to = output_open(output);
	for (place = 1; place < tally.paths.nr; place++) {
		path = &tally.paths.all[place];
		if (tally.returns) {
			put_line(&line, &tally, place, "", path->self_cpu);
			put_line(&line, &tally, place, ";[off CPU]", path->self - path->self_cpu);
		} else {
			put_line(&line, &tally, place, "", path->calls);
		}
		buffer_write(&line, to);
	}
	buffer_free(&line);
	tally_end(&tally);
	output_close(to, output);
}
