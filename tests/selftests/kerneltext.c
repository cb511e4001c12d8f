// SPDX-License-Identifier: GPL-2.0
/*
 * Examine the kernel's text and its changes, from /proc/kcore and /proc/kallsyms
 * alone, without the kernel's own tables of call sites.
 *
 *	kerneltext dump FILE		save the text from _stext to _etext, and the
 *					text of each module
 *	kerneltext diff [-l] BEFORE AFTER
 *					print the differences as "KEY N" lines; -l:
 *					also "site FUNCTION" and "return FUNCTION"
 *					lines, and all other differences
 *	kerneltext heads [-l]		print how functions begin, "KEY N" lines;
 *					-l: also "nop FUNCTION" lines
 *	kerneltext sites		print all possible call sites, "KIND ADDRESS MODULE
 *					NAME..." lines: see below
 *	kerneltext init			print the number of init functions' names
 *
 * The only valid differences are whole instructions:
 *
 *	sites		at the head of a function a NOP became a call of
 *			__fentry__ or of arch_mcount_pre_handler
 *	unsites		at the head of a function such a call became a NOP
 *	returns		in a function a NOP or a return became a call of
 *			arch_mcount_return or arch_mcount_return_pre_handler, or of
 *			arch_mcount_tail or arch_mcount_tail_pre_handler; or the
 *			reverse
 *	(none)		the targets of the calls in ftrace_call and
 *			ftrace_regs_call
 *	stub		at arch_mcount_stub, arch_mcount_return or arch_mcount_tail
 *			a NOP became a jump, or the reverse
 *	branches	a static branch: a NOP of two bytes, or one of five that is not at
 *			a head, became a jump, or the reverse
 *
 * "module NAME N" counts the sites and unsites in a module. Any other difference is
 * printed, counted as "other", and makes the exit status 1. The head of a function is
 * the address of its symbol, or the end of an ENDBR there.
 *
 * heads counts the kernel's functions, without modules, that begin with such a NOP
 * ("nops"), with a call of arch_mcount_stub ("calls"), or with a call of
 * arch_mcount_pre_handler ("gates"). sites prints these with KIND nop, hook or gate, and those
 * of modules, ordered by address. MODULE is - for the kernel, and NAME... are all names
 * of the function.
 */
#define _FILE_OFFSET_BITS 64

#include <errno.h>
#include <fcntl.h>
#include <linux/elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE		4096u
#define INSN		5u	/* bytes of the NOP, the call, and the jump */
#define ENDBR		4u
#define NAME_SIZE	64
#define COMPLAINTS	20

#define OP_RET		0xc3
#define OP_INT3		0xcc
#define OP_CALL		0xe8
#define OP_JMP		0xe9
#define OP_JMP8		0xeb

#define MAGIC		"kerneltext 1"

static const uint8_t nop64[INSN] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
static const uint8_t nop32[INSN] = { 0x3e, 0x8d, 0x74, 0x26, 0x00 };
static const uint8_t endbr64[ENDBR] = { 0xf3, 0x0f, 0x1e, 0xfa };
static const uint8_t endbr32[ENDBR] = { 0xf3, 0x0f, 0x1e, 0xfb };
/* Kernels patch an ENDBR that they do not need to one of these NOPs, which have no other use. */
static const uint8_t no_endbr[][ENDBR] = {
	{ 0x66, 0x0f, 0x1f, 0x00 },
	{ 0x0f, 0x1f, 0x40, 0xd6 },
};

/* A range of text: the kernel's, with an empty name, or a module's. */
struct text {
	char name[NAME_SIZE];
	uint64_t start;
	uint64_t size;
	uint8_t *bytes;
};

struct dump {
	struct text *texts;
	unsigned int nr;
};

struct symbol {
	uint64_t addr;
	char *name;
	const char *module;	/* NULL: the kernel */
};

static struct symbol *symbols;
static size_t nr_symbols;
static uint64_t stext, etext, fentry, gate;

/* Targets of calls before returns. The first RETURN_STUBS are stubs like arch_mcount_stub. */
#define RETURN_STUBS	2

static struct {
	const char *name;
	uint64_t addr;	/* 0: this kernel has none */
} at_returns[] = {
	{ .name = "arch_mcount_return" }, { .name = "arch_mcount_tail" },
	{ .name = "arch_mcount_return_pre_handler" }, { .name = "arch_mcount_tail_pre_handler" },
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static unsigned long nr_init;

static void die(const char *what)
{
	fprintf(stderr, "kerneltext: %s: %s\n", what,
		errno ? strerror(errno) : "not as expected");
	exit(2);
}

static void *need(void *memory)
{
	if (!memory)
		die("memory");
	return memory;
}

/* --- symbols ------------------------------------------------------------- */

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_symbol(uint64_t addr, const char *name, const char *module)
{
	static char *last;	/* a module's symbols are consecutive */
	static size_t room;

	if (nr_symbols == room) {
		room = room ? 2 * room : 65536;
		symbols = need(realloc(symbols, room * sizeof(*symbols)));
	}
	if (module && (!last || strcmp(last, module)))
		last = need(strdup(module));
	symbols[nr_symbols].addr = addr;
	symbols[nr_symbols].module = module ? last : NULL;
	symbols[nr_symbols++].name = need(strdup(name));
}

/*
 * Return 1 if another module has a symbol at this address. ftrace keeps the names of modules' init
 * functions and lists them after the names of modules that may now use this memory.
 */
static int is_anothers(uint64_t addr, const char *module)
{
	size_t i;

	for (i = nr_symbols; i-- && symbols[i].module;)
		if (symbols[i].addr == addr && strcmp(symbols[i].module, module))
			return 1;
	return 0;
}

/*
 * Extend the module's text to the whole page at @addr. A module's text is the pages from its first
 * to its last function.
 */
static void add_to_module(struct dump *dump, const char *name, uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(PAGE - 1), end;
	struct text *text = NULL;
	unsigned int i;

	for (i = 0; i < dump->nr && !text; i++)
		if (!strcmp(dump->texts[i].name, name))
			text = &dump->texts[i];
	if (!text) {
		dump->texts = need(realloc(dump->texts,
					   (dump->nr + 1) * sizeof(*text)));
		text = &dump->texts[dump->nr++];
		memset(text, 0, sizeof(*text));
		snprintf(text->name, sizeof(text->name), "%s", name);
		text->start = page;
		text->size = PAGE;
		return;
	}
	end = text->start + text->size;
	if (page < text->start)
		text->start = page;
	if (page + PAGE > end)
		end = page + PAGE;
	text->size = end - text->start;
}

/* Read all functions' symbols and, if @dump is not NULL, the ranges of the modules' text. */
static void read_symbols(struct dump *dump)
{
	uint64_t sinittext = 0, einittext = 0, addr;
	FILE *file = fopen("/proc/kallsyms", "r");
	char line[1024], *name, *module;
	size_t i;

	if (!file)
		die("/proc/kallsyms");
	while (fgets(line, sizeof(line), file)) {
		/* "ADDRESS TYPE NAME", and "\t[MODULE]" for a module's symbol */
		addr = strtoull(line, &name, 16);
		if (strlen(name) < 4 || !strchr("tTwW", name[1]))
			continue;
		name += 3;
		module = name + strcspn(name, "\t\n");
		if (*module == '\n')
			*module = '\0';
		if (*module) {
			*module = '\0';
			module += 2;
			module[strcspn(module, "]")] = '\0';
		} else {
			module = NULL;
		}
		/* These names look like modules, but are memory for generated code. */
		if (module && (!strncmp(module, "__builtin__", 11) || !strcmp(module, "bpf")))
			continue;
		if (module && is_anothers(addr, module))
			continue;
		add_symbol(addr, name, module);
		/* A module's symbol, if the tracer is a module. */
		if (!strcmp(name, "arch_mcount_stub"))
			fentry = addr;
		else if (!strcmp(name, "arch_mcount_pre_handler"))
			gate = addr;
		for (i = 0; i < COUNT(at_returns); i++)
			if (!strcmp(name, at_returns[i].name))
				at_returns[i].addr = addr;
		if (module) {
			if (dump)
				add_to_module(dump, module, addr);
			continue;
		}
		if (!strcmp(name, "_stext"))
			stext = addr;
		else if (!strcmp(name, "_etext"))
			etext = addr;
		else if (!strcmp(name, "_sinittext"))
			sinittext = addr;
		else if (!strcmp(name, "_einittext"))
			einittext = addr;
	}
	fclose(file);
	errno = 0;
	if (!stext || etext <= stext || !fentry)
		die("the symbols of /proc/kallsyms");

	qsort(symbols, nr_symbols, sizeof(*symbols), by_addr);
	for (i = 0; i < nr_symbols; i++)
		nr_init += symbols[i].addr >= sinittext &&
			   symbols[i].addr < einittext;
}

/* Return the first symbol of the highest address that does not exceed @addr, or NULL. */
static const struct symbol *symbol_below(uint64_t addr)
{
	size_t low = 0, high = nr_symbols, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (symbols[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	for (low--; low && symbols[low - 1].addr == symbols[low].addr;)
		low--;
	return &symbols[low];
}

static const struct symbol *symbol_at(uint64_t addr)
{
	const struct symbol *sym = symbol_below(addr);

	return sym && sym->addr == addr ? sym : NULL;
}

/* --- /proc/kcore --------------------------------------------------------- */

struct segment {
	uint64_t addr;
	uint64_t size;
	uint64_t offset;
};

static struct segment *segments;
static unsigned int nr_segments;
static int kcore = -1;

static void read_at(void *buf, size_t size, uint64_t offset)
{
	uint8_t *to = buf;
	ssize_t n;

	while (size) {
		n = pread(kcore, to, size, offset);
		if (n <= 0)
			die("/proc/kcore");
		to += n;
		size -= n;
		offset += n;
	}
}

/* The file has the ELF class of the kernel, which may differ from this program's. */
static void open_kcore(void)
{
	uint8_t ident[EI_NIDENT];
	unsigned int i;
	struct elf64_hdr head64;
	struct elf64_phdr seg64;
	struct elf32_hdr head32;
	struct elf32_phdr seg32;

	kcore = open("/proc/kcore", O_RDONLY);
	if (kcore < 0)
		die("/proc/kcore");
	read_at(ident, sizeof(ident), 0);
	if (memcmp(ident, ELFMAG, SELFMAG))
		die("/proc/kcore");

	if (ident[EI_CLASS] == ELFCLASS64) {
		read_at(&head64, sizeof(head64), 0);
		nr_segments = head64.e_phnum;
	} else {
		read_at(&head32, sizeof(head32), 0);
		nr_segments = head32.e_phnum;
	}
	segments = need(calloc(nr_segments, sizeof(*segments)));
	for (i = 0; i < nr_segments; i++) {
		if (ident[EI_CLASS] == ELFCLASS64) {
			read_at(&seg64, sizeof(seg64),
				head64.e_phoff + i * sizeof(seg64));
			if (seg64.p_type != PT_LOAD)
				continue;
			segments[i].addr = seg64.p_vaddr;
			segments[i].size = seg64.p_memsz;
			segments[i].offset = seg64.p_offset;
		} else {
			read_at(&seg32, sizeof(seg32),
				head32.e_phoff + i * sizeof(seg32));
			if (seg32.p_type != PT_LOAD)
				continue;
			segments[i].addr = seg32.p_vaddr;
			segments[i].size = seg32.p_memsz;
			segments[i].offset = seg32.p_offset;
		}
	}
}

static void read_text(struct text *text)
{
	const struct segment *seg;
	unsigned int i;

	text->bytes = need(malloc(text->size));
	for (i = 0; i < nr_segments; i++) {
		seg = &segments[i];
		if (text->start >= seg->addr &&
		    text->start - seg->addr < seg->size &&
		    text->size <= seg->size - (text->start - seg->addr)) {
			read_at(text->bytes, text->size,
				seg->offset + (text->start - seg->addr));
			return;
		}
	}
	errno = 0;
	die("text that is not in /proc/kcore");
}

/* Read the kernel's text, which comes first, and the modules' text. */
static void read_kernel(struct dump *dump)
{
	struct dump modules = { 0 };
	unsigned int i;

	read_symbols(&modules);
	dump->nr = modules.nr + 1;
	dump->texts = need(calloc(dump->nr, sizeof(*dump->texts)));
	dump->texts[0].start = stext;
	dump->texts[0].size = etext - stext;
	for (i = 0; i < modules.nr; i++)
		dump->texts[i + 1] = modules.texts[i];
	free(modules.texts);

	open_kcore();
	for (i = 0; i < dump->nr; i++)
		read_text(&dump->texts[i]);
}

/* --- dumps --------------------------------------------------------------- */

static void save(const struct dump *dump, const char *path)
{
	FILE *file = fopen(path, "w");
	const struct text *text;
	unsigned int i;

	if (!file)
		die(path);
	fprintf(file, "%s\n%u\n", MAGIC, dump->nr);
	for (i = 0; i < dump->nr; i++) {
		text = &dump->texts[i];
		fprintf(file, "%llx %llx [%s]\n",
			(unsigned long long)text->start,
			(unsigned long long)text->size, text->name);
		fwrite(text->bytes, 1, text->size, file);
	}
	if (ferror(file) | fclose(file))
		die(path);
}

static void load(struct dump *dump, const char *path)
{
	unsigned long long start, size;
	FILE *file = fopen(path, "r");
	struct text *text;
	char line[256];
	unsigned int i;

	if (!file)
		die(path);
	if (!fgets(line, sizeof(line), file) || strcmp(line, MAGIC "\n") ||
	    !fgets(line, sizeof(line), file) ||
	    sscanf(line, "%u", &dump->nr) != 1)
		die(path);
	dump->texts = need(calloc(dump->nr, sizeof(*text)));
	for (i = 0; i < dump->nr; i++) {
		text = &dump->texts[i];
		if (!fgets(line, sizeof(line), file) ||
		    sscanf(line, "%llx %llx [%63[^]]", &start, &size,
			   text->name) < 2)
			die(path);
		text->start = start;
		text->size = size;
		text->bytes = need(malloc(size));
		if (fread(text->bytes, 1, size, file) != size)
			die(path);
	}
	fclose(file);
}

/* --- instructions -------------------------------------------------------- */

static int is_nop(const uint8_t *insn)
{
	return !memcmp(insn, nop64, INSN) || !memcmp(insn, nop32, INSN);
}

/* Return the length of the jump that replaced a static branch's NOP, or 0 if it is none. */
static size_t branch(const uint8_t *nop, const uint8_t *jump)
{
	if (is_nop(nop) && jump[0] == OP_JMP)
		return INSN;
	return nop[0] == 0x66 && nop[1] == 0x90 && jump[0] == OP_JMP8 ? 2 : 0;
}

static int is_endbr(const uint8_t *insn)
{
	return !memcmp(insn, endbr64, ENDBR) ||
	       !memcmp(insn, endbr32, ENDBR) ||
	       !memcmp(insn, no_endbr[0], ENDBR) ||
	       !memcmp(insn, no_endbr[1], ENDBR);
}

static uint32_t relative(const uint8_t *insn)
{
	return insn[1] | insn[2] << 8 | insn[3] << 16 | (uint32_t)insn[4] << 24;
}

/* Compare only the low 32 bits: all text is within 2 GiB. */
static int is_call_of(const uint8_t *insn, uint64_t addr, uint64_t target)
{
	return insn[0] == OP_CALL && (uint32_t)(addr + INSN + relative(insn)) ==
				     (uint32_t)target;
}

static int is_site_call(const uint8_t *insn, uint64_t addr)
{
	return is_call_of(insn, addr, fentry) || is_call_of(insn, addr, gate);
}

static int is_return_call(const uint8_t *insn, uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < COUNT(at_returns); i++)
		if (at_returns[i].addr && is_call_of(insn, addr, at_returns[i].addr))
			return 1;
	return 0;
}

/* Return 1 for a return as long as a call: one followed by traps, or a jump to a thunk. */
static int is_return(const uint8_t *insn, uint64_t addr)
{
	static const uint8_t ret[INSN] = { OP_RET, OP_INT3, OP_INT3, OP_INT3, OP_INT3 };
	const struct symbol *sym;

	if (insn[0] != OP_JMP)
		return !memcmp(insn, ret, INSN);
	addr += INSN + (int64_t)(int32_t)relative(insn);
	for (sym = symbol_at(addr); sym && sym < symbols + nr_symbols && sym->addr == addr; sym++)
		if (strstr(sym->name, "return_thunk"))
			return 1;
	return 0;
}

static int is_stub(uint64_t addr)
{
	unsigned int i;

	for (i = 0; i < RETURN_STUBS; i++)
		if (addr == at_returns[i].addr)
			return 1;
	return addr == fentry;
}

/* Return the symbol of the function that begins here, or at an ENDBR before, or NULL. */
static const struct symbol *head_of(const struct text *text, uint64_t pos)
{
	const struct symbol *sym = symbol_at(text->start + pos);

	if (!sym && pos >= ENDBR && is_endbr(text->bytes + pos - ENDBR))
		sym = symbol_at(text->start + pos - ENDBR);
	return sym;
}

/* --- commands ------------------------------------------------------------ */

struct counts {
	unsigned long sites;
	unsigned long unsites;
	unsigned long returns;
	unsigned long stub;
	unsigned long branches;
	unsigned long other;
};

static void show_bytes(const uint8_t *bytes, size_t n)
{
	while (n--)
		printf(" %02x", *bytes++);
}

/* Print the names of the symbols at an address, without gcc's suffixes of clones. */
static void list(const char *key, const struct symbol *sym)
{
	uint64_t addr = sym->addr;

	for (; sym < symbols + nr_symbols && sym->addr == addr; sym++)
		printf("%s %.*s\n", key,
		       (int)(strcspn(sym->name + 1, ".") + 1), sym->name);
}

/* Return 1 if ftrace patches the call at @addr when its users change. */
static int is_ftrace_call(uint64_t addr)
{
	const struct symbol *sym = symbol_below(addr);

	return sym && (!strcmp(sym->name, "ftrace_call") || !strcmp(sym->name, "ftrace_regs_call"));
}

/* Count the difference at @pos by its kind. Return the number of compared bytes. */
static size_t judge(const struct text *before, const struct text *after,
		    size_t pos, struct counts *counts, int listing)
{
	const uint8_t *old = before->bytes + pos, *new = after->bytes + pos;
	uint64_t addr = before->start + pos;
	const struct symbol *sym;
	size_t n;

	if (pos + INSN <= before->size) {
		sym = head_of(before, pos);
		if (sym && is_nop(old) && is_site_call(new, addr)) {
			counts->sites++;
			if (listing)
				list("site", sym);
			return INSN;
		}
		if (sym && is_site_call(old, addr) && is_nop(new)) {
			counts->unsites++;
			if (listing)
				list("site", sym);
			return INSN;
		}
		n = branch(old, new) ?: branch(new, old);
		if (n == 2 || (n && !head_of(before, pos))) {
			counts->branches++;
			return n;
		}
		if (is_stub(addr) && ((is_nop(old) && new[0] == OP_JMP) ||
				      (old[0] == OP_JMP && is_nop(new)))) {
			counts->stub++;
			return INSN;
		}
		sym = symbol_below(addr);
		if (sym && ((is_return_call(new, addr) && (is_nop(old) || is_return(old, addr))) ||
			    (is_return_call(old, addr) && (is_nop(new) || is_return(new, addr))))) {
			counts->returns++;
			if (listing)
				list("return", sym);
			return INSN;
		}
	}

	for (n = 1; pos + n < before->size && n < 16 && old[n] != new[n]; n++)
		;
	if (is_ftrace_call(addr))
		return n;
	if (counts->other++ < COMPLAINTS || listing) {
		sym = symbol_below(addr);
		printf("other %s+%#llx:", sym ? sym->name : "?",
		       sym ? (unsigned long long)(addr - sym->addr) : 0);
		show_bytes(old, n);
		printf(" became");
		show_bytes(new, n);
		printf("\n");
	}
	return n;
}

static const struct text *find(const struct dump *dump, const char *name)
{
	unsigned int i;

	for (i = 0; i < dump->nr; i++)
		if (!strcmp(dump->texts[i].name, name))
			return &dump->texts[i];
	return NULL;
}

static void only_in(const char *which, const struct text *text,
		    struct counts *counts)
{
	printf("other only %s, or moved: [%s]\n", which, text->name);
	counts->other++;
}

static int diff(const char *path_before, const char *path_after, int listing)
{
	const struct text *before, *after;
	struct dump dump1, dump2;
	struct counts sum = { 0 };
	unsigned long sites;
	unsigned int i;
	size_t pos;

	read_symbols(NULL);
	load(&dump1, path_before);
	load(&dump2, path_after);
	for (i = 0; i < dump1.nr; i++) {
		before = &dump1.texts[i];
		after = find(&dump2, before->name);
		if (!after || after->start != before->start ||
		    after->size != before->size) {
			only_in("before", before, &sum);
			continue;
		}
		sites = sum.sites + sum.unsites;
		for (pos = 0; pos < before->size;)
			if (before->bytes[pos] == after->bytes[pos])
				pos++;
			else
				pos += judge(before, after, pos, &sum, listing);
		if (before->name[0])
			printf("module %s %lu\n", before->name,
			       sum.sites + sum.unsites - sites);
	}
	for (i = 0; i < dump2.nr; i++)
		if (!find(&dump1, dump2.texts[i].name))
			only_in("after", &dump2.texts[i], &sum);

	printf("sites %lu\n", sum.sites);
	printf("unsites %lu\n", sum.unsites);
	printf("returns %lu\n", sum.returns);
	printf("stub %lu\n", sum.stub);
	printf("branches %lu\n", sum.branches);
	printf("other %lu\n", sum.other);
	return sum.other != 0;
}

static int heads(int listing)
{
	unsigned long nops = 0, calls = 0, gates = 0;
	const struct text *text;
	const uint8_t *insn;
	struct dump dump;
	uint64_t last = 0;
	size_t i, pos;

	read_kernel(&dump);
	text = &dump.texts[0];
	for (i = 0; i < nr_symbols; i++) {
		if (symbols[i].addr < stext || symbols[i].addr == last ||
		    symbols[i].addr + ENDBR + INSN > etext)
			continue;
		last = symbols[i].addr;
		pos = last - stext;
		insn = text->bytes + pos;
		if (is_endbr(insn)) {
			insn += ENDBR;
			pos += ENDBR;
		}
		/* The stub's own NOP is no call site. */
		if (is_nop(insn) && last != fentry) {
			nops++;
			if (listing)
				list("nop", &symbols[i]);
		}
		calls += is_call_of(insn, stext + pos, fentry);
		gates += is_call_of(insn, stext + pos, gate);
	}
	printf("nops %lu\n", nops);
	printf("calls %lu\n", calls);
	printf("gates %lu\n", gates);
	return 0;
}

/* Return the kind of call site at @pos, with or without an ENDBR before, or NULL if none. */
static const char *site_kind(const struct text *text, size_t pos)
{
	const uint8_t *insn = text->bytes + pos;
	uint64_t addr = text->start + pos;

	if (addr == fentry)
		return NULL;
	if (is_endbr(insn)) {
		insn += ENDBR;
		addr += ENDBR;
	}
	if (is_nop(insn))
		return "nop";
	if (is_call_of(insn, addr, fentry))
		return "hook";
	return is_call_of(insn, addr, gate) ? "gate" : NULL;
}

static int sites(void)
{
	const struct symbol *sym, *end;
	const struct text *text;
	struct dump dump;
	const char *kind;
	uint64_t pos;

	read_kernel(&dump);
	text = dump.texts;
	end = symbols + nr_symbols;
	for (sym = symbols; sym < end; sym++) {
		if (sym > symbols && sym[-1].addr == sym->addr)
			continue;
		if (strcmp(text->name, sym->module ?: ""))
			text = find(&dump, sym->module ?: "");
		pos = sym->addr - text->start;
		if (sym->addr < text->start || pos + ENDBR + INSN > text->size)
			continue;
		kind = site_kind(text, pos);
		if (!kind)
			continue;
		printf("%s %llx %s", kind, (unsigned long long)sym->addr, sym->module ?: "-");
		for (; sym + 1 < end && sym[1].addr == sym->addr; sym++)
			printf(" %s", sym->name);
		printf(" %s\n", sym->name);
	}
	return 0;
}

static int init_functions(void)
{
	read_symbols(NULL);
	printf("init %lu\n", nr_init);
	return 0;
}

int main(int argc, char **argv)
{
	struct dump dump;

	if (argc == 3 && !strcmp(argv[1], "dump")) {
		read_kernel(&dump);
		save(&dump, argv[2]);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "diff"))
		return diff(argv[2], argv[3], 0);
	if (argc == 5 && !strcmp(argv[1], "diff") && !strcmp(argv[2], "-l"))
		return diff(argv[3], argv[4], 1);
	if (argc == 2 && !strcmp(argv[1], "heads"))
		return heads(0);
	if (argc == 3 && !strcmp(argv[1], "heads") && !strcmp(argv[2], "-l"))
		return heads(1);
	if (argc == 2 && !strcmp(argv[1], "sites"))
		return sites();
	if (argc == 2 && !strcmp(argv[1], "init"))
		return init_functions();
	fprintf(stderr,
		"usage: kerneltext dump FILE | diff [-l] BEFORE AFTER | heads [-l] | sites | init\n");
	return 2;
}
