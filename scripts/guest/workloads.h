/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmark makes the kernel do; measure.c says what it took.
 */
#ifndef WORKLOADS_H
#define WORKLOADS_H

struct workload {
	const char *name;
	void (*prepare)(void);	/* or NULL */
	void (*work)(long n);	/* n times the same */
	void (*finish)(void);	/* or NULL */
};

/* NULL if there is none of that name. */
const struct workload *find_workload(const char *name);

void die(const char *what);

#endif /* WORKLOADS_H */
