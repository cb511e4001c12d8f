/* SPDX-License-Identifier: GPL-2.0 */
/* Go through the functions that can be traced: the lines of the tracer's file "functions". */
#ifndef _MCTRACE_TRACEABLE_H
#define _MCTRACE_TRACEABLE_H

#include <stdbool.h>

/* A function. The sizes are those of the kernel's names, with room to spare. */
struct traceable {
	const char *rest;	/* the following lines; at first, all lines */
	char title[640];	/* "NAME", or "NAME [MODULE]" */
	char name[512];
	char module[64];	/* "": the kernel's own function */
};

/* Set @one to the function of the next line. Return false if there is none. */
bool traceable_next(struct traceable *one);

#endif /* _MCTRACE_TRACEABLE_H */
