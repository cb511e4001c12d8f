// SPDX-License-Identifier: GPL-2.0
/* A growing buffer of text or bytes. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "util.h"

void buffer_grow(struct buffer *buffer, size_t more)
{
	while (buffer->length + more > buffer->room)
		buffer->room = buffer->room ? 2 * buffer->room : 4096;
	buffer->data = xrealloc(buffer->data, buffer->room, 1);
}

void buffer_spaces(struct buffer *buffer, size_t nr)
{
	if (!nr)
		return;
	memset(buffer_room(buffer, nr), ' ', nr);
	buffer->length += nr;
}

void buffer_number(struct buffer *buffer, uint64_t n, int digits)
{
	char text[24];
	int i = sizeof(text);
	unsigned int pair;

	/* A division of 64 bits for every two digits. */
	for (; n > 99; n /= 100) {
		pair = n % 100;
		text[--i] = '0' + pair % 10;
		text[--i] = '0' + pair / 10;
	}
	for (; n; n /= 10)
		text[--i] = '0' + n % 10;
	while ((int)sizeof(text) - i < digits)
		text[--i] = '0';
	buffer_put(buffer, text + i, sizeof(text) - i);
}

void buffer_thousandths(struct buffer *buffer, uint64_t n)
{
	buffer_number(buffer, n / 1000, 1);
	buffer_char(buffer, '.');
	buffer_number(buffer, n % 1000, 3);
}

void buffer_duration(struct buffer *buffer, uint64_t ns)
{
	static const char * const units[] = { "ns", "us", "ms", "s" };
	unsigned int unit = 0, digits = 3;
	double value = ns;

	for (; value >= 999.95 && unit < 3; unit++)
		value /= 1000;
	if (!unit || value >= 999.95)
		digits = 0;
	else if (value >= 99.995)
		digits = 1;
	else if (value >= 9.9995)
		digits = 2;
	buffer_printf(buffer, "%.*f %s", digits, value, units[unit]);
}

void buffer_duration_column(struct buffer *buffer, uint64_t ns, int width)
{
	struct buffer time = { };

	buffer_duration(&time, ns);
	buffer_printf(buffer, "%*.*s", width, (int)time.length, time.data);
	buffer_free(&time);
}

void buffer_difference_column(struct buffer *buffer, int64_t ns, int width)
{
	struct buffer time = { };

	buffer_char(&time, ns < 0 ? '-' : '+');
	buffer_duration(&time, ns < 0 ? -(uint64_t)ns : (uint64_t)ns);
	buffer_printf(buffer, "%*.*s", width, (int)time.length, time.data);
	buffer_free(&time);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	buffer_puts(buffer, text);
	free(text);
}

void buffer_write(struct buffer *buffer, FILE *to)
{
	if (buffer->length)
		fwrite_unlocked(buffer->data, 1, buffer->length, to);
	buffer->length = 0;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer) { };
}

int utf8_length(const char *at)
{
	const unsigned char *text = (const unsigned char *)at;
	static const struct {
		unsigned char mask, is, least;	/* of the first byte; least second byte */
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
	if ((*text == 0xed && text[1] >= 0xa0) || (*text == 0xf4 && text[1] >= 0x90))
		return 0;		/* surrogates, and above U+10FFFF */
	for (i = 1; i <= kind + 1; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return kind + 2;
}
