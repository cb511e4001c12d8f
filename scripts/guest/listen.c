// SPDX-License-Identifier: GPL-2.0
/*
 * Listens to a port of UDP on this host: busybox does not.
 *
 *	listen PORT SECONDS	so long nothing is read, then one datagram
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	char word[2000];
	int fd;

	if (argc != 3)
		return 2;
	address.sin_port = htons(atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		perror("listen");
		return 1;
	}
	sleep(atoi(argv[2]));
	return recv(fd, word, sizeof(word), 0) < 0;
}
