/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _MCTRACE_BUILD_ID_H
#define _MCTRACE_BUILD_ID_H

/*
 * Return the build id of the running kernel in hex; "" if there is none. The caller frees it.
 */
char *build_id(void);

#endif /* _MCTRACE_BUILD_ID_H */
