"""Small random kernels without races: control flow, memory, exchanges, barriers, atomics, matrices.

Registers are kept in pools of one type each, all of them written at the beginning, so that no bits of a NaN
get among the integers. Every thread stores its pools at places of its own in the end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from interpreter import ptx_floats as floats
from interpreter.ptx_comparison import Extents, Given
from interpreter.ptx_scalar_forms import Form, float_element, forms
from ptx_machine import kernel

POOLS: dict[str, tuple[str, ...]] = {
    "u32": tuple(f"%r{10 + index}" for index in range(6)),
    "u64": tuple(f"%d{20 + index}" for index in range(3)),
    "u16": tuple(f"%h{10 + index}" for index in range(3)),
    "f32": tuple(f"%f{10 + index}" for index in range(5)),
    "f64": tuple(f"%g{index}" for index in range(3)),
    "f16": tuple(f"%h{20 + index}" for index in range(3)),
    "bf16": tuple(f"%h{24 + index}" for index in range(2)),
    "f16x2": tuple(f"%q{index}" for index in range(3)),
    "bf16x2": tuple(f"%q{4 + index}" for index in range(2)),
    "pred": tuple(f"%p{1 + index}" for index in range(4)),
}
"""Registers by what they hold."""

_POOL_OF = {
    **dict.fromkeys(("u32", "s32", "b32", "amount", "place", "offset", "u16x2", "s16x2"), "u32"),
    **dict.fromkeys(("u64", "s64", "b64"), "u64"),
    **dict.fromkeys(("u8", "s8", "u16", "s16", "b16"), "u16"),
    **{name: name for name in ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2", "pred")},
}
_ELEMENT = {"f16x2": "f16", "bf16x2": "bf16", "pred": "u32"}
_BITS = {"u16": 16, "f16": 16, "bf16": 16, "u64": 64, "f64": 64}
_DECLARED = """
.reg .f64 %g<8>; .reg .b32 %q<8>; .reg .b64 %a<40>; .reg .b32 %t<64>; .reg .pred %c<32>; .reg .b64 %s<8>;
.shared .align 16 .b8 tile[4096]; .shared .align 16 .b8 wide[4096];
.shared .align 8 .b64 gate; .local .align 8 .b8 own[64];
"""
_LEFT_OUT = ("div.", "rem.", "copysign", "xorsign", "e4m3", "e5m2", "ue8m0", "approx", "testp")
"""What may divide by zero, let the sign or other bits of a NaN be seen, or is not exact."""


_LOADS = (
    *(("u32", 4, "u32"), ("f32", 4, "f32"), ("u8", 1, "u32"), ("s8", 1, "u32"), ("u16", 2, "u32")),
    *(("s16", 2, "u32"), ("v2.u32", 8, "u32"), ("v4.u32", 16, "u32"), ("u64", 8, "u64")),
)
"""Types, bytes and pools of what is loaded."""


@cache
def _usable() -> tuple[Form, ...]:
    return tuple(
        form
        for form in forms()
        if _POOL_OF.keys() >= {form.result, *form.sources}
        and not any(each in form.text for each in _LEFT_OUT)
    )


@dataclass(frozen=True)
class Program:
    """A kernel, what it is given, and how it is launched."""

    text: str
    arrays: tuple[Given, ...]
    grid: Extents
    block: Extents


class _Writer:
    """The statements of one kernel."""

    def __init__(self, draw: random.Random, block: Extents, threads: int) -> None:
        self.draw, self.block, self.threads = draw, block, threads
        self.lines: list[str] = []
        self._labels = self._used = 0
        self.own = block[0] * block[1] * block[2]

    def emit(self, *lines: str) -> None:
        """Add instructions."""
        self.lines += lines

    def label(self) -> str:
        """Return a new label."""
        self._labels += 1
        return f"$L{self._labels}"

    def any(self, pool: str) -> str:
        """Return some register of a pool."""
        return self.draw.choice(POOLS[pool])

    def scratch(self) -> str:
        """Return a register of 32 bits for a moment."""
        self._used = (self._used + 1) % 60
        return f"%t{self._used}"

    def address(self) -> str:
        """Return a register of 64 bits for a moment."""
        self._used = (self._used + 1) % 60
        return f"%a{8 + self._used % 30}"

    # -- statements that any threads may run
    def scalar(self) -> None:
        """Add one of the forms."""
        form = self.draw.choice(_usable())
        operands = [self.any(_POOL_OF[kind]) for kind in form.sources]
        if form.text.startswith("fns"):  # from a bit that there is
            place = self.scratch()
            self.emit(f"and.b32 {place}, {operands[1]}, 31;")
            operands[1] = place
        self.emit(form.text.format(self.any(_POOL_OF[form.result]), *operands))

    def guarded(self) -> None:
        """Add one of the forms, where a predicate holds."""
        self.scalar()
        text = self.lines.pop()
        if text.count(";") == 1:
            text = f"@{self.draw.choice(('', '!'))}{self.any('pred')} {text}"
        self.emit(text)

    def condition(self) -> None:
        """Let a predicate depend on the thread."""
        kind, bit = self.scratch(), self.draw.randrange(6)
        self.emit(f"shr.u32 {kind}, %r1, {bit};", f"and.b32 {kind}, {kind}, 1;")
        self.emit(f"setp.ne.u32 {self.any('pred')}, {kind}, 0;")

    def divided(self) -> None:
        """Divide by what is neither zero nor -1."""
        kind, divisor = self.draw.choice(("u32", "s32")), self.scratch()
        self.emit(f"or.b32 {divisor}, {self.any('u32')}, {self.draw.choice((1, 3, 0x10001))};")
        self.emit(f"and.b32 {divisor}, {divisor}, 0xffefffff;")
        self.emit(
            f"{self.draw.choice(('div', 'rem'))}.{kind} {self.any('u32')}, {self.any('u32')}, {divisor};"
        )

    def load(self) -> None:
        """Load from the first array at a place that the thread tells: words, parts, or a vector."""
        at, place = self.address(), self.scratch()
        kind, size, pool = self.draw.choice(_LOADS)
        array = 1 if pool == "f32" else 0
        self.emit(f"add.u32 {place}, %r1, {self.draw.randrange(64)};", f"and.b32 {place}, {place}, 15;")
        self.emit(f"mad.wide.u32 {at}, {place}, {size}, %s{array};")
        if kind[0] == "v":
            count = int(kind[1])
            some = ", ".join(self.draw.sample(POOLS[pool], count))
            self.emit(f"ld.global.{kind} {{{some}}}, [{at}];")
        else:
            self.emit(f"ld.global.{kind} {self.any(pool)}, [{at}];")

    def local(self) -> None:
        """Store to the thread's own memory, and load another part of it."""
        base, place = self.address(), 8 * self.draw.randrange(4)
        self.emit(f"mov.u64 {base}, own;", f"st.local.u64 [{base}+{place}], {self.any('u64')};")
        kind, size = self.draw.choice((("u8", 1), ("s16", 2), ("u32", 4)))
        inside = place + size * self.draw.randrange(8 // size)
        self.emit(f"ld.local.{kind} {self.any('u32')}, [{base}+{inside}];")

    def counted(self) -> None:
        """Let all threads change a few words, in any order."""
        slot = self.draw.randrange(8)
        name = ("add", "min", "max", "and", "or", "xor", "add", "inc")[slot]
        kind = {"min": "s32", "and": "b32", "or": "b32", "xor": "b32"}.get(name, "u32")
        value, at, place = self.any("u32"), self.address(), self.scratch()
        if name == "inc":
            value = "1000"
        self.emit(f"and.b32 {place}, %r1, 3;", f"mad.lo.u32 {place}, {place}, 8, {slot};")
        self.emit(f"mad.wide.u32 {at}, {place}, 4, %s2;")
        if self.draw.random() < 0.5:
            self.emit(f"red.global.{name}.{kind} [{at}], {value};")
        else:
            self.emit(f"atom.global.{name}.{kind} _, [{at}], {value};")

    # -- the flow of control
    def branch(self, depth: int) -> None:
        """Let some threads skip statements, or run others."""
        if self.draw.random() < 0.6:
            self.condition()
        over, end, condition = self.label(), self.label(), self.any("pred")
        self.emit(f"@{self.draw.choice(('', '!'))}{condition} bra {over};")
        self.statements(depth + 1, 4)
        if self.draw.random() < 0.5:
            self.emit(f"bra {end};", f"{over}:")
            self.statements(depth + 1, 3)
            self.emit(f"{end}:")
        else:
            self.emit(f"{over}:")

    def loop(self, depth: int, *, uniform: bool) -> None:
        """Repeat statements, each thread as often as it likes, and perhaps leave early."""
        begin, end, counter, over = self.label(), self.label(), f"%r{50 + depth}", f"%c{depth}"
        if uniform:
            self.emit(f"mov.u32 {counter}, {self.draw.randrange(1, 4)};")
        else:
            self.emit(f"and.b32 {counter}, %r1, 3;", f"add.u32 {counter}, {counter}, 1;")
        self.emit(f"{begin}:")
        self.statements(depth + 1, 4, together=uniform)
        if not uniform and self.draw.random() < 0.4:
            self.condition()
            self.emit(f"@{self.any('pred')} bra {end};")
            self.statements(depth + 1, 2)
        self.emit(f"sub.u32 {counter}, {counter}, 1;", f"setp.ne.u32 {over}, {counter}, 0;")
        self.emit(f"@{over} bra {begin};", f"{end}:")

    def masked(self, depth: int) -> None:
        """Let those threads of a warp that take a branch vote among each other."""
        over, mask, condition = self.label(), f"%r{40 + depth}", self.any("pred")
        self.emit(f"vote.sync.ballot.b32 {mask}, {condition}, -1;", f"@!{condition} bra {over};")
        self.vote(mask)
        self.statements(depth + 1, 2)
        self.emit(f"{over}:")

    # -- what a warp or a block does together
    def vote(self, mask: str = "-1") -> None:
        """Vote, compare or reduce."""
        kind = self.draw.randrange(5)
        held, result = self.any("u32"), self.any("u32")
        if kind == 0:
            mode = self.draw.choice(("all", "any", "uni"))
            self.emit(f"vote.sync.{mode}.pred {self.any('pred')}, {self.any('pred')}, {mask};")
        elif kind == 1:
            self.emit(f"vote.sync.ballot.b32 {result}, !{self.any('pred')}, {mask};")
        elif kind == 2:
            name = self.draw.choice(
                ("add.u32", "add.s32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32")
            )
            self.emit(f"redux.sync.{name} {result}, {held}, {mask};")
        else:
            few = self.scratch()
            self.emit(f"and.b32 {few}, {held}, 3;")
            if kind == 3:
                self.emit(f"match.any.sync.b32 {result}, {few}, {mask};")
            else:
                self.emit(f"match.all.sync.b32 {result}|{self.any('pred')}, {few}, {mask};")

    def shuffle(self) -> None:
        """Exchange words in a warp, also of segments."""
        mode, pool = self.draw.choice(("up", "down", "bfly", "idx")), self.draw.choice(("u32", "f32"))
        limit = 0 if mode == "up" else 31
        steering = self.draw.choice((limit, limit | 0x1800, limit | 0x1000, limit | 0x1E00))
        amount = self.draw.choice((str(self.draw.randrange(32)), "%r3"))
        result, told = self.any(pool), self.draw.choice(("", f"|{self.any('pred')}"))
        self.emit(f"shfl.sync.{mode}.b32 {result}{told}, {self.any(pool)}, {amount}, {steering}, -1;")

    def exchange(self) -> None:
        """Exchange words in a block through shared memory."""
        at, place = self.address(), self.scratch()
        self.emit(
            f"mad.wide.u32 {at}, %r0, 4, %s3;", f"st.shared.u32 [{at}], {self.any('u32')};", self.barrier()
        )
        self.emit(
            f"add.u32 {place}, %r0, {self.draw.randrange(self.own)};",
            f"rem.u32 {place}, {place}, {self.own};",
        )
        self.emit(f"mad.wide.u32 {at}, {place}, 4, %s3;", f"ld.shared.u32 {self.any('u32')}, [{at}];")
        self.emit(self.barrier())

    def barrier(self) -> str:
        """Return a barrier of the whole block."""
        return self.draw.choice(("bar.sync 0;", f"bar.sync 1, {self.own};", "barrier.sync 2;"))

    def reduced(self) -> None:
        """Combine a predicate at a barrier."""
        kind = self.draw.choice(("and", "or", "popc"))
        if kind == "popc":
            self.emit(f"bar.red.popc.u32 {self.any('u32')}, 0, {self.any('pred')};")
        else:
            self.emit(f"bar.red.{kind}.pred {self.any('pred')}, 0, {self.any('pred')};")

    def copied(self) -> None:
        """Copy to shared memory without waiting at first; zeros behind the bytes that are taken."""
        at, source, place, size = self.address(), self.address(), self.scratch(), self.draw.choice((4, 8, 16))
        taken = self.draw.choice(("", f", {self.draw.randrange(size + 1)}"))
        self.emit(f"and.b32 {place}, %r0, 15;", f"mad.wide.u32 {source}, {place}, {size}, %s0;")
        self.emit(f"mad.wide.u32 {at}, %r0, 16, %s4;")
        self.emit(f"cp.async.ca.shared.global [{at}], [{source}], {size}{taken};", "cp.async.commit_group;")
        self.scalar()
        self.emit(self.draw.choice(("cp.async.wait_group 0;", "cp.async.wait_all;")), self.barrier())
        self.emit(f"xor.b32 {place}, %r0, 1;", f"mad.wide.u32 {at}, {place}, 16, %s4;")
        self.emit(f"ld.shared.u{self.draw.choice((8, 32))} {self.any('u32')}, [{at}];", self.barrier())

    def waited(self) -> None:
        """Wait for a phase of a barrier object."""
        again = self.label()
        self.emit("@%c31 mbarrier.init.shared.b64 [gate], " + f"{self.own};", "bar.sync 0;")
        for phase in range(self.draw.randrange(1, 3)):
            again = self.label()
            self.emit("mbarrier.arrive.shared.b64 _, [gate];", f"{again}:")
            self.emit(
                f"mbarrier.test_wait.parity.shared.b64 %c30, [gate], {phase & 1};", f"@!%c30 bra {again};"
            )
        self.emit("bar.sync 0;", "@%c31 mbarrier.inval.shared.b64 [gate];", "bar.sync 0;")

    def matrices(self) -> None:
        """Multiply, transpose, or load matrices; the elements are small integers, so that sums are exact."""
        kind = self.draw.randrange(4)
        a, b, c = ([self.scratch() for _ in range(count)] for count in (4, 2, 4))
        words = POOLS["u32"]
        if kind == 0:
            self.emit(*(f"mov.b32 {each}, {self.draw.choice(words)};" for each in (*a, *b, *c)))
            self._multiply("m16n8k32.row.col.s32.s8.u8.s32", a, b, c, words[:4])
        elif kind == 1:
            halves = ", ".join(f"0x{0x3C00 * self.draw.randrange(2) | 0x4000 << 16:x}" for _ in range(1))
            self.emit(*(f"and.b32 {each}, {self.draw.choice(words)}, 0xC400C400;" for each in (*a, *b)))
            self.emit(*(f"xor.b32 {a[0]}, {a[0]}, {halves};", f"and.b32 {b[0]}, {b[0]}, 0x40004000;"))
            self.emit(*(f"mov.b32 {each}, 0f3F800000;" for each in c))
            self._multiply("m16n8k16.row.col.f32.f16.f16.f32", a, b, c, POOLS["f32"][:4])
        elif kind == 2:
            self.emit(f"movmatrix.sync.aligned.m8n8.trans.b16 {words[0]}, {words[1]};")
        else:
            at, place = self.address(), self.scratch()
            self.emit(f"mad.wide.u32 {at}, %r0, 16, %s4;")
            self.emit(f"st.shared.v4.b32 [{at}], {{{', '.join(self.draw.sample(words, 4))}}};", "bar.sync 0;")
            self.emit(f"xor.b32 {place}, %r0, {self.draw.randrange(self.own & -self.own)};")
            self.emit(f"mad.wide.u32 {at}, {place}, 16, %s4;")
            trans, some = self.draw.choice(("", ".trans")), ", ".join(self.draw.sample(words, 4))
            self.emit(f"ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {{{some}}}, [{at}];", "bar.sync 0;")

    def _multiply(
        self, form: str, a: Sequence[str], b: Sequence[str], c: Sequence[str], d: Sequence[str]
    ) -> None:
        operands = ", ".join("{" + ", ".join(each) + "}" for each in (d, a, b, c))
        self.emit(f"mma.sync.aligned.{form} {operands};")

    # -- all together
    def statements(self, depth: int, most: int, *, together: bool = False) -> None:
        """Add some statements; of warps and blocks only where all threads come."""
        for _ in range(self.draw.randrange(1, most + 1)):
            self.statement(depth, together=together)

    def statement(self, depth: int, *, together: bool) -> None:
        """Add a statement."""
        choices: list[tuple[int, Callable[[], None]]] = [
            (12, self.scalar),
            (3, self.guarded),
            (2, self.condition),
            (1, self.divided),
            (3, self.load),
            (1, self.local),
            (1, self.counted),
        ]
        if depth < 3:
            choices += [(2, lambda: self.branch(depth)), (2, lambda: self.loop(depth, uniform=False))]
        if together:
            choices += [
                (2, self.vote),
                (2, self.shuffle),
                (2, self.exchange),
                (1, self.reduced),
                (1, self.copied),
            ]
            choices += [(2, self.matrices), (1, lambda: self.masked(depth))]
            if depth == 0:
                choices += [(1, self.waited), (2, lambda: self.loop(depth, uniform=True))]
        weights = [weight for weight, _ in choices]
        self.draw.choices([each for _, each in choices], weights)[0]()


def program(seed: int) -> Program:
    """Return a random program."""
    draw = random.Random(f"program {seed}")
    block = draw.choice((*[(32, 1, 1)] * 4, (64, 1, 1), (16, 4, 1), (8, 2, 2)))
    grid = draw.choice((*[(1, 1, 1)] * 4, (2, 1, 1), (1, 2, 1)))
    own = block[0] * block[1] * block[2]
    threads = own * grid[0] * grid[1]
    writer = _Writer(draw, block, threads)
    arrays = _given(draw, threads)
    _begin(writer, arrays)
    writer.statements(0, 10, together=True)
    _end(writer, arrays)
    text = kernel("\n".join(writer.lines), len(arrays), _DECLARED, "sm_90")
    return Program(text, tuple(arrays), grid, block)


def _given(draw: random.Random, threads: int) -> list[Given]:
    words = tuple(draw.choice((0, 1, (1 << 31), (1 << 32) - 1, draw.getrandbits(32))) for _ in range(64))
    reals = tuple(float_element(draw, floats.F32) for _ in range(64))
    counts = tuple(0 if each % 8 == 7 else draw.getrandbits(32) for each in range(32))
    found = [Given("W", "u32", words), Given("X", "f32", reals), Given("N", "u32", counts)]
    for pool, registers in POOLS.items():
        kind, lanes = _ELEMENT.get(pool, pool), 2 if pool.endswith("x2") else 1
        count = threads * len(registers) * lanes
        found.append(Given(f"out {pool}", kind, None, count))
        if kind in floats.FORMATS and pool != "f32":
            elements = tuple(float_element(draw, floats.FORMATS[kind]) for _ in range(8 * lanes))
            found.append(Given(f"in {pool}", kind, elements))
    return found


def _begin(writer: _Writer, arrays: Sequence[Given]) -> None:
    """Find out who the thread is, and write all registers."""
    x, y, _ = writer.block
    writer.emit("mov.u32 %r0, %tid.z;", "mov.u32 %r2, %tid.y;", f"mad.lo.u32 %r0, %r0, {y}, %r2;")
    writer.emit("mov.u32 %r2, %tid.x;", f"mad.lo.u32 %r0, %r0, {x}, %r2;", "mov.u32 %r1, %ctaid.y;")
    writer.emit("mov.u32 %r2, %nctaid.x;", "mov.u32 %r3, %ctaid.x;", "mad.lo.u32 %r1, %r1, %r2, %r3;")
    writer.emit(
        f"mad.lo.u32 %r1, %r1, {writer.own}, %r0;", "mov.u32 %r3, %laneid;", "setp.eq.u32 %c31, %r0, 0;"
    )
    writer.emit(*(f"ld.param.u64 %s{index}, [p{index}];" for index in range(3)))
    writer.emit("mov.u64 %s3, tile;", "mov.u64 %s4, wide;", "mov.u64 %a0, own;")
    writer.emit(*(f"st.local.u64 [%a0+{8 * index}], {index};" for index in range(4)))
    writer.emit("and.b32 %r4, %r1, 7;")
    names = [array.name for array in arrays]
    for pool, registers in POOLS.items():
        bits = _BITS.get(pool, 32)
        for index, register in enumerate(registers):
            source = names.index(f"in {pool}") if f"in {pool}" in names else (1 if pool == "f32" else 0)
            writer.emit(f"ld.param.u64 %a1, [p{source}];", f"mad.wide.u32 %a1, %r4, {bits // 8}, %a1;")
            offset = 0 if source > 1 else 16 * index
            if pool == "pred":
                writer.emit(f"ld.global.u32 %r5, [%a1+{offset}];", f"setp.gt.s32 {register}, %r5, {index};")
            else:
                writer.emit(f"ld.global.b{bits} {register}, [%a1+{offset}];")


def _end(writer: _Writer, arrays: Sequence[Given]) -> None:
    """Store all registers."""
    names = [array.name for array in arrays]
    for pool, registers in POOLS.items():
        bits = _BITS.get(pool, 32)
        writer.emit(f"ld.param.u64 %a2, [p{names.index(f'out {pool}')}];")
        writer.emit(f"mad.wide.u32 %a2, %r1, {bits // 8}, %a2;")
        for index, register in enumerate(registers):
            place = index * writer.threads * bits // 8
            if pool == "pred":
                writer.emit(f"selp.u32 %r5, 1, 0, {register};", f"st.global.u32 [%a2+{place}], %r5;")
            else:
                writer.emit(f"st.global.b{bits} [%a2+{place}], {register};")
