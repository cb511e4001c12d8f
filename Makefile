# SPDX-License-Identifier: GPL-2.0
# The commands for users and developers; each target runs a script in scripts/.

help:
	@echo "make try                trace hackbench in QEMU, with the module and Debian's 6.12 (KERNEL=6.1: 6.1) as it is"
	@echo "make run                the same with a kernel of its own, which is built first"
	@echo "make shell              a shell in that guest, to try things by hand"
	@echo "make test               the tests that each change must pass; ends with a line of counts"
	@echo "make test SUITE=list    all suites of tests, and the last result of each"
	@echo "make test SUITE=NAME    one suite, or a group: long, debug, configs, kernels, module, bisect, mutations"
	@echo "make bench              measure the cost of tracing, in instructions"
	@echo "make apply LINUX=DIR    apply the series to a tree of Linux 6.12, 7.3 or 6.1; on 6.12 with POSTINGS=N a part"
	@echo "make worktree DIR=DIR   a git tree of the kernel with the series, to edit in"
	@echo "make export DIR=DIR     write such a tree's commits back to this repository"
	@echo "make post DIR=DIR POSTING=N  write the mails of a posting, as git send-email would send them; sends nothing"
	@echo "make check              the tests that need no kernel built or booted"
	@echo "make check-bisect       build the kernel after each patch, boot it after each posting; takes long"
	@echo "make module             the tracer as a module, for an unchanged kernel: KVER=RELEASE, or the running one"
	@echo "make deb                packages: mctracer-dkms, from which dkms builds that module, and mctrace"
	@echo "make clean              remove the cache: trees, builds, logs"
	@echo
	@echo "LINUX=DIR makes run, shell, test and bench use that 6.12 tree instead of Debian's."
	@echo "KERNEL=7.3 makes them, and worktree, use that kernel."

try:
	@scripts/try

run:
	@scripts/run

shell:
	@scripts/shell $(FLAVOUR)

test:
	@scripts/suite $(or $(SUITE),test)

# test-long, test-debug and so on
test-%:
	@scripts/suite $*

check-bisect:
	@scripts/suite bisect

bench:
	@scripts/setup
	@scripts/bench
	@scripts/bench-peers

apply:
	@scripts/apply

worktree:
	@scripts/worktree $(or $(DIR),$(error no directory is named: make worktree DIR=...))

export:
	@scripts/export $(or $(DIR),$(error no tree is named: make export DIR=...))

post:
	@scripts/post $(or $(DIR),$(error no directory is named: make post DIR=... POSTING=...)) \
		$(or $(POSTING),$(error no posting is named: make post DIR=... POSTING=...))

check:
	@scripts/test quick

module:
	@scripts/module

deb:
	@scripts/deb

clean:
	@scripts/clean

export LINUX
export KERNEL
export KVER

.PHONY: help try run shell test bench apply worktree export post check check-bisect module deb clean
