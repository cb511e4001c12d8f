/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A growing buffer of text or bytes. Its functions avoid printf(), which would take most of a
 * command's time.
 */
#ifndef _MCTRACE_BUFFER_H
#define _MCTRACE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct buffer {
	char *data;
	size_t length, room;
};

/* Make room for @more bytes. */
void buffer_grow(struct buffer *buffer, size_t more);

/* Return room for @more bytes at the end. The caller adds the bytes that it writes to length. */
static inline char *buffer_room(struct buffer *buffer, size_t more)
{
	if (buffer->room - buffer->length < more)
		buffer_grow(buffer, more);
	return buffer->data + buffer->length;
}

static inline void buffer_put(struct buffer *buffer, const void *from, size_t length)
{
	if (!length)			/* data may still be NULL */
		return;
	memcpy(buffer_room(buffer, length), from, length);
	buffer->length += length;
}

static inline void buffer_puts(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, text, strlen(text));
}

static inline void buffer_char(struct buffer *buffer, char c)
{
	*buffer_room(buffer, 1) = c;
	buffer->length++;
}

void buffer_spaces(struct buffer *buffer, size_t nr);
/* Append @n in decimal, with leading zeroes up to @digits digits. */
void buffer_number(struct buffer *buffer, uint64_t n, int digits);
/* Append @n thousandths: "12.345" for 12345. */
void buffer_thousandths(struct buffer *buffer, uint64_t n);
/* Append a duration in the unit that needs few digits: "532 ns", "1.250 ms", "124.0 s". */
void buffer_duration(struct buffer *buffer, uint64_t ns);
/* Append a duration, right-aligned in a column of @width characters. */
void buffer_duration_column(struct buffer *buffer, uint64_t ns, int width);
/* Append a signed difference of durations as such a column: "+1.250 ms", "-532 ns". */
void buffer_difference_column(struct buffer *buffer, int64_t ns, int width);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Write the contents to @to, and empty the buffer. */
void buffer_write(struct buffer *buffer, FILE *to);
void buffer_free(struct buffer *buffer);

/* Return the length in bytes of the UTF-8 character at @at; 0 if there is no valid one. */
int utf8_length(const char *at);

#endif /* _MCTRACE_BUFFER_H */
