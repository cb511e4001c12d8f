/* SPDX-License-Identifier: GPL-2.0 */
/* The file of settings of "mctrace start --config", which mctracer.conf(5) describes. */
#ifndef _MCTRACE_CONFIG_H
#define _MCTRACE_CONFIG_H

struct setup;

/* Parse the file @path: some settings go to @setup, config_apply() writes the others. */
void config_read(const char *path, struct setup *setup);
/* Write the settings that config_read() has kept, after setup_apply(). */
void config_apply(void);

#endif /* _MCTRACE_CONFIG_H */
