"""Every form of PTX's scalar instructions that the machine has, and operands at their edges."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interpreter import ptx_floats as floats
from interpreter.ptx_comparison import Given

WORDS = [f"{sort}{width}" for width in (16, 32, 64) for sort in "us"]
BITS = ["b16", "b32", "b64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
PAIRS = {"f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32", "u16x2": "u16", "s16x2": "s16"}


@dataclass(frozen=True)
class Form:
    """An instruction, or a few.

    Attributes
    ----------
    text : str
        With ``{0}`` for the result and ``{1}`` and on for the operands.
    result : str
        Type of the result; ``pred`` for a predicate.
    sources : tuple of str
        Types of the operands.
    """

    text: str
    result: str
    sources: tuple[str, ...]


def _form(mnemonic: str, result: str, *sources: str) -> Form:
    places = ", ".join(f"{{{index}}}" for index in range(1 + len(sources)))
    return Form(f"{mnemonic} {places};", result, sources)


def _integers() -> Iterator[Form]:
    for kind in WORDS:
        for name in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
            yield _form(f"{name}.{kind}", kind, kind, kind)
        for name in ("mad.lo", "mad.hi", "sad"):
            yield _form(f"{name}.{kind}", kind, kind, kind, kind)
        if kind[1:] != "64":
            wide = f"{kind[0]}{2 * int(kind[1:])}"
            yield _form(f"mul.wide.{kind}", wide, kind, kind)
            yield _form(f"mad.wide.{kind}", wide, kind, kind, wide)
        if kind[0] == "s":
            yield _form(f"neg.{kind}", kind, kind)
            yield _form(f"abs.{kind}", kind, kind)


def _saturated_and_packed() -> Iterator[Form]:
    for name in ("add", "sub"):
        yield _form(f"{name}.sat.s32", "s32", "s32", "s32")
    yield _form("mad.hi.sat.s32", "s32", "s32", "s32", "s32")
    for kind in ("u16x2", "s16x2"):
        for name in ("add", "min", "max"):
            yield _form(f"{name}.{kind}", kind, kind, kind)
    for name in ("min", "max"):
        yield _form(f"{name}.relu.s32", "s32", "s32", "s32")
        yield _form(f"{name}.relu.s16x2", "s16x2", "s16x2", "s16x2")


def _short_and_long_products() -> Iterator[Form]:
    for kind in ("u32", "s32"):
        for part in ("lo", "hi"):
            yield _form(f"mul24.{part}.{kind}", kind, kind, kind)
            yield _form(f"mad24.{part}.{kind}", kind, kind, kind, kind)
        for other in ("u32", "s32"):
            yield _form(f"dp4a.{kind}.{other}", kind, kind, other, kind)
            yield _form(f"dp2a.lo.{kind}.{other}", kind, kind, other, kind)
            yield _form(f"dp2a.hi.{kind}.{other}", kind, kind, other, kind)
    yield _form("mad24.hi.sat.s32", "s32", "s32", "s32", "s32")
    for kind in ("u32", "s32", "u64", "s64"):
        first, second = f"add.cc.{kind} {{0}}, {{1}}, {{2}};", f"addc.cc.{kind} {{0}}, {{0}}, {{3}};"
        text = f"{first} {second} addc.{kind} {{0}}, {{0}}, {{1}};"
        yield Form(text, kind, (kind, kind, kind))
        yield Form(text.replace("add", "sub"), kind, (kind, kind, kind))
        for part in ("lo", "hi"):
            first = f"mad.{part}.cc.{kind} {{0}}, {{1}}, {{2}}, {{3}};"
            text = f"{first} madc.{part}.{kind} {{0}}, {{0}}, {{2}}, {{3}};"
            if (part, kind[1:]) != ("hi", "64"):
                yield Form(text, kind, (kind, kind, kind))


def _bits() -> Iterator[Form]:
    for kind in (*BITS, "pred"):
        for name in ("and", "or", "xor"):
            yield _form(f"{name}.{kind}", kind, kind, kind)
        yield _form(f"not.{kind}", kind, kind)
    for kind in BITS:
        yield _form(f"cnot.{kind}", kind, kind)
        yield _form(f"shl.{kind}", kind, kind, "amount")
        for sort in "bus":
            yield _form(f"shr.{sort}{kind[1:]}", kind, kind, "amount")
    for kind in ("b32", "b64"):
        yield _form(f"popc.{kind}", "u32", kind)
        yield _form(f"clz.{kind}", "u32", kind)
        yield _form(f"brev.{kind}", kind, kind)
        yield _form(f"bfi.{kind}", kind, kind, kind, "amount", "amount")
        for sort in "us":
            yield _form(f"bfind.{sort}{kind[1:]}", "u32", kind)
            yield _form(f"bfind.shiftamt.{sort}{kind[1:]}", "u32", kind)
            yield _form(f"bfe.{sort}{kind[1:]}", kind, kind, "amount", "amount")
    for way in ("l.wrap", "l.clamp", "r.wrap", "r.clamp"):
        yield _form(f"shf.{way}.b32", "b32", "b32", "b32", "amount")
    for how in ("clamp", "wrap"):
        yield _form(f"bmsk.{how}.b32", "b32", "amount", "amount")
        yield _form(f"szext.{how}.u32", "u32", "u32", "amount")
        yield _form(f"szext.{how}.s32", "s32", "s32", "amount")
    yield _form("fns.b32", "b32", "b32", "place", "offset")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        yield _form(f"prmt.b32{mode}", "b32", "b32", "b32", "b32")
    for table in (0, 0x96, 0xE8, 0xCA, 0x1B, 0xFE):
        yield Form(f"lop3.b32 {{0}}, {{1}}, {{2}}, {{3}}, {table};", "b32", ("b32", "b32", "b32"))
    for boolean in ("and", "or"):
        text = f"lop3.{boolean}.b32 %r63|{{0}}, {{1}}, {{2}}, {{3}}, 0x80, {{4}};"
        yield Form(text, "pred", ("b32", "b32", "b32", "pred"))


def _choices() -> Iterator[Form]:
    kinds = [f"{sort}{width}" for sort in "bus" for width in (16, 32, 64)]
    for kind in (*kinds, "f32", "f64"):
        yield _form(f"selp.{kind}", kind, kind, kind, "pred")
        yield _form(f"slct.{kind}.s32", kind, kind, kind, "s32")
        yield _form(f"slct.{kind}.f32", kind, kind, kind, "f32")
        yield _form(f"mov.{kind}", kind, kind)
    yield _form("slct.ftz.f32.f32", "f32", "f32", "f32", "f32")
    plain = ("eq", "ne", "lt", "le", "gt", "ge")
    for kind in kinds:
        relations = (
            plain[:2] if kind[0] == "b" else plain if kind[0] == "s" else (*plain, "lo", "ls", "hi", "hs")
        )
        for relation in relations:
            yield _form(f"setp.{relation}.{kind}", "pred", kind, kind)
    for kind in FLOATS:
        for relation in (*plain, *(f"{each}u" for each in plain), "num", "nan"):
            yield _form(f"setp.{relation}.{kind}", "pred", kind, kind)
        for truth in ("u32", "s32", "f32"):
            yield _form(f"set.ltu.{truth}.{kind}", truth, kind, kind)
    for relation in plain:
        yield _form(f"setp.{relation}.ftz.f32", "pred", "f32", "f32")
        yield _form(f"set.{relation}.ftz.f32.f32", "f32", "f32", "f32")
        yield _form(f"set.{relation}.u32.s32", "u32", "s32", "s32")
    for boolean in ("and", "or", "xor"):
        yield _form(f"setp.lt.{boolean}.s32", "pred", "s32", "s32", "pred")
        yield Form(f"setp.gt.{boolean}.f32 %p7|{{0}}, {{1}}, {{2}}, !{{3}};", "pred", ("f32", "f32", "pred"))
        yield Form(f"set.ge.{boolean}.u32.f32 {{0}}, {{1}}, {{2}}, {{3}};", "u32", ("f32", "f32", "pred"))
    yield _form("set.gt.f16x2.f16x2", "f16x2", "f16x2", "f16x2")
    yield Form("setp.leu.f16x2 %p7|{0}, {1}, {2};", "pred", ("f16x2", "f16x2"))


def _floats() -> Iterator[Form]:
    for kind in ("f32", "f64"):
        flushes = ("", ".ftz") if kind == "f32" else ("",)
        for rounding in ("", ".rn", ".rz", ".rm", ".rp"):
            for flush in flushes:
                for name in ("add", "sub", "mul"):
                    yield _form(f"{name}{rounding}{flush}.{kind}", kind, kind, kind)
                if rounding:
                    yield _form(f"fma{rounding}{flush}.{kind}", kind, kind, kind, kind)
                    yield _form(f"mad{rounding}{flush}.{kind}", kind, kind, kind, kind)
        for rounding in ("rn", "rz", "rm", "rp"):
            for flush in flushes:
                yield _form(f"div.{rounding}{flush}.{kind}", kind, kind, kind)
                yield _form(f"rcp.{rounding}{flush}.{kind}", kind, kind)
                yield _form(f"sqrt.{rounding}{flush}.{kind}", kind, kind)
        yield _form(f"copysign.{kind}", kind, kind, kind)
        for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield _form(f"testp.{test}.{kind}", "pred", kind)


def _halves() -> Iterator[Form]:
    for kind in ("f16", "bf16", "f16x2", "bf16x2"):
        flushes = ("", ".ftz") if kind.startswith("f16") else ("",)
        for flush in flushes:
            for saturated in ("", ".sat") if flush or kind.startswith("f16") else ("",):
                for name in ("add", "sub", "mul"):
                    yield _form(f"{name}.rn{flush}{saturated}.{kind}", kind, kind, kind)
                yield _form(f"fma.rn{flush}{saturated}.{kind}", kind, kind, kind, kind)
            yield _form(f"fma.rn{flush}.relu.{kind}", kind, kind, kind, kind)


def _saturated_and_mixed() -> Iterator[Form]:
    for saturated in (".sat", ".ftz.sat", ".rz.sat"):
        for name in ("add", "sub", "mul"):
            yield _form(f"{name}{saturated}.f32", "f32", "f32", "f32")
    yield _form("fma.rn.sat.f32", "f32", "f32", "f32", "f32")
    for rounding in ("rn", "rz", "rm", "rp"):
        yield _form(f"add.{rounding}.f32x2", "f32x2", "f32x2", "f32x2")
        yield _form(f"fma.{rounding}.ftz.f32x2", "f32x2", "f32x2", "f32x2", "f32x2")
    for kind in ("f16", "bf16"):
        for saturated in ("", ".sat"):
            yield _form(f"add.rn{saturated}.f32.{kind}", "f32", kind, "f32")
            yield _form(f"sub.rz{saturated}.f32.{kind}", "f32", kind, "f32")
            yield _form(f"fma.rp{saturated}.f32.{kind}", "f32", kind, kind, "f32")


def _signs_and_extrema() -> Iterator[Form]:
    for kind in (*FLOATS, "f16x2", "bf16x2"):
        for flush in ("", ".ftz") if kind in ("f16", "f32", "f16x2") else ("",):
            for name in ("neg", "abs"):
                yield _form(f"{name}{flush}.{kind}", kind, kind)
            for name in ("min", "max"):
                yield _form(f"{name}{flush}.{kind}", kind, kind, kind)
                if kind != "f64":
                    yield _form(f"{name}{flush}.NaN.{kind}", kind, kind, kind)
                    yield _form(f"{name}{flush}.xorsign.abs.{kind}", kind, kind, kind)
                    yield _form(f"{name}{flush}.NaN.xorsign.abs.{kind}", kind, kind, kind)
    for modifiers in ("", ".abs", ".NaN.abs", ".ftz"):
        yield _form(f"min{modifiers}.f32", "f32", "f32", "f32", "f32")
        yield _form(f"max{modifiers}.f32", "f32", "f32", "f32", "f32")


def _conversions() -> Iterator[Form]:
    integers = [f"{sort}{width}" for width in (8, 16, 32, 64) for sort in "us"]
    for to in integers:
        for of in integers:
            yield _form(f"cvt.{to}.{of}", to, of)
            yield _form(f"cvt.sat.{to}.{of}", to, of)
        for of in FLOATS:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                if of != "bf16" or to[1:] != "8":
                    yield _form(f"cvt.{rounding}.{to}.{of}", to, of)
            if of == "f32":
                yield _form(f"cvt.rzi.ftz.{to}.f32", to, of)
                yield _form(f"cvt.rpi.ftz.sat.{to}.f32", to, of)
    for to in FLOATS:
        for of in integers:
            for rounding in ("rn", "rz", "rm", "rp"):
                yield _form(f"cvt.{rounding}.{to}.{of}", to, of)


def _conversions_of_floats() -> Iterator[Form]:
    narrowing = [("f16", "f32"), ("bf16", "f32"), ("f16", "f64"), ("bf16", "f64"), ("f32", "f64")]
    for to, of in narrowing:
        for rounding in ("rn", "rz", "rm", "rp"):
            yield _form(f"cvt.{rounding}.{to}.{of}", to, of)
    for to, of in [("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "bf16"), ("f64", "f32")]:
        yield _form(f"cvt.{to}.{of}", to, of)
    yield _form("cvt.ftz.f32.f16", "f32", "f16")
    yield _form("cvt.sat.f32.f16", "f32", "f16")
    yield _form("cvt.rn.ftz.f16.f32", "f16", "f32")
    yield _form("cvt.rn.ftz.f32.f64", "f32", "f64")
    yield _form("cvt.ftz.f64.f32", "f64", "f32")
    yield _form("cvt.rn.sat.f16.f32", "f16", "f32")
    for kind in ("f16", "f32", "f64"):
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            yield _form(f"cvt.{rounding}.{kind}.{kind}", kind, kind)
            yield _form(f"cvt.{rounding}.sat.{kind}.{kind}", kind, kind)
        yield _form(f"cvt.sat.{kind}.{kind}", kind, kind)
    yield _form("cvt.ftz.sat.f32.f32", "f32", "f32")


def _conversions_of_pairs() -> Iterator[Form]:
    for to in ("f16", "bf16"):
        for rounding in ("rn", "rz"):
            for more in ("", ".relu", ".satfinite", ".relu.satfinite"):
                yield _form(f"cvt.{rounding}{more}.{to}x2.f32", f"{to}x2", "f32", "f32")
            yield _form(f"cvt.{rounding}.relu.{to}.f32", to, "f32")
    for rounding in ("rna", "rn", "rz", "rn.relu", "rn.satfinite", "rna.satfinite"):
        yield _form(f"cvt.{rounding}.tf32.f32", "f32", "f32")
    for to in ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2"):
        for relu in ("", ".relu"):
            yield _form(f"cvt.rn.satfinite{relu}.{to}.f32", "b16", "f32", "f32")
            yield _form(f"cvt.rn{relu}.f16x2.{to}", "f16x2", "b16")
    for to in ("e4m3x2", "e5m2x2"):
        yield _form(f"cvt.rn.satfinite.{to}.f16x2", "b16", "f16x2")
    for rounding in ("rz", "rp"):
        for finite in ("", ".satfinite"):
            yield _form(f"cvt.{rounding}{finite}.ue8m0x2.f32", "b16", "f32", "f32")
            yield _form(f"cvt.{rounding}{finite}.ue8m0x2.bf16x2", "b16", "bf16x2")
    yield _form("cvt.rn.bf16x2.ue8m0x2", "bf16x2", "b16")
    for to in ("u4", "s4", "u8", "s8"):
        yield _form(f"cvt.pack.sat.{to}.s32.b32", "b32", "s32", "s32", "b32")
    for to in ("u16", "s16"):
        yield _form(f"cvt.pack.sat.{to}.s32", "b32", "s32", "s32")
    yield Form("mov.b64 {0}, {{{1}, {2}}};", "b64", ("b32", "b32"))
    yield Form("mov.b32 {{%h30, %h31}}, {1}; mov.b32 {0}, {{%h31, %h30}};", "b32", ("b32",))
    yield Form("mov.b64 {0}, {{{1}, {2}, {3}, {1}}};", "b64", ("b16", "b16", "b16"))


def _approximations() -> Iterator[Form]:
    """Yield what hardware approximates, for the arguments of which the manual states the result."""
    for flush in ("", ".ftz"):
        for name in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
            yield _form(f"{name}.approx{flush}.f32", "f32", "special")
    yield _form("tanh.approx.f32", "f32", "special")


def forms() -> list[Form]:
    """Return all of them."""
    families = (
        *(_integers, _saturated_and_packed, _short_and_long_products, _bits, _choices),
        *(_floats, _halves, _saturated_and_mixed, _signs_and_extrema),
        *(_conversions, _conversions_of_floats, _conversions_of_pairs, _approximations),
    )
    return [form for family in families for form in family()]


# -- kernels


def _bits_of(kind: str) -> int:
    if kind in PAIRS:
        return 2 * _bits_of(PAIRS[kind])
    if kind in ("amount", "place", "offset", "pred", "special"):
        return 32
    return int(kind.lstrip("bfsu"))


def _register(kind: str, place: int) -> str:
    if kind == "pred":
        return f"%p{place}"
    return {8: "%h", 16: "%h", 32: "%r", 64: "%d"}[_bits_of(kind)] + str(20 + place)


def kernel_of(form: Form) -> str:
    """Return a body that runs an instruction in every thread, on elements of one array for each operand."""
    lines = ["mov.u32 %r0, %tid.x;", "cvt.u64.u32 %d0, %r0;"]
    for index, kind in enumerate((form.result, *form.sources)):
        size = max(8, _bits_of(kind)) // 8
        lines += [
            f"ld.param.u64 %d{1 + index}, [p{index}];",
            f"mad.lo.s64 %d{1 + index}, %d0, {size}, %d{1 + index};",
        ]
    for index, kind in enumerate(form.sources, start=1):
        register = _register(kind, index)
        if kind == "pred":
            lines += [f"ld.global.u32 %r{index}, [%d{1 + index}];", f"setp.ne.u32 {register}, %r{index}, 0;"]
        else:
            lines.append(f"ld.global.b{_bits_of(kind)} {register}, [%d{1 + index}];")
    result = _register(form.result, 0)
    lines.append(
        form.text.format(result, *(_register(kind, index) for index, kind in enumerate(form.sources, 1)))
    )
    if form.result == "pred":
        lines += [f"selp.u32 %r1, 1, 0, {result};", "st.global.u32 [%d1], %r1;"]
    else:
        lines.append(f"st.global.b{_bits_of(form.result)} [%d1], {result};")
    return "\n".join(lines)


def arrays_of(form: Form, count: int, seed: int) -> list[Given]:
    """Return what a form's kernel gets: the result, and operands."""
    draw = random.Random(f"{form.text} {seed}")
    arrays = [_array("r", form.result, count, None)]
    for index, kind in enumerate(form.sources):
        per_word = 2 if kind in PAIRS else 1
        elements = tuple(_element(draw, PAIRS.get(kind, kind)) for _ in range(count * per_word))
        if form.text.startswith(("div", "rem")) and index == 1 and kind in WORDS:
            none = (0, (1 << _bits_of(kind)) - 1)  # by 0 there is no result, nor of the least number by -1
            elements = tuple(3 if element in none else element for element in elements)
        if form.text.startswith("fns") and kind == "place":
            elements = tuple(element & 31 for element in elements)
        arrays.append(_array("abcde"[index], kind, count, elements))
    return arrays


def _array(name: str, kind: str, count: int, elements: Sequence[int] | None) -> Given:
    per_word = 2 if kind in PAIRS else 1
    single = PAIRS.get(kind, kind)
    if kind == "special":
        single = "f32"
    elif single not in floats.FORMATS:
        single = f"u{_bits_of(single)}"
    given = None if elements is None else tuple(elements)
    return Given(name, single, given, per_word * count)


def _element(draw: random.Random, kind: str) -> int:
    if kind == "pred":
        return draw.randrange(2)
    if kind in ("amount", "place", "offset"):
        some = [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 255, 256, 257, (1 << 32) - 1]
        few = list(range(40))
        return (
            draw.choice(few if kind == "place" else some + few)
            if kind != "offset"
            else draw.choice(few) - 20 & (1 << 32) - 1
        )
    if kind == "special":
        least = (1, 0x7FFFFF) if draw.random() < 0.2 else ()
        return draw.choice((0, floats.F32.infinity, floats.F32.nan, *least)) | draw.choice(
            (0, floats.F32.sign)
        )
    if kind in floats.FORMATS:
        return float_element(draw, floats.FORMATS[kind])
    width = _bits_of(kind)
    mask = (1 << width) - 1
    edge = draw.choice(
        (0, 1, 2, 3, 7, 127, 128, 255, 1 << (width - 1), mask >> 1, mask, mask - 1, 1 << (width // 2))
    )
    return (
        draw.choice((edge, edge ^ draw.getrandbits(2), draw.getrandbits(width), draw.getrandbits(8))) & mask
    )


def float_element(draw: random.Random, fmt: floats.Format) -> int:
    """Return an encoding: an end of the format, a tie, an integer, or any."""
    sign = draw.choice((0, fmt.sign))
    unit = 1 << fmt.padding
    edge = draw.choice(
        (0, unit, fmt.one, fmt.one + unit, 1 << fmt.fraction, fmt.largest, fmt.infinity, fmt.nan)
    )
    number = floats.encoded(
        floats.of_integer(draw.choice((2, 3, 5, 127, 128, 255, 65504, 65520, 1 << 31, 1 << 63))), fmt
    )
    halves = floats.encoded(floats.Number(False, 2 * draw.randrange(300) + 1, -1), fmt)
    tie = fmt.one + (draw.getrandbits(8) << max(0, fmt.fraction - 11)) + (draw.randrange(20) << fmt.fraction)
    near = max(0, min(fmt.infinity, edge + draw.randrange(-2, 3)))
    return sign | draw.choice((edge, near, number, halves, tie, draw.getrandbits(fmt.bits - 1)))
