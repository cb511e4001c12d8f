// SPDX-License-Identifier: GPL-2.0
/* Translate errors between numbers, names and texts, including the kernel's internal errors. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "util.h"

static const struct {
	int error;
	const char *name, *text;
} kernel_errors[] = {
	{ 512, "ERESTARTSYS", "Interrupted by a signal" },
	{ 513, "ERESTARTNOINTR", "Interrupted by a signal" },
	{ 514, "ERESTARTNOHAND", "Interrupted by a signal" },
	{ 515, "ENOIOCTLCMD", "No such ioctl here" },
	{ 516, "ERESTART_RESTARTBLOCK", "Interrupted by a signal" },
	{ 517, "EPROBE_DEFER", "A driver must be probed again later" },
	{ 518, "EOPENSTALE", "A stale file was found by open" },
	{ 519, "ENOPARAM", "No such parameter here" },
	{ 521, "EBADHANDLE", "Bad NFS file handle" },
	{ 522, "ENOTSYNC", "Update synchronization mismatch" },
	{ 523, "EBADCOOKIE", "Stale NFS cookie" },
	{ 524, "ENOTSUPP", "Operation not supported" },
	{ 525, "ETOOSMALL", "Buffer or request too small" },
	{ 526, "ESERVERFAULT", "Error that has no translation" },
	{ 527, "EBADTYPE", "Type not supported by the server" },
	{ 528, "EJUKEBOX", "Request begun, but slow" },
	{ 529, "EIOCBQUEUED", "Request queued" },
	{ 530, "ERECALLCONFLICT", "Conflict with recalled state" },
	{ 531, "ENOGRACE", "NFS lock can't be reclaimed" },
};

static int kernel_error(int error)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kernel_errors); i++)
		if (kernel_errors[i].error == error)
			return i;
	return -1;
}

const char *error_name(int error)
{
	static char number[24];
	int i = kernel_error(error);
	const char *name = i < 0 ? strerrorname_np(error) : kernel_errors[i].name;

	if (name)
		return name;
	snprintf(number, sizeof(number), "errno %d", error);
	return number;
}

const char *error_text(int error)
{
	int i = kernel_error(error);

	return i < 0 ? strerror(error) : kernel_errors[i].text;
}

int error_number(const char *text)
{
	long error;
	char *end;

	text += *text == '-';
	for (error = 1; error <= MAX_ERRNO; error++)
		if (!strcmp(error_name(error), text))
			return error;
	error = strtol(text, &end, 10);
	return !isdigit(*text) || *end || error > MAX_ERRNO ? 0 : error;
}

int error_of(uint64_t result)
{
	int64_t n = result >> 32 ? (int64_t)result : (int32_t)result;

	return n < 0 && n >= -MAX_ERRNO ? -n : 0;
}

bool error_is_restart(int error)
{
	return (error >= 512 && error <= 514) || error == 516;
}
