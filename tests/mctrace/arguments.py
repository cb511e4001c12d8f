# SPDX-License-Identifier: GPL-2.0
# Tests how mctrace prints recorded arguments: in text, as JSON, and with the kernel's types.
import os
import re
import subprocess

import recordings
from harness import Case, compare_lists, json_lines

PASSED = {
    "vfs_read": (0xffff888012345678, 0x7ffe00000010, 131072, -1 & 0xffffffff, 5, 1),
    "kfree": (0xffffffffc0123456, 0, 1 << 63, 2, 3, 0xffffffffffffffff),
    "dput": (7, 8, 9),              # fewer arguments, as on 32 bit
}

# The source of the types, as BTF of gcc, without kfree. dput has more arguments than recorded.
SOURCE = """
struct file; enum how { OPEN, SHUT = 5 }; typedef unsigned long size;
long vfs_read(struct file *file, char *buf, const size count, int fd, enum how how, _Bool ok)
{ return (long)file + (long)buf + count + fd + how + ok; }
int dput(short a, signed char b, unsigned char c, int d) { return a + b + c + d; }
"""

NAMED = {
    "vfs_read": "file=0xffff888012345678, buf=0x7ffe00000010, count=131072, fd=-1, how=SHUT, ok=true",
    "dput": "a=7, b=8, c=9",
}


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def recording():
    rec = recordings.Recording(cpus=1)
    rec.run(0, rec.task(65, "cat"))
    for name, passed in PASSED.items():
        rec.call(0, name, args=[signed(value) for value in passed])
        rec.leave(0)
        rec.call(0, name)           # without arguments
        rec.leave(0)
    return rec


def numbers(name):
    return ", ".join("%#x" % value for value in PASSED[name])


def args_of(text):
    """Yield [function, text in parentheses or None] for each call."""
    for line in text.splitlines():
        if " <-- " in line:
            called = line.split(" <-- ")[0]
            name = called.split(" ", 3)[-1].split("+")[0].split()[-1]
            yield [name, called.split(" (", 1)[1][:-1] if called.endswith(")") else None]


def wanted(said):
    return [[name, text] for name in PASSED for text in (said(name), None)]


def check_text(mctrace, case):
    return compare_lists("call", list(args_of(mctrace.text("report", case.path))), wanted(numbers))


def check_json(mctrace, case):
    got = [[line["function"].split("+")[0], line.get("args")]
           for line in json_lines(mctrace.text("report", "--json", case.path))
           if line["event"] == "call"]
    return compare_lists("call", got, [[name, text and text.split(", ")]
                                       for name, text in wanted(numbers)])


def check_names(mctrace, case):
    source = os.path.splitext(case.path)[0] + ".c"
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    types = source[:-1] + "o"
    subprocess.run(["gcc", "-gbtf", "-c", source, "-o", types], check=True)
    text = mctrace.text("report", "--btf", types, case.path)
    return compare_lists("call", list(args_of(text)),
                         wanted(lambda name: NAMED.get(name) or numbers(name)))


STRINGS_SOURCE = """
struct filename { int refs; const char *name; }; typedef const char *text; struct list;
int kfree(char *to, int n, text from, const char *more) { return *to + n + *from + *more; }
int dput(int dfd, struct filename *pathname) { return dfd + pathname->refs; }
int vfs_read(char *buf, unsigned char *bytes) { return *buf + *bytes; }
int kmem_cache_free(struct list *list) { return !list; }
"""

# The function, the recorded memory, the printed arguments, and the string in JSON.
STRINGS = [
    ["kfree", b"/etc/hostname\0\xff", '(to=0x1, n=2, from="/etc/hostname", more=0x4)', "/etc/hostname"],
    ["kfree", b"", "(to=0x1, n=2, from=0x3, more=0x4)", None],
    ["kfree", b"\0\xff", '(to=0x1, n=2, from="", more=0x4)', ""],
    ["kfree", b"\1\2\0", "(to=0x1, n=2, from=0x3, more=0x4)", None],
    ["dput", b'a "b"\n\\\0', r'(dfd=1, pathname="a \"b\"\n\\")', 'a "b"\n\\'],
    ["dput", b"x" * 64, '(dfd=1, pathname="%s"...)' % ("x" * 64), "x" * 64],
    ["vfs_read", b"1\0", '(buf="1", bytes=0x2)', "1"],
    ["kmem_cache_free", b"", "(list=0x1)", None],
]


def strings_recording(said):
    rec = recordings.Recording(cpus=1)
    rec.info = "strings %d\n" % said
    rec.run(0, rec.task(65, "cat"))
    for name, data, _, _ in STRINGS:
        rec.call(0, name, args=[1, 2, 3, 4], data=data)
        rec.leave(0)
    return rec


def shown(text):
    """Return the text between function and caller of each call."""
    return re.findall(r"^.*?\+\S+ (.*) <-- ", text, re.M)


def check_strings(mctrace, folder):
    path = os.path.join(folder, "strings")
    with open(path + ".c", "w", encoding="utf-8") as file:
        file.write(STRINGS_SOURCE)
    subprocess.run(["gcc", "-gbtf", "-c", path + ".c", "-o", path + ".o"], check=True)
    case = Case(folder, "strings", strings_recording(1))
    wrong = compare_lists("call", shown(mctrace.text("report", "--btf", path + ".o", case.path)),
                          [text for _, _, text, _ in STRINGS])
    got = [line.get("string") for line in json_lines(mctrace.text("report", "--json", case.path))
           if line["event"] == "call"]
    wrong += compare_lists("JSON", got, [string for _, _, _, string in STRINGS])
    # Without "strings 1" a trigger of the user recorded the memory: it may be another argument's.
    case = Case(folder, "memory", strings_recording(0))
    first = shown(mctrace.text("report", "--btf", path + ".o", case.path))[0]
    return wrong + compare_lists("memory", [first],
                                 ['(to=0x1, n=2, from=0x3, more=0x4) "/etc/hostname"'])
