// SPDX-License-Identifier: GPL-2.0
/*
 * Make one write(2) or one open(2), and print the result.
 *
 *	badwrite [-u UID] [-c] [-o OFFSET] FILE		write standard input
 *	badwrite [-u UID] [-c] -r|-w|-t FILE		only open the file
 *
 * Prints "ok N" with the number of written bytes, or "open" or "write" and the
 * name of the error, as in "write EINVAL". A shell's echo reports no errno, and
 * its redirection can't write at an offset or write 0 bytes.
 *
 *	-u UID	become that user first. root looks the file up before that, so
 *		that only the file's own mode matters, and not the modes of
 *		the directories above it; -U looks it up as the user.
 *	-c	drop CAP_SYS_ADMIN, and stay root
 *	-o N	write at offset N
 *	-r -w -t	open for reading, for writing, for writing with O_TRUNC
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INPUT_MAX	0x100000

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int report(const char *what)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EACCES, "EACCES" }, { EAGAIN, "EAGAIN" },
		{ EBUSY, "EBUSY" }, { EFAULT, "EFAULT" },
		{ EFBIG, "EFBIG" }, { EINVAL, "EINVAL" },
		{ EIO, "EIO" }, { ENODEV, "ENODEV" },
		{ ENOENT, "ENOENT" }, { ENOMEM, "ENOMEM" },
		{ EOPNOTSUPP, "EOPNOTSUPP" },
		{ EPERM, "EPERM" }, { ERANGE, "ERANGE" },
		{ ESRCH, "ESRCH" },
		{ E2BIG, "E2BIG" }, { ESPIPE, "ESPIPE" },
		{ 0, NULL }
	};
	int err = errno;
	unsigned int i;

	for (i = 0; names[i].name; i++) {
		if (names[i].err == err) {
			printf("%s %s\n", what, names[i].name);
			return 1;
		}
	}
	printf("%s %d\n", what, err);
	return 1;
}

static void drop_sys_admin(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		die("capget");
	data[0].effective &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
	data[0].permitted &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
	data[0].inheritable &= ~CAP_TO_MASK(CAP_SYS_ADMIN);
	if (syscall(SYS_capset, &head, data))
		die("capset");
}

static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
	    setresuid(uid, uid, uid))
		die("setuid");
}

static size_t read_input(char *buf)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(0, buf + len, INPUT_MAX - len)) > 0)
		len += n;
	if (n < 0)
		die("standard input");
	return len;
}

int main(int argc, char **argv)
{
	static char buf[INPUT_MAX];
	int flags = -1, drop = 0, direct = 0, opt, fd;
	char *path, link[64];
	long uid = -1;
	off_t offset = 0;
	size_t len = 0;
	ssize_t n;

	while ((opt = getopt(argc, argv, "u:U:co:rwt")) != -1) {
		switch (opt) {
		case 'U':
			direct = 1;
			uid = atol(optarg);
			break;
		case 'u':
			uid = atol(optarg);
			break;
		case 'c':
			drop = 1;
			break;
		case 'o':
			offset = atoll(optarg);
			break;
		case 'r':
			flags = O_RDONLY;
			break;
		case 'w':
			flags = O_WRONLY;
			break;
		case 't':
			flags = O_WRONLY | O_TRUNC;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc) {
		fprintf(stderr, "usage: badwrite [options] FILE\n");
		return 2;
	}
	path = argv[optind];
	if (flags < 0)
		len = read_input(buf);

	if (uid >= 0 && !direct) {
		fd = open(path, O_PATH);
		if (fd < 0)
			die(path);
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		path = link;
	}
	if (drop)
		drop_sys_admin();
	if (uid >= 0)
		become(uid);

	fd = open(path, flags < 0 ? O_WRONLY : flags);
	if (fd < 0)
		return report("open");
	if (flags >= 0) {
		puts("ok 0");
		return 0;
	}
	n = offset ? pwrite(fd, buf, len, offset) : write(fd, buf, len);
	/* The kernel may keep the text until close(), which then returns the error. */
	if (n < 0 || close(fd))
		return report("write");
	printf("ok %zd\n", n);
	return 0;
}
