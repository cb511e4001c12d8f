/* SPDX-License-Identifier: GPL-2.0 */
/* For commands that record what they show at once. */
#ifndef _MCTRACE_SELFRECORD_H
#define _MCTRACE_SELFRECORD_H

/*
 * "mctrace record" with these options, ended by NULL, and this command (NULL: until Ctrl-C), into a
 * temporary file, whose name is returned. Ends if nothing was recorded; how the command ended does
 * not matter.
 */
char *record_now(const char * const *options, char **command);
/* It is open, or not wanted: nobody else is to see it. */
void unlink_recorded(const char *path);

#endif /* _MCTRACE_SELFRECORD_H */
