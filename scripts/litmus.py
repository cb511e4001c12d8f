#!/usr/bin/env python3
"""usage: scripts/litmus.py MEMORY-MODEL FILE...

A small herd7, for where there is none: runs litmus tests in C under the Linux kernel's memory
model, as MEMORY-MODEL (tools/memory-model of a kernel tree) has it in linux-kernel.bell and
linux-kernel.cat. Prints what herd7 ends with, "Observation NAME Never|Sometimes|Always N N": how many
of the executions that the model allows satisfy the test's condition, and how many don't.

Knows READ_ONCE(), WRITE_ONCE(), smp_load_acquire(), smp_store_release(), plain accesses, all fences,
registers and "if"; integers, no pointers, no locks, no atomic read-modify-write, no loops. Whatever
else a test has is an error, exit status 3, never a guess.
"""

import itertools
import os
import re
import sys


class Unsupported(Exception):
    """A test, or a model, that needs more than this knows."""


# --- the cat language ---------------------------------------------------------

CAT_TOKEN = re.compile(
    r'\s*("[^"]*"|\^-1|\|\||\+\+|[A-Za-z_][A-Za-z0-9_.-]*|\'[A-Za-z-]+|0|.)', re.DOTALL)
CAT_WORDS = {"let", "rec", "and", "in", "as", "acyclic", "irreflexive", "empty", "flag", "include",
             "enum", "instructions", "show"}


def strip_comments(text):
    out, depth, i = [], 0, 0
    while i < len(text):
        if text.startswith("(*", i):
            depth += 1
            i += 2
        elif depth and text.startswith("*)", i):
            depth -= 1
            i += 2
        else:
            if not depth:
                out.append(text[i])
            i += 1
    return "".join(out)


class CatParser:
    """Statements as tuples. Expressions as tuples (operator, operands...)."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        text = strip_comments(text).strip()
        text = re.sub(r'^"[^"]*"', "", text)  # the model's title
        self.tokens = [t for t in CAT_TOKEN.findall(text) if t.strip()] + [None]
        self.at = 0

    def peek(self):
        return self.tokens[self.at]

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token):
        got = self.next()
        if got != token:
            raise Unsupported(f"cat: {got!r} instead of {token!r}")

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def statements(self):
        out = []
        while self.peek() is not None:
            word = self.next()
            if word == "let":
                out.append(("let", *self.bindings()))
            elif word in ("acyclic", "irreflexive", "empty"):
                out.append((word, self.expression(), self.name()))
            elif word == "flag":
                self.expect("~")
                self.expect("empty")
                out.append(("flag", self.expression(), self.name()))
            elif word == "include":
                out.append(("include", self.next().strip('"')))
            elif word in ("enum", "instructions"):
                # What instructions there are is known here.
                while self.peek() not in CAT_WORDS and self.peek() is not None:
                    self.next()
            else:
                raise Unsupported(f"cat: statement {word!r}")
        return out

    def name(self):
        return self.next() if self.accept("as") else None

    def bindings(self):
        rec = self.accept("rec")
        found = []
        while True:
            name = self.next()
            param = None
            if self.accept("("):
                param = self.next()
                self.expect(")")
            self.expect("=")
            found.append((name, param, self.expression()))
            if not self.accept("and"):
                return rec, found

    LEVELS = ["|", ";", "\\", "&", "*"]  # by increasing precedence

    def expression(self, level=0):
        if self.accept("let"):
            rec, found = self.bindings()
            self.expect("in")
            return ("in", rec, found, self.expression())
        if level == len(self.LEVELS):
            return self.postfix()
        left = self.expression(level + 1)
        while self.peek() == self.LEVELS[level]:
            self.next()
            left = (self.LEVELS[level], left, self.expression(level + 1))
        return left

    def operand_follows(self):
        token = self.tokens[self.at + 1]
        return token is not None and token not in CAT_WORDS and \
            (token in ("(", "[", "{", "~") or re.match(r"[A-Za-z_0]", token))

    def postfix(self):
        expr = self.primary()
        while True:
            token = self.peek()
            if token in ("+", "?", "^-1") or (token == "*" and not self.operand_follows()):
                expr = ("post" + self.next(), expr)
            else:
                return expr

    def primary(self):
        token = self.next()
        if token == "(":
            expr = self.expression()
            self.expect(")")
            return expr
        if token == "[":
            expr = self.expression()
            self.expect("]")
            return ("id", expr)
        if token == "~":
            return ("~", self.postfix())
        if token == "0":
            return ("empty",)
        if token is None or token in CAT_WORDS or not re.match(r"[A-Za-z_]", token):
            raise Unsupported(f"cat: {token!r} in an expression")
        if self.peek() == "(":
            self.next()
            expr = self.expression()
            self.expect(")")
            return ("call", token, expr)
        return ("name", token)


def compose(a, b):
    after = {}
    for x, y in b:
        after.setdefault(x, []).append(y)
    return frozenset((x, z) for x, y in a for z in after.get(y, ()))


def closure(rel):
    while True:
        more = rel | compose(rel, rel)
        if more == rel:
            return rel
        rel = more


class Judge:
    """Evaluates a model for one candidate execution. Sets are of events, relations of pairs."""

    def __init__(self, statements, universe, env):
        self.statements = statements
        self.universe = frozenset(universe)
        self.identity = frozenset((e, e) for e in universe)
        self.env = env
        self.flags = []

    def allowed(self):
        for statement in self.statements:
            kind = statement[0]
            if kind == "let":
                self.env = self.bind(statement[1], statement[2], self.env)
                continue
            value = self.evaluate(statement[1], self.env)
            if kind == "flag":
                if value:
                    self.flags.append(statement[2])
            elif kind == "acyclic":
                if closure(value) & self.identity:
                    return False
            elif kind == "irreflexive":
                if value & self.identity:
                    return False
            elif value:  # empty
                return False
        return True

    def bind(self, rec, bindings, env):
        env = dict(env)
        if not rec:
            values = [(name, ("function", param, expr, env) if param
                       else self.evaluate(expr, env)) for name, param, expr in bindings]
            # A function sees what was bound where it was defined.
            env = dict(env)
            env.update(values)
            return env
        for name, _, _ in bindings:
            env[name] = frozenset()
        for _ in range(1000):
            values = [(name, self.evaluate(expr, env)) for name, _, expr in bindings]
            if all(env[name] == value for name, value in values):
                return env
            env.update(values)
        raise Unsupported("cat: no fixpoint")

    def evaluate(self, expr, env):
        op = expr[0]
        if op == "name":
            if expr[1] not in env:
                raise Unsupported(f"cat: unknown {expr[1]}")
            return env[expr[1]]
        if op == "empty":
            return frozenset()
        if op == "in":
            return self.evaluate(expr[3], self.bind(expr[1], expr[2], env))
        if op == "call":
            return self.call(expr[1], self.evaluate(expr[2], env), env)
        a = self.evaluate(expr[1], env)
        if op == "id":
            return frozenset((e, e) for e in a)
        if op == "~":  # only ever of sets
            if any(isinstance(e, tuple) for e in a):
                raise Unsupported("cat: complement of a relation")
            return self.universe - a
        if op == "post?":
            return a | self.identity
        if op == "post+":
            return closure(a)
        if op == "post*":
            return closure(a) | self.identity
        if op == "post^-1":
            return frozenset((y, x) for x, y in a)
        b = self.evaluate(expr[2], env)
        if op == "|":
            return a | b
        if op == "&":
            return a & b
        if op == "\\":
            return a - b
        if op == ";":
            return compose(a, b)
        if op == "*":
            return frozenset(itertools.product(a, b))
        raise Unsupported(f"cat: {op}")

    def call(self, name, value, env):
        if name == "domain":
            return frozenset(x for x, _ in value)
        if name == "range":
            return frozenset(y for _, y in value)
        if name == "fencerel":
            po = env["po"]
            return compose(frozenset((x, y) for x, y in po if y in value), po)
        if name == "different-values":  # of SRCU, which no test here has
            if value:
                raise Unsupported("cat: different-values")
            return value
        function = env.get(name)
        if not function or function[0] != "function":
            raise Unsupported(f"cat: function {name}")
        inner = dict(function[3])
        inner[function[1]] = value
        return self.evaluate(function[2], inner)


# Sets of what no test here has.
NO_EVENTS = ["LKR", "LKW", "UL", "LF", "RL", "RU", "Srcu-lock", "Srcu-unlock", "Sync-srcu", "RMW",
             "Noreturn"]
TAGS = {"READ_ONCE": "Once", "WRITE_ONCE": "Once", "smp_load_acquire": "Acquire",
        "smp_store_release": "Release"}
FENCES = {"smp_mb": "Mb", "smp_rmb": "Rmb", "smp_wmb": "Wmb", "barrier": "Barrier",
          "rcu_read_lock": "Rcu-lock", "rcu_read_unlock": "Rcu-unlock",
          "synchronize_rcu": "Sync-rcu", "smp_mb__before_atomic": "Before-atomic",
          "smp_mb__after_atomic": "After-atomic", "smp_mb__after_spinlock": "After-spinlock",
          "smp_mb__after_unlock_lock": "After-unlock-lock",
          "smp_mb__after_srcu_read_unlock": "After-srcu-read-unlock"}


def load_model(directory):
    statements = []
    for name in ("linux-kernel.bell", "linux-kernel.cat"):
        with open(os.path.join(directory, name), encoding="utf-8") as stream:
            for statement in CatParser(stream.read()).statements():
                # lock.cat makes rf and co where there are locks; here they come from outside.
                if statement[0] == "include" and statement[1] == "lock.cat":
                    continue
                if statement[0] == "include":
                    raise Unsupported(f"cat: include {statement[1]}")
                statements.append(statement)
    return statements


# --- litmus tests in C --------------------------------------------------------

C_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|&&|\|\||[=!<>]=|<<|>>|.)", re.DOTALL)
C_LEVELS = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"],
            ["+", "-"], ["*", "%"]]
TYPES = {"int", "long", "unsigned", "u32", "u64", "bool"}


class CParser:
    """The body of a thread, as nested lists of statements."""

    def __init__(self, text, shared):
        text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        self.tokens = [t for t in C_TOKEN.findall(text) if t.strip()] + [None]
        self.at = 0
        self.shared = shared

    peek, next, expect, accept = (CatParser.peek, CatParser.next, CatParser.expect,
                                  CatParser.accept)

    def block(self):
        out = []
        while self.peek() is not None and self.peek() != "}":
            out += self.statement()
        return out

    def statement(self):
        if self.accept("{"):
            out = self.block()
            self.expect("}")
            return out
        if self.accept(";"):
            return []
        if self.accept("if"):
            self.expect("(")
            cond = self.expression()
            self.expect(")")
            then = self.statement()
            return [("if", cond, then, self.statement() if self.accept("else") else [])]
        if self.peek() in TYPES:
            while self.peek() in TYPES:
                self.next()
            if self.accept("*"):
                raise Unsupported("a pointer in a register")
            name = self.tokens[self.at]
            if self.tokens[self.at + 1] == ";":
                self.at += 2
                return []
            if not re.match(r"[A-Za-z_]\w*$", name):
                raise Unsupported(f"declaration of {name}")
        return [self.simple()]

    def location(self):
        self.expect("*")
        return self.location_name()

    def location_name(self):
        name = self.next()
        if name not in self.shared:
            raise Unsupported(f"{name} is no parameter")
        return name

    def simple(self):
        name = self.peek()
        if name == "*":
            loc = self.location()
            self.expect("=")
            out = ("write", "Plain-access", loc, self.expression())
        elif name in FENCES:
            self.next()
            self.expect("(")
            self.expect(")")
            out = ("fence", FENCES[name])
        elif name in ("WRITE_ONCE", "smp_store_release"):
            self.next()
            self.expect("(")
            loc = self.location() if name == "WRITE_ONCE" or self.peek() == "*" \
                else self.location_name()
            self.expect(",")
            out = ("write", TAGS[name], loc, self.expression())
            self.expect(")")
        else:
            self.next()
            if not re.match(r"[A-Za-z_]\w*$", name or "") or self.peek() != "=":
                raise Unsupported(f"statement {name} {self.peek()}")
            self.next()
            out = ("assign", name, self.expression())
        self.expect(";")
        return out

    def expression(self, level=0):
        if level == len(C_LEVELS):
            return self.unary()
        left = self.expression(level + 1)
        while self.peek() in C_LEVELS[level]:
            op = self.next()
            left = ("op", op, left, self.expression(level + 1))
        return left

    def unary(self):
        token = self.next()
        if token in ("!", "-", "~"):
            return ("unary", token, self.unary())
        if token == "(":
            expr = self.expression()
            self.expect(")")
            return expr
        if token == "*":
            return ("read", "Plain-access", self.location_name())
        if token in ("READ_ONCE", "smp_load_acquire"):
            self.expect("(")
            loc = self.location() if self.peek() == "*" else self.location_name()
            self.expect(")")
            return ("read", TAGS[token], loc)
        if token and token.isdigit():
            return ("number", int(token))
        if token and re.match(r"[A-Za-z_]\w*$", token) and self.peek() != "(":
            return ("register", token)
        raise Unsupported(f"{token} in an expression")


BINARY = {
    "||": lambda a, b: int(bool(a or b)), "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "%": lambda a, b: a % b,
}
UNARY = {"!": lambda a: int(not a), "-": lambda a: -a, "~": lambda a: ~a}


class Event:
    def __init__(self, kind, tag, loc, value, data, ctrl):
        self.kind, self.tag, self.loc, self.value = kind, tag, loc, value
        self.data, self.ctrl = data, ctrl  # indices of reads of the same thread


class Thread:
    """One run of a thread in which its reads return what @values says."""

    def __init__(self, values):
        self.values, self.used = values, 0
        self.events, self.registers = [], {}  # name: (value, reads it depends on)

    def run(self, body, ctrl=frozenset()):
        for statement in body:
            if statement[0] == "fence":
                self.events.append(Event("F", statement[1], None, None, frozenset(), ctrl))
            elif statement[0] == "assign":
                self.registers[statement[1]] = self.evaluate(statement[2], ctrl)
            elif statement[0] == "write":
                value, reads = self.evaluate(statement[3], ctrl)
                self.events.append(Event("W", statement[1], statement[2], value, reads, ctrl))
            else:
                value, reads = self.evaluate(statement[1], ctrl)
                self.run(statement[2] if value else statement[3], ctrl | reads)

    def evaluate(self, expr, ctrl):
        kind = expr[0]
        if kind == "number":
            return expr[1], frozenset()
        if kind == "register":
            if expr[1] not in self.registers:
                raise Unsupported(f"{expr[1]} is read before it is set")
            return self.registers[expr[1]]
        if kind == "read":
            if self.used == len(self.values):
                raise NeedValue(expr[2])
            value = self.values[self.used]
            self.used += 1
            self.events.append(Event("R", expr[1], expr[2], value, frozenset(), ctrl))
            return value, frozenset([len(self.events) - 1])
        if kind == "unary":
            value, reads = self.evaluate(expr[2], ctrl)
            return UNARY[expr[1]](value), reads
        a, reads_a = self.evaluate(expr[2], ctrl)
        b, reads_b = self.evaluate(expr[3], ctrl)
        return BINARY[expr[1]](a, b), reads_a | reads_b


class NeedValue(Exception):
    pass


def runs_of(body, domain):
    """All runs of a thread whose reads return values of @domain, by location."""
    pending, out = [()], []
    while pending:
        values = pending.pop()
        thread = Thread(values)
        try:
            thread.run(body)
        except NeedValue as need:
            pending += [values + (v,) for v in sorted(domain[need.args[0]])]
            continue
        out.append(thread)
    return out


class Litmus:
    def __init__(self, text):
        # Comments: before the threads and behind them. In C, "(*" begins none.
        comment = r"\(\*.*?\*\)"
        match = re.match(rf"\s*C\s+(\S+)(?:\s|{comment})*\{{([^}}]*)\}}(.*)$", text, re.DOTALL)
        if not match:
            raise Unsupported("not a litmus test in C")
        self.name, init, rest = match.groups()
        init = re.sub(comment, "", init, flags=re.DOTALL)
        self.init = {}
        for part in filter(None, (p.strip() for p in init.split(";"))):
            found = re.match(r"(?:\w+\s+)?(\w+)\s*=\s*(\d+)$", part)
            if not found:
                raise Unsupported(f"initial state {part}")
            self.init[found[1]] = int(found[2])
        self.threads = []
        while True:
            match = re.match(r"\s*P(\d+)\s*\(([^)]*)\)[^{]*\{", rest)
            if not match:
                break
            depth, end = 1, match.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(rest[end], 0)
                end += 1
            shared = []
            for param in match[2].split(","):
                found = re.match(r"\s*(?:volatile\s+)?(int|long|u32|u64)\s*\*\s*(\w+)\s*$", param)
                if not found:
                    raise Unsupported(f"parameter {param.strip()}")
                shared.append(found[2])
            parser = CParser(rest[match.end():end - 1], shared)
            self.threads.append(parser.block())
            if parser.peek() is not None:
                raise Unsupported(f"{parser.peek()!r} in a thread")
            for loc in shared:
                self.init.setdefault(loc, 0)
            rest = rest[end:]
        rest = re.sub(comment, "", rest, flags=re.DOTALL)
        match = re.match(r"\s*(?:locations\s*\[[^]]*\]\s*)?(~\s*exists|exists)\s*(.*)$", rest, re.DOTALL)
        if not match or not self.threads:
            raise Unsupported("no condition that is known here")
        self.condition = self.compile(match[2])

    @staticmethod
    def compile(text):
        """To Python: lookups of "1:r0" or "x"."""
        out = re.sub(r"(\d+:\w+|[A-Za-z_]\w*)\s*=\s*(\d+)", r'(state("\1")==\2)', text)
        out = out.replace("/\\", " and ").replace("\\/", " or ").replace("~", " not ")
        if re.sub(r'state\("[\w:]+"\)==\d+|and|or|not|[()\s]', "", out):
            raise Unsupported(f"condition {text.strip()}")
        return compile("(" + out.strip() + ")", "condition", "eval")

    def domain(self):
        """What may be read from where: all that may be written there."""
        domain = {loc: {value} for loc, value in self.init.items()}
        while True:
            before = sum(len(v) for v in domain.values())
            for body in self.threads:
                for run in runs_of(body, domain):
                    for event in run.events:
                        if event.kind == "W":
                            domain[event.loc].add(event.value)
            after = sum(len(v) for v in domain.values())
            if after == before:
                return domain
            if after > 200:
                raise Unsupported("too many values")

    def observe(self, statements):
        domain = self.domain()
        hits = misses = 0
        flags = set()
        for combination in itertools.product(*(runs_of(body, domain) for body in self.threads)):
            for hit, flagged in self.executions(combination, statements):
                hits += hit
                misses += not hit
                flags.update(flagged)
        return hits, misses, flags

    def executions(self, combination, statements):
        events, thread_of = [], []
        for loc, value in sorted(self.init.items()):
            events.append(Event("W", "IW", loc, value, frozenset(), frozenset()))
            thread_of.append(None)
        po, data, ctrl = set(), set(), set()
        for number, run in enumerate(combination):
            base = len(events)
            for i, event in enumerate(run.events):
                events.append(event)
                thread_of.append(number)
                po.update((base + j, base + i) for j in range(i))
                data.update((base + r, base + i) for r in event.data)
                ctrl.update((base + r, base + i) for r in event.ctrl)
        everything = range(len(events))
        reads = [e for e in everything if events[e].kind == "R"]
        writes = {}
        for e in everything:
            if events[e].kind == "W":
                writes.setdefault(events[e].loc, []).append(e)
        sources = [[w for w in writes[events[r].loc] if events[w].value == events[r].value]
                   for r in reads]
        if not all(sources):
            return

        env = {name: frozenset() for name in NO_EVENTS}
        env.update({name: frozenset() for name in FENCES.values()})
        env.update({name: frozenset() for name in ("Once", "Acquire", "Release", "rmw", "addr")})
        for e in everything:
            env[events[e].tag] = env.get(events[e].tag, frozenset()) | {e}
        env["R"] = frozenset(reads)
        env["W"] = frozenset(e for e in everything if events[e].kind == "W")
        env["F"] = frozenset(e for e in everything if events[e].kind == "F")
        env["M"] = env["R"] | env["W"]
        env["_"] = frozenset(everything)
        env["id"] = frozenset((e, e) for e in everything)
        pairs = list(itertools.product(everything, everything))
        env["loc"] = frozenset((a, b) for a, b in pairs
                               if events[a].loc and events[a].loc == events[b].loc)
        env["int"] = frozenset((a, b) for a, b in pairs
                               if thread_of[a] is not None and thread_of[a] == thread_of[b] or a == b)
        env["ext"] = frozenset(pairs) - env["int"]
        env["po"], env["data"], env["ctrl"] = frozenset(po), frozenset(data), frozenset(ctrl)
        env["po-loc"] = env["po"] & env["loc"]

        orders = [[(w[0],) + rest for rest in itertools.permutations(w[1:])]
                  for w in writes.values()]  # the initial write is the first
        for order in itertools.product(*orders):
            co = frozenset((w[i], w[j]) for w in order for i in range(len(w))
                           for j in range(i + 1, len(w)))
            final = {events[w[-1]].loc: events[w[-1]].value for w in order}
            for chosen in itertools.product(*sources):
                rf = frozenset(zip(chosen, reads))
                fr = compose(frozenset((r, w) for w, r in rf), co)
                if closure(env["po-loc"] | rf | co | fr) & env["id"]:
                    continue  # the model says the same, but later
                full = dict(env)
                for name, value in (("rf", rf), ("co", co), ("fr", fr)):
                    full[name] = value
                    full[name + "e"] = value & env["ext"]
                    full[name + "i"] = value & env["int"]
                judge = Judge(statements, everything, full)
                if not judge.allowed():
                    continue

                def state(name):
                    if ":" in name:
                        number, register = name.split(":")
                        return combination[int(number)].registers.get(register, (0,))[0]
                    return final[name]
                yield bool(eval(self.condition, {"state": state})), judge.flags


def main(args):
    if len(args) < 2 or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    statements = load_model(args[0])
    status = 0
    for path in args[1:]:
        try:
            with open(path, encoding="utf-8") as stream:
                test = Litmus(stream.read())
            hits, misses, flags = test.observe(statements)
        except Unsupported as reason:
            print(f"{os.path.basename(path)}: not known here: {reason}")
            status = 3
            continue
        for flag in sorted(flags):
            print(f"Flag {flag}")
        word = "Never" if not hits else "Sometimes" if misses else "Always"
        print(f"Observation {test.name} {word} {hits} {misses}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
