// SPDX-License-Identifier: GPL-2.0
/* Read this process's capabilities: root in a container may lack some. */
#include <stdlib.h>
#include <string.h>

#include "capability.h"
#include "util.h"

bool has_capability(unsigned int nr)
{
	char *status = read_file("/proc/self/status"), *line;
	bool has = true;

	line = status ? strstr(status, "\nCapEff:") : NULL;
	if (line)
		has = strtoull(line + strlen("\nCapEff:"), NULL, 16) >> nr & 1;
	free(status);
	return has;
}
