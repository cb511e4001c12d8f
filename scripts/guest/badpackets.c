// SPDX-License-Identifier: GPL-2.0
/*
 * usage: badpackets DEVICE REASON...
 *
 * Send packets through DEVICE that the host at its other end drops, each for a REASON: names of enum
 * skb_drop_reason without SKB_DROP_REASON_. That host has the addresses below, an answer to
 * "Who has PEER?", port OPEN_PORT open for TCP, and no other port.
 */
#include <arpa/inet.h>
#include <linux/icmpv6.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PEER		"10.0.0.9"	/* the sender; this host must not have it, or it would answer, too */
#define HOST		"10.0.0.2"
#define PEER6		"fc00::9"
#define HOST6		"fc00::2"
#define OPEN_PORT	9010
#define CLOSED_PORT	9011

static const unsigned char here_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };
static const unsigned char there_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
static const unsigned char other_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 3 };
static const unsigned char all_macs[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

static int packets;

/* --- a packet, written from its end: each protocol puts its header before what is there --- */

static unsigned char room[2048], *at;
static unsigned char *const end = room + sizeof(room);

static void *put_before(size_t nr)
{
	at -= nr;
	memset(at, 0, nr);
	return at;
}

static void begin(const void *data, size_t nr)
{
	at = end;
	memcpy(put_before(nr), data, nr);
}

static uint32_t sum(uint32_t before, const void *data, size_t nr)
{
	const unsigned char *byte = data;
	size_t i;

	for (i = 0; i < nr; i++)
		before += i & 1 ? byte[i] : byte[i] << 8;
	return before;
}

static uint16_t checksum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

/* Return the checksum of what is in the packet, with the pseudo header of IPv4. */
static uint16_t checksum_of(int protocol)
{
	uint32_t addresses[2] = { inet_addr(PEER), inet_addr(HOST) };

	return checksum(sum(sum(protocol + (end - at), addresses, sizeof(addresses)), at, end - at));
}

static void send_to(const unsigned char *mac, int type)
{
	struct ethhdr *eth = put_before(sizeof(*eth));

	memcpy(eth->h_dest, mac, ETH_ALEN);
	memcpy(eth->h_source, here_mac, ETH_ALEN);
	eth->h_proto = htons(type);
	if (send(packets, at, end - at, 0) != end - at) {
		perror("badpackets: send");
		exit(1);
	}
}

static struct iphdr *put_ip(int protocol)
{
	const size_t nr = end - at;
	struct iphdr *ip = put_before(sizeof(*ip));

	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = htons(nr + sizeof(*ip));
	ip->ttl = 64;
	ip->protocol = protocol;
	ip->saddr = inet_addr(PEER);
	ip->daddr = inet_addr(HOST);
	return ip;
}

static void send_ip(const unsigned char *mac)
{
	struct iphdr *ip = (struct iphdr *)at;

	ip->check = checksum(sum(0, ip, sizeof(*ip)));
	send_to(mac, ETH_P_IP);
}

static struct udphdr *put_udp(int port)
{
	const size_t nr = end - at;
	struct udphdr *udp = put_before(sizeof(*udp));

	udp->source = htons(4711);
	udp->dest = htons(port);
	udp->len = htons(nr + sizeof(*udp));
	udp->check = checksum_of(IPPROTO_UDP);
	return udp;
}

static struct iphdr *put_datagram(void)
{
	begin("word", 4);
	put_udp(CLOSED_PORT);
	return put_ip(IPPROTO_UDP);
}

/* --- IPv4 --- */

static void ip_csum(void)
{
	put_datagram()->check = htons(0x1234);
	send_to(there_mac, ETH_P_IP);
}

static void ip_inhdr(void)
{
	put_datagram()->version = 5;
	send_ip(there_mac);
}

static void pkt_too_small(void)
{
	put_datagram()->tot_len = htons(1000);
	send_ip(there_mac);
}

static void otherhost(void)
{
	put_datagram();
	send_ip(other_mac);
}

static void ip_noproto(void)
{
	begin("word", 4);
	put_ip(253);
	send_ip(there_mac);
}

static void unhandled_proto(void)
{
	begin("some words that no protocol of Linux takes, 64 bytes or more long", 64);
	send_to(there_mac, 0x88b5);
}

static void udp_csum(void)
{
	struct iphdr *ip = put_datagram();

	((struct udphdr *)(ip + 1))->check ^= htons(1);
	send_ip(there_mac);
}

static void no_socket(void)
{
	put_datagram();
	send_ip(there_mac);
}

static void icmp_csum(void)
{
	struct icmphdr *icmp;

	begin("word", 4);
	icmp = put_before(sizeof(*icmp));
	icmp->type = ICMP_ECHO;
	icmp->checksum = htons(0x1234);
	put_ip(IPPROTO_ICMP);
	send_ip(there_mac);
}

/* The other host has no route to this source. */
static void ip_rpfilter(void)
{
	put_datagram()->saddr = inet_addr("192.168.200.1");
	send_ip(there_mac);
}

static void unicast_in_l2_multicast(void)
{
	put_datagram();
	send_ip(all_macs);
}

/* A packet that the other host would have to forward, at the end of its life. */
static void ip_inaddrerrors(void)
{
	put_datagram()->daddr = inet_addr("192.168.200.1");
	send_ip(there_mac);
}

static void dup_frag(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		begin("part of a datagram, a multiple of 8 long", 40);
		put_ip(IPPROTO_UDP)->id = htons(77);
		((struct iphdr *)at)->frag_off = htons(0x2000);
		send_ip(there_mac);
	}
}

/* --- TCP --- */

static bool is_connected;
static uint32_t sent = 1000, heard;	/* next sequence number, and the one expected from the host */

static void send_tcp(int port, uint32_t seq, uint32_t ack, const char *flags, const char *data, bool good)
{
	struct tcphdr *tcp;

	begin(data, strlen(data));
	tcp = put_before(sizeof(*tcp));
	tcp->source = htons(4712);
	tcp->dest = htons(port);
	tcp->seq = htonl(seq);
	tcp->ack_seq = htonl(ack);
	tcp->doff = sizeof(*tcp) / 4;
	tcp->syn = !!strchr(flags, 'S');
	tcp->ack = !!strchr(flags, 'A');
	tcp->fin = !!strchr(flags, 'F');
	tcp->rst = !!strchr(flags, 'R');
	tcp->window = htons(1000);
	tcp->check = checksum_of(IPPROTO_TCP);
	if (!good)
		tcp->check ^= htons(1);
	put_ip(IPPROTO_TCP);
	send_ip(there_mac);
}

static void say(uint32_t seq, uint32_t ack, const char *flags, const char *data)
{
	send_tcp(OPEN_PORT, seq, ack, flags, data, true);
}

/* Connect once, and say one word, which the host acknowledges at once. */
static void connected(void)
{
	unsigned char in[2048];
	const struct iphdr *ip = (struct iphdr *)(in + ETH_HLEN);
	const struct tcphdr *tcp = (struct tcphdr *)(ip + 1);
	ssize_t nr;

	if (is_connected)
		return;
	is_connected = true;
	say(sent++, 0, "S", "");
	do {
		nr = recv(packets, in, sizeof(in), 0);
		if (nr < 0) {
			fprintf(stderr, "badpackets: no answer from port %d\n", OPEN_PORT);
			exit(1);
		}
	} while (nr < ETH_HLEN + 40 || in[12] != 8 || in[13] || ip->protocol != IPPROTO_TCP || !tcp->syn ||
		 !tcp->ack || tcp->dest != htons(4712));
	heard = ntohl(tcp->seq) + 1;
	say(sent, heard, "A", "");
	say(sent, heard, "A", "word");
	sent += 4;
	usleep(200000);
}

static void tcp_csum(void) { send_tcp(CLOSED_PORT, 1, 0, "S", "", false); }
/* To a port where somebody listens, without a connection: */
static void tcp_flags(void) { say(1, 0, "SF", ""); }
static void tcp_reset(void) { say(1, 0, "R", ""); }
/* In a connection: */
static void tcp_old_data(void) { connected(); say(sent - 4, heard, "A", "word"); }
static void tcp_old_sequence(void) { connected(); say(sent - 4, heard, "A", "wo"); }
static void tcp_invalid_sequence(void) { connected(); say(sent + 1000000, heard, "A", "word"); }
static void tcp_ack_unsent_data(void) { connected(); say(sent, heard + 1000000, "A", ""); }
static void tcp_too_old_ack(void) { connected(); say(sent, heard - 1000000, "A", ""); }
static void tcp_invalid_syn(void) { connected(); say(sent, heard, "SA", ""); }

static void tcp_ofomerge(void)
{
	connected();
	say(sent + 100, heard, "A", "word");
	say(sent + 100, heard, "A", "word");
}

/* --- IPv6 --- */

static void send_icmp6(int type, int code, int hops, const void *data, size_t nr)
{
	const struct { uint32_t nr, protocol; } pseudo = { htonl(nr + 4), htonl(IPPROTO_ICMPV6) };
	struct icmp6hdr *icmp;
	struct ipv6hdr *ip;

	begin(data, nr);
	icmp = put_before(offsetof(struct icmp6hdr, icmp6_dataun));
	icmp->icmp6_type = type;
	icmp->icmp6_code = code;
	ip = put_before(sizeof(*ip));
	ip->version = 6;
	ip->payload_len = htons(nr + 4);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = hops;
	inet_pton(AF_INET6, PEER6, &ip->saddr);
	inet_pton(AF_INET6, HOST6, &ip->daddr);
	icmp->icmp6_cksum = checksum(sum(sum(sum(0, &ip->saddr, 32), &pseudo, sizeof(pseudo)), icmp, nr + 4));
	send_to(there_mac, ETH_P_IPV6);
}

/* Who has HOST6? With an option of the sender's address, of @length times 8 bytes */
static void ask(int code, int hops, int length)
{
	unsigned char data[4 + 16 + 8] = { 0 };

	inet_pton(AF_INET6, HOST6, data + 4);
	data[20] = 1;
	data[21] = length;
	memcpy(data + 22, here_mac, ETH_ALEN);
	send_icmp6(135, code, hops, data, sizeof(data));
}

static void ipv6_ndisc_hop_limit(void) { ask(0, 64, 1); }
static void ipv6_ndisc_bad_code(void) { ask(1, 255, 1); }
static void ipv6_ndisc_bad_options(void) { ask(0, 255, 0); }

#define CASE(name)	{ #name, name }
static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(ip_csum), CASE(ip_inhdr), CASE(pkt_too_small), CASE(otherhost), CASE(ip_noproto),
	CASE(unhandled_proto), CASE(udp_csum), CASE(no_socket), CASE(icmp_csum), CASE(ip_rpfilter),
	CASE(unicast_in_l2_multicast), CASE(ip_inaddrerrors), CASE(dup_frag), CASE(tcp_csum), CASE(tcp_flags),
	CASE(tcp_old_data), CASE(tcp_old_sequence), CASE(tcp_invalid_sequence), CASE(tcp_ack_unsent_data),
	CASE(tcp_too_old_ack), CASE(tcp_invalid_syn), CASE(tcp_ofomerge), CASE(tcp_reset),
	CASE(ipv6_ndisc_hop_limit), CASE(ipv6_ndisc_bad_code), CASE(ipv6_ndisc_bad_options),
};

static bool run_case(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcasecmp(cases[i].name, name))
			continue;
		cases[i].run();
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll device = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	const struct timeval patience = { .tv_sec = 5 };
	int i;

	if (argc < 3)
		return 2;
	device.sll_ifindex = if_nametoindex(argv[1]);
	packets = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	if (packets < 0 || !device.sll_ifindex || bind(packets, (struct sockaddr *)&device, sizeof(device)) ||
	    setsockopt(packets, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience))) {
		perror("badpackets");
		return 1;
	}
	for (i = 2; i < argc; i++) {
		if (!run_case(argv[i])) {
			fprintf(stderr, "badpackets: no such reason: %s\n", argv[i]);
			return 2;
		}
	}
	if (is_connected)	/* the host must not repeat its last words later */
		say(sent, heard, "RA", "");
	usleep(200000);
	return 0;
}
