/* SPDX-License-Identifier: GPL-2.0 */
/* Names and texts of errors, including the kernel's internal ones (include/linux/errno.h). */
#ifndef _MCTRACE_ERRORS_H
#define _MCTRACE_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_ERRNO	4095

/* Return the name, "EINVAL"; of a number without one, "errno 600", valid until the next call. */
const char *error_name(int error);
/* Return the text, "Invalid argument". */
const char *error_text(int error);
/* Return the number of "EINVAL", "ERESTARTSYS", "22" or "-22"; 0 if @text is no error. */
int error_number(const char *text);
/* Return the error that @result, an int or a pointer, contains; 0 if it contains none. */
int error_of(uint64_t result);
/* Return true for ERESTARTSYS and the like: a signal interrupted the system call. */
bool error_is_restart(int error);

#endif /* _MCTRACE_ERRORS_H */
