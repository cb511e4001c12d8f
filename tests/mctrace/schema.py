# SPDX-License-Identifier: GPL-2.0
# Test that the output of mctrace --json matches its schema and its man page.
import json
import os
import re

try:
    import jsonschema
except ImportError:
    jsonschema = None

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
FILE = os.path.join(TOP, "tools/mctrace/mctrace.schema.json")
PAGE = os.path.join(TOP, "Documentation/tools/mctrace/mctrace-json.rst")
MOST = 40       # lines of one output that are validated, from its beginning and its end
# Commands that other tests run; the rest need a kernel.
PRINTED = "report tree profile graph latency slow diff why packet".split()


class Wrong(Exception):
    pass


class Schema:
    """Validate the lines that commands print in all tests."""
    def __init__(self):
        with open(FILE, encoding="utf-8") as file:
            self.whole = json.load(file)
        self.validators = {}
        self.seen = {}          # by definition: number of validated lines

    def validator(self, name):
        if name not in self.validators:
            self.validators[name] = jsonschema.Draft202012Validator(
                dict(self.whole, anyOf=[{"$ref": "#/$defs/" + name}]))
        return self.validators[name]

    def check(self, arguments, text):
        name = "tree" if "--tree" in arguments and "--no-tree" not in arguments else arguments[0]
        name = "packet" if name == "object" else name
        if not jsonschema or name not in self.whole["$defs"]:
            return
        lines = text.splitlines()
        for line in lines if len(lines) <= MOST else lines[:MOST // 2] + lines[-MOST // 2:]:
            for error in self.validator(name).iter_errors(json.loads(line)):
                best = jsonschema.exceptions.best_match([error])
                raise Wrong("%s: %s: %s" % (" ".join(arguments), line[:300], best.message))
            self.seen[name] = self.seen.get(name, 0) + 1


def check_seen(schema):
    return ["no line of %s was validated" % name for name in PRINTED if name not in schema.seen]


BAD = [("profile", {"function": "a", "name": "a", "calls": -1}),
       ("profile", {"function": "a", "name": "a", "calls": 1, "callz": 1}),
       ("profile", {"function": "a", "calls": 1}),
       ("graph", {"way": "calls", "path": ["a"], "calls": 1}),
       ("graph", {"way": "up", "path": [{"function": "a", "name": "a"}], "calls": 1}),
       ("latency", {"from_ns": 1, "to_ns": 2, "count": 1}),
       ("report", {"event": "lost", "calls": 1, "ns": 1}),
       ("report", {"event": "call", "calls": 1})]


def check_strict(schema):
    """The schema rejects fields that it does not describe."""
    jsonschema.Draft202012Validator.check_schema(schema.whole)
    return ["%s is taken for one of %s" % (line, name) for name, line in BAD
            if not list(schema.validator(name).iter_errors(line))]


def fields_of(part):
    if isinstance(part, dict):
        for name, value in part.items():
            if name == "properties":
                yield from value
            yield from fields_of(value)
    elif isinstance(part, list):
        for value in part:
            yield from fields_of(value)


def check_described(schema):
    """The man page describes exactly the fields of the schema."""
    with open(PAGE, encoding="utf-8") as file:
        described = set(re.findall(r"^``(\w+)``$", file.read(), re.M))
    fields = set(fields_of(schema.whole["$defs"]))
    return (["%s is not in mctrace-json.rst" % name for name in sorted(fields - described)] +
            ["%s is in mctrace-json.rst alone" % name for name in sorted(described - fields)])


def test(tap, attempt, schema):
    attempt(tap, "JSON: the man page has the schema's fields", None, check_described, schema)
    if not jsonschema:
        tap.skip("JSON: lines match the schema", "there is no python3-jsonschema")
        return
    attempt(tap, "JSON: lines of each command were validated", None, check_seen, schema)
    attempt(tap, "JSON: the schema is strict", None, check_strict, schema)
