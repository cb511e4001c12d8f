// SPDX-License-Identifier: GPL-2.0
/*
 * Export to Chrome's trace events, which Perfetto, speedscope and others read. If returns were
 * recorded, a call has a begin event and an end event; if not, an instant event. Times are in us.
 */
#include <string.h>

#include "buffer.h"
#include "export.h"
#include "json.h"
#include "output.h"
#include "walk.h"

struct json {
	struct walker walker;
	struct view *view;
	struct buffer line;
	uint32_t tracks;
	FILE *to;
};

/* Begin an event, with a comma before each event but the first. */
static void begin(struct json *json, const char *phase, const struct task_calls *task)
{
	buffer_puts(&json->line, json->tracks++ ? ",\n{" : "\n{");
	json_text(&json->line, "ph", phase);
	json_number(&json->line, "pid", task->tgid);
	json_number(&json->line, "tid", task->pid ? task->pid : task->cpu);
}

static void end(struct json *json)
{
	buffer_char(&json->line, '}');
	buffer_write(&json->line, json->to);
	json->walker.enough = ferror(json->to);
}

static void put_names(struct json *json, struct task_calls *task)
{
	if (task->track && !strcmp(task->named, task->comm))
		return;
	task->track = 1;
	memcpy(task->named, task->comm, sizeof(task->named));
	begin(json, "M", task);
	json_text(&json->line, "name", "thread_name");
	buffer_puts(&json->line, ",\"args\":{");
	json_text(&json->line, "name", *task->comm ? task->comm : "<...>");
	buffer_char(&json->line, '}');
	end(json);
}

static void put_time(struct json *json, uint64_t ns)
{
	buffer_puts(&json->line, ",\"ts\":");
	buffer_thousandths(&json->line, ns);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct json *json = (struct json *)walker;

	put_names(json, task);
	if (!walker->returns && call->implied)
		return;
	begin(json, walker->returns ? "B" : "i", task);
	json_text(&json->line, "name", call->symbol->title);
	put_time(json, call->ns);
	if (!walker->returns) {
		json_text(&json->line, "s", "t");
		buffer_puts(&json->line, ",\"args\":{");
		json_text(&json->line, "caller",
			  symbol_of(walker->symbols, call->parent_ip)->text);
		buffer_char(&json->line, '}');
	}
	end(json);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct json *json = (struct json *)walker;

	(void)call;
	if (!walker->returns)
		return;
	begin(json, "E", task);
	put_time(json, ending->ns);
	if (!ending->returned)
		buffer_puts(&json->line, ",\"args\":{\"ended\":\"not recorded\"}");
	end(json);
}

void export_json(struct view *view, const char *output)
{
	struct json json = {
		.walker = { .enter = enter, .leave = leave },
		.view = view,
		.to = output_open(output),
	};

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", json.to);
	walk(view, &json.walker);
	fputs("\n]}\n", json.to);
	buffer_free(&json.line);
	output_close(json.to, output);
}
