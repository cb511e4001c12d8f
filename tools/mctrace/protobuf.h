/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Write protobuf messages (https://protobuf.dev/programming-guides/encoding): a message is a
 * sequence of fields in any order, and each field has a number that its .proto file defines.
 */
#ifndef _MCTRACE_PROTOBUF_H
#define _MCTRACE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* Append a number without a field, as in packed fields. */
void proto_varint(struct buffer *to, uint64_t n);
/* Append a field with a number, with bytes, or with text. */
void proto_number(struct buffer *to, int field, uint64_t n);
void proto_bytes(struct buffer *to, int field, const void *data, size_t length);
void proto_text(struct buffer *to, int field, const char *text);
/* Append the message in @part as a field, and empty @part. */
void proto_part(struct buffer *to, int field, struct buffer *part);

#endif /* _MCTRACE_PROTOBUF_H */
