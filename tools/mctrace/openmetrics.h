/* SPDX-License-Identifier: GPL-2.0 */
/* Print the tracer's counters as metrics for Prometheus. */
#ifndef _MCTRACE_OPENMETRICS_H
#define _MCTRACE_OPENMETRICS_H

#include <stdbool.h>

/* Print all metrics to standard output. @recording: whether calls are recorded now. */
void openmetrics_put(bool recording);

#endif /* _MCTRACE_OPENMETRICS_H */
