#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: ledger.py SUITES LEDGER list CODES | names NAME... | todo CODES NAME... | command NAME
                    | add NAME CODES DATE MINUTES <OUTPUT | count <OUTPUT | sum <COUNTS
                    | readme README CODES

Read the table of test suites and keep the ledger of their results: one line for each suite, of its last run. CODES
are "OF=COMMIT,...": for all that suites can be of, the commit that was tested; "-" and a "+" at its end mean that no
commit has the tested code. "count" prints the counts
in a suite's output as the line "N passed, N failed, N skipped", and "add" records them, too. The output ends with
"exit status N"; a suite that prints no counts counts as one test, which passed if that status was 0.
"""
import fcntl
import os
import re
import sys

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
STATUS = re.compile(r"^exit status (\d+)$", re.M)
COLUMNS = ("suite", "kernel", "commit", "date", "passed", "failed", "skipped", "minutes")
TABLE = re.compile(r"(<!-- ledger -->\n)(?:\|.*\n)*(<!-- end -->\n)")


def read_suites(path):
    """Return {name: (kernel, of, command)} in the order of the file."""
    suites = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, kernel, of, command = line.split(None, 3)
                suites[name] = (kernel, of, command.strip())
    return suites


def read_ledger(path):
    """Return {name: row}, each row a dictionary of COLUMNS."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    except FileNotFoundError:
        return {}
    return {line[0]: dict(zip(COLUMNS, line)) for line in lines}


def write_ledger(path, suites, rows):
    """Write the rows of suites that exist, in their order."""
    lines = ["# SPDX-License-Identifier: GPL-2.0\n", "# The last run of each suite, written by scripts/suite.\n"]
    lines += [" ".join(row[column] for column in COLUMNS) + "\n" for row in
              ([dict(zip(COLUMNS, ["#", *COLUMNS[1:]]))] + [rows[name] for name in suites if name in rows])]
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.writelines(lines)
    os.replace(path + ".new", path)


def names_of(suites, wanted):
    """Return the names of the suites in wanted, where a group stands for all its suites."""
    names = []
    for want in wanted:
        found = [name for name in suites if name == want or name.startswith(want + "/")]
        if not found:
            sys.exit("error: no such suite: %s (scripts/suite list shows them)" % want)
        names += [name for name in found if name not in names]
    return names


def code_of(suites, name, codes):
    """Return the commit that has the code which the suite tests."""
    return dict(code.split("=") for code in codes.split(","))[suites[name][1]]


def is_current(suites, rows, name, codes):
    """Return true if the suite was run on this code, and a commit has that code."""
    code = code_of(suites, name, codes)
    return name in rows and rows[name]["commit"] == code and code[-1] not in "-+"


def count(output):
    """Return (passed, failed, skipped) of a suite's output."""
    counts = COUNTS.findall(output)
    status = int((STATUS.findall(output) or ["1"])[-1])
    if not counts:
        return int(status == 0), int(status != 0), 0
    passed, failed, skipped = (int(n or 0) for n in counts[-1])
    return passed, failed or int(status != 0), skipped


def add(suites, path, counts, name, codes, date, minutes):
    """Put one suite's result into the ledger. The file of suites is the lock, since the ledger is replaced."""
    with open(sys.argv[1], encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = read_ledger(path)
        rows[name] = dict(zip(COLUMNS, (name, suites[name][0], code_of(suites, name, codes), date,
                                       *map(str, counts), minutes)))
        write_ledger(path, suites, rows)


def table(suites, rows, codes):
    """Return the README's lines: for each group the number of suites that ran on this code, and their results."""
    lines = ["| suites | kernels | run | passed | failed | skipped | minutes | commit | date |",
             "|---|---|---|---:|---:|---:|---:|---|---|"]
    for group in dict.fromkeys(name.split("/")[0] for name in suites):
        names = names_of(suites, [group])
        run = [rows[name] for name in names if is_current(suites, rows, name, codes)]
        kernels = ", ".join(dict.fromkeys(suites[name][0] for name in names))
        if not run:
            lines.append("| %s | %s | 0 of %d | - | - | - | - | - | - |" % (group, kernels, len(names)))
            continue
        lines.append("| %s | %s | %d of %d | %s | %s | %s | %s | %s | %s |" % (
            group, kernels, len(run), len(names),
            *(sum(int(row[what]) for row in run) for what in ("passed", "failed", "skipped", "minutes")),
            ", ".join(dict.fromkeys(row["commit"] for row in run)), max(row["date"] for row in run)))
    return "\n".join(lines) + "\n"


def readme(suites, rows, path, codes):
    """Write the table into the README."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    new, nr = TABLE.subn(lambda match: match[1] + table(suites, rows, codes) + match[2], text)
    if nr != 1:
        sys.exit("error: %d tables of suites in %s, not 1" % (nr, path))
    if new != text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)


def show(suites, rows, codes):
    """Print all suites with their last results."""
    for name, (kernel, _, command) in suites.items():
        row = rows.get(name)
        done = "not run" if not row else "%s passed, %s failed, %s skipped, %s min, %s%s" % (
            row["passed"], row["failed"], row["skipped"], row["minutes"], row["date"],
            "" if is_current(suites, rows, name, codes) else ", on other code")
        print("%-24s %-6s %-52s %s" % (name, kernel, command, done))


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    suites, path, what, rest = read_suites(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
    rows = read_ledger(path)
    if what == "list":
        show(suites, rows, *rest)
    elif what == "names":
        print("\n".join(names_of(suites, rest)))
    elif what == "todo":
        print("\n".join(name for name in rest[1:]
                        if not is_current(suites, rows, name, rest[0]) or rows[name]["failed"] != "0"))
    elif what == "command":
        print(suites[rest[0]][2])
    elif what in ("add", "count"):
        counts = count(sys.stdin.read())
        if what == "add":
            add(suites, path, counts, *rest)
        print("%d passed, %d failed, %d skipped" % counts)
    elif what == "sum":
        counts = COUNTS.findall(sys.stdin.read())
        passed, failed, skipped = (sum(int(row[i] or 0) for row in counts) for i in range(3))
        print("%d passed, %d failed%s" % (passed, failed, ", %d skipped" % skipped if skipped else ""))
        sys.exit(failed != 0)
    elif what == "readme":
        readme(suites, rows, *rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
