// SPDX-License-Identifier: GPL-2.0
/* Write protobuf messages. */
#include <string.h>

#include "protobuf.h"

enum wire { VARINT = 0, BYTES = 2 };

void proto_varint(struct buffer *to, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		buffer_char(to, n | 0x80);
	buffer_char(to, n);
}

void proto_number(struct buffer *to, int field, uint64_t n)
{
	proto_varint(to, field << 3 | VARINT);
	proto_varint(to, n);
}

void proto_bytes(struct buffer *to, int field, const void *data, size_t length)
{
	proto_varint(to, field << 3 | BYTES);
	proto_varint(to, length);
	buffer_put(to, data, length);
}

void proto_text(struct buffer *to, int field, const char *text)
{
	proto_bytes(to, field, text, strlen(text));
}

void proto_part(struct buffer *to, int field, struct buffer *part)
{
	proto_bytes(to, field, part->data, part->length);
	part->length = 0;
}
