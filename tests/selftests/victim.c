// SPDX-License-Identifier: GPL-2.0
/*
 * Make known system calls, for a test that looks for them in the trace.
 *
 *	victim [-t TRACE] [-c CTRL] [-n NAME] [-f FILE] [-e PROG] [-p NICE] MODE [N]
 *
 * A child makes the calls and exits; then the parent prints "pid N" and what the
 * mode adds. The rings hold only the records of a moment, so the parent clears
 * the trace (-t) right before the child's first step, and stops the tracer (-c)
 * right after its exit.
 *
 * Modes:
 *	calls	take the name NAME, then create FILE, write, seek, read,
 *		and look it up
 *	rename	call getppid as "victim", getuid as NAME, and, if -e is
 *		given, run PROG, which must make a system call or two
 *	thread	let a second thread take the name NAME, call getppid, and run PROG;
 *		print "thread N", its pid before PROG
 *	hop	make different system calls on two CPUs in turn, N rounds;
 *		print "CPU NAME" for each in order
 *	many	fork N children one after another, named NAME0, NAME1 ...; each calls
 *		getppid and exits; print "pid N NAME" for each
 *	spin	call getppid until killed; no child, no output
 *	latency	with real-time priority, sleep for a millisecond repeatedly
 *		until SIGTERM; print "longest N", the longest delay of a
 *		wake-up in milliseconds; no child
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME_SIZE	16
#define MANY_MAX	1024
#define MARKS		5
#define PRIORITY	50

static const char *name = "mct-victim", *file, *prog;
static int trace_fd = -1, ctrl_fd = -1;

/*
 * System calls without arguments, effects, or locks. Their number is odd, so that each is called
 * on both CPUs in turn.
 */
static const struct {
	long nr;
	const char *name;
} marks[MARKS] = {
	{ SYS_getppid, "getppid" },
	{ SYS_getuid, "getuid" },
	{ SYS_getgid, "getgid" },
	{ SYS_geteuid, "geteuid" },
	{ SYS_getegid, "getegid" },
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void set_name(const char *to)
{
	if (prctl(PR_SET_NAME, to))
		die("prctl");
}

static void start(void)
{
	if (trace_fd >= 0 && write(trace_fd, "0", 1) != 1)
		die("clearing the trace");
}

static void stop(void)
{
	if (ctrl_fd >= 0 && write(ctrl_fd, "0", 1) != 1)
		die("stopping the tracer");
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "child ended with status %#x\n", status);
		exit(2);
	}
}

/* Use raw system calls: the C library may return cached results. */
static void calls(void)
{
	struct stat st;
	char c;
	int fd;

	set_name(name);
	fd = syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		die(file);
	if (syscall(SYS_write, fd, "x", 1) != 1)
		die("write");
	lseek(fd, 0, SEEK_SET);
	if (syscall(SYS_read, fd, &c, 1) != 1)
		die("read");
	close(fd);
	if (stat(file, &st))
		die("stat");
}

static void rename_and_exec(void)
{
	set_name("victim");
	syscall(SYS_getppid);
	set_name(name);
	syscall(SYS_getuid);
	if (!prog)
		return;
	execl(prog, prog, NULL);
	die(prog);
}

static pid_t *thread_tid;

/* Run in a thread that is not the group leader: exec gives it the leader's pid. */
static void *exec_in_thread(void *arg)
{
	(void)arg;
	*thread_tid = syscall(SYS_gettid);
	set_name(name);
	syscall(SYS_getppid);
	execl(prog, prog, NULL);
	die(prog);
	return NULL;
}

static void do_thread(unsigned int n)
{
	pthread_t thread;

	(void)n;
	if (!prog || pthread_create(&thread, NULL, exec_in_thread, NULL))
		die("thread");
	pthread_join(thread, NULL);
}

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void hop(unsigned int rounds)
{
	unsigned int i;

	set_name(name);
	go_to(0);
	for (i = 0; i < rounds; i++) {
		go_to(i & 1);
		syscall(marks[i % MARKS].nr);
	}
}

static void in_child(void (*func)(unsigned int), unsigned int n)
{
	pid_t pid;

	start();
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		func(n);
		_exit(0);
	}
	reap(pid);
	stop();
	printf("pid %d\n", pid);
}

static void do_calls(unsigned int n)
{
	(void)n;
	calls();
}

static void do_rename(unsigned int n)
{
	(void)n;
	rename_and_exec();
}

static void many(unsigned int n)
{
	static pid_t pids[MANY_MAX];
	char buf[NAME_SIZE];
	unsigned int i;

	if (n > MANY_MAX)
		n = MANY_MAX;
	start();
	for (i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i]) {
			snprintf(buf, sizeof(buf), "%.10s%u", name, i);
			set_name(buf);
			syscall(SYS_getppid);
			_exit(0);
		}
		reap(pids[i]);
	}
	stop();
	for (i = 0; i < n; i++)
		printf("pid %d %.10s%u\n", pids[i], name, i);
}

static long long microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void latency(void)
{
	struct sched_param param = { .sched_priority = PRIORITY };
	struct timespec nap = { .tv_nsec = 1000000 };
	long long begun, waited, longest = 0;
	sigset_t term;
	int sig;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	do {
		begun = microseconds();
		sig = sigtimedwait(&term, NULL, &nap);
		waited = microseconds() - begun - nap.tv_nsec / 1000;
		if (waited > longest)
			longest = waited;
	} while (sig != SIGTERM);
	printf("longest %lld\n", longest / 1000);
}

static int open_for_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	unsigned int n = 1, i;
	const char *mode;
	int opt;

	while ((opt = getopt(argc, argv, "+t:c:n:f:e:p:")) != -1) {
		switch (opt) {
		case 't':
			trace_fd = open_for_write(optarg);
			break;
		case 'c':
			ctrl_fd = open_for_write(optarg);
			break;
		case 'n':
			name = optarg;
			break;
		case 'f':
			file = optarg;
			break;
		case 'p':
			if (setpriority(PRIO_PROCESS, 0, atoi(optarg)))
				die("setpriority");
			break;
		case 'e':
			prog = optarg;
			break;
		default:
			return 2;
		}
	}
	if (optind >= argc) {
		fprintf(stderr, "usage: victim [options] MODE [N]\n");
		return 2;
	}
	mode = argv[optind++];
	if (optind < argc)
		n = strtoul(argv[optind], NULL, 10);

	if (!strcmp(mode, "calls") && file) {
		in_child(do_calls, 0);
	} else if (!strcmp(mode, "rename")) {
		in_child(do_rename, 0);
	} else if (!strcmp(mode, "thread")) {
		thread_tid = mmap(NULL, sizeof(*thread_tid), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (thread_tid == MAP_FAILED)
			die("mmap");
		in_child(do_thread, 0);
		printf("thread %d\n", *thread_tid);
	} else if (!strcmp(mode, "hop")) {
		in_child(hop, n);
		for (i = 0; i < n; i++)
			printf("%u %s\n", i & 1, marks[i % MARKS].name);
	} else if (!strcmp(mode, "many")) {
		many(n);
	} else if (!strcmp(mode, "spin")) {
		set_name(name);
		for (;;)
			syscall(SYS_getppid);
	} else if (!strcmp(mode, "latency")) {
		set_name(name);
		latency();
	} else {
		fprintf(stderr, "victim: no such mode\n");
		return 2;
	}
	return 0;
}
