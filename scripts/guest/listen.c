// SPDX-License-Identifier: GPL-2.0
/*
 * Listens to a port on this host, also for UDP, which busybox can't do. Waits SECONDS first.
 *
 *	listen PORT SECONDS		UDP: read one datagram
 *	listen PORT SECONDS peek	UDP: look at one datagram and leave it in the queue
 *	listen PORT SECONDS leave	UDP: read nothing and close the socket
 *	listen PORT SECONDS refuse	UDP: the same, with a filter that refuses all datagrams
 *	listen PORT SECONDS splice	TCP: splice one connection through a pipe to /dev/null
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int splice_all(int fd)
{
	int null = open("/dev/null", O_WRONLY), ends[2];
	ssize_t n;

	fd = accept(fd, NULL, NULL);
	if (fd < 0 || null < 0 || pipe(ends))
		return 1;
	while ((n = splice(fd, NULL, ends[1], NULL, 1 << 16, 0)) > 0)
		while (n > 0)
			n -= splice(ends[0], NULL, null, NULL, n, 0);
	return n < 0;
}

static int refuse_all(int fd)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = { .len = 1, .filter = &nothing };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	const char *how = argc == 4 ? argv[3] : "read";
	const int splices = !strcmp(how, "splice");
	char word[2000];
	int fd;

	if (argc < 3)
		return 2;
	address.sin_port = htons(atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, splices ? SOCK_STREAM : SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    (splices && listen(fd, 1))) {
		perror("listen");
		return 1;
	}
	if (!strcmp(how, "refuse") && refuse_all(fd)) {
		perror("listen: SO_ATTACH_FILTER");
		return 1;
	}
	sleep(atoi(argv[2]));
	if (!strcmp(how, "refuse") || !strcmp(how, "leave"))
		return 0;
	if (splices)
		return splice_all(fd);
	return recv(fd, word, sizeof(word), strcmp(how, "peek") ? 0 : MSG_PEEK) < 0;
}
