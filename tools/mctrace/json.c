// SPDX-License-Identifier: GPL-2.0
/* Values as JSON. */
#include <string.h>

#include "json.h"

/* How many bytes the character here has; 0 if it is none. */
static int utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char mask, is, least;	/* of the first byte; the least second one */
	} kinds[] = { { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0xa0 }, { 0xf8, 0xf0, 0x90 } };
	int kind, i;

	if (*text < 0x80)
		return 1;
	for (kind = 0; kind < 3; kind++)
		if ((*text & kinds[kind].mask) == kinds[kind].is)
			break;
	if (kind == 3 || *text < 0xc2 || *text > 0xf4)
		return 0;
	if ((*text & 0x0f) == 0 && kind && text[1] < kinds[kind].least)
		return 0;
	for (i = 1; i <= kind + 1; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return kind + 2;
}

void json_string(struct buffer *to, const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	int length;

	buffer_char(to, '"');
	for (; *c; c += length ?: 1) {
		length = utf8_length(c);
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
