// SPDX-License-Identifier: GPL-2.0
/*
 * Format each event of a ring as a line of text:
 *
 *	CPU 2: hackbench:11867 preempt_schedule+0xc/0x84 <-- avc_has_perm_noaudit+0x45d/0x52c
 *
 * With the options time and context, "[seconds.nanoseconds] " and the context precede it. The
 * call's chain of callers may follow, each address in a line of its own. Triggers write marks:
 *
 *	    -- avc_has_perm_noaudit+0x45d/0x52c
 *	# traceoff [12.345678901] CPU 2: bash:123 do_exit+0x5/0x9d0
 *
 * A call may have the values of its argument registers:
 *
 *	CPU 0: cat:65 vfs_read+0x5/0x270 (0xffff888003c8a000, 0x7ffe1, 0x20000, ...) <-- ...
 *
 * A return has the time since its call, with "~" if that is estimated, and the caller:
 *
 *	CPU 2: hackbench:11867 vfs_read+0x95/0xa0 returns after 1234 ns --> ksys_read+0x5f/0xb0
 */
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/hash.h>
#include <linux/hex.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <asm/sections.h>

#include "../record/record.h"
#include "../record/selected.h"
#include "../ring/cursor.h"
#include "../ring/open_calls.h"
#include "text.h"

/*
 * Looking up a symbol takes thousands of instructions, and a trace contains only a few thousand
 * different addresses. So each open file caches the names, until it is closed or until a module is
 * loaded or unloaded. Other addresses, such as those of BPF programs, are not cached, because no
 * notifier reports when these go away.
 */
#define SYMBOLS_BITS	12

static atomic_t modules_changed = ATOMIC_INIT(0);

struct symbol {
	u32 address;
	u32 function;	/* the function's first address, low half; 0: unknown */
	u32 length;	/* 0: the entry is unused */
	char text[116];	/* not terminated; longer names are not cached */
};

struct mctracer_text {
	struct symbol symbols[1 << SYMBOLS_BITS];
	bool addresses;		/* the reader may see raw addresses */
	size_t (*elsewhere)(const void *data, char *name, u32 *low);	/* symbolizer; or NULL */
	const void *data;	/* for the symbolizer */
	int modules_changed;	/* the global counter when the cache was last emptied */
	u32 module_count;	/* mctracer_module_count() at the event that is printed */
	char name[KSYM_SYMBOL_LEN];	/* buffer for a name that is not cached */
	struct {		/* "CPU 2: hackbench:11867 " ... */
		int cpu;
		u32 pid;
		char comm[MCTRACER_COMM_LEN];
	} who;			/* ... of the last line; few lines differ */
	size_t who_length;
	char who_text[64];
	u64 seconds;		/* of the last line's time ... */
	size_t seconds_length;
	char seconds_text[32];	/* ... as text; few lines differ */
	struct mctracer_open_calls *open;	/* with CONFIG_MCOUNT_RETURNS */
	struct {		/* the last call or return, which may be formatted again */
		int cpu;
		u64 pos;
		bool known;	/* a return's call was found */
		struct mctracer_opencall call;
	} last;
	struct seq_buf line;
	char buffer[3 * KSYM_SYMBOL_LEN];	/* two symbols and the rest */
};

struct mctracer_text *mctracer_text_alloc(bool addresses, bool crash)
{
	struct mctracer_text *text = kvzalloc(sizeof(*text), GFP_KERNEL | __GFP_NOWARN);

	if (!text)
		return NULL;
	if (MCOUNT_HAS_RETURNS) {
		text->open = mctracer_open_calls_alloc(crash);
		if (!text->open) {
			kvfree(text);
			return NULL;
		}
	}
	seq_buf_init(&text->line, text->buffer, sizeof(text->buffer));
	text->last.cpu = -1;
	text->addresses = addresses;
	return text;
}

void mctracer_text_free(struct mctracer_text *text)
{
	if (MCOUNT_HAS_RETURNS && text)
		mctracer_open_calls_free(text->open);
	kvfree(text);
}

void mctracer_text_set_elsewhere(struct mctracer_text *text,
				 size_t (*elsewhere)(const void *data, char *name, u32 *low),
				 const void *data)
{
	text->elsewhere = elsewhere;
	text->data = data;
}

void mctracer_text_rewind(struct mctracer_text *text)
{
	if (MCOUNT_HAS_RETURNS)
		mctracer_open_calls_forget(text->open);
	text->last.cpu = -1;
}

/* Return true for what replaces a return address while a return probe or function_graph waits. */
static bool text_is_trampoline(const char *symbol)
{
	static const char * const trampolines[] = {
		"arch_rethook_trampoline", "__kretprobe_trampoline", "return_to_handler",
	};

	return match_string(trampolines, ARRAY_SIZE(trampolines), symbol) >= 0;
}

/*
 * Print the symbol of the return address @low to @name, as %pS does, but never a raw address.
 * Return the length.
 *
 * The call before a return address may be the last instruction of its function. So look up the
 * call's address, and print the return address, whose offset may then equal the function's size.
 * There is no call before a trampoline.
 *
 * @function: the function's first address, low half, or 0. @lasting: the name stays valid while no
 * module is loaded or unloaded.
 */
static size_t text_name_address(char *name, u32 low, u32 *function, bool *lasting)
{
	unsigned long address = (unsigned long)(long)(s32)low;
	unsigned long size, offset;
	char *module;
	char buffer[KSYM_NAME_LEN];
	const char *symbol;

	guard(rcu)();	/* keeps the module's name valid */
	symbol = kallsyms_lookup(address, &size, &offset, &module, buffer);
	if (symbol && !offset && text_is_trampoline(symbol)) {
		*lasting = true;
		*function = 0;
		return scnprintf(name, KSYM_SYMBOL_LEN, "%s+0x0/%#lx", symbol, size);
	}
	symbol = kallsyms_lookup(address - 1, &size, &offset, &module, buffer);
	*lasting = symbol && (module || is_kernel(address - 1));
	/* FUNCTION.cold, the rarely run part, does not begin where the function does. */
	*function = symbol && !strstr(symbol, ".cold") ? address - 1 - offset : 0;
	if (!symbol)
		return scnprintf(name, KSYM_SYMBOL_LEN, "[unknown]");
	if (module)
		return scnprintf(name, KSYM_SYMBOL_LEN, "%s+%#lx/%#lx [%s]",
				 symbol, offset + 1, size, module);
	return scnprintf(name, KSYM_SYMBOL_LEN, "%s+%#lx/%#lx",
			 symbol, offset + 1, size);
}

size_t mctracer_name_address(char *name, u32 low, bool *lasting)
{
	u32 function;

	return text_name_address(name, low, &function, lasting);
}

/* Print the symbol of @low. Return the function's first address, low half, or 0 if unknown. */
static u32 text_put_address(struct mctracer_text *text, u32 low)
{
	struct symbol *symbol = &text->symbols[hash_32(low, SYMBOLS_BITS)];
	u32 function = 0, now = low;
	size_t length = 0;
	bool lasting = true;

	if (text->module_count != mctracer_module_count() && !text->elsewhere &&
	    !mctracer_module_was_there((unsigned long)(long)(s32)low, text->module_count)) {
		seq_buf_puts(&text->line, "[unknown]");
		return 0;
	}
	if (symbol->address != low || !symbol->length) {
		if (text->elsewhere)
			length = text->elsewhere(text->data, text->name, &now);
		if (!length)
			length = text_name_address(text->name, now, &function, &lasting);
		if (!lasting || length > sizeof(symbol->text)) {
			seq_buf_putmem(&text->line, text->name, length);
			return function;
		}
		memcpy(symbol->text, text->name, length);
		symbol->length = length;
		symbol->address = low;
		symbol->function = function;
	}
	seq_buf_putmem(&text->line, symbol->text, symbol->length);
	return symbol->function;
}

/*
 * COMING precedes the first call of a new module, GOING follows the last call of an old one, and
 * LIVE precedes the freeing of init functions. A name that is looked up and cached after GOING or
 * LIVE is still the old name; the COMING of the next module at this address empties the cache.
 */
static int text_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	atomic_inc(&modules_changed);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call	= text_module_event,
};

static int __init text_watch_modules(void)
{
	return register_module_notifier(&module_notifier);
}
core_initcall(text_watch_modules);

static void text_invalidate_symbols(struct mctracer_text *text)
{
	int changed = atomic_read(&modules_changed);
	size_t i;

	if (text->modules_changed == changed)
		return;
	for (i = 0; i < ARRAY_SIZE(text->symbols); i++)
		text->symbols[i].length = 0;
	text->modules_changed = changed;
}

const struct seq_buf *mctracer_text_header(struct mctracer_text *text,
					   const struct mctracer_ring_counts *counts)
{
	const char *frozen_by = mctracer_frozen_by();

	seq_buf_clear(&text->line);
	seq_buf_printf(&text->line,
		       "# mode: %s\n"
		       "# entries: %llu\n"
		       "# written: %llu\n"
		       "# overwritten: %llu\n"
		       "# lost: %llu\n",
		       READ_ONCE(mctracer_graph) ? "graph" : "function",
		       counts->entries, counts->written, counts->overwritten, counts->lost);
	if (frozen_by)
		seq_buf_printf(&text->line, "# frozen: %s\n", frozen_by);
	return &text->line;
}

/* seq_buf_printf() would take as long as the rest of the line. */
static void text_put_time(struct mctracer_text *text, u64 time)
{
	char fraction[] = "000000000] ";
	u64 seconds;
	u32 ns;
	int i;

	seconds = div_u64_rem(time, NSEC_PER_SEC, &ns);
	if (seconds != text->seconds || !text->seconds_length) {
		text->seconds = seconds;
		text->seconds_length = scnprintf(text->seconds_text, sizeof(text->seconds_text),
						 "[%llu.", seconds);
	}
	for (i = 8; i >= 0; i--, ns /= 10)
		fraction[i] = '0' + ns % 10;
	seq_buf_putmem(&text->line, text->seconds_text, text->seconds_length);
	seq_buf_putmem(&text->line, fraction, sizeof(fraction) - 1);
}

/* Print the context in the letters of ftrace's latency format. */
static void text_put_context(struct mctracer_text *text, u32 context)
{
	static const char resched[] = ".npN";	/* index: the task's flag, 2 * the count's flag */
	u32 depth = min(context & MCTRACER_PREEMPT_DEPTH, 15U), flags;
	char irq;

	if (context & MCTRACER_CONTEXT_UNKNOWN) {
		seq_buf_puts(&text->line, "---- ");	/* the option context was off */
		return;
	}
	if (context & MCTRACER_NMI)
		irq = context & MCTRACER_HARDIRQ ? 'Z' : 'z';
	else if (context & MCTRACER_HARDIRQ)
		irq = context & MCTRACER_SOFTIRQ ? 'H' : 'h';
	else
		irq = context & MCTRACER_SOFTIRQ ? 's' : '.';

	flags = (context & MCTRACER_NEED_RESCHED ? 1 : 0) |
		(context & MCTRACER_PREEMPT_RESCHED ? 2 : 0);
	seq_buf_printf(&text->line, "%c%c%c%c ",
		       context & MCTRACER_IRQS_OFF ? 'd' : '.', resched[flags],
		       irq, depth ? hex_asc_lo(depth) : '.');
}

/* Print CPU, name and pid. A task's name may contain any bytes, but a line must stay one line. */
static void text_put_task(struct mctracer_text *text, const struct mctracer_state *state, int cpu)
{
	char comm[MCTRACER_COMM_LEN], *c;

	if (!text->who_length || text->who.cpu != cpu || text->who.pid != state->pid ||
	    memcmp(text->who.comm, state->comm, sizeof(comm))) {
		text->who.cpu = cpu;
		text->who.pid = state->pid;
		memcpy(text->who.comm, state->comm, sizeof(comm));
		memcpy(comm, state->comm, sizeof(comm));
		if (!(state->known & MCTRACER_KNOWS_TASK))
			strscpy(comm, "<...>", sizeof(comm));
		for (c = comm; *c; c++)
			if (iscntrl(*c))
				*c = '?';
		text->who_length = scnprintf(text->who_text, sizeof(text->who_text),
					     "CPU %d: %s:%u ", cpu, comm, state->pid);
	}
	seq_buf_putmem(&text->line, text->who_text, text->who_length);
}

static const struct seq_buf *text_put_gap(struct mctracer_text *text, u64 gap)
{
	const u64 lost = mctracer_gap_calls(gap);

	seq_buf_clear(&text->line);
	if (lost)
		seq_buf_printf(&text->line, "# lost %llu\n", lost);
	else if (gap & MCTRACER_GAP_UNCOUNTED)
		seq_buf_puts(&text->line, "# recording was off\n");
	else
		seq_buf_puts(&text->line, "# other CPUs lost calls\n");
	return &text->line;
}

static const struct seq_buf *text_put_frame(struct mctracer_text *text, u32 address)
{
	seq_buf_clear(&text->line);
	seq_buf_puts(&text->line, "    -- ");
	text_invalidate_symbols(text);
	text_put_address(text, address);
	seq_buf_putc(&text->line, '\n');
	return &text->line;
}

/* Print a value. If it may be a kernel address, hash it as %p does for those who may not see it. */
static void text_put_value(struct mctracer_text *text, u64 value)
{
	if (!text->addresses && value >= (u64)PAGE_OFFSET && value < (u64)MODULES_END)
		seq_buf_printf(&text->line, "0x%p", (void *)(unsigned long)value);
	else
		seq_buf_printf(&text->line, "0x%llx", value);
}

/*
 * Print a return value, whose type is unknown: as an int if the upper half is all zeroes, or if the
 * value is negative and small (above all addresses); else as an address or 64-bit number.
 */
static void text_put_result(struct mctracer_text *text, u64 result)
{
	seq_buf_putc(&text->line, ' ');
	if (!(result >> 32) || result >= (u64)MODULES_END)
		seq_buf_printf(&text->line, "%d", (s32)result);
	else
		text_put_value(text, result);
}

/* Print all recorded argument registers: how many arguments the function has is unknown. */
static void text_put_args(struct mctracer_text *text, const struct mctracer_state *state)
{
	unsigned int i;

	if (!state->nr_args)
		return;
	seq_buf_puts(&text->line, " (");
	for (i = 0; i < state->nr_args; i++) {
		if (i)
			seq_buf_puts(&text->line, ", ");
		text_put_value(text, state->args[i]);
	}
	seq_buf_putc(&text->line, ')');
}

static void text_put_duration(struct mctracer_text *text, u64 ns, bool exact)
{
	seq_buf_printf(&text->line, " after %s%llu ns", exact ? "" : "~", ns);
}

/* Print the return value and the time that a trigger has recorded with a return or mark. */
static void text_put_outcome(struct mctracer_text *text, const struct mctracer_state *state)
{
	if (state->has & MCTRACER_HAS_RESULT)
		text_put_result(text, state->result);
	if (state->has & MCTRACER_HAS_TOOK)
		text_put_duration(text, state->took, true);
}

static const struct seq_buf *text_put_mark(struct mctracer_text *text,
					   const struct mctracer_cursor *cursor, int cpu)
{
	static const char * const names[] = {
		[MCTRACER_MARK_MARK]	 = "mark",
		[MCTRACER_MARK_ON]	 = "traceon",
		[MCTRACER_MARK_OFF]	 = "traceoff",
		[MCTRACER_MARK_OFF_SOON] = "traceoff soon",
		[MCTRACER_MARK_SNAPSHOT] = "snapshot",
		[MCTRACER_MARK_FOLLOW_FULL] = "follow: too many objects",
		[MCTRACER_MARK_DAMAGED]	 = "damaged",
	};
	u64 which = cursor->state.value;

	seq_buf_clear(&text->line);
	seq_buf_printf(&text->line, "# %s ",
		       which < ARRAY_SIZE(names) ? names[which] : "unknown mark");
	text_put_time(text, cursor->ns);
	text_put_task(text, &cursor->state, cpu);
	text_invalidate_symbols(text);
	text_put_address(text, cursor->state.ip);
	if (cursor->state.has)
		seq_buf_puts(&text->line, " returns");
	text_put_outcome(text, &cursor->state);
	seq_buf_putc(&text->line, '\n');
	return &text->line;
}

/*
 * Print recorded memory: as text if all characters are printable, else in hexadecimal. Memory may
 * contain secrets: hide it from readers who may not see addresses.
 */
static void text_put_data(struct mctracer_text *text, const struct mctracer_state *state)
{
	const char *data = (const char *)state->data;
	size_t n = strnlen(data, state->nr_data), i;

	if (!state->nr_data)
		return;
	if (!text->addresses) {
		seq_buf_puts(&text->line, " <hidden>");
		return;
	}
	for (i = 0; i < n && isascii(data[i]) && isprint(data[i]); i++)
		;
	if (n > 1 && i == n) {
		seq_buf_printf(&text->line, " \"%*pEc\"", (int)n, data);
		return;
	}
	seq_buf_puts(&text->line, " <");
	for (i = 0; i < state->nr_data; i++)
		seq_buf_printf(&text->line, "%02x", state->data[i]);
	seq_buf_putc(&text->line, '>');
}

/* Print objects: "+#3:1" means that object 3 is argument 1, and is followed from here on. */
static void text_put_objects(struct mctracer_text *text, const struct mctracer_state *state)
{
	unsigned int i, role;
	u64 object;

	for (i = 0; i < state->nr_objects; i++) {
		object = state->objects[i];
		role = object >> MCTRACER_OBJECT_ROLE_SHIFT & MCTRACER_OBJECT_ROLE;
		seq_buf_printf(&text->line, " %s%s#%u", object & MCTRACER_OBJECT_BEGINS ? "+" : "",
			       object & MCTRACER_OBJECT_ENDS ? "-" : "", (u32)object);
		if (role == MCTRACER_OBJECT_RETURNED)
			seq_buf_puts(&text->line, ":ret");
		else if (role != MCTRACER_OBJECT_NESTED)
			seq_buf_printf(&text->line, ":%u", role);
	}
}

/*
 * Track which calls have not returned, to find the call of each return. Each event counts once,
 * even if it is formatted twice.
 */
static void text_track_open_calls(struct mctracer_text *text, const struct mctracer_stream *stream,
				  int cpu,
				  u32 function)
{
	const struct mctracer_cursor *cursor = &stream->cursor;
	const struct mctracer_state *state = &cursor->state;

	if (text->last.cpu == cpu && text->last.pos == cursor->pos)
		return;
	text->last.cpu = cpu;
	text->last.pos = cursor->pos;
	if (stream->found == MCTRACER_FOUND_RETURN) {
		text->last.known = mctracer_open_calls_return(text->open, state->pid, cpu, function,
							      &text->last.call);
		return;
	}
	text->last.call = (struct mctracer_opencall) {
		.function = function, .parent_ip = state->parent_ip, .ns = cursor->ns,
		.exact = cursor->exact,
	};
	mctracer_open_calls_call(text->open, state->pid, cpu, &text->last.call);
}

/* Print the rest of a return's line, behind the function's name. */
static void text_put_return(struct mctracer_text *text, const struct mctracer_cursor *cursor)
{
	const struct mctracer_state *state = &cursor->state;
	const struct mctracer_opencall *call = text->last.known ? &text->last.call : NULL;

	seq_buf_puts(&text->line, state->value & MCTRACER_RETURN_TAIL ? " goes on" : " returns");
	text_put_outcome(text, state);
	text_put_objects(text, state);
	if (call && !(state->has & MCTRACER_HAS_TOOK))
		text_put_duration(text, max_t(s64, cursor->ns - call->ns, 0),
				  cursor->exact && call->exact);
	else if (!call && !state->has && !state->nr_objects)
		seq_buf_puts(&text->line, ", called before");
	if (call) {
		seq_buf_puts(&text->line, " --> ");
		text_put_address(text, call->parent_ip);
	}
	seq_buf_putc(&text->line, '\n');
}

const struct seq_buf *mctracer_text_event(struct mctracer_text *text,
					  const struct mctracer_stream *stream, int cpu)
{
	const struct mctracer_cursor *cursor = &stream->cursor;
	const struct mctracer_state *state = &cursor->state;
	u32 function;

	text->module_count = state->known & MCTRACER_KNOWS_MODULES ? state->modules :
							     mctracer_module_count();
	if (cursor->after_cut || stream->missed || stream->found == MCTRACER_FOUND_GAP)
		mctracer_text_rewind(text);
	if (stream->missed)
		return text_put_gap(text, stream->missed);
	if (stream->found == MCTRACER_FOUND_GAP)
		return text_put_gap(text, state->value);
	if (stream->found == MCTRACER_FOUND_FRAME)
		return text_put_frame(text, state->value);
	if (stream->found == MCTRACER_FOUND_MARK && state->value != MCTRACER_MARK_MARK &&
	    state->value != MCTRACER_MARK_SNAPSHOT)
		mctracer_text_rewind(text);	/* returns may be missing here */
	if (stream->found == MCTRACER_FOUND_MARK)
		return text_put_mark(text, cursor, cpu);
	seq_buf_clear(&text->line);
	if (text->elsewhere || mctracer_option(MCTRACER_OPT_TIME))
		text_put_time(text, cursor->ns);
	if (text->elsewhere ? !(state->context & MCTRACER_CONTEXT_UNKNOWN) :
			      mctracer_option(MCTRACER_OPT_CONTEXT))
		text_put_context(text, state->context);
	text_invalidate_symbols(text);
	text_put_task(text, state, cpu);
	function = text_put_address(text, state->ip);
	if (MCOUNT_HAS_RETURNS)
		text_track_open_calls(text, stream, cpu, function);
	if (stream->found == MCTRACER_FOUND_RETURN) {
		text_put_return(text, cursor);
		return &text->line;
	}
	text_put_args(text, state);
	text_put_data(text, state);
	text_put_objects(text, state);
	seq_buf_puts(&text->line, " <-- ");
	text_put_address(text, state->parent_ip);
	seq_buf_putc(&text->line, '\n');
	return &text->line;
}
