/* SPDX-License-Identifier: GPL-2.0 */
/* Text, or bytes, that grow until they are written. printf() would take longer than all else. */
#ifndef _MCTRACE_BUFFER_H
#define _MCTRACE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buffer {
	char *data;
	size_t length, room;
};

/* Where so many more bytes may be put; the caller adds to length what he has put there. */
char *buffer_room(struct buffer *buffer, size_t more);
void buffer_put(struct buffer *buffer, const void *from, size_t length);
void buffer_puts(struct buffer *buffer, const char *text);
void buffer_char(struct buffer *buffer, char c);
void buffer_spaces(struct buffer *buffer, size_t nr);
/* In decimal, with zeroes before it up to so many digits. */
void buffer_number(struct buffer *buffer, uint64_t n, int digits);
/* "12.345": thousandths with their point. */
void buffer_thousandths(struct buffer *buffer, uint64_t n);
/* A duration in the unit that leaves few digits: "532 ns", "1.250 ms", "124.0 s". */
void buffer_duration(struct buffer *buffer, uint64_t ns);
/* The same as a column of @width, at its right. */
void buffer_duration_column(struct buffer *buffer, uint64_t ns, int width);
/* The same of how much longer something is: "+1.250 ms", "-532 ns". */
void buffer_difference_column(struct buffer *buffer, int64_t ns, int width);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* All of it, and it is empty then. */
void buffer_write(struct buffer *buffer, FILE *to);
void buffer_free(struct buffer *buffer);

/* How many bytes the character here has in UTF-8; 0 if it is none. */
int utf8_length(const char *at);

#endif /* _MCTRACE_BUFFER_H */
