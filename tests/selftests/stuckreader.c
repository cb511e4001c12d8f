// SPDX-License-Identifier: GPL-2.0
/*
 * Read into memory whose page fault is never served.
 *
 *	stuckreader [FILE]
 *
 * Prints "reading" and reads FILE into a page that is registered with
 * userfaultfd(2), but never provided. Without FILE, only the exit status reports
 * whether the kernel allows this.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void *page_that_never_comes(size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(SYS_userfaultfd, 0);
	void *page;

	if (uffd < 0)
		die("userfaultfd");
	if (ioctl(uffd, UFFDIO_API, &api))
		die("UFFDIO_API");
	page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		die("mmap");
	range.range.start = (unsigned long)page;
	range.range.len = size;
	if (ioctl(uffd, UFFDIO_REGISTER, &range))
		die("UFFDIO_REGISTER");
	return page;
}

int main(int argc, char **argv)
{
	size_t size = getpagesize();
	void *page = page_that_never_comes(size);
	ssize_t got;
	int fd;

	if (argc < 2)
		return 0;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		die(argv[1]);
	puts("reading");
	fflush(stdout);
	got = read(fd, page, size);
	printf("read gave %zd\n", got);
	return 1;
}
