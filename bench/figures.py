# SPDX-License-Identifier: GPL-2.0
"""Read the figures that the benchmark measured, and compute with them.

The file has "KERNEL NAME VALUE ITEMS" lines: in the guest of that kernel NAME took VALUE
instructions for ITEMS events, lines or records. A figure that was measured several times
has several lines; their spread shows how stable it is.
"""
import statistics

STABLE = 0.02


class Missing(Exception):
    """A guest has not printed a figure."""


class Figure:
    """The values of several rounds; arithmetic is done round by round."""

    def __init__(self, values):
        self.values = list(values)

    @property
    def value(self):
        return statistics.median(self.values)

    @property
    def spread(self):
        if min(self.values) == max(self.values):
            return 0.0
        return (max(self.values) - min(self.values)) / abs(self.value)

    @property
    def stable(self):
        return self.spread <= STABLE

    def _with(self, other, op):
        if not isinstance(other, Figure):
            other = Figure([other])
        if len(self.values) == len(other.values):
            return Figure(op(a, b) for a, b in zip(self.values, other.values))
        if len(other.values) == 1:
            return Figure(op(a, other.value) for a in self.values)
        if len(self.values) == 1:
            return Figure(op(self.value, b) for b in other.values)
        return Figure([op(self.value, other.value)])

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)


class Figures:
    """All figures of a run."""

    def __init__(self, path):
        self.lines = {}
        with open(path, encoding="ascii", errors="replace") as f:
            for line in f:
                words = line.split()
                if len(words) == 4 and all(w.lstrip("-").isdigit() for w in words[2:]):
                    values = self.lines.setdefault((words[0], words[1]), [])
                    values.append((int(words[2]), int(words[3])))

    def _get(self, kernel, name, column):
        if (kernel, name) not in self.lines:
            raise Missing(f"the {kernel} guest printed no figure for {name}")
        return Figure(line[column] for line in self.lines[kernel, name])

    def has(self, kernel, name):
        return (kernel, name) in self.lines

    def get(self, kernel, name):
        return self._get(kernel, name, 0)

    def items(self, kernel, name):
        items = self._get(kernel, name, 1)
        if min(items.values) <= 0:
            raise Missing(f"the {kernel} guest counted nothing for {name}")
        return items

    def each(self, kernel, name):
        """Return the figure for one event, line or record."""
        return self.get(kernel, name) / self.items(kernel, name)
