/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file or folder that a command writes. It has a temporary name until it is complete. If
 * mctrace ends before that, by exit() or by a signal, the file or folder is removed. There is at
 * most one at a time.
 */
#ifndef _MCTRACE_UNFINISHED_H
#define _MCTRACE_UNFINISHED_H

#include <stdbool.h>

/* Create a file for @path. Return its descriptor; -1 and errno on failure. */
int unfinished_file(const char *path);
/* Create a folder for @path, which must not exist. Return false and set errno on failure. */
bool unfinished_folder(const char *path);
/*
 * Return the path of the file @name in the folder, valid until unfinished_name(). The caller
 * creates the file. Call this once for each file.
 */
const char *unfinished_in(const char *name);
/*
 * Give the complete file or folder the name @path. A file replaces a file of this name. Return
 * false and set errno on failure: then the file or folder stays unfinished.
 */
bool unfinished_name(const char *path);

/*
 * Share the name of a file that is created later with processes that are forked before that. End
 * mctrace on failure.
 */
void unfinished_share(void);
/* In such a process, after the death of the file's creator: remove the file if it is unfinished. */
void unfinished_remove_shared(void);

#endif /* _MCTRACE_UNFINISHED_H */
