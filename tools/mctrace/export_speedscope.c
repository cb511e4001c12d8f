// SPDX-License-Identifier: GPL-2.0
/*
 * speedscope's own form (https://www.speedscope.app/file-format-schema.json): for each task a
 * profile of frames that open and close. A profile is one piece, so all are kept until the end.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "export.h"
#include "json.h"
#include "util.h"
#include "walk.h"

struct track {
	struct buffer events;
	char *name;
	uint64_t first, last;		/* ns */
};

struct speedscope {
	struct walker walker;
	struct view *view;
	struct track *tracks;
	uint32_t nr;
};

static struct track *track_of(struct speedscope *to, struct task_calls *task, uint64_t ns)
{
	if (!task->track) {
		to->tracks = xrealloc(to->tracks, to->nr + 1, sizeof(*to->tracks));
		to->tracks[to->nr] = (struct track) {
			.name = xasprintf("%s %u", *task->comm ? task->comm : "<...>", task->pid),
			.first = ns,
		};
		task->track = ++to->nr;
		memcpy(task->named, task->comm, sizeof(task->named));
	}
	if (strcmp(task->named, task->comm)) {
		memcpy(task->named, task->comm, sizeof(task->named));
		free(to->tracks[task->track - 1].name);
		to->tracks[task->track - 1].name = xasprintf("%s %u", task->comm, task->pid);
	}
	return &to->tracks[task->track - 1];
}

static void put(struct track *track, const char *type, uint32_t frame, uint64_t ns)
{
	if (track->events.length)
		buffer_char(&track->events, ',');
	buffer_char(&track->events, '{');
	json_text(&track->events, "type", type);
	json_number(&track->events, "frame", frame);
	json_number(&track->events, "at", ns);
	buffer_char(&track->events, '}');
	track->last = ns;
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct speedscope *to = (struct speedscope *)walker;

	if (view_shows(to->view, task))
		put(track_of(to, task, call->ns), "O", call->symbol->id, call->ns);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct speedscope *to = (struct speedscope *)walker;

	if (call->shown)
		put(track_of(to, task, ending->ns), "C", call->symbol->id, ending->ns);
}

static void put_frames(struct buffer *line, const struct symbols *symbols)
{
	size_t i;

	buffer_puts(line, "\"shared\":{\"frames\":[");
	for (i = 0; i < symbols_functions(symbols); i++) {
		buffer_puts(line, i ? ",{" : "{");
		json_text(line, "name", symbols_name(symbols, i));
		buffer_char(line, '}');
	}
	buffer_puts(line, "]}");
}

static void put_track(struct buffer *line, const struct track *track)
{
	buffer_char(line, '{');
	json_text(line, "type", "evented");
	json_text(line, "name", track->name);
	json_text(line, "unit", "nanoseconds");
	json_number(line, "startValue", track->first);
	json_number(line, "endValue", track->last);
	buffer_puts(line, ",\"events\":[");
	buffer_put(line, track->events.data, track->events.length);
	buffer_puts(line, "]}");
}

void export_speedscope(struct view *view, const char *output)
{
	struct speedscope to = { .walker = { .enter = enter, .leave = leave }, .view = view };
	FILE *file = export_open(output);
	struct buffer line = { };
	uint32_t i;

	walk(view, &to.walker);
	buffer_char(&line, '{');
	json_text(&line, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_text(&line, "exporter", "mctrace");
	json_text(&line, "name", view->from->path);
	buffer_char(&line, ',');
	put_frames(&line, view->symbols);
	buffer_puts(&line, ",\"profiles\":[");
	buffer_write(&line, file);
	for (i = 0; i < to.nr; i++) {
		buffer_puts(&line, i ? ",\n" : "\n");
		put_track(&line, &to.tracks[i]);
		buffer_write(&line, file);
		buffer_free(&to.tracks[i].events);
		free(to.tracks[i].name);
	}
	buffer_puts(&line, "\n]}\n");
	buffer_write(&line, file);
	buffer_free(&line);
	free(to.tracks);
	export_close(file, output);
}
