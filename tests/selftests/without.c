// SPDX-License-Identifier: GPL-2.0
/*
 * usage: without sys_admin|syslog COMMAND [ARGUMENT...]
 *
 * Run COMMAND as root that lacks a capability, as root in a container does.
 */
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int capability = argc > 1 && !strcmp(argv[1], "syslog") ? CAP_SYSLOG : CAP_SYS_ADMIN;

	if (argc < 3)
		return 2;
	/* exec() gives root all capabilities of the bounding set. */
	if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)) {
		perror("PR_CAPBSET_DROP");
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
