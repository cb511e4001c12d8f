#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: fold.py TREE [COMMIT [FIRST]]

Fold a change into the patches where the changed code was introduced. TREE is a git tree made by scripts/worktree, COMMIT
one of its commits (default: HEAD), FIRST the earliest patch that may change (default: the first one). Commits are named
by their subject, a part of it that is unique, or their hash.

Each hunk of COMMIT is applied to every version of its file, from FIRST on, that contains the lines which the hunk
replaces, as they are before COMMIT. Later patches contain the new lines from the beginning, so no patch conflicts. The
final files stay the same to the byte; COMMIT is removed if nothing of it is left. If COMMIT adds files, FIRST must be
named, and adds them instead. FIRST also gets changes of files that no patch touches before COMMIT; without FIRST these
changes stay in COMMIT. The branch before folding is kept as refs/fold/old.

A hunk may use something that a later patch introduces: scripts/check-compile shows whether each patch still compiles.
"""
import difflib
import os
import subprocess
import sys

BASE = "mctracer-base"


class Tree:
    """The commits of a git tree, and their files."""

    def __init__(self, path):
        self.path = path
        self.objects = subprocess.Popen(["git", "-C", path, "cat-file", "--batch"],  # pylint: disable=R1732
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.index = os.path.join(self.git("rev-parse", "--absolute-git-dir").strip(), "fold.index")

    def git(self, *args, data=None, index=False):
        """Run git and return what it prints; exit with its message if it fails."""
        env = {**os.environ, **({"GIT_INDEX_FILE": self.index} if index else {})}
        done = subprocess.run(["git", "-C", self.path, *args], input=data, capture_output=True, env=env, check=False,
                              encoding="utf-8", errors="surrogateescape")
        if done.returncode:
            sys.exit("error: git %s: %s" % (args[0], done.stderr.strip()))
        return done.stdout

    def object(self, name):
        """Return an object's content; None if there is none."""
        self.objects.stdin.write((name + "\n").encode())
        self.objects.stdin.flush()
        head = self.objects.stdout.readline().split()
        if head[-1] == b"missing":
            return None
        text = self.objects.stdout.read(int(head[2])).decode("utf-8", "surrogateescape")
        self.objects.stdout.read(1)
        return text

    def write(self, kind, text):
        return self.git("hash-object", "-t", kind, "-w", "--stdin", data=text).strip()

    def series(self):
        return self.git("rev-list", "--reverse", BASE + "..HEAD").split()

    def root(self, commit):
        """Return the tree of a commit."""
        return self.object(commit).split("\n", 1)[0].split()[1]

    def subject(self, commit):
        return self.object(commit).split("\n\n", 1)[1].split("\n", 1)[0]

    def find(self, what):
        """Return the number of the commit that is named by its subject, its hash, or a part of either."""
        commits = [(commit, self.subject(commit)) for commit in self.series()]
        for test in (lambda c, s: s == what, lambda c, s: c.startswith(what), lambda c, s: what in s):
            found = [n for n, (c, s) in enumerate(commits) if test(c, s)]
            if len(found) == 1:
                return found[0]
        sys.exit("error: %d commits are called %s" % (len(found), what))

    def changes(self, old, new):
        """Return {path: (mode, blob)} of the files that differ in new; the blob is None if new has no such file."""
        fields = self.git("diff-tree", "-r", "-z", "--no-renames", old, new).split("\0")
        found = {}
        for entry, path in zip(fields[::2], fields[1::2]):
            mode, blob, status = (entry.split()[i] for i in (1, 3, 4))
            found[path] = (mode, None if status == "D" else blob)
        return found


def places(old, state):
    """Return for each line of old its number in state, or None."""
    to = [None] * len(old)
    head = 0
    while head < min(len(old), len(state)) and old[head] == state[head]:
        to[head] = head
        head += 1
    tail = 0
    while tail < min(len(old), len(state)) - head and old[-1 - tail] == state[-1 - tail]:
        tail += 1
        to[len(old) - tail] = len(state) - tail
    between = difflib.SequenceMatcher(None, old[head:len(old) - tail], state[head:len(state) - tail], autojunk=False)
    for block in between.get_matching_blocks():
        for i in range(block.size):
            to[head + block.a + i] = head + block.b + i
    return to


class Change:
    """The change of one file by a commit, as hunks (first, last, new lines); first and last number the old lines."""

    def __init__(self, old, new):
        self.old = old.splitlines(keepends=True)
        new = new.splitlines(keepends=True)
        matcher = difflib.SequenceMatcher(None, self.old, new, autojunk=False)
        self.hunks = [(i1, i2, new[j1:j2]) for kind, i1, i2, j1, j2 in matcher.get_opcodes() if kind != "equal"]

    def apply(self, text):
        """Return text with all hunks applied that fit: text has their old lines (or both neighbours), adjacent."""
        state = text.splitlines(keepends=True)
        to = places(self.old, state)
        out, done = [], 0
        for first, last, new in self.hunks:
            if first < last:
                at = to[first]
                fits = at is not None and to[first:last] == list(range(at, at + last - first))
            else:
                at = to[first - 1] + 1 if first and to[first - 1] is not None else 0 if not first else None
                fits = at is not None and (first == len(self.old) or to[first] == at)
            if fits and at >= done:
                out += state[done:at] + new
                done = at + last - first
        return "".join(out + state[done:])


def fold(tree, commit, first):
    """Fold the commit number commit of the series into those from number first on; None: from the beginning."""
    commits = tree.series()
    begin = first or 0
    if begin >= commit:
        sys.exit("error: FIRST must come before COMMIT")
    before = commits[commit - 1]
    changed, added = {}, {}
    for path, (mode, blob) in tree.changes(before, commits[commit]).items():
        old = tree.object("%s:%s" % (before, path))
        if blob is None:
            continue  # COMMIT itself still removes the file
        if old is None:
            added[path] = (mode, tree.object(blob))
        else:
            changed[path] = (mode, Change(old, tree.object(blob)))
    if added and first is None:
        sys.exit("error: FIRST must be named: files are added: " + " ".join(added))
    if first is None:  # the states before the first patch that touches any of the files are not concerned
        touching = set(tree.git("rev-list", "%s..%s" % (BASE, before), "--", *changed).split())
        begin = next((n for n, name in enumerate(commits) if name in touching), commit)
    parent = commits[begin - 1] if begin else tree.git("rev-parse", BASE + "^{commit}").strip()
    previous, last_tree, gone = parent, tree.root(parent), []
    tree.git("read-tree", parent, index=True)
    for number in range(begin, len(commits)):
        if number >= commit:
            new_tree = tree.root(commits[number])
        else:
            entries = {}
            touched = tree.changes(previous, commits[number])
            for path, (mode, blob) in touched.items():
                if blob and path in changed:
                    blob = tree.write("blob", changed[path][1].apply(tree.object(blob)))
                entries[path] = (mode, blob)
            if number == first:
                for path, (mode, text) in added.items():
                    entries[path] = (mode, tree.write("blob", text))
                for path, (mode, change) in changed.items():
                    text = None if path in touched else tree.object("%s:%s" % (commits[number], path))
                    if text is not None:
                        entries[path] = (mode, tree.write("blob", change.apply(text)))
            lines = ["%s %s\t%s\n" % ((mode, blob, path) if blob else ("0", "0" * 40, path))
                     for path, (mode, blob) in entries.items()]
            tree.git("update-index", "--add", "--index-info", data="".join(lines), index=True)
            new_tree = tree.git("write-tree", index=True).strip()
        previous = commits[number]
        if new_tree == last_tree:
            gone.append(tree.subject(commits[number]))
            continue
        head, message = tree.object(commits[number]).split("\n\n", 1)
        head = [line for line in head.split("\n") if not line.startswith(("tree ", "parent ", "gpgsig"))]
        parent = tree.write("commit", "tree %s\nparent %s\n%s\n\n%s" % (new_tree, parent, "\n".join(head), message))
        last_tree = new_tree
    os.unlink(tree.index)
    return parent, gone


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    tree = Tree(sys.argv[1])
    if tree.git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("error: %s has changes that are not committed" % sys.argv[1])
    commit = tree.find(sys.argv[2]) if len(sys.argv) > 2 else len(tree.series()) - 1
    first = tree.find(sys.argv[3]) if len(sys.argv) > 3 else None
    head, gone = fold(tree, commit, first)
    tree.git("update-ref", "refs/fold/old", "HEAD")
    tree.git("reset", "-q", "--hard", head)
    for subject in gone:
        print("    folded: " + subject)
    print("    %d patches" % len(tree.series()))


if __name__ == "__main__":
    main()
