"""Random kernels of the language: each is right whatever order invocations run in.

So invocations write only their own elements, atomic operations commute and give nothing back, and
floats are whole numbers of a size at which sums and products are exact, however they are fused.
Everything else goes: indices out of range, shifts by any count, division by zero, wrapping.
"""

import random

ITEMS = 20  # elements of each array
WORKGROUP = 8
HEAD = """\
def helper(a: gl.i32, b: gl.f32) -> gl.i32:
{helper}
gl_helper = gpu.func(helper)

def plain(a, b):
    return a * b + a

def program(
    xi: gl.In[gl.i32], xf: gl.In[gl.f32], xb: gl.In[bool],
    oi: gl.Out[gl.i32], ou: gl.Out[gl.u32], of: gl.Out[gl.f32], ob: gl.Out[bool],
    oc: gl.InOut[gl.i32], n: gl.i32, most: gl.const[int] = 3,
):
    i, l = gl.global_id(1), gl.local_index()
{body}
    if i < len(oi):
        oi[i], ou[i], of[i], ob[i] = ri, ru, rf, rb
"""


class Program:
    """A random kernel's text, from a seed."""

    def __init__(self, seed):
        self._rng = random.Random(seed)
        self._lines = []
        self._depth = 1
        self._scopes = [{"i": "i", "l": "i", "n": "i"}]
        self._fixed = {"i", "l", "n"}
        self._count = 0
        self._arrays = []
        self._in_loop = 0
        self._shared = 0
        self._commuting = self._rng.choice(["add", "max", "min", "or", "and", "xor"])
        self._in_helper = True
        helper = self._function()
        self._in_helper = False
        self.text = HEAD.format(helper=helper, body=self._body())

    def _function(self):
        self._scopes = [{"a": "i", "b": "f"}]
        self._fixed = set()
        for _ in range(self._rng.randint(0, 2)):
            self._statement()
        if self._rng.random() < 0.6:
            self._line(f"if {self._expr('b', 2)}:")
            self._line(f"    return {self._expr('i', 2)}")
        self._line(f"return {self._expr('i', 2)}")
        text = "\n".join(self._lines) + "\n"
        self._lines = []
        self._scopes = [{"i": "i", "l": "i", "n": "i"}]
        self._fixed = {"i", "l", "n"}
        return text

    def _body(self):
        for name, kind in (("ri", "i"), ("ru", "u"), ("rf", "f"), ("rb", "b")):
            self._line(f"{name} = {self._first(kind)}")
            self._scopes[0][name] = kind
        for _ in range(self._rng.randint(2, 7)):
            self._statement()
            if self._rng.random() < 0.25:
                self._meeting()
        for name, kind in (("ri", "i"), ("ru", "u"), ("rf", "f"), ("rb", "b")):
            self._line(f"{name} = {self._value(kind, 3)}")
        return "\n".join(self._lines)

    def _line(self, text):
        self._lines.append("    " * self._depth + text)

    # Statements

    def _statement(self):
        kinds = ["assign"] * 4 + ["change"] * 3 + ["swap", "if", "if", "for", "while", "unroll"]
        if not self._in_helper:
            kinds += ["array", "atomic", "store", "guard"]
        if self._in_loop:
            kinds += ["leave"]
        if self._depth > 3:
            kinds = ["assign", "change"]
        getattr(self, f"_{self._rng.choice(kinds)}")()

    def _block(self, in_loop=False):
        self._depth += 1
        self._scopes.append({})
        self._in_loop += in_loop
        before = len(self._lines)
        for _ in range(self._rng.randint(1, 3)):
            self._statement()
        if len(self._lines) == before:
            self._line("pass")
        self._in_loop -= in_loop
        self._scopes.pop()
        self._depth -= 1

    def _first(self, kind):
        """A first value whose type cannot be mistaken."""
        value = self._value(kind, 2)
        return {"i": f"int({value})", "u": f"gl.u32({value})", "f": f"float({value})"}.get(
            kind, f"xb[0] != ({value})"
        )

    def _assign(self):
        kind = self._rng.choice("iufb")
        self._count += 1
        value = "xb[0] and True" if self._in_helper and kind == "b" else self._first(kind)
        if self._in_helper:
            value = {"i": f"int({self._value('i', 2)})", "f": f"float({self._value('f', 2)})"}.get(
                kind
            )
            if value is None:
                kind, value = "i", f"int({self._value('i', 1)})"
        self._line(f"v{self._count} = {value}")
        self._scopes[-1][f"v{self._count}"] = kind

    def _change(self):
        names = self._names(None)
        if not names:
            return self._assign()
        name, kind = self._rng.choice(names)
        if kind in "iu" and self._rng.random() < 0.5:
            sign = self._rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"])
            other = self._value("i" if sign in {"<<", ">>"} else kind, 2)
            self._line(f"{name} {sign}= {other}")
        else:
            self._line(f"{name} = {self._value(kind, 3)}")
        return None

    def _swap(self):
        names = self._names("i")
        if len(names) > 1:
            one, two = (name for name, _ in self._rng.sample(names, 2))
            self._line(f"{one}, {two} = {two}, {self._rng.choice([one, f'{one} + {two}'])}")

    def _if(self):
        self._line(f"if {self._expr('b', 2)}:")
        self._block()
        if self._rng.random() < 0.3:
            self._line(f"elif {self._expr('i', 2)}:")
            self._block()
        if self._rng.random() < 0.5:
            self._line("else:")
            self._block()

    def _for(self):
        self._count += 1
        start, step = self._rng.randint(-4, 4), self._rng.choice([1, 1, 2, 3, -1, -2, 5])
        stop = start + step * self._rng.randint(-1, 4) + self._rng.randint(-1, 1)
        bounds = self._rng.choice(
            [f"{start}, {stop}, {step}", f"min(abs({self._value('i', 1)}), 5)",
             f"{start}, {start} + min({self._value('i', 1)} & 7, 4)",
             f"{start}, {stop}, {step} if {self._expr('b', 1)} else {-step}"]
        )  # fmt: skip
        self._line(f"for k{self._count} in range({bounds}):")
        self._scopes.append({f"k{self._count}": "i"})
        if self._rng.random() < 0.7:
            self._fixed.add(f"k{self._count}")
        self._block(in_loop=True)
        self._scopes.pop()

    def _unroll(self):
        self._count += 1
        outer, self._in_loop = self._in_loop, 0
        bounds = self._rng.choice(["3", "4, 0, -2"] + ["most"] * (not self._in_helper))
        self._line(f"for k{self._count} in gl.unroll({bounds}):")
        self._scopes.append({f"k{self._count}": "i"})
        self._fixed.add(f"k{self._count}")
        self._block()
        self._scopes.pop()
        self._in_loop = outer

    def _while(self):
        self._count += 1
        name = f"w{self._count}"
        self._line(f"{name} = 0")
        self._line(f"while {name} < {self._rng.randint(1, 4)} and ({self._expr('b', 1)}):")
        self._fixed.add(name)
        self._depth += 1
        self._line(f"{name} += 1")
        self._depth -= 1
        self._block(in_loop=True)

    def _leave(self):
        self._line(f"if {self._expr('b', 1)}:")
        self._line(f"    {self._rng.choice(['break', 'continue'])}")

    def _array(self):
        self._count += 1
        name = f"t{self._count}"
        if self._depth == 1:
            self._line(f"{name} = gl.local(4, gl.i32)")
            self._arrays.append(name)
        if self._arrays:
            name = self._rng.choice(self._arrays)
            self._line(f"{name}[{self._varying(1)}] = {self._value('i', 2)}")

    def _store(self):
        at = self._rng.choice(["i", "i", "i + 1000", "-1 - i"])
        self._line(f"oi[{at}] = {self._value('i', 2)}")

    def _guard(self):
        """Accesses behind conditions that may make a check of bounds needless, or nearly so."""
        rng = self._rng
        self._count += 1
        name = f"g{self._count}"
        at = rng.choice([self._varying(1), "i", "i", "n"])
        self._line(f"{name} = {at}" if at != "n" else f"{name} = int(n)")
        low, high = rng.randint(-1, 2), rng.choice(["", " - 1", " - 2", " + 1"])
        size = rng.choice(["len(xi)", "xi.shape[0]", "len(xf)", "12"])
        sign, other = rng.choice(["<", "<="]), rng.choice(["<", "<="])
        test = rng.choice(
            [f"{low} {sign} {name} {other} {size}{high}", f"{name} {other} {size}{high}",
             f"not ({name} >= {size}{high} or {name} {sign} {low})", f"{name} + 1 {other} {size}"]
        )  # fmt: skip
        self._line(f"if {test}:")
        self._depth += 1
        one, two = rng.randint(-3, 3), rng.randint(-3, 3)
        self._line(f"ri ^= xi[{name} + {one}] + xi[{name} - {two}] + xi[{name}]")
        self._depth -= 1
        self._scopes[-1][name] = "i"
        self._fixed.add(name)

    def _atomic(self):
        at, value = self._value("i", 1), self._value("i", 2)
        self._line(f"gl.atomic_{self._commuting}(oc, {at}, {value})")

    def _meeting(self):
        """Through shared memory, with barriers around."""
        self._shared += 1
        name, value = f"s{self._shared}", f"h{self._shared}"
        self._line(f"{name} = gl.shared({WORKGROUP}, gl.i32)")
        self._line(f"{name}[l] = {self._value('i', 2)}")
        self._line("gl.barrier()")
        self._line(f"{value} = {name}[{self._varying(1)}] + {name}[l ^ 1]")
        self._line("gl.barrier()")
        self._scopes[0][value] = "i"

    # Expressions

    def _names(self, kind):
        found = {name: each for scope in self._scopes for name, each in scope.items()}
        return [
            (name, each)
            for name, each in found.items()
            if (each == kind or kind is None) and name not in self._fixed
        ]

    def _readable(self, kind):
        found = {name: each for scope in self._scopes for name, each in scope.items()}
        return [name for name, each in found.items() if each == kind]

    def _value(self, kind, depth):
        """What a variable may get: floats stay small."""
        value = self._expr(kind, depth)
        return f"gl.clamp({value}, -64.0, 64.0)" if kind == "f" else value

    def _expr(self, kind, depth):
        names = self._readable(kind)
        if depth == 0 or self._rng.random() < 0.15:
            if names and self._rng.random() < 0.7:
                return self._rng.choice(names)
            return self._leaf(kind)
        return getattr(self, f"_of_{kind}")(depth - 1)

    def _varying(self, depth):
        """An integer that is not known when the kernel is compiled."""
        return f"({self._expr('i', depth)} ^ {'a' if self._in_helper else 'n'})"

    def _leaf(self, kind):
        rng = self._rng
        if kind == "i":
            return rng.choice([str(rng.randint(0, 9)), f"({rng.randint(-40, -1)})", "3", "(-1)"])
        if kind == "u":
            return f"gl.u32({rng.choice([0, 1, 2, 7, 100, 2**31, 2**32 - 1])})"
        if kind == "f":
            return rng.choice(["0.0", "1.0", "(-3.0)", "7.0", f"float({rng.randint(-30, 30)})"])
        if self._in_helper:
            return rng.choice(["a > 2", "(b < 1.0)", "a != 0"])
        return rng.choice(["True", "False", f"xb[{rng.randint(0, 19)}]", "(i > 3)"])

    def _of_i(self, depth):
        one, two = self._varying(depth), self._expr("i", depth)
        sign = self._rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"])
        options = [
            f"({one} {sign} {two})", f"({one} {sign} {two})",
            f"({one} {sign} {self._rng.randint(1, 20)})",
            f"(-{one})", f"(~{one})", f"abs({one})", f"min({one}, {two})", f"max({one}, {two}, 2)",
            f"int({self._value('f', depth)})", f"int({self._expr('b', depth)})",
            f"gl.i32({self._expr('u', depth)})", f"({one} if {self._expr('b', depth)} else {two})",
            f"math.floor({self._value('f', depth)})", f"({one} ** 2)",
            f"({one} ** ({self._varying(depth)} & 7))",
            f"round({self._value('f', depth)})", f"gl.popcount({one})", f"gl.clz({one})",
            f"gl.select({self._expr('b', depth)}, {one}, {two})",
        ]  # fmt: skip
        if not self._in_helper:
            options += [
                f"xi[{one}]", f"xi.get({one}, {two})", f"xi[{one} % len(xi)]",
                f"plain({one}, {two})",
                f"gl_helper({one}, {self._value('f', depth)})", "len(xi)",
            ]  # fmt: skip
            options += [f"{name}[{one}]" for name in self._arrays]
        return self._rng.choice(options)

    def _of_u(self, depth):
        one, two = self._expr("u", depth), self._expr("u", depth)
        sign = self._rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"])
        options = [
            f"({one} {sign} {two})", f"({one} {sign} {two})", f"({one} {sign} 3)", f"(~{one})",
            f"min({one}, {two})", f"gl.u32({self._expr('i', depth)})", f"gl.reverse_bits({one})",
            f"({one} if {self._expr('b', depth)} else {two})", f"gl.ctz({one})",
        ]  # fmt: skip
        if not self._in_helper:
            options.append(f"gl.bitcast(xf[{self._expr('i', depth)}], gl.u32)")
        return self._rng.choice(options)

    def _of_f(self, depth):
        one, two = self._value("f", depth), self._value("f", depth)
        options = [
            f"({one} + {two})", f"({one} - {two})", f"({one} * {two})", f"(-{one})", f"abs({one})",
            f"min({one}, {two})", f"max({one}, {two})", f"({one} // (abs({two}) + 1.0))",
            f"({one} % (abs({two}) + 1.0))", f"float({self._expr('i', depth)})",
            f"({one} if {self._expr('b', depth)} else {two})", f"({one} ** 2)",
            f"({one} + {self._rng.randint(-9, 9)})", f"float({self._expr('b', depth)})",
            f"gl.floor({one})", f"float({self._expr('u', depth)})",
        ]  # fmt: skip
        if not self._in_helper:
            options.append(f"xf[{self._expr('i', depth)}]")
        return self._rng.choice(options)

    def _of_b(self, depth):
        kind = self._rng.choice("iuf")
        one, two, three = (self._expr(kind, depth) for _ in range(3))
        sign, other = (self._rng.choice(["<", "<=", ">", ">=", "==", "!="]) for _ in range(2))
        options = [
            f"({one} {sign} {two})", f"({one} {sign} {two} {other} {three})",
            f"({self._expr('b', depth)} and {self._expr('b', depth)})",
            f"({self._expr('b', depth)} or {self._expr('b', depth)})",
            f"(not {self._expr('b', depth)})", f"bool({self._expr('i', depth)})",
        ]  # fmt: skip
        return self._rng.choice(options)


def program(seed):
    """The text of a random kernel."""
    return Program(seed).text


def inputs(np, seed):
    """Arrays for a random kernel, and the numbers."""
    rng = np.random.default_rng(seed)
    xi = rng.integers(-50, 50, ITEMS).astype("i4")
    xi[:3] = [-(2**31), 2**31 - 1, 0]
    xf = rng.integers(-20, 20, ITEMS).astype("f4")
    xb = rng.random(ITEMS) < 0.5
    oc = rng.integers(-50, 50, ITEMS).astype("i4")
    return [xi, xf, xb, oc, int(rng.integers(-5, 20))]
