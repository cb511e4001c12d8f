// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and starts another kernel in place of the running one.
 *
 *	kexec load IMAGE INITRD COMMAND-LINE	load a kernel for "kexec start"
 *	kexec crash IMAGE INITRD COMMAND-LINE	load a kernel that a panic starts
 *	kexec start				start the loaded kernel
 */
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		perror(file);
		exit(2);
	}
	return fd;
}

int main(int argc, char **argv)
{
	unsigned long flags = 0;

	if (argc == 2 && !strcmp(argv[1], "start")) {
		syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
			LINUX_REBOOT_CMD_KEXEC, NULL);
		perror("reboot");
		return 1;
	}
	if (argc != 5 || (strcmp(argv[1], "load") && strcmp(argv[1], "crash"))) {
		fprintf(stderr, "usage: kexec load|crash IMAGE INITRD COMMAND-LINE, or kexec start\n");
		return 2;
	}
	if (!strcmp(argv[1], "crash"))
		flags = KEXEC_FILE_ON_CRASH;
	if (syscall(SYS_kexec_file_load, open_file(argv[2]), open_file(argv[3]),
		    strlen(argv[4]) + 1, argv[4], flags)) {
		perror("kexec_file_load");
		return 1;
	}
	return 0;
}
