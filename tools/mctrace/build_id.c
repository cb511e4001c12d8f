// SPDX-License-Identifier: GPL-2.0
/* Find the build id of the running kernel, in its ELF notes. */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"
#include "util.h"

char *build_id(void)
{
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	char notes[4096], *id = xcalloc(1, 2 * 64 + 1);
	ssize_t size = fd < 0 ? 0 : read(fd, notes, sizeof(notes)), at = 0;
	const unsigned char *byte;
	const Elf32_Nhdr *note;
	uint32_t i;

	if (fd >= 0)
		close(fd);
	while (size - at >= (ssize_t)sizeof(*note)) {
		note = (const Elf32_Nhdr *)(notes + at);
		at += sizeof(*note);
		byte = (const unsigned char *)notes + at + ((note->n_namesz + 3) & ~3U);
		if (note->n_namesz > sizeof(notes) || note->n_descsz > 64 ||
		    byte + note->n_descsz > (const unsigned char *)notes + size)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    !memcmp(notes + at, "GNU", 4)) {
			for (i = 0; i < note->n_descsz; i++)
				sprintf(id + 2 * i, "%02x", byte[i]);
			break;
		}
		at = (const char *)byte - notes + ((note->n_descsz + 3) & ~3U);
	}
	return id;
}
