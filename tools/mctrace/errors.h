/* SPDX-License-Identifier: GPL-2.0 */
/* Names of errors, including those that the kernel keeps to itself (include/linux/errno.h). */
#ifndef _MCTRACE_ERRORS_H
#define _MCTRACE_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_ERRNO	4095

/* "EINVAL"; a number that has no name becomes "errno 600", until the next such call. */
const char *error_name(int error);
/* "Invalid argument" */
const char *error_text(int error);
/* The number of "EINVAL", "ERESTARTSYS", "22" or "-22"; 0 if @text is no error. */
int error_number(const char *text);
/* The error that @result, an int or a pointer, stands for; 0 if it stands for none. */
int error_of(uint64_t result);
/* Return true for errors of a system call that a signal has interrupted. */
bool error_is_restart(int error);

#endif /* _MCTRACE_ERRORS_H */
