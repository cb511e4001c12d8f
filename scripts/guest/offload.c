// SPDX-License-Identifier: GPL-2.0
/*
 * Switches an offload of a network device on or off, as ethtool -K does:
 *
 *	offload DEVICE tso|gso|gro on|off
 */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static const struct {
	const char *name;
	unsigned int command;
} features[] = {
	{ "tso", ETHTOOL_STSO }, { "gso", ETHTOOL_SGSO }, { "gro", ETHTOOL_SGRO },
};

int main(int argc, char **argv)
{
	struct ethtool_value value = { };
	struct ifreq request = { .ifr_data = (void *)&value };
	unsigned int i;
	int fd;

	for (i = 0; argc == 4 && i < sizeof(features) / sizeof(*features); i++)
		if (!strcmp(argv[2], features[i].name))
			value.cmd = features[i].command;
	if (!value.cmd)
		return 2;
	value.data = !strcmp(argv[3], "on");
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", argv[1]);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request)) {
		perror("offload");
		return 1;
	}
	return 0;
}
