"""Random PTO programs: products in blocks, and chains of vector instructions, some with faults."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class RandomProgram:
    """A program, and the contract that says what it is called with."""

    text: str
    contract: str


def program(seed: int) -> RandomProgram:
    """Return a program of a number."""
    random = Random(seed)
    return (_Vectors if seed % 2 else _Product)(random).made()


_CONTRACT = """
[kernel]
isa = "pto"
profile = "{profile}"
sync = "{sync}"

{parameters}

[ensures]
formula = "{output} = 0"
"""


def _parameter(name: str, fmt: str, shape: tuple[int, ...], access: str = "in") -> str:
    return f'[[param]]\nname = "{name}"\ntype = "{fmt}"\nshape = {list(shape)}\naccess = "{access}"\n'


class _Text:
    """A function in the making: its statements, and the constants that they name."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self._constants: dict[int, str] = {}

    def number(self, value: int) -> str:
        self._constants.setdefault(value, f"%c{value}")
        return self._constants[value]

    def numbers(self, *values: int) -> str:
        return f"[{', '.join(map(self.number, values))}]"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def flag(self, source: str, target: str, event: int = 0) -> None:
        """Order a pipe behind another one; now and then only half of it is said."""
        marks = f"[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"
        if self.random.random() < 0.985:
            self.add(f"pto.set_flag{marks}")
        if self.random.random() < 0.985:
            self.add(f"pto.wait_flag{marks}")

    def function(self, parameters: str, arch: str = "a5") -> str:
        constants = [f"{name} = arith.constant {value} : index" for value, name in self._constants.items()]
        body = "\n    ".join((*constants, *self.lines))
        return (
            f'module attributes {{pto.target_arch = "{arch}"}} {{\n  func.func @k({parameters}) {{\n'
            f"    {body}\n    return\n  }}\n}}\n"
        )


def _view(
    text: _Text, name: str, pointer: str, shape: tuple[int, int], element: str, *, turned: bool
) -> None:
    rows, columns = shape
    strides = (1, rows) if turned else (columns, 1)
    text.add(
        f"{name} = pto.make_tensor_view {pointer}, shape = {text.numbers(rows, columns)}, "
        f"strides = {text.numbers(*strides)} : !pto.tensor_view<?x?x{element}>"
    )


def _part(text: _Text, name: str, view: str, at: tuple[int, int], size: tuple[int, int], element: str) -> str:
    type_ = f"!pto.partition_tensor_view<{size[0]}x{size[1]}x{element}>"
    text.add(
        f"{name} = pto.partition_view {view}, offsets = {text.numbers(*at)}, sizes = {text.numbers(*size)} : "
        f"!pto.tensor_view<?x?x{element}> -> {type_}"
    )
    return type_


class _Product:
    """A product in steps of K, single-buffered, its operands cut out of panels or loaded whole."""

    def __init__(self, random: Random) -> None:
        self.random, self.text = random, _Text(random)
        self.element, self.fmt, self.result, self.out = random.choice(
            [("f16", "f16", "f32", "f32"), ("bf16", "bf16", "f32", "f32"), ("i8", "s8", "i32", "s32"),
             ("f32", "f32", "f32", "f32"), ("f16", "f16", "f32", "f16")]
        )  # fmt: skip
        unit = 32 if self.element == "i8" else 16
        m, n = random.choice([16, 32]), max(random.choice([16, 32]), unit)
        self.step, self.steps = random.choice([unit, 2 * unit]), random.choice([1, 2, 3])
        self.rows, self.columns = (each - random.choice([0, 0, 1, 5]) for each in (m, n))
        self.turned, self.biased = random.random() < 0.3, random.random() < 0.4
        whole = (self.rows, self.columns) == (m, n)
        compact = ", compact=1" if not whole or random.random() < 0.2 else ""
        nz, zn = "blayout=col_major, slayout=row_major", "slayout=col_major"
        a = f"{m}x{self.step}x{self.element}, valid={self.rows}x{self.step}"
        b = f"{self.step}x{n}x{self.element}, valid={self.step}x{self.columns}"
        c = f"{m}x{n}x{self.result}, valid={self.rows}x{self.columns}"
        bias = f"1x{n}x{self.result}, valid=1x{self.columns}"
        self.types = {
            "%al": f"!pto.tile_buf<mat, {a}, {nz}>",
            "%bl": f"!pto.tile_buf<mat, {b}, {zn if self.turned else nz}>",
            "%a": f"!pto.tile_buf<left, {a}, {nz}{compact}>",
            "%b": f"!pto.tile_buf<right, {b}, {zn}{compact}>",
            "%c": f"!pto.tile_buf<acc, {c}, {nz}, fractal=1024{compact}>",
            "%dl": f"!pto.tile_buf<mat, {bias}>",
            "%d": f"!pto.tile_buf<bias, {bias}>",
        }

    @property
    def stored(self) -> str:
        """The elements of the output."""
        return self.out if self.out == "f16" else self.result

    def move(self, opcode: str, source: str, target: str, indices: str = "") -> None:
        """Move a tile."""
        more = ", index, index" if indices else ""
        types = self.types[source], self.types[target]
        self.text.add(f"pto.{opcode} ins({source}{indices} : {types[0]}{more}) outs({target} : {types[1]})")

    def load(self, part: str, type_: str, target: str) -> None:
        """Load a tile."""
        self.text.add(f"pto.tload ins({part} : {type_}) outs({target} : {self.types[target]})")

    def multiply(self, opcode: str, *inputs: str) -> None:
        """Multiply tiles."""
        types = ", ".join(self.types[each] for each in inputs)
        self.text.add(f"pto.{opcode} ins({', '.join(inputs)} : {types}) outs(%c : {self.types['%c']})")

    def take_step(self, t: int) -> None:
        """Load, move and multiply one slice of K; now and then a wrong one."""
        text, random = self.text, self.random
        at = (t if random.random() < 0.9 else 0) * self.step
        parts = {
            "%al": _part(text, f"%aw{t}", "%av", (0, at), (self.rows, self.step), self.element),
            "%bl": _part(text, f"%bw{t}", "%bv", (at, 0), (self.step, self.columns), self.element),
        }
        for target, type_ in parts.items():
            self.load(f"{target[:-1]}w{t}", type_, target)
        text.flag("MTE2", "MTE1")
        zero = text.number(0)
        self.move(*random.choice([("tmov", "%al", "%a"), ("textract", "%al", "%a", f", {zero}, {zero}")]))
        self.move("tmov", "%bl", "%b")
        if self.biased and t == 0:
            self.move("tmov", "%dl", "%d")
        text.flag("MTE1", "M")
        if t and random.random() < 0.95:
            self.multiply("tmatmul.acc", "%c", "%a", "%b")
        elif self.biased:
            self.multiply("tmatmul.bias", "%a", "%b", "%d")
        else:
            self.multiply("tmatmul", "%a", "%b")
        if random.random() < 0.97:
            text.flag("M", "MTE2", 1)
        elif random.random() < 0.5:
            text.add("pto.barrier <PIPE_ALL>")

    def made(self) -> RandomProgram:
        """Return the program."""
        text, random, k = self.text, self.random, self.step * self.steps
        _view(text, "%av", "%ap", (self.rows, k), self.element, turned=False)
        _view(text, "%bv", "%bp", (k, self.columns), self.element, turned=self.turned)
        _view(text, "%cv", "%cp", (self.rows, self.columns), self.stored, turned=False)
        for name, type_ in self.types.items():
            text.add(f"{name} = pto.alloc_tile : {type_}")
        if self.biased:
            _view(text, "%dv", "%dp", (1, self.columns), self.result, turned=False)
            self.load("%dw", _part(text, "%dw", "%dv", (0, 0), (1, self.columns), self.result), "%dl")
        for t in range(self.steps):
            self.take_step(t)
        text.flag("M", "FIX")
        part = _part(text, "%cw", "%cv", (0, 0), (self.rows, self.columns), self.stored)
        relu = " {reluPreMode = #pto<relu_pre_mode normal_relu>}" if random.random() < 0.2 else ""
        text.add(f"pto.tstore ins(%c : {self.types['%c']}) outs(%cw : {part}){relu}")
        elements = {"a": self.element, "b": self.element, "d": self.result, "c": self.stored}
        pointers = ", ".join(f"%{name}p: !pto.ptr<{of}>" for name, of in elements.items())
        parameters = (
            _parameter("A", self.fmt, (self.rows, k)),
            _parameter("B", self.fmt, (k, self.columns)),
            _parameter("D", {"i32": "s32"}.get(self.result, self.result), (self.columns,)),
            _parameter("C", self.out, (self.rows, self.columns), "out"),
        )
        contract = _CONTRACT.format(
            profile=random.choice(["A2A3", "A5", "CPU"]),
            sync=random.choice(["explicit", "explicit", "inserted"]),
            parameters="\n".join(parameters),
            output="C[i, j]",
        )
        return RandomProgram(text.function(pointers), contract)


_BINARY = ("add", "sub", "mul", "max", "min")
_UNARY = ("neg", "abs", "relu")


class _Vectors:
    """A chain of vector instructions on tiles that may overlap, with valid regions that may differ."""

    def __init__(self, random: Random) -> None:
        self.random, self.text = random, _Text(random)
        self.element = random.choice(["f32", "f32", "f16", "i32"])
        self.rows, self.columns = random.choice([8, 16]), random.choice([16, 32])
        self.valid = self.rows - random.choice([0, 0, 3]), self.columns - random.choice([0, 0, 1, 8])
        self.explicit = random.random() < 0.7
        self.types: dict[str, str] = {}
        self.regular: list[str] = []

    def allocate(self) -> None:
        """Allocate four tiles, a row and a column."""
        random, (rows, columns) = self.random, self.valid
        size, placed = self.rows * self.columns * (2 if self.element == "f16" else 4), random.random() < 0.5
        for number in range(4):
            alike = random.random() < 0.85
            height, width = self.valid if alike else (self.rows, self.columns)
            at = number if random.random() < 0.95 else max(0, number - 1)
            whole = f"{self.rows}x{self.columns}x{self.element}, valid={height}x{width}"
            self._tile(f"%t{number}", whole, at * size, placed)
            if alike or not number:
                self.regular.append(f"%t{number}")
        self._tile("%row", f"1x{self.columns}x{self.element}, valid=1x{columns}", 4 * size, placed)
        self._tile("%column", f"{self.rows}x16x{self.element}, valid={rows}x1", 5 * size, placed)

    def _tile(self, name: str, shape: str, address: int, placed: bool) -> None:
        self.types[name] = f"!pto.tile_buf<vec, {shape}>"
        self.text.add(f"{name}_at = arith.constant {address} : i64")
        at = f"addr = {name}_at " if placed else ""
        self.text.add(f"{name} = pto.alloc_tile {at}: {self.types[name]}")

    def add(self, opcode: str, inputs: list[str], output: str, scalar: str = "") -> None:
        """Add an instruction."""
        of = ", ".join([*(self.types[each] for each in inputs), *([self.element] if scalar else [])])
        given = ", ".join([*inputs, *([scalar] if scalar else [])])
        self.text.add(f"pto.{opcode} ins({given} : {of}) outs({output} : {self.types[output]})")

    def compute(self) -> None:
        """Add an instruction, or a reduction and what repeats it."""
        random, names = self.random, [f"%t{number}" for number in range(4)]
        target = random.choice(self.regular if random.random() < 0.9 else names)
        one = random.choice(self.regular)
        match random.randrange(7):
            case 0 | 1:
                other = random.choice(names if random.random() < 0.15 else self.regular)
                self.add(f"t{random.choice(_BINARY)}", [one, other], target)
            case 2:
                self.add(f"t{random.choice(_UNARY)}", [one], target)
            case 3:
                self.add(f"t{random.choice(_BINARY)}s", [one], target, "%k")
            case 4:
                which, line = random.choice([("row", "%column"), ("col", "%row")])
                self.add(f"t{which}{random.choice(['sum', 'max', 'min'])}", [one], line)
                name = random.choice(["", *_BINARY])
                self.add(f"t{which}expand{name}", [*([one] if name else []), line], target)
            case 5:
                self.text.add(f"pto.texpands ins(%k : {self.element}) outs({target} : {self.types[target]})")
            case _:
                self.add("tmov", [one], target)

    def made(self) -> RandomProgram:
        """Return the program."""
        text, random = self.text, self.random
        self.allocate()
        for name, pointer in (("%x", "%xp"), ("%y", "%yp")):
            _view(text, f"{name}v", pointer, self.valid, self.element, turned=False)
            part = _part(text, f"{name}w", f"{name}v", (0, 0), self.valid, self.element)
        for name in self.regular[:2]:
            text.add(f"pto.tload ins(%xw : {part}) outs({name} : {self.types[name]})")
        if self.explicit:
            text.flag("MTE2", "V")
        text.add(f"%k = arith.constant {3 if self.element == 'i32' else 3.0} : {self.element}")
        loop = random.random() < 0.3
        if loop:
            text.add(f"scf.for %i = {text.number(0)} to {text.number(2)} step {text.number(1)} {{")
        for _ in range(random.randint(1, 5)):
            self.compute()
        if loop:
            text.add("}")
        if self.explicit:
            text.flag("V", "MTE3")
        stored = random.choice(self.regular)
        text.add(f"pto.tstore ins({stored} : {self.types[stored]}) outs(%yw : {part})")
        fmt = {"i32": "s32"}.get(self.element, self.element)
        contract = _CONTRACT.format(
            profile=random.choice(["A2A3", "A5"]),
            sync="explicit" if self.explicit else "inserted",
            parameters=_parameter("X", fmt, self.valid) + _parameter("Y", fmt, self.valid, "out"),
            output="Y[i, j]",
        )
        pointers = ", ".join(f"{name}: !pto.ptr<{self.element}>" for name in ("%xp", "%yp"))
        return RandomProgram(text.function(pointers), contract)
