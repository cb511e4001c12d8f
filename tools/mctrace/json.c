// SPDX-License-Identifier: GPL-2.0
/* Write values as JSON. */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "json.h"

/* Return true if a string may have @c as it is. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Append the character at @at, which is not plain. Return its length. */
static size_t put_character(struct buffer *to, const char *at)
{
	const unsigned char c = *at;
	int length = utf8_length(at);

	if (c == '"' || c == '\\') {
		buffer_char(to, '\\');
		buffer_char(to, c);
	} else if (c < 0x20 || c == 0x7f) {
		buffer_printf(to, "\\u%04x", c);
	} else if (length) {
		buffer_put(to, at, length);
	} else {
		buffer_puts(to, "\\ufffd");
	}
	return length ?: 1;
}

/* Append @length bytes of @text in quotes. A character must not go on behind them. */
static void put_piece(struct buffer *to, const char *text, size_t length)
{
	const char *end = text + length, *plain;

	buffer_char(to, '"');
	while (text < end) {
		for (plain = text; text < end && is_plain(*text); text++)
			;
		buffer_put(to, plain, text - plain);
		if (text < end)
			text += put_character(to, text);
	}
	buffer_char(to, '"');
}

void json_string(struct buffer *to, const char *text)
{
	put_piece(to, text, strlen(text));
}

/* Append the comma that is due, and the key @of@part. Keys are ASCII and need no escapes. */
static void put_key(struct buffer *to, const char *of, const char *part)
{
	if (to->length && !strchr("{[\n", to->data[to->length - 1]))
		buffer_char(to, ',');
	buffer_char(to, '"');
	buffer_puts(to, of);
	buffer_puts(to, part);
	buffer_puts(to, "\":");
}

static void put_name(struct buffer *to, const char *name)
{
	put_key(to, name, "");
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

	memccpy(clean, comm, '\0', sizeof(clean) - 1);
	clean[sizeof(clean) - 1] = '\0';
	comm_clean(clean);
	json_text(to, name, clean);
}

void json_task(struct buffer *to, const char *comm, uint32_t pid)
{
	json_comm(to, "comm", comm);
	json_number(to, "pid", pid);
}

/*
 * Append the key of a part: "name" of "function", "caller_name" of "caller". @part begins with "_".
 */
static void put_part(struct buffer *to, const char *of, const char *part)
{
	if (!strcmp(of, "function"))
		put_key(to, part + 1, "");
	else
		put_key(to, of, part);
}

void json_function(struct buffer *to, const char *name, const char *text)
{
	size_t length = strcspn(text, "+ ");
	const char *module = strstr(text + length, " [");

	json_text(to, name, text);
	put_part(to, name, "_name");
	put_piece(to, text, length);
	if (text[length] == '+') {
		put_part(to, name, "_offset");
		buffer_number(to, strtoull(text + length + 1, NULL, 16), 1);
	}
	if (module) {
		put_part(to, name, "_module");
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
