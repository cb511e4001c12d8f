// SPDX-License-Identifier: GPL-2.0
/* Parse and print the headers of a packet. */
#include <arpa/inet.h>
#include <string.h>

#include "headers.h"

#define ETH_IP		0x0800
#define ETH_ARP		0x0806
#define ETH_IPV6	0x86dd

#define IP_SHORTEST	20
#define IPV6_LENGTH	40
#define ARP_LENGTH	28
#define TCP_SHORTEST	20
#define UDP_LENGTH	8
#define ICMP_LENGTH	8

enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ICMPV6 = 58 };

static unsigned int get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

/* Return the Ethernet type of a packet that begins with its network header; 0 if unknown. */
static unsigned int type_of(const uint8_t *data, size_t nr)
{
	if (nr >= IP_SHORTEST && data[0] >> 4 == 4 && (data[0] & 15) >= 5)
		return ETH_IP;
	if (nr >= IPV6_LENGTH && data[0] >> 4 == 6)
		return ETH_IPV6;
	if (nr >= ARP_LENGTH && get16(data) == 1 && get16(data + 2) == ETH_IP)
		return ETH_ARP;
	return 0;
}

/* Return the length of the network packet by its header; 0 if that is missing or not set yet. */
static size_t said_length(unsigned int type, const uint8_t *data, size_t nr)
{
	switch (type) {
	case ETH_IP:
		return nr >= IP_SHORTEST ? get16(data + 2) : 0;
	case ETH_IPV6:
		return nr >= IPV6_LENGTH && get16(data + 4) ? IPV6_LENGTH + get16(data + 4) : 0;
	case ETH_ARP:
		return ARP_LENGTH;
	}
	return 0;
}

bool headers_take(struct headers *headers, const uint8_t *data, size_t nr, bool ethernet)
{
	unsigned int type;
	size_t length;

	memset(headers, 0, sizeof(*headers));
	if (ethernet && nr < HEADERS_ETH)
		return false;
	if (ethernet) {
		memcpy(headers->frame, data, HEADERS_ETH);
		data += HEADERS_ETH;
		nr -= HEADERS_ETH;
		type = get16(headers->frame + 12);
	} else {
		type = type_of(data, nr);
		headers->frame[12] = type >> 8;
		headers->frame[13] = type;
	}
	if (!type)
		return false;
	if (nr > HEADERS_MOST - HEADERS_ETH)
		nr = HEADERS_MOST - HEADERS_ETH;
	memcpy(headers->frame + HEADERS_ETH, data, nr);
	length = said_length(type, data, nr);
	headers->sized = length;
	if (length && length < nr)
		nr = length;		/* omit bytes after the packet */
	headers->captured = HEADERS_ETH + nr;
	headers->length = length ? HEADERS_ETH + length : headers->captured;
	return true;
}

/* Append the length of the network packet, if known, without its first @before bytes. */
static void put_bytes(struct buffer *to, const struct headers *headers, size_t before)
{
	size_t length = headers->length - HEADERS_ETH;

	if (headers->sized && length >= before)
		buffer_printf(to, ", %zu bytes", length - before);
}

/* Append TCP flags, in tcpdump's letters. */
static void put_flags(struct buffer *to, unsigned int flags)
{
	static const char letters[] = "FSRP.UEW";
	unsigned int i;

	buffer_puts(to, " [");
	for (i = 0; i < 8; i++)
		if (flags & 1 << i)
			buffer_char(to, letters[i]);
	buffer_char(to, ']');
}

static void put_icmp(struct buffer *to, const uint8_t *at, bool six)
{
	static const char * const names[] = {
		[0] = "echo reply", [3] = "unreachable", [5] = "redirect",
		[8] = "echo request", [11] = "time exceeded",
	};
	static const char * const six_names[] = {
		"echo request", "echo reply", [5] = "router solicitation", "router advertisement",
		"neighbour solicitation", "neighbour advertisement", "redirect",
	};
	unsigned int type = at[0];
	const char *name = NULL;

	if (six && type >= 128 && type - 128 < sizeof(six_names) / sizeof(*six_names))
		name = six_names[type - 128];
	else if (!six && type < sizeof(names) / sizeof(*names))
		name = names[type];
	if (name)
		buffer_printf(to, ", %s", name);
	else
		buffer_printf(to, ", type %u code %u", type, at[1]);
}

/* Append the transport header, which begins @at bytes after the beginning of the IP header. */
static void put_transport(struct buffer *to, const struct headers *headers, unsigned int protocol,
			  const char *from, const char *target, size_t at)
{
	const uint8_t *data = headers->frame + HEADERS_ETH + at;
	size_t nr = headers->captured > HEADERS_ETH + at ? headers->captured - HEADERS_ETH - at : 0;
	bool six = strchr(from, ':');
	const char *open = six ? "[" : "", *close = six ? "]" : "";

	if (protocol == PROTO_TCP && nr >= TCP_SHORTEST) {
		buffer_printf(to, "TCP %s%s%s:%u > %s%s%s:%u", open, from, close, get16(data), open,
			      target, close, get16(data + 2));
		put_flags(to, data[13]);
		put_bytes(to, headers, at + 4 * (data[12] >> 4));
	} else if (protocol == PROTO_UDP && nr >= UDP_LENGTH) {
		buffer_printf(to, "UDP %s%s%s:%u > %s%s%s:%u", open, from, close, get16(data), open,
			      target, close, get16(data + 2));
		put_bytes(to, headers, at + UDP_LENGTH);
	} else if (protocol == (six ? PROTO_ICMPV6 : PROTO_ICMP) && nr >= ICMP_LENGTH) {
		buffer_printf(to, "%s %s > %s", six ? "ICMPv6" : "ICMP", from, target);
		put_icmp(to, data, six);
		put_bytes(to, headers, at + ICMP_LENGTH);
	} else {
		buffer_printf(to, "%s %s > %s, protocol %u", six ? "IPv6" : "IP", from, target,
			      protocol);
		put_bytes(to, headers, at);
	}
}

static void put_ip(struct buffer *to, const struct headers *headers)
{
	const uint8_t *ip = headers->frame + HEADERS_ETH;
	char from[INET_ADDRSTRLEN], target[INET_ADDRSTRLEN];
	unsigned int offset = get16(ip + 6) & 0x1fff, length = 4 * (ip[0] & 15);

	if (length < IP_SHORTEST) {
		buffer_printf(to, "IP with a header of %u bytes", length);
		return;
	}
	inet_ntop(AF_INET, ip + 12, from, sizeof(from));
	inet_ntop(AF_INET, ip + 16, target, sizeof(target));
	if (offset) {
		buffer_printf(to, "IP %s > %s, protocol %u, fragment at %u", from, target, ip[9],
			      8 * offset);
		put_bytes(to, headers, length);
		return;
	}
	put_transport(to, headers, ip[9], from, target, length);
}

static void put_ipv6(struct buffer *to, const struct headers *headers)
{
	const uint8_t *ip = headers->frame + HEADERS_ETH;
	char from[INET6_ADDRSTRLEN], target[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, ip + 8, from, sizeof(from));
	inet_ntop(AF_INET6, ip + 24, target, sizeof(target));
	put_transport(to, headers, ip[6], from, target, IPV6_LENGTH);
}

static void put_arp(struct buffer *to, const struct headers *headers)
{
	const uint8_t *arp = headers->frame + HEADERS_ETH;
	char sender[INET_ADDRSTRLEN], target[INET_ADDRSTRLEN];
	unsigned int what = get16(arp + 6);

	inet_ntop(AF_INET, arp + 14, sender, sizeof(sender));
	inet_ntop(AF_INET, arp + 24, target, sizeof(target));
	if (what == 1)
		buffer_printf(to, "ARP who has %s? tell %s", target, sender);
	else
		buffer_printf(to, "ARP %s is at %02x:%02x:%02x:%02x:%02x:%02x", sender, arp[8],
			      arp[9], arp[10], arp[11], arp[12], arp[13]);
}

void headers_print(struct buffer *to, const struct headers *headers)
{
	size_t nr = headers->captured - HEADERS_ETH;
	unsigned int type = get16(headers->frame + 12);

	if (type == ETH_IP && nr >= IP_SHORTEST)
		put_ip(to, headers);
	else if (type == ETH_IPV6 && nr >= IPV6_LENGTH)
		put_ipv6(to, headers);
	else if (type == ETH_ARP && nr >= ARP_LENGTH)
		put_arp(to, headers);
	else
		buffer_printf(to, "type 0x%04x", type);
}
