// SPDX-License-Identifier: GPL-2.0
/* Values as JSON. */
#include <string.h>

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

void json_bool(struct buffer *to, const char *name, bool value)
{
	put_name(to, name);
	buffer_puts(to, value ? "true" : "false");
}
