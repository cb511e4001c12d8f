/* SPDX-License-Identifier: GPL-2.0 */
/* The tracer's settings: read before a session changes them, and written back afterwards. */
#ifndef _MCTRACE_SETTINGS_H
#define _MCTRACE_SETTINGS_H

#include <stdbool.h>

/*
 * Read all settings, and allocate and open whatever writing them back needs: neither a full table
 * of files nor a lack of memory can prevent that then.
 */
void settings_read(void);
/*
 * Write back what differs. If a list can't be written back leave out its lines that the kernel
 * refuses; if everything would be recorded without them, have nothing recorded. Return false if
 * anything is not as it was, and say so.
 */
bool settings_write_back(void);

#endif /* _MCTRACE_SETTINGS_H */
