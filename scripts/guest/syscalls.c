// SPDX-License-Identifier: GPL-2.0
/*
 * usage: syscalls list | syscalls SWITCH ROUNDS
 *
 * Makes a list of system calls ROUNDS times, for a tracer to record. Writes 1 to SWITCH
 * before and 0 after, and prints the pid at the end. A getppid before and after each system
 * call marks it in the trace: the first call is between the first and the second getppid,
 * the second call between the third and the fourth. Calls outside of these pairs prepare
 * the next call, and are ignored.
 *
 * list: only print the names.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP	20

static char buf[4096];
static int zero, null, some_pipe[2], pair[2], made[2];
static char *area;
static struct stat st;
static struct utsname name;
static struct rlimit limit;
static struct timespec ts;
static unsigned long set;
static int word;

static void close_made(void)
{
	close(made[0]);
}

static void close_both(void)
{
	close(made[0]);
	close(made[1]);
}

static void make_fd(void)
{
	made[0] = dup(null);
}

static void fill_pipe(void)
{
	if (write(some_pipe[1], buf, 10) != 10)
		abort();
}

static void drain_pipe(void)
{
	if (read(some_pipe[0], buf, 10) != 10)
		abort();
}

static void fill_pair(void)
{
	if (send(pair[0], buf, 10, 0) != 10)
		abort();
}

static void drain_pair(void)
{
	if (recv(pair[1], buf, 10, 0) != 10)
		abort();
}

static void make_area(void)
{
	area = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void drop_area(void)
{
	munmap(area, 8192);
}

static void touch_area(void)
{
	make_area();
	area[0] = area[4096] = 1;
}

static void make_directory(void)
{
	mkdir("directory", 0755);
}

static void drop_directory(void)
{
	rmdir("directory");
}

static void drop_file(void)
{
	close(made[0]);
	unlink("file");
}

/*
 * Wait until the inode's time is an old one, and until objects that waited for RCU are
 * freed, no matter how slow the tracer is.
 */
static void pause_a_tick(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 12000000 }, NULL);
}

static void set_time(void)
{
	ts = (struct timespec){ .tv_nsec = 3000000 };
}

/*
 * Name, function to call before, function to call after, system call. A system call that
 * runs other code in a kernel with tracepoints is left out: receiving, which frees the data.
 */
#define CALLS								\
	CALL(getpid, NULL, NULL, SYS_getpid)				\
	CALL(uname, NULL, NULL, SYS_uname, &name)			\
	CALL(umask, NULL, NULL, SYS_umask, 022)				\
	CALL(getcwd, NULL, NULL, SYS_getcwd, buf, sizeof(buf))		\
	CALL(chdir, NULL, NULL, SYS_chdir, "/tmp")			\
	CALL(open, NULL, close_made, SYS_openat, AT_FDCWD, "/dev/null", O_RDWR)	\
	CALL(close, make_fd, NULL, SYS_close, made[0])			\
	CALL(create, pause_a_tick, drop_file, SYS_openat, AT_FDCWD, "file", O_CREAT | O_RDWR, 0644)	\
	CALL(stat, NULL, NULL, SYS_newfstatat, AT_FDCWD, "/dev/zero", &st, 0)	\
	CALL(stat_nothing, NULL, NULL, SYS_newfstatat, AT_FDCWD, "/nothing", &st, 0)	\
	CALL(fstat, NULL, NULL, SYS_fstat, zero, &st)			\
	CALL(access, NULL, NULL, SYS_faccessat, AT_FDCWD, "/dev/null", R_OK)	\
	CALL(readlink, NULL, NULL, SYS_readlinkat, AT_FDCWD, "link", buf, sizeof(buf))	\
	CALL(mkdir, pause_a_tick, drop_directory, SYS_mkdirat, AT_FDCWD, "directory", 0755)	\
	CALL(rmdir, make_directory, NULL, SYS_unlinkat, AT_FDCWD, "directory", AT_REMOVEDIR)	\
	CALL(read_zero, NULL, NULL, SYS_read, zero, buf, sizeof(buf))	\
	CALL(write_null, NULL, NULL, SYS_write, null, buf, sizeof(buf))	\
	CALL(lseek, NULL, NULL, SYS_lseek, zero, 10, SEEK_SET)		\
	CALL(dup, NULL, close_made, SYS_dup, null)			\
	CALL(fcntl, NULL, NULL, SYS_fcntl, null, F_GETFL)		\
	CALL(pipe, pause_a_tick, close_both, SYS_pipe2, made, 0)		\
	CALL(pipe_write, pause_a_tick, drain_pipe, SYS_write, some_pipe[1], buf, 10)	\
	CALL(pipe_read, fill_pipe, NULL, SYS_read, some_pipe[0], buf, 10)	\
	CALL(socketpair, pause_a_tick, close_both, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, made)	\
	CALL(send, NULL, drain_pair, SYS_sendto, pair[0], buf, 10, 0, NULL, 0)	\
	CALL(peek, fill_pair, drain_pair, SYS_recvfrom, pair[1], buf, 10, MSG_PEEK, NULL, NULL)	\
	CALL(eventfd, NULL, close_made, SYS_eventfd2, 0, 0)		\
	CALL(epoll_create, NULL, close_made, SYS_epoll_create1, 0)	\
	CALL(futex_wake, NULL, NULL, SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0)	\
	CALL(mmap, NULL, drop_area, SYS_mmap, NULL, 8192, PROT_READ | PROT_WRITE,	\
	     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)			\
	CALL(mprotect, touch_area, drop_area, SYS_mprotect, area, 4096, PROT_READ)	\
	CALL(munmap, touch_area, NULL, SYS_munmap, area, 8192)		\
	CALL(brk, NULL, NULL, SYS_brk, 0)				\
	CALL(getrlimit, NULL, NULL, SYS_getrlimit, RLIMIT_NOFILE, &limit)	\
	CALL(sigprocmask, NULL, NULL, SYS_rt_sigprocmask, SIG_BLOCK, NULL, &set, 8)	\
	CALL(clock_gettime, NULL, NULL, SYS_clock_gettime, CLOCK_MONOTONIC, &ts)	\
	CALL(nanosleep, set_time, NULL, SYS_nanosleep, &ts, NULL)		\
	CALL(sched_yield, NULL, NULL, SYS_sched_yield)

#define CALL(name, before, after, ...)	\
	static long call_##name(void) { return syscall(__VA_ARGS__); }
CALLS
#undef CALL

#define CALL(name, before, after, ...)	{ #name, before, call_##name, after },
static const struct {
	const char *name;
	void (*before)(void);
	long (*call)(void);
	void (*after)(void);
} calls[] = { CALLS };
#undef CALL

#define NR_CALLS	(sizeof(calls) / sizeof(calls[0]))

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_calls(void)
{
	size_t i;
	long ret;

	for (i = 0; i < NR_CALLS; i++) {
		if (calls[i].before)
			calls[i].before();
		syscall(SYS_getppid);
		ret = calls[i].call();
		syscall(SYS_getppid);
		if (ret < 0 && strcmp(calls[i].name, "stat_nothing") != 0)
			die(calls[i].name);
		/* A system call that makes descriptors returns one, or fills made[]. */
		if (calls[i].after == close_made || calls[i].after == drop_file)
			made[0] = ret;
		if (!strcmp(calls[i].name, "mmap"))
			area = (char *)ret;
		if (calls[i].after)
			calls[i].after();
	}
}

int main(int argc, char **argv)
{
	long rounds;
	size_t i;
	int fd;

	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (i = 0; i < NR_CALLS; i++)
			puts(calls[i].name);
		return 0;
	}
	if (argc != 3) {
		fprintf(stderr, "usage: syscalls list | syscalls SWITCH ROUNDS\n");
		return 2;
	}
	fd = open(argv[1], O_WRONLY);
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	unlink("/tmp/link");
	if (fd < 0 || zero < 0 || null < 0 || chdir("/tmp") || symlink("/dev/null", "link") ||
	    pipe(some_pipe) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		die(argv[1]);
	/* Avoid preemption, and work of the scheduler that depends on elapsed time. */
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
		die("sched_setscheduler");
	for (i = 0; i < WARM_UP; i++)
		make_calls();
	if (write(fd, "1", 1) != 1)
		die(argv[1]);
	for (rounds = atol(argv[2]); rounds; rounds--)
		make_calls();
	if (write(fd, "0", 1) != 1)
		die(argv[1]);
	printf("%d\n", getpid());
	return 0;
}
