// SPDX-License-Identifier: GPL-2.0
/* Write values as JSON. */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "json.h"

void json_string(struct buffer *to, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	int length;

	buffer_char(to, '"');
	for (; *c; c += length ?: 1) {
		length = utf8_length((const char *)c);
		if (*c == '"' || *c == '\\') {
			buffer_char(to, '\\');
			buffer_char(to, *c);
		} else if (*c < 0x20 || *c == 0x7f) {
			buffer_printf(to, "\\u%04x", *c);
		} else if (length) {
			buffer_put(to, c, length);
		} else {
			buffer_puts(to, "\\ufffd");
		}
	}
	buffer_char(to, '"');
}

static void put_name(struct buffer *to, const char *name)
{
	if (to->length && !strchr("{[\n", to->data[to->length - 1]))
		buffer_char(to, ',');
	json_string(to, name);
	buffer_char(to, ':');
}

void json_text(struct buffer *to, const char *name, const char *value)
{
	put_name(to, name);
	json_string(to, value);
}

void json_number(struct buffer *to, const char *name, uint64_t value)
{
	put_name(to, name);
	buffer_number(to, value, 1);
}

void json_comm(struct buffer *to, const char *name, const char *comm)
{
	char clean[MCTRACER_COMM_LEN + 1];

	snprintf(clean, sizeof(clean), "%s", comm);
	comm_clean(clean);
	json_text(to, name, clean);
}

void json_task(struct buffer *to, const char *comm, uint32_t pid)
{
	json_comm(to, "comm", comm);
	json_number(to, "pid", pid);
}

/* Append the key of a part: "name" of "function", "caller_name" of "caller". */
static void put_part(struct buffer *to, const char *of, const char *part)
{
	bool prefixed = strcmp(of, "function");

	buffer_printf(to, ",\"%s%s%s\":", prefixed ? of : "", prefixed ? "_" : "", part);
}

static void put_piece(struct buffer *to, const char *from, size_t length)
{
	char piece[512];

	snprintf(piece, sizeof(piece), "%.*s", (int)length, from);
	json_string(to, piece);
}

void json_function(struct buffer *to, const char *name, const char *text)
{
	size_t length = strcspn(text, "+ ");
	const char *module = strstr(text + length, " [");

	json_text(to, name, text);
	put_part(to, name, "name");
	put_piece(to, text, length);
	if (text[length] == '+') {
		put_part(to, name, "offset");
		buffer_number(to, strtoull(text + length + 1, NULL, 16), 1);
	}
	if (module) {
		put_part(to, name, "module");
		put_piece(to, module + 2, strcspn(module + 2, "]"));
	}
}

void json_step(struct buffer *to, const char *text)
{
	if (to->length && to->data[to->length - 1] != '[')
		buffer_char(to, ',');
	buffer_char(to, '{');
	json_function(to, "function", text);
	buffer_char(to, '}');
}

void json_bool(struct buffer *to, const char *name, bool value)
{
	put_name(to, name);
	buffer_puts(to, value ? "true" : "false");
}
