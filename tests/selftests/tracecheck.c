// SPDX-License-Identifier: GPL-2.0
/*
 * Check the text of a trace line by line.
 *
 *	tracecheck FILE			print a summary, one "KEY NUMBER" per line
 *	tracecheck -l [-p PID] FILE	print the calls as tab separated fields:
 *					CPU, pid, function, caller, comm
 *
 * A record is a call, or the end of a call by a return or by a jump to another function:
 *
 *	CPU <cpu>: <comm>:<pid> <function> <-- <caller>
 *	CPU <cpu>: <comm>:<pid> <function> (<value>, <value>) <-- <caller>
 *	CPU <cpu>: <comm>:<pid> <function> (<value>) #<object>:<argument> <-- <caller>
 *	CPU <cpu>: <comm>:<pid> <function> (<value>) "<memory>" <-- <caller>
 *	CPU <cpu>: <comm>:<pid> <function> returns <result> after <time> ns --> <caller>
 *	CPU <cpu>: <comm>:<pid> <function> returns, called before
 *
 * Lines with the callers of the caller may follow:
 *
 *	    -- <caller>
 *
 * The comm may contain any printable character, so a line is parsed from its
 * end. The exit status is 1 if any line is neither a header nor correct in all
 * its parts; the first few such lines are printed to standard error.
 *
 * A shell with grep and awk can do the same, but a full trace has a few
 * hundred thousand lines.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMM_MAX	15
#define CPU_MAX		8192
#define COMPLAINTS	8

#define ARROW		" <-- "
#define ARGS		" ("
#define RETURNS		" returns"
#define GOES_ON		" goes on"
#define BEFORE		", called before"
#define AFTER		" after "
#define NS		" ns"
#define TO		" --> "
#define FRAME		"    -- "
#define UNKNOWN		"[unknown]"

struct symbol {
	const char *name;
	size_t name_len;
	int known;
	int module;
};

struct record {
	unsigned long cpu;
	unsigned long pid;
	int ends;	/* the end of a call, not a call */
	char comm[COMM_MAX + 1];
	struct symbol func;
	struct symbol caller;
};

struct summary {
	unsigned long headers;		/* lines that begin with # */
	unsigned long lapped;		/* of these: "# lost N" between records */
	unsigned long records;		/* lines that are records */
	unsigned long ends;		/* of these: ends of calls */
	unsigned long unknown;		/* of these: with [unknown] */
	unsigned long module;		/* of these: with a module's symbol */
	unsigned long frames;		/* lines that are callers of callers */
	unsigned long malformed;	/* lines that are none of these */
	unsigned long range;		/* of these: the offset exceeds the size */
	unsigned long raw;		/* of these: with a raw address */
	unsigned long longest;		/* the longest line, in bytes */
	unsigned long cpu[CPU_MAX];	/* records by CPU */
};

static struct summary sum;

/* Parse a decimal number at *pp that @ends must follow. Move *pp past both. */
static int number(const char **pp, const char *ends, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**pp))
		return -1;
	errno = 0;
	*out = strtoul(*pp, &end, 10);
	if (errno || strncmp(end, ends, strlen(ends)))
		return -1;
	*pp = end + strlen(ends);
	return 0;
}

/* Parse 0x and at most seven hex digits: no function is larger. */
static int hex(const char **pp, unsigned long *out)
{
	const char *p = *pp;
	char *end;

	if (p[0] != '0' || p[1] != 'x' || !isxdigit((unsigned char)p[2]))
		return -1;
	*out = strtoul(p + 2, &end, 16);
	if (end - (p + 2) > 7)
		return -1;
	*pp = end;
	return 0;
}

/* Return 1 if the text seems to contain a kernel address. */
static int has_address(const char *s)
{
	const char *begin = s, *start;

	while (*s) {
		if (!isxdigit((unsigned char)*s)) {
			s++;
			continue;
		}
		start = s;
		while (isxdigit((unsigned char)*s))
			s++;
		if (s - start >= 16 && !strncmp(start, "ffff", 4))
			return 1;
		if (s - start >= 8 && start - begin >= 2 &&
		    start[-1] == 'x' && start[-2] == '0')
			return 1;
	}
	return 0;
}

/* True for what functions return to when a return probe or function_graph waits for the return. */
static int trampoline(const struct symbol *sym)
{
	static const char *const names[] = {
		"arch_rethook_trampoline", "__kretprobe_trampoline", "return_to_handler",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (sym->name_len == strlen(names[i]) &&
		    !strncmp(sym->name, names[i], sym->name_len))
			return 1;
	return 0;
}

/*
 * Parse name+0xoffset/0xsize, with or without " [module]", or [unknown]. A caller is a return
 * address, so its offset equals the size if the call is the function's last instruction. Only
 * trampolines have no call before them.
 */
static int symbol(const char *s, struct symbol *sym, int caller)
{
	unsigned long offset, size;
	const char *p;

	memset(sym, 0, sizeof(*sym));
	sym->name = s;
	if (!strcmp(s, UNKNOWN)) {
		sym->name_len = strlen(UNKNOWN);
		return 0;
	}
	sym->known = 1;

	p = strchr(s, '+');
	if (!p || p == s || isdigit((unsigned char)*s) || has_address(s))
		return -1;
	sym->name_len = p - s;
	for (; s < p; s++)
		if (!isgraph((unsigned char)*s) || *s == '[' || *s == ']')
			return -1;
	p++;
	if (hex(&p, &offset) || *p++ != '/' || hex(&p, &size))
		return -1;
	if (caller ? (!offset && !trampoline(sym)) || offset > size : offset >= size) {
		sum.range++;
		return -1;
	}
	if (!*p)
		return 0;

	sym->module = 1;
	if (strncmp(p, " [", 2) || !isgraph((unsigned char)p[2]))
		return -1;
	p += 2;
	while (isgraph((unsigned char)*p) && *p != ']')
		p++;
	return strcmp(p, "]") ? -1 : 0;
}

/* Return the last occurrence of @what in @s, or NULL. */
static char *last(char *s, const char *what)
{
	char *found = NULL;

	for (s = strstr(s, what); s; s = strstr(s + 1, what))
		found = s;
	return found;
}

/* Move *pp past the text and return 1, or return 0 if *pp does not begin with it. */
static int past(const char **pp, const char *text)
{
	if (strncmp(*pp, text, strlen(text)))
		return 0;
	*pp += strlen(text);
	return 1;
}

/* Parse a decimal number of either sign, or a hex number, at *pp. Move *pp past it. */
static int result(const char **pp)
{
	const char *p = *pp, *digits = "0123456789";

	if (past(&p, "0x"))
		digits = "0123456789abcdef";
	else
		past(&p, "-");
	*pp = p + strspn(p, digits);
	return *pp == p ? -1 : 0;
}

/* Move *pp past " +-#3:1" or " #3". */
static int object(const char **pp)
{
	const char *p = *pp;

	if (*p++ != ' ')
		return 0;
	past(&p, "+");
	past(&p, "-");
	if (!past(&p, "#") || !isdigit((unsigned char)*p))
		return 0;
	p += strspn(p, "0123456789");
	if (past(&p, ":") && !past(&p, "ret") && (*p < '1' || *p++ > '6'))
		return 0;
	*pp = p;
	return 1;
}

/* Cut the objects off a call's line. */
static void objects(char *line)
{
	char *space;
	const char *p;

	while ((space = strrchr(line, ' '))) {
		p = space;
		if (!object(&p) || *p)
			break;
		*space = '\0';
	}
}

/* Cut the text after the function off the line of a call's end. */
static int end_of_call(char *line, struct record *rec)
{
	char *verb = last(line, RETURNS), *goes = last(line, GOES_ON);
	const char *p;
	unsigned long ns;

	if (!verb || (goes && goes > verb))
		verb = goes;
	if (!verb)
		return -1;
	*verb = '\0';
	p = verb + strlen(verb == goes ? GOES_ON : RETURNS);
	rec->ends = 1;
	rec->caller.known = 1;
	if (*p == ' ' && isdigit((unsigned char)p[p[1] == '-' ? 2 : 1])) {
		p++;
		if (result(&p))
			return -1;
	}
	while (object(&p))
		;
	if (!strcmp(p, BEFORE))
		return 0;
	if (past(&p, AFTER)) {
		past(&p, "~");
		if (number(&p, NS, &ns))
			return -1;
	}
	return past(&p, TO) ? symbol(p, &rec->caller, 1) : *p ? -1 : 0;
}

/* Cut recorded memory off a call's line: text or digits. */
static int memory(char *line)
{
	char *text = last(line, " \""), *digits = last(line, " <");
	size_t length = strlen(line);

	if (text && length > 2 && line[length - 1] == '"') {
		*text = '\0';
		for (text += 2; text < line + length - 1; text++)
			if (!isprint((unsigned char)*text))
				return -1;
	} else if (digits && line[length - 1] == '>') {
		*digits = '\0';
		digits += 2;
		if (strcmp(digits, "hidden>") &&
		    strcmp(digits + strspn(digits, "0123456789abcdef"), ">"))
			return -1;
	}
	return 0;
}

/* Cut the arguments off a call's line. */
static int arguments(char *line)
{
	char *open = last(line, ARGS);
	const char *p;

	if (!open || line[strlen(line) - 1] != ')')
		return 0;
	p = open + strlen(ARGS);
	do {
		if (!past(&p, "0x") || !strspn(p, "0123456789abcdef"))
			return -1;
		p += strspn(p, "0123456789abcdef");
	} while (past(&p, ", "));
	*open = '\0';
	return strcmp(p, ")") ? -1 : 0;
}

/* Parse a line in place; the names of @rec point into it. */
static int record(char *line, struct record *rec)
{
	char *arrow, *func, *colon;
	const char *p = line;

	memset(rec, 0, sizeof(*rec));
	if (strncmp(p, "CPU ", 4))
		return -1;
	p += 4;
	if (number(&p, ": ", &rec->cpu) || rec->cpu >= CPU_MAX)
		return -1;

	arrow = last((char *)p, ARROW);
	if (arrow) {
		*arrow = '\0';
		objects((char *)p);
		if (symbol(arrow + strlen(ARROW), &rec->caller, 1) || memory((char *)p) ||
		    arguments((char *)p))
			return -1;
	} else if (end_of_call((char *)p, rec)) {
		return -1;
	}

	/* The function is the last word, or the last two words if it belongs to a module. */
	func = strrchr(p, ' ');
	if (func && func[1] == '[' && strcmp(func + 1, UNKNOWN)) {
		*func = '\0';
		arrow = strrchr(p, ' ');
		*func = ' ';
		func = arrow;
	}
	if (!func)
		return -1;
	*func++ = '\0';
	if (symbol(func, &rec->func, 0))
		return -1;

	colon = strrchr(p, ':');
	if (!colon || colon - p > COMM_MAX)
		return -1;
	memcpy(rec->comm, p, colon - p);
	for (p = rec->comm; *p; p++)
		if (iscntrl((unsigned char)*p))
			return -1;
	p = colon + 1;
	return number(&p, "", &rec->pid) || *p ? -1 : 0;
}

static void complain(const char *line)
{
	static int done;

	if (done++ < COMPLAINTS)
		fprintf(stderr, "malformed: %.*s\n",
			(int)strcspn(line, "\n"), line);
}

/* Cut the newline off. Return 0 if the line has no newline or contains a NUL. */
static int whole(char *line, size_t len)
{
	if (line[len - 1] != '\n' || strlen(line) != len)
		return 0;
	line[len - 1] = '\0';
	return 1;
}

/* Return 1 if the line is a further caller of the previous record. */
static int frame(const char *line)
{
	struct symbol caller;

	return sum.records && !strncmp(line, FRAME, strlen(FRAME)) &&
	       !symbol(line + strlen(FRAME), &caller, 1);
}

/* Count the line. Return 1 if it is a record. */
static int judge(char *line, size_t len, struct record *rec)
{
	static char *copy;
	static size_t copy_size;

	if (len > sum.longest)
		sum.longest = len;
	if (copy_size < len + 1) {
		copy_size = len + 1;
		copy = realloc(copy, copy_size);
		if (!copy)
			exit(2);
	}
	memcpy(copy, line, len + 1);

	if (len > 1 && line[0] == '#' && line[len - 1] == '\n') {
		sum.headers++;
		if (!strncmp(line, "# lost ", 7))
			sum.lapped++;
		return 0;
	}

	len = whole(line, len);
	if (len && frame(line)) {
		sum.frames++;
		return 0;
	}
	if (!len || record(line, rec)) {
		sum.malformed++;
		sum.raw += has_address(copy);
		complain(copy);
		return 0;
	}

	sum.records++;
	sum.ends += rec->ends;
	sum.cpu[rec->cpu]++;
	sum.unknown += !rec->func.known || !rec->caller.known;
	sum.module += rec->func.module || rec->caller.module;
	return 1;
}

/* Return the length of the name alone, without offset, module, or gcc's suffix of clones. */
static int name_len(const struct symbol *sym)
{
	const char *dot = memchr(sym->name, '.', sym->name_len);

	return dot && dot > sym->name ? dot - sym->name : (int)sym->name_len;
}

static void list(const struct record *rec)
{
	printf("%lu\t%lu\t%.*s\t%.*s\t%s\n", rec->cpu, rec->pid,
	       name_len(&rec->func), rec->func.name,
	       name_len(&rec->caller), rec->caller.name, rec->comm);
}

static void summarize(void)
{
	unsigned int i;

	printf("headers %lu\n", sum.headers);
	printf("lapped %lu\n", sum.lapped);
	printf("records %lu\n", sum.records);
	printf("ends %lu\n", sum.ends);
	printf("unknown %lu\n", sum.unknown);
	printf("module %lu\n", sum.module);
	printf("frames %lu\n", sum.frames);
	printf("malformed %lu\n", sum.malformed);
	printf("range %lu\n", sum.range);
	printf("raw %lu\n", sum.raw);
	printf("longest %lu\n", sum.longest);
	for (i = 0; i < CPU_MAX; i++)
		if (sum.cpu[i])
			printf("cpu%u %lu\n", i, sum.cpu[i]);
}

int main(int argc, char **argv)
{
	unsigned long pid = 0;
	int all = 1, listing = 0, i;
	struct record rec;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *file;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-l")) {
			listing = 1;
		} else if (!strcmp(argv[i], "-p") && i + 1 < argc) {
			pid = strtoul(argv[++i], NULL, 10);
			all = 0;
		} else {
			break;
		}
	}
	if (i + 1 != argc) {
		fprintf(stderr, "usage: tracecheck [-l] [-p PID] FILE\n");
		return 2;
	}
	file = fopen(argv[i], "r");
	if (!file) {
		perror(argv[i]);
		return 2;
	}
	while ((len = getline(&line, &size, file)) > 0)
		if (judge(line, len, &rec) && listing && !rec.ends &&
		    (all || rec.pid == pid))
			list(&rec);
	if (ferror(file)) {
		perror(argv[i]);
		return 2;
	}
	if (!listing)
		summarize();
	return sum.malformed ? 1 : 0;
}
