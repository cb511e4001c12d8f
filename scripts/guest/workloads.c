// SPDX-License-Identifier: GPL-2.0
/*
 * The benchmark's workloads. Each does one operation n times and little else. The
 * processes and files that a workload needs are made before the measurement.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads.h"

#define PATH		"/etc/passwd"
#define SCRATCH		"/tmp/measure.scratch"
#define MESSAGE		64	/* bytes of a message by TCP */

static char block[4096];

/*
 * The other process, for workloads that need one, and the descriptors to write to it and read from
 * it.
 */
static pid_t partner;
static int to_partner, from_partner;

void die(const char *what)
{
	perror(what);
	exit(1);
}

static void check(int ok, const char *what)
{
	if (!ok)
		die(what);
}

/* Send all input back, @size bytes at a time, and exit at its end. */
static void echo(int in, int out, size_t size)
{
	while (read(in, block, size) == (ssize_t)size)
		check(write(out, block, size) == (ssize_t)size, "echo");
	_exit(0);
}

static void ping_pong(long n, size_t size)
{
	while (n--) {
		check(write(to_partner, block, size) == (ssize_t)size, "ping");
		check(read(from_partner, block, size) == (ssize_t)size, "pong");
	}
}

static void end_partner(void)
{
	close(to_partner);
	if (from_partner != to_partner)
		close(from_partner);
	check(waitpid(partner, NULL, 0) == partner, "waitpid");
}

static void stat_work(long n)
{
	struct stat st;

	while (n--)
		check(!stat(PATH, &st), PATH);
}

static int zero;

static void read_prepare(void)
{
	zero = open("/dev/zero", O_RDONLY);
	check(zero >= 0, "/dev/zero");
}

static void read_work(long n)
{
	char c;

	while (n--)
		check(read(zero, &c, 1) == 1, "read");
}

static void pipe_prepare(void)
{
	int there[2], back[2];

	check(!pipe(there) && !pipe(back), "pipe");
	partner = fork();
	check(partner >= 0, "fork");
	if (!partner) {
		close(there[1]);
		echo(there[0], back[1], 1);
	}
	close(there[0]);
	close(back[1]);
	to_partner = there[1];
	from_partner = back[0];
}

static void pipe_work(long n)
{
	ping_pong(n, 1);
}

static void file_work(long n)
{
	int fd;

	while (n--) {
		fd = open(SCRATCH, O_WRONLY | O_CREAT | O_EXCL, 0600);
		check(fd >= 0, SCRATCH);
		check(write(fd, block, sizeof(block)) == sizeof(block), "write");
		close(fd);
		check(!unlink(SCRATCH), "unlink");
	}
}

static void fork_work(long n)
{
	int status;
	pid_t pid;

	while (n--) {
		pid = fork();
		check(pid >= 0, "fork");
		if (!pid)
			_exit(0);
		check(waitpid(pid, &status, 0) == pid && !status, "fork");
	}
}

static void exec_work(long n)
{
	char *argv[] = { "measure", "nothing", NULL };
	char *envp[] = { NULL };
	int status;
	pid_t pid;

	while (n--) {
		pid = fork();
		check(pid >= 0, "fork");
		if (!pid) {
			execve("/proc/self/exe", argv, envp);
			_exit(1);
		}
		check(waitpid(pid, &status, 0) == pid && !status, "exec");
	}
}

static void rename_work(long n)
{
	while (n--)
		check(!prctl(PR_SET_NAME, n & 1 ? "one" : "other"), "prctl");
}

static void tcp_prepare(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int server, client, one = 1;
	socklen_t len = sizeof(addr);

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server = socket(AF_INET, SOCK_STREAM, 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	check(server >= 0 && client >= 0, "socket");
	check(!bind(server, (struct sockaddr *)&addr, sizeof(addr)), "bind");
	check(!getsockname(server, (struct sockaddr *)&addr, &len), "getsockname");
	check(!listen(server, 1), "listen");
	partner = fork();
	check(partner >= 0, "fork");
	if (!partner) {
		close(client);
		client = accept(server, NULL, NULL);
		check(client >= 0, "accept");
		setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		echo(client, client, MESSAGE);
	}
	close(server);
	check(!connect(client, (struct sockaddr *)&addr, sizeof(addr)), "connect");
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	to_partner = client;
	from_partner = client;
}

static void tcp_work(long n)
{
	ping_pong(n, MESSAGE);
}

static const struct workload workloads[] = {
	{ "stat", NULL, stat_work, NULL },
	{ "read", read_prepare, read_work, NULL },
	{ "pipe", pipe_prepare, pipe_work, end_partner },
	{ "file", NULL, file_work, NULL },
	{ "fork", NULL, fork_work, NULL },
	{ "exec", NULL, exec_work, NULL },
	{ "rename", NULL, rename_work, NULL },
	{ "tcp", tcp_prepare, tcp_work, end_partner },
	{ NULL, NULL, NULL, NULL }
};

const struct workload *find_workload(const char *name)
{
	const struct workload *w;

	for (w = workloads; w->name; w++)
		if (!strcmp(w->name, name))
			return w;
	return NULL;
}
