/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file format that "mctrace record" writes and all other commands read, and the functions to
 * write and read it. A file is a header and a sequence of chunks. Each chunk is complete before the
 * next one begins, so a recording can be written into a pipe, and a recording whose writer was
 * killed can be read up to its end.
 *
 * All numbers are little endian; sizes are multiples of 8. A reader skips chunks of unknown types.
 */
#ifndef _MCTRACE_RECORDING_H
#define _MCTRACE_RECORDING_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_MAGIC		"mctrace\n"
#define RECORDING_VERSION	2

struct recording_header {
	char magic[8];
	uint32_t version;	/* changes if the meaning of existing fields changes */
	uint32_t chunk_size;	/* sizeof(struct recording_chunk) */
};

#define RECORDING_MARK		0x6b6e6863	/* "chnk" */

enum recording_type {
	RECORDING_INFO = 1,	/* lines of "KEY VALUE"; the last of a key counts */
	RECORDING_SYMBOLS,	/* of functions, as in /proc/kallsyms */
	RECORDING_WORDS,	/* of a CPU's ring; a word of 0 was never written */
	RECORDING_END,		/* the recording is complete; lines as in RECORDING_INFO */
	RECORDING_MODULES,	/* 64 bits: MCTRACER_MODULES when the previous symbols were read */

	/* Or'ed to symbols or words: 64 bits of their size, and their compressed bytes */
	RECORDING_COMPRESSED = 0x80000000,
};

/* Maximum size of one decompressed chunk, in bytes: of symbols, and of words. */
#define RECORDING_MOST		(64UL << 20)
#define RECORDING_MOST_WORDS	(4UL << 20)
/* Total decompressed bytes of a type that are allowed for a file of any size. */
#define RECORDING_ANY		(4UL << 20)

/*
 * struct recording_chunk - precedes each chunk's data
 * @mark: RECORDING_MARK
 * @type: enum recording_type
 * @size: size of the data that follows, in bytes
 * @cpu: only of words: the CPU
 * @notes: only of words: each multiple of this position is a sync point, which repeats task, clock
 * and count
 * @pos: only of words: position of the first word. If it is not the end of the previous chunk, the
 * words between were overwritten before they were read
 * @start: only of words: words before this position are not shown
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

/* Maximum number of CPUs. */
#define RECORDING_CPUS		65536

/* --- writing --- */

struct compressor;

struct recording_writer {
	int fd;
	pthread_mutex_t mutex;
	const sigset_t *wake;	/* the mask for write_all_waking(); NULL: write_all() */
	bool compress;		/* threads with a compressor compress */
	uint64_t most;		/* bytes of the disk that the file may take; 0: any */
	uint64_t size;		/* bytes written so far; read by other threads */
	int error;		/* the first errno; nothing is written after it */
	bool is_full;		/* the error is that the file takes more than @most */
	char *path;		/* the final name; NULL: already named */
	bool is_unfinished;	/* the file has a temporary name until then; false: no name */
};

/*
 * Create a recording without a name, or with a temporary one. "-" is standard output, unless that
 * is a terminal. Signals that are blocked, but not in @wake, may end a wait for a stalled reader.
 * End mctrace on failure.
 */
void recording_create(struct recording_writer *to, const char *path, const sigset_t *wake);
/* Give the recording its final name. Rename an existing non-empty file to PATH.old. */
void recording_name(struct recording_writer *to);
/* Return true if a signal that should end mctrace came while it was blocked. */
bool signal_is_pending(void);
/*
 * Return true, and let all further writes fail, if the file takes more than @to->most bytes of the
 * disk.
 */
bool recording_is_full(struct recording_writer *to);
/* Write one chunk. Threads may call this concurrently. */
void recording_put(struct recording_writer *to, const struct recording_chunk *chunk,
		   const void *data);
/* Write one chunk, compressed if @compressor is not NULL. */
void recording_put_by(struct recording_writer *to, struct compressor *compressor,
		      const struct recording_chunk *chunk, const void *data);
void recording_put_text(struct recording_writer *to, enum recording_type type, const char *text);
void recording_put_text_by(struct recording_writer *to, struct compressor *compressor,
			   enum recording_type type, const char *text);
/*
 * Record that the latest written symbols belong to @count of tracer_modules(), if @count is not -1.
 */
void recording_put_modules(struct recording_writer *to, int64_t count);
/* Close the file. Return false and set errno if anything was not written. */
bool recording_finish(struct recording_writer *to);

/* --- reading --- */

/* The first @nr_symbols symbol tables precede this count of module loads and unloads. */
struct recording_modules {
	uint32_t count;
	unsigned int nr_symbols;
};

/* A contiguous run of one CPU's words. */
struct recording_run {
	const uint64_t *words;	/* NULL while compressed: see recording_open_run() */
	const void *compressed;	/* the compressed words, or NULL */
	size_t compressed_size;
	size_t nr;
	uint64_t pos;
	uint64_t start;
	bool follows;	/* no gap since the previous run */
	unsigned int nr_symbols;	/* number of symbol tables that precede this run */
};

struct recording_cpu {
	const struct recording *from;
	struct recording_run *runs;
	size_t nr;
	uint32_t notes;
	struct recording_run *opened[2];	/* the two latest decompressed runs */
};

struct recording {
	const char *path;
	const char *data;	/* mapped */
	uint64_t size;
	uint64_t mapped;
	struct recording_cpu *cpus;
	unsigned int nr_cpus;
	const char **symbols;	/* symbol tables as text, the earliest first */
	size_t *symbols_size;
	unsigned int nr_symbols;
	struct recording_modules *modules;	/* the earliest first */
	unsigned int nr_modules;
	void **owned;		/* memory to free with the recording */
	unsigned int nr_owned;
	uint64_t base;		/* the address that addresses in words are relative to */
	char *info;		/* all lines of "KEY VALUE" */
	size_t info_size;
	uint64_t become_symbols, become_words;	/* decompressed sizes in total, in bytes */
	int fd;			/* of a growing recording; else -1 */
	uint64_t at;		/* offset of the next unread chunk of a growing recording */
	uint64_t dropped;	/* the file has no data from the first symbols to this offset */
	bool is_raw;		/* raw kernel rings, which have no symbols */
	bool is_live;		/* raw, and a file or the folder of the running kernel's tracer */
	bool is_own;		/* live, and this boot's rings: MCTRACER_MODULES counts here */
	char *origin;		/* header lines of last_boot/trace, or of the folder; or NULL */
	bool ended;		/* false: it is incomplete, or its writer is still writing */
	char *damage;		/* why and where reading stopped; NULL: the file is good */
};

/*
 * recording_open() - Open a recording
 * @path: NULL: "mctrace.dat"; "-": standard input
 *
 * Copy a file that can't be mapped to a temporary file, but only if it begins as a recording. End
 * mctrace if it can't be read.
 */
struct recording *recording_open(const char *path);
/* Return true if a recording, or the kernel's rings or words, begin with these bytes. */
bool recording_is_known(const void *head, size_t size);
/*
 * Give symbols to a recording that has none. @kallsyms is freed with the recording. @modules is the
 * count of module loads and unloads that they belong to; -1: not known.
 */
void recording_add_names(struct recording *from, char *kallsyms, int64_t modules);
/*
 * Open a recording that this user's mctrace is still writing. Return NULL if its symbols are not
 * there yet. Only complete chunks are read, damage is not noted, and symbols after the first table
 * are ignored.
 */
struct recording *recording_open_growing(const char *path);
/* Read the chunks that were added since. */
void recording_more(struct recording *from);
/* Forget the first @nr runs of a CPU of a growing recording. */
void recording_forget_runs(struct recording_cpu *cpu, size_t nr);
/*
 * Free the disk space of a growing recording before the offset @needed, except for the first
 * symbols. Do nothing if the file system can't punch holes.
 */
void recording_drop(struct recording *from, uint64_t needed);
/*
 * Decompress @run. Free the words of the run before the previous one. End mctrace if the data is
 * damaged.
 */
void recording_open_run(struct recording_cpu *cpu, struct recording_run *run);
/*
 * Return the value of the last line with this key, valid until the next call; NULL if there is
 * none.
 */
const char *recording_info(const struct recording *from, const char *key);
uint64_t recording_number(const struct recording *from, const char *key);
void recording_close(struct recording *from);

/* Return the whole address of @ip, which is in the form of struct mctracer_state's ip. */
static inline uint64_t recording_address(const struct recording *from, uint32_t ip)
{
	return from->base + (ip & ~(1U << 31));
}

#define RECORDING_DEFAULT	"mctrace.dat"

#endif /* _MCTRACE_RECORDING_H */
