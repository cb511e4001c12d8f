// SPDX-License-Identifier: GPL-2.0
/*
 * usage: unreturned netlink|socket|io_uring|worker
 *
 * Get an error that no system call returns, and print its number: from the answer of netlink, from a
 * socket's option SO_ERROR, or from the completion of a request of io_uring that fails at once, or
 * in a worker. 0: this kernel has no io_uring.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ask for the removal of a device that does not exist. */
static int netlink(void)
{
	struct { struct nlmsghdr head; struct ifinfomsg info; } ask = {
		.head = {
			.nlmsg_len = sizeof(ask),
			.nlmsg_type = RTM_DELLINK,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.info.ifi_index = 9999,
	};
	struct { struct nlmsghdr head; struct nlmsgerr error; char rest[256]; } answer;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &ask, sizeof(ask), 0) != sizeof(ask))
		err(1, "netlink");
	if (recv(fd, &answer, sizeof(answer), 0) < 0 || answer.head.nlmsg_type != NLMSG_ERROR)
		err(1, "the answer");
	return -answer.error.error;
}

/* Send a datagram to a port of this host that nobody listens to. */
static int socket_error(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), error;
	struct pollfd polled = { .fd = fd };
	socklen_t size = sizeof(error);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) || send(fd, "x", 1, 0) != 1)
		err(1, "socket");
	if (poll(&polled, 1, 10000) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
		err(1, "SO_ERROR");
	return error;
}

static void *map(int fd, size_t size, off_t where)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, where);

	if (at == MAP_FAILED)
		err(1, "mmap");
	return at;
}

/* Return the error of one request. */
static int io_uring(const struct io_uring_sqe *request)
{
	struct io_uring_params params = { };
	struct io_uring_sqe *entry;
	struct io_uring_cqe *done;
	char *sq, *cq;
	int fd = syscall(__NR_io_uring_setup, 1, &params);

	if (fd < 0 && errno == ENOSYS)
		return 0;
	if (fd < 0)
		err(1, "io_uring_setup");
	sq = map(fd, params.sq_off.array + params.sq_entries * sizeof(__u32), IORING_OFF_SQ_RING);
	cq = map(fd, params.cq_off.cqes + params.cq_entries * sizeof(*done), IORING_OFF_CQ_RING);
	entry = map(fd, params.sq_entries * sizeof(*entry), IORING_OFF_SQES);
	*entry = *request;
	*(__u32 *)(sq + params.sq_off.array) = 0;
	__atomic_store_n((__u32 *)(sq + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		err(1, "io_uring_enter");
	done = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
	return -done->res;
}

static const struct io_uring_sqe bad_file = { .opcode = IORING_OP_READ, .fd = 999 };

int main(int argc, char **argv)
{
	const struct io_uring_sqe no_file = {
		.opcode = IORING_OP_OPENAT,
		.flags = IOSQE_ASYNC,
		.fd = AT_FDCWD,
		.addr = (unsigned long)"/nonexist",
	};
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "netlink"))
		printf("%d\n", netlink());
	else if (!strcmp(how, "socket"))
		printf("%d\n", socket_error());
	else if (!strcmp(how, "io_uring"))
		printf("%d\n", io_uring(&bad_file));
	else if (!strcmp(how, "worker"))
		printf("%d\n", io_uring(&no_file));
	else
		errx(2, "usage: unreturned netlink|socket|io_uring|worker");
	return 0;
}
