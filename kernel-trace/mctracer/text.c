// SPDX-License-Identifier: GPL-2.0
/*
 * A record as a line of text:
 *
 *	CPU 2: hackbench:11867 preempt_schedule+0xc/0x84 <-- avc_has_perm_noaudit+0x45d/0x52c
 */
#include <linux/cleanup.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "mctracer.h"

/*
 * To look a symbol up takes thousands of instructions, and a trace names few
 * thousand different addresses. One who reads a trace remembers their names,
 * but not beyond the file's close: modules come and go.
 */
#define SYMBOLS_BITS	12

struct symbol {
	u32 address;
	u32 length;	/* 0: empty */
	char text[120];	/* not terminated; longer ones are not remembered */
};

struct mctracer_symbols {
	struct symbol slots[1 << SYMBOLS_BITS];
	char name[KSYM_SYMBOL_LEN];	/* for what is not remembered */
};

struct mctracer_symbols *mctracer_symbols_alloc(void)
{
	return kvzalloc(sizeof(struct mctracer_symbols), GFP_KERNEL);
}

void mctracer_symbols_free(struct mctracer_symbols *symbols)
{
	kvfree(symbols);
}

/*
 * Both addresses of a record are return addresses. The call before may be the
 * last instruction of its function, so it is the call that is looked up; then
 * the offset equals the size. Otherwise the text is that of %pS, but never a
 * raw address.
 */
static size_t name_address(char *text, u32 low)
{
	unsigned long address = mctracer_address(low);
	unsigned long size, offset;
	char *module;
	char name[KSYM_NAME_LEN];
	const char *symbol;

	guard(rcu)();	/* keeps the module's name */
	symbol = kallsyms_lookup(address - 1, &size, &offset, &module, name);
	if (!symbol)
		return scnprintf(text, KSYM_SYMBOL_LEN, "[unknown]");
	if (module)
		return scnprintf(text, KSYM_SYMBOL_LEN, "%s+%#lx/%#lx [%s]",
				 symbol, offset + 1, size, module);
	return scnprintf(text, KSYM_SYMBOL_LEN, "%s+%#lx/%#lx",
			 symbol, offset + 1, size);
}

static void print_address(struct seq_file *m, struct mctracer_symbols *symbols, u32 low)
{
	struct symbol *slot = &symbols->slots[hash_32(low, SYMBOLS_BITS)];
	size_t length;

	if (slot->address != low || !slot->length) {
		length = name_address(symbols->name, low);
		if (length > sizeof(slot->text)) {
			seq_write(m, symbols->name, length);
			return;
		}
		memcpy(slot->text, symbols->name, length);
		slot->length = length;
		slot->address = low;
	}
	seq_write(m, slot->text, slot->length);
}

void mctracer_print_header(struct seq_file *m, const struct mctracer_ring_counts *counts)
{
	seq_puts(m, "# mode: function\n");
	seq_printf(m, "# entries: %llu\n", counts->entries);
	seq_printf(m, "# written: %llu\n", counts->written);
	seq_printf(m, "# overwritten: %llu\n", counts->overwritten);
	seq_puts(m, "# lost: 0\n");
}

void mctracer_print_record(struct seq_file *m, struct mctracer_symbols *symbols,
			   const struct mctracer_record *record, int cpu)
{
	pid_t pid = mctracer_stamp_pid(record->stamp);
	char comm[TASK_COMM_LEN];

	mctracer_comm_get(comm, pid, cpu);
	seq_printf(m, "CPU %d: %s:%d ", cpu, comm, pid);
	print_address(m, symbols, record->ip);
	seq_puts(m, " <-- ");
	print_address(m, symbols, record->parent_ip);
	seq_putc(m, '\n');
}
