/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that "mctrace record" writes, and all others read: a header, and chunks, each of
 * which is whole when the next one begins. So what a recording that was killed has left can be
 * read up to its end, and it can be written into a pipe.
 *
 * All numbers are little endian; sizes are multiples of 8. Who meets a type of chunk that he
 * doesn't know passes over it.
 */
#ifndef _MCTRACE_RECORDING_H
#define _MCTRACE_RECORDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC		"mctrace\n"
#define RECORDING_VERSION	1

struct recording_header {
	char magic[8];
	uint32_t version;	/* another one if what is here changes its meaning */
	uint32_t chunk_size;	/* of what precedes each chunk's data */
};

#define RECORDING_MARK		0x6b6e6863	/* "chnk" */

enum recording_type {
	RECORDING_INFO = 1,	/* lines of "KEY VALUE"; later ones are to be preferred */
	RECORDING_SYMBOLS,	/* of functions, as in /proc/kallsyms */
	RECORDING_WORDS,	/* of a CPU's ring; a word of 0 was never written */
	RECORDING_END,		/* it came to its end; lines as of RECORDING_INFO */
	RECORDING_MODULES,	/* 64 bits: MCTRACER_MODULES when the symbols before were read */

	/* Or'ed to symbols or words: 64 bits of their size, and that many bytes compressed */
	RECORDING_COMPRESSED = 0x80000000,
};

/* Bytes that a compressed chunk may become: of symbols, and of words. */
#define RECORDING_MOST		(64UL << 20)
#define RECORDING_MOST_WORDS	(4UL << 20)
/* Bytes that all of a type together may become, however small the file is. */
#define RECORDING_ANY		(4UL << 20)

/**
 * struct recording_chunk - what precedes each chunk's data
 * @mark: RECORDING_MARK
 * @type: enum recording_type
 * @size: of the data that follows, bytes
 * @cpu: of words, whose
 * @notes: of words: task, clock and count are said again at each multiple of this position
 * @pos: of words, the position of the first; where it is not that behind the chunk before,
 *	those between were overwritten before they could be read
 * @start: of words: what is before this position is not to be shown
 */
struct recording_chunk {
	uint32_t mark;
	uint32_t type;
	uint64_t size;
	uint32_t cpu;
	uint32_t notes;
	uint64_t pos;
	uint64_t start;
};

/* --- writing --- */

struct compressor;

struct recording_writer {
	int fd;
	pthread_mutex_t mutex;
	bool compress;		/* by who has a compressor */
	uint64_t size;		/* so far; others may look */
	int error;		/* the first that there was, an errno; then nothing is written */
	char *path;		/* what the file will be called; NULL: it has its name */
	char *temporary;	/* until then; NULL: nothing */
};

/*
 * Begin a file that has no name yet, or a temporary one. "-" is standard output, if that is not a
 * terminal.
 */
void recording_create(struct recording_writer *to, const char *path);
/* Give the file its name. A file of this name that is not empty becomes PATH.old. */
void recording_name(struct recording_writer *to);
/* One chunk. Any thread. */
void recording_put(struct recording_writer *to, const struct recording_chunk *chunk,
		   const void *data);
/* The same, compressed if @compressor is not NULL. */
void recording_put_by(struct recording_writer *to, struct compressor *compressor,
		      const struct recording_chunk *chunk, const void *data);
void recording_put_text(struct recording_writer *to, enum recording_type type, const char *text);
void recording_put_text_by(struct recording_writer *to, struct compressor *compressor,
			   enum recording_type type, const char *text);
/* The symbols that were written last are those at @count of tracer_modules(), if that is not -1. */
void recording_put_modules(struct recording_writer *to, int64_t count);
/* False, and errno, if anything is not in the file. */
bool recording_finish(struct recording_writer *to);

/* --- reading --- */

/* At @count comings and goings of modules the first @nr_symbols tables were there. */
struct recording_modules {
	uint32_t count;
	unsigned int nr_symbols;
};

/* One CPU's words, in order. */
struct recording_run {
	const uint64_t *words;	/* NULL while they are ... */
	const void *compressed;	/* ... this; recording_open_run() makes them of it */
	size_t compressed_size;
	size_t nr;
	uint64_t pos;
	uint64_t start;
	bool follows;	/* right behind the run before */
	unsigned int nr_symbols;	/* of the recording's, those that were there before */
};

struct recording_cpu {
	const struct recording *from;
	struct recording_run *runs;
	size_t nr;
	uint32_t notes;
	struct recording_run *opened[2];	/* of those compressed, the last two in use */
};

struct recording {
	const char *path;
	const char *data;	/* mapped */
	uint64_t size;
	uint64_t mapped;
	struct recording_cpu *cpus;
	unsigned int nr_cpus;
	const char **symbols;	/* texts, the earliest first, each with its size */
	size_t *symbols_size;
	unsigned int nr_symbols;
	struct recording_modules *modules;	/* the earliest first */
	unsigned int nr_modules;
	void **owned;		/* memory of those that were compressed */
	unsigned int nr_owned;
	char *info;		/* all lines */
	size_t info_size;
	uint64_t become_symbols, become_words;	/* bytes that compressed ones become */
	int fd;			/* of one that grows; else -1 */
	uint64_t at;		/* and how much of it was looked at */
	bool is_raw;		/* the kernel's rings: it has no names */
	char *origin;		/* of the last boot: the kernel's lines about it; or NULL */
	bool ended;		/* else it was killed, or is still being written */
	char *damage;		/* what is wrong with the rest of the file, and where */
};

/*
 * NULL is "mctrace.dat", "-" standard input. What can't be mapped is copied to a temporary file,
 * but only if its first bytes are those of a recording. Ends if nothing can be read.
 */
struct recording *recording_open(const char *path);
/* Name the functions of a recording that has no names; @kallsyms is freed when it is closed. */
void recording_add_names(struct recording *from, char *kallsyms);
/*
 * One that is still being written, by this user: what there is of it so far; NULL if not even the
 * names of functions are there. Whole chunks alone, and no damage is noted; later names are passed
 * over.
 */
struct recording *recording_open_growing(const char *path);
/* What has come since. */
void recording_more(struct recording *from);
/* Makes words of what is compressed; those of the run before last go. Ends if it is damaged. */
void recording_open_run(struct recording_cpu *cpu, struct recording_run *run);
/* The value of the last line that has this key, until the next call; NULL. */
const char *recording_info(const struct recording *from, const char *key);
uint64_t recording_number(const struct recording *from, const char *key);
void recording_close(struct recording *from);

#define RECORDING_DEFAULT	"mctrace.dat"

#endif /* _MCTRACE_RECORDING_H */
