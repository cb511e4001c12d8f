// SPDX-License-Identifier: GPL-2.0
/* Go through the functions that can be traced: see traceable.h. */
#include <stdio.h>
#include <string.h>

#include "traceable.h"

/* Copy the @length bytes at @from to @to, which has @size bytes. Return false if they don't fit. */
static bool copy(char *to, size_t size, const char *from, size_t length)
{
	if (length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* Split @one->title. Return false for an empty line, and for names that no kernel has. */
static bool split(struct traceable *one)
{
	const char *title = one->title, *module;
	size_t length = strcspn(title, " \t");

	if (!length || !copy(one->name, sizeof(one->name), title, length))
		return false;
	module = strchr(title + length, '[');
	if (!module) {
		*one->module = '\0';
		return true;
	}
	module++;
	return copy(one->module, sizeof(one->module), module, strcspn(module, "]"));
}

bool traceable_next(struct traceable *one)
{
	const char *line;
	size_t length;

	while (*one->rest) {
		line = one->rest;
		length = strcspn(line, "\n");
		one->rest = line + length + (line[length] == '\n');
		if (copy(one->title, sizeof(one->title), line, length) && split(one))
			return true;
	}
	return false;
}
