// SPDX-License-Identifier: GPL-2.0
/*
 * Export to speedscope's own format (https://www.speedscope.app/file-format-schema.json): for each
 * task a profile, with events that open and close frames. A profile must be contiguous in the file,
 * so all events are stored until the end: in a temporary file, in blocks of one task each.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "buffer.h"
#include "export.h"
#include "json.h"
#include "output.h"
#include "util.h"
#include "walk.h"

#define BLOCK	16384		/* move a task's events to the file at this size, bytes */
#define MOST	(16UL << 20)	/* move all tasks' events at this total size, bytes */

struct frame_event {
	uint64_t ns;
	uint32_t frame;
	uint32_t closes;
};

struct block {
	off_t at;		/* offset in the file */
	size_t size;
};

struct track {
	struct buffer events;
	struct block *blocks;
	size_t nr_blocks;
	char *name;
	uint64_t first, last;		/* ns */
};

struct speedscope {
	struct walker walker;
	struct view *view;
	struct track *tracks;
	uint32_t nr;
	size_t kept;			/* bytes of all tracks that are still in memory */
	FILE *blocks;
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

/* Move a track's events from memory to the file. */
static void put_block(struct speedscope *to, struct track *track)
{
	struct block block = { .at = ftello(to->blocks), .size = track->events.length };

	if (!block.size)
		return;
	if (!(track->nr_blocks & (track->nr_blocks - 1)))	/* 0 or a power of two */
		track->blocks = xrealloc(track->blocks, 2 * track->nr_blocks ?: 1,
					 sizeof(*track->blocks));
	track->blocks[track->nr_blocks++] = block;
	to->kept -= block.size;
	buffer_write(&track->events, to->blocks);
	buffer_free(&track->events);
	if (ferror(to->blocks))
		die_errno("a temporary file");
}

static void put(struct speedscope *to, struct track *track, bool closes, uint32_t frame,
		uint64_t ns)
{
	struct frame_event event = { .ns = ns, .frame = frame, .closes = closes };
	uint32_t i;

	buffer_put(&track->events, &event, sizeof(event));
	track->last = ns;
	to->kept += sizeof(event);
	if (track->events.length >= BLOCK)
		put_block(to, track);
	if (to->kept < MOST)
		return;
	for (i = 0; i < to->nr; i++)
		put_block(to, &to->tracks[i]);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct speedscope *to = (struct speedscope *)walker;

	put(to, track_of(to, task, call->ns), false, call->symbol->id, call->ns);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct speedscope *to = (struct speedscope *)walker;

	put(to, track_of(to, task, ending->ns), true, call->symbol->id, ending->ns);
}

static void put_frames(struct buffer *line, const struct symbols *symbols)
{
	size_t i;

	buffer_puts(line, "\"shared\":{\"frames\":[");
	for (i = 0; i < symbols_functions(symbols); i++) {
		buffer_puts(line, i ? ",{" : "{");
		json_text(line, "name", symbols_title(symbols, i));
		buffer_char(line, '}');
	}
	buffer_puts(line, "]}");
}

static void put_event(struct buffer *line, const struct frame_event *event, bool first)
{
	buffer_puts(line, first ? "{" : ",{");
	json_text(line, "type", event->closes ? "C" : "O");
	json_number(line, "frame", event->frame);
	json_number(line, "at", event->ns);
	buffer_char(line, '}');
}

static void put_events(struct speedscope *to, const struct track *track, struct buffer *line,
		       FILE *file)
{
	struct frame_event event;
	const struct block *block;
	size_t i;

	for (block = track->blocks; block < track->blocks + track->nr_blocks; block++) {
		if (fseeko(to->blocks, block->at, SEEK_SET))
			die_errno("a temporary file");
		for (i = 0; i < block->size / sizeof(event); i++) {
			if (fread(&event, sizeof(event), 1, to->blocks) != 1)
				die_errno("a temporary file");
			put_event(line, &event, !i && block == track->blocks);
		}
		buffer_write(line, file);
	}
}

static void put_track(struct speedscope *to, const struct track *track, struct buffer *line,
		      FILE *file)
{
	buffer_char(line, '{');
	json_text(line, "type", "evented");
	json_text(line, "name", track->name);
	json_text(line, "unit", "nanoseconds");
	json_number(line, "startValue", track->first);
	json_number(line, "endValue", track->last);
	buffer_puts(line, ",\"events\":[");
	put_events(to, track, line, file);
	buffer_puts(line, "]}");
}

void export_speedscope(struct view *view, const char *output)
{
	struct speedscope to = { .walker = { .enter = enter, .leave = leave }, .view = view };
	FILE *file = output_open(output);
	struct buffer line = { };
	uint32_t i;

	to.blocks = temporary_stream();
	walk(view, &to.walker);
	for (i = 0; i < to.nr; i++)
		put_block(&to, &to.tracks[i]);
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
		put_track(&to, &to.tracks[i], &line, file);
		buffer_write(&line, file);
		free(to.tracks[i].blocks);
		free(to.tracks[i].name);
	}
	buffer_puts(&line, "\n]}\n");
	buffer_write(&line, file);
	buffer_free(&line);
	free(to.tracks);
	fclose(to.blocks);
	output_close(file, output);
}
