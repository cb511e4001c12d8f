/* SPDX-License-Identifier: GPL-2.0 */
/* Read the tracer's settings before a session changes them, and write them back afterwards. */
#ifndef _MCTRACE_SETTINGS_H
#define _MCTRACE_SETTINGS_H

#include <stdbool.h>

/*
 * Read all settings, and allocate and open everything that settings_write_back() needs, so that
 * neither a full file table nor a lack of memory can make it fail.
 */
void settings_read(void);
/*
 * Write back all settings that differ. If the kernel refuses lines of a list, write back the
 * others; if that would record everything, record nothing instead. Leave frozen rings as they are,
 * and print a message. Return false and print a message if anything else is not as it was.
 *
 * If not @all, leave out the settings of the rings, for a later call: they can't change while a
 * ring is mapped. The later call returns false also for failures of the earlier one.
 */
bool settings_write_back(bool all);

#endif /* _MCTRACE_SETTINGS_H */
