/* SPDX-License-Identifier: GPL-2.0 */
/* Parse the headers of a packet, print them, and build an Ethernet frame from them. */
#ifndef _MCTRACE_HEADERS_H
#define _MCTRACE_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

#define HEADERS_ETH	14
#define HEADERS_MOST	(HEADERS_ETH + 98)

/* The beginning of a packet as an Ethernet frame. Addresses that were not recorded are zeroes. */
struct headers {
	uint8_t frame[HEADERS_MOST];
	size_t captured;	/* bytes in frame */
	size_t length;		/* of the whole frame, bytes; captured if it is not known */
	bool sized;		/* length is known */
};

/*
 * Fill @headers from the first @nr bytes of a packet. @ethernet: @data begins with the Ethernet
 * header; else with the network header. Return false if there is no such header.
 */
bool headers_take(struct headers *headers, const uint8_t *data, size_t nr, bool ethernet);
/* Append "UDP 10.0.0.1:4711 > 10.0.0.2:53, 28 bytes". The bytes are those after the headers. */
void headers_print(struct buffer *to, const struct headers *headers);

#endif /* _MCTRACE_HEADERS_H */
