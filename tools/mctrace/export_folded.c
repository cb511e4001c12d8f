// SPDX-License-Identifier: GPL-2.0
/* Stacks and what they weigh, a line each: "task;function;function 1234". */
#include "buffer.h"
#include "export.h"
#include "tally.h"

static void put_stack(struct buffer *to, const struct tally *tally, uint32_t place)
{
	uint32_t above = tally->paths.all[place].parent;
	const char *name = tally_name(tally, place);

	if (above) {
		put_stack(to, tally, above);
		buffer_char(to, ';');
	}
	for (; *name; name++)			/* a task may be called anything */
		buffer_char(to, *name == ';' ? ':' : *name);
}

void export_folded(struct view *view, const char *output)
{
	FILE *to = export_open(output);
	struct buffer line = { };
	struct tally tally;
	uint32_t place;
	uint64_t n;

	tally_begin(&tally, view);
	tally.by_task = true;
	tally_walk(&tally);
	for (place = 1; place < tally.paths.nr; place++) {
		n = tally_value(&tally)(&tally.paths.all[place]);
		if (!n)
			continue;
		put_stack(&line, &tally, place);
		buffer_char(&line, ' ');
		buffer_number(&line, n, 1);
		buffer_char(&line, '\n');
		buffer_write(&line, to);
	}
	buffer_free(&line);
	tally_end(&tally);
	export_close(to, output);
}
