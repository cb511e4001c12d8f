/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The benchmark's workloads, which measure.c runs and measures.
 */
#ifndef WORKLOADS_H
#define WORKLOADS_H

struct workload {
	const char *name;
	void (*prepare)(void);	/* or NULL */
	void (*work)(long n);	/* do the operation n times */
	void (*finish)(void);	/* or NULL */
};

/* Return the workload @name, or NULL. */
const struct workload *find_workload(const char *name);

void die(const char *what);

#endif /* WORKLOADS_H */
