"""Floating-point instructions, comparisons and conversions of PTX on exact numbers: one thread, one result.

Source: the semantics sections of PTX ISA 9.1 chapters 9.7.3 to 9.7.6, 9.7.9.21 and 9.7.9.22.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from interpreter import ptx_floats as floats
from interpreter.ptx_floats import F32, F64, FORMATS, INFINITY, MINUS_INFINITY, NAN, Format, Number, Real
from interpreter.ptx_integers import Scalar, Unknown, bits_of, clamp, mask, read, signed

from mmaproof.refinement.ptx.text.module import InstructionStatement

ROUNDINGS = ("rn", "rz", "rm", "rp")
INTEGRAL = ("rni", "rzi", "rmi", "rpi")


def element(kind: str) -> Format:
    """Return the format of a type, or of its lanes."""
    return FORMATS[kind.removesuffix("x2")]


def _lanes(kind: str, compute: Callable[..., int], *narrow: int) -> Callable[..., int]:
    """Apply to both lanes of a packed type what computes one."""
    if not kind.endswith("x2"):
        return compute
    width = element(kind).bits

    def both(*words: int) -> int:
        low, high = (compute(*(word >> at & mask(width) for word in words)) for at in (0, width))
        return low | high << width

    return both


def _saturated(bits: int, fmt: Format) -> int:
    real = floats.decoded(bits, fmt)
    if real == NAN or floats.is_negative(real):
        return 0
    return bits if isinstance(real, Number) and floats.fraction(real) <= 1 else fmt.one


def _rectified(bits: int, fmt: Format) -> int:
    real = floats.decoded(bits, fmt)
    if real == NAN:
        return fmt.nan
    return 0 if floats.is_negative(real) else bits


def _arithmetic(i: InstructionStatement, kind: str) -> Scalar:
    """``add``, ``sub``, ``mul``, ``mad`` and ``fma``, also of two types."""
    fmt, narrow = element(kind), element(i.types[-1])
    rounding = i.one_of(ROUNDINGS) or "rn"
    flush, multiplies = i.has("ftz"), i.opcode in ("mul", "mad", "fma")
    arity = 3 if i.opcode in ("mad", "fma") else 2
    formats = [narrow, narrow, fmt] if multiplies else [narrow, fmt]
    plain = fmt == F32 == narrow and rounding == "rn" and not flush

    def exact(*words: int) -> Real:
        given = [floats.flushed(w, f) if flush else w for w, f in zip(words, formats, strict=False)]
        reals = [floats.decoded(w, f) for w, f in zip(given, formats, strict=False)]
        if not multiplies:
            return floats.total(
                reals[0], floats.negated(reals[1]) if i.opcode == "sub" else reals[1], rounding
            )
        found = floats.product(reals[0], reals[1])
        return floats.total(found, reals[2], rounding) if arity == 3 else found

    def compute(*words: int) -> int:
        found = None
        if plain:
            match i.opcode:
                case "add":
                    found = floats.fast_fma(words[0], fmt.one, words[1])
                case "sub":
                    found = floats.fast_fma(words[1], fmt.one | fmt.sign, words[0])
                case "mul":
                    found = floats.fast_fma(words[0], words[1], 0)
                case _:
                    found = floats.fast_fma(*words)
        if found is None:
            found = floats.encoded(exact(*words), fmt, rounding)
        if flush:
            found = floats.flushed(found, fmt)
        if i.has("sat"):
            return _saturated(found, fmt)
        return _rectified(found, fmt) if i.has("relu") else found

    wide, small = bits_of(kind), bits_of(i.types[-1])
    widths = (small, small, wide)[:arity] if multiplies else (small, wide)
    return Scalar(widths, wide, _lanes(kind, compute))


def _sign(i: InstructionStatement, kind: str) -> Scalar:
    fmt = element(kind)

    def compute(a: int) -> int:
        a = floats.flushed(a, fmt) if i.has("ftz") else a
        if floats.is_nan(a, fmt):
            return fmt.nan
        return a ^ fmt.sign if i.opcode == "neg" else a & ~fmt.sign

    return Scalar((bits_of(kind),), bits_of(kind), _lanes(kind, compute))


def _order(bits: int, fmt: Format) -> int:
    """Return an integer that orders numbers, -0 before +0."""
    magnitude = bits & (fmt.sign - 1)
    return -magnitude - 1 if bits & fmt.sign else magnitude


def _extremum(i: InstructionStatement, kind: str) -> Scalar:
    fmt, choose = element(kind), min if i.opcode == "min" else max
    count = len(i.operands) - 1

    def compute(*words: int) -> int:
        given = [floats.flushed(w, fmt) if i.has("ftz") else w for w in words]
        sign = 0
        if i.has("xorsign"):
            sign = (words[0] ^ words[1]) & fmt.sign
        if i.has("abs"):
            given = [w & ~fmt.sign for w in given]
        numbers = [w for w in given if not floats.is_nan(w, fmt)]
        if not numbers or (i.has("NaN") and len(numbers) < len(given)):
            return fmt.nan
        return choose(numbers, key=lambda w: _order(w, fmt)) | sign

    return Scalar((bits_of(kind),) * count, bits_of(kind), _lanes(kind, compute))


def _copysign(_: InstructionStatement, kind: str) -> Scalar:
    fmt, width = element(kind), bits_of(kind)
    return Scalar((width, width), width, lambda a, b: (a & fmt.sign) | (b & ~fmt.sign))


def _testp(i: InstructionStatement, kind: str) -> Scalar:
    fmt = element(kind)

    def compute(a: int) -> int:
        real, magnitude = floats.decoded(a, fmt), a & (fmt.sign - 1)
        normal = isinstance(real, Number) and (magnitude >= 1 << fmt.fraction or magnitude == 0)
        return {
            "finite": isinstance(real, Number),
            "infinite": real in (INFINITY, MINUS_INFINITY),
            "number": real != NAN,
            "notanumber": real == NAN,
            "normal": normal,
            "subnormal": isinstance(real, Number) and not normal,
        }[i.modifiers[0]]

    return Scalar((fmt.bits,), 1, compute)


def _rounded_function(i: InstructionStatement, kind: str) -> Scalar:
    """``div``, ``rcp`` and ``sqrt``; what is approximated is taken as rounded to nearest."""
    fmt, arity = element(kind), 2 if i.opcode == "div" else 1
    rounding = i.one_of(ROUNDINGS) or "rn"

    def compute(*words: int) -> int:
        reals = [floats.decoded(floats.flushed(w, fmt) if i.has("ftz") else w, fmt) for w in words]
        match i.opcode:
            case "div":
                exact = floats.quotient(*reals)
            case "rcp":
                exact = floats.quotient(Number(False, 1, 0), reals[0])
            case _:
                exact = floats.root(reals[0])
        found = floats.encoded(exact, fmt, rounding)
        return floats.flushed(found, fmt) if i.has("ftz") else found

    return Scalar((fmt.bits,) * arity, fmt.bits, compute)


_APPROXIMATED: dict[str, Callable[[float], float]] = {
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin,
    "cos": math.cos,
    "lg2": math.log2,
    "ex2": lambda x: 2.0**x,
    "tanh": math.tanh,
}


def _special(opcode: str, real: Real) -> Real:
    """Return what the manual's tables of special values say; NaN where they have no number."""
    zero = isinstance(real, Number) and not real.m
    negative = floats.is_negative(real)
    match opcode:
        case "rsqrt" if zero:
            return MINUS_INFINITY if negative else INFINITY
        case "rsqrt" if real == INFINITY:
            return Number(False, 0, 0)
        case "sin" if zero:
            return real
        case "cos" | "ex2" if zero:
            return Number(False, 1, 0)
        case "lg2" if zero:
            return MINUS_INFINITY
        case "lg2" | "ex2" if real == INFINITY:
            return INFINITY
        case "ex2" if real == MINUS_INFINITY:
            return Number(False, 0, 0)
        case "tanh" if zero:
            return real
        case "tanh" if isinstance(real, str) and real != NAN:
            return Number(negative, 1, 0)
    return NAN


def _approximation(i: InstructionStatement, kind: str) -> Scalar:
    """Take for approximations the nearest number, one of the results that they may have."""
    fmt = element(kind)

    def compute(a: int) -> int:
        a = floats.flushed(a, fmt) if i.has("ftz") else a
        real = floats.decoded(a, fmt)
        if isinstance(real, str) or not real.m or (real.negative and i.opcode in ("rsqrt", "lg2")):
            return floats.encoded(_special(i.opcode, real), fmt)
        try:
            value = _APPROXIMATED[i.opcode](float(floats.fraction(real)))
        except OverflowError:
            return fmt.infinity
        numerator, denominator = value.as_integer_ratio()
        exact = Number(value < 0, abs(numerator), 1 - denominator.bit_length())
        found = floats.encoded(exact, fmt)
        return floats.flushed(found, fmt) if i.has("ftz") else found

    return Scalar((bits_of(kind),), bits_of(kind), _lanes(kind, compute))


FLOATING: dict[str, Callable[[InstructionStatement, str], Scalar]] = {
    **dict.fromkeys(("add", "sub", "mul", "mad", "fma"), _arithmetic),
    **dict.fromkeys(("neg", "abs"), _sign),
    **dict.fromkeys(("min", "max"), _extremum),
    "copysign": _copysign,
    "testp": _testp,
    **dict.fromkeys(("div", "rcp", "sqrt"), _rounded_function),
    **dict.fromkeys(_APPROXIMATED, _approximation),
}
"""How each instruction is decoded, from it and its first type."""


# -- comparisons


def comparison(i: InstructionStatement, kind: str) -> Callable[[int, int], bool]:
    """Return what compares two values, of one lane, as ``setp`` and ``set`` do."""
    name = i.one_of(_RELATIONS)
    if name is None:
        raise Unknown(i.mnemonic)
    if kind.removesuffix("x2") not in FORMATS:
        relation = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(name, name)
        return lambda a, b: _holds(relation, read(a, kind), read(b, kind))
    fmt = element(kind)

    def compare(a: int, b: int) -> bool:
        if i.has("ftz"):
            a, b = floats.flushed(a, fmt), floats.flushed(b, fmt)
        unordered = floats.is_nan(a, fmt) or floats.is_nan(b, fmt)
        if name in ("num", "nan"):
            return unordered is (name == "nan")
        if unordered:
            return name.endswith("u")
        x, y = (0 if not w & (fmt.sign - 1) else _order(w, fmt) + bool(w & fmt.sign) for w in (a, b))
        return _holds(name.removesuffix("u"), x, y)

    return compare


_RELATIONS = (
    *("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"),
    *("equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"),
)


def _holds(relation: str, x: int, y: int) -> bool:
    return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[relation]


BOOLEANS: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}


def set_(i: InstructionStatement, kind: str) -> Scalar:
    """``set``: a comparison whose answer is all ones, or 1.0."""
    of = i.types[-1]
    compare, boolean = comparison(i, of), i.one_of(BOOLEANS)
    packed = of.endswith("x2")
    width = bits_of(kind) // (2 if packed else 1)
    true = element(kind).one if kind.removesuffix("x2") in FORMATS else mask(width)
    narrow = bits_of(of) // (2 if packed else 1)

    def compute(a: int, b: int, other: int = 0) -> int:
        found = 0
        for lane in range(2 if packed else 1):
            answer = compare(a >> narrow * lane & mask(narrow), b >> narrow * lane & mask(narrow))
            if boolean:
                answer = BOOLEANS[boolean](answer, bool(other))
            found |= (true if answer else 0) << width * lane
        return found

    return Scalar((bits_of(of), bits_of(of), *((1,) if boolean else ())), bits_of(kind), compute)


def slct(i: InstructionStatement, kind: str) -> Scalar:
    """``slct``: the first operand where the third is not negative."""
    width = bits_of(kind)
    if i.types[-1] == "s32":
        return Scalar((width, width, 32), width, lambda a, b, c: a if signed(c, 32) >= 0 else b)

    def compute(a: int, b: int, c: int) -> int:
        c = floats.flushed(c, F32) if i.has("ftz") else c
        real = floats.decoded(c, F32)
        at_least = real != NAN and (not floats.is_negative(real) or (isinstance(real, Number) and not real.m))
        return a if at_least else b

    return Scalar((width, width, 32), width, compute)


# -- conversions


def _to_integer(i: InstructionStatement, to: str, of: str) -> Callable[[int], int]:
    rounding, fmt = i.one_of(INTEGRAL), FORMATS[of]
    if rounding is None:
        raise Unknown(i.mnemonic)

    def convert(a: int) -> int:
        real = floats.decoded(floats.flushed(a, fmt) if i.has("ftz") else a, fmt)
        if real == NAN:  # 0x8000… of 64 bits, 0 of what is narrower, as ptxas folds it
            return 1 << (bits_of(to) - 1) if fmt == F64 or bits_of(to) == 64 else 0
        if isinstance(real, str):
            return clamp((1 if real == INFINITY else -1) << 128, to)
        return clamp(floats.to_integer(real, rounding), to)

    return convert


def _to_float(i: InstructionStatement, to: str, of: str) -> Callable[[int], int]:
    fmt, rounding = FORMATS[to], i.one_of(("rna", *ROUNDINGS)) or "rn"
    integral = i.one_of(INTEGRAL)

    def real_of(a: int) -> Real:
        if of not in FORMATS:
            return floats.of_integer(read(a, of))
        source = FORMATS[of]
        real = floats.decoded(floats.flushed(a, source) if i.has("ftz") and source == F32 else a, source)
        if integral and isinstance(real, Number):
            whole = floats.to_integer(real, integral)
            return Number(real.negative, abs(whole), 0)
        return real

    def convert(a: int) -> int:
        found = floats.encoded(real_of(a), fmt, rounding, finite=i.has("satfinite"))
        if i.has("ftz") and fmt == F32:
            found = floats.flushed(found, fmt)
        if i.has("sat"):
            return _saturated(found, fmt)
        return _rectified(found, fmt) if i.has("relu") else found

    return convert


def _scale(i: InstructionStatement, of: str) -> Callable[[int], int]:
    """To ``ue8m0``, of magnitudes: 2**(n - 127), 0xFF the NaN."""
    source, up = FORMATS[of], i.has("rp")

    def convert(a: int) -> int:
        real = floats.decoded(a, source)
        if real == NAN:
            return 0xFF
        if isinstance(real, str):
            return 0xFE if i.has("satfinite") else 0xFF
        if not real.m:
            return 0
        exponent = real.e + real.m.bit_length() - 1
        exponent += up and real.m & (real.m - 1) != 0
        if exponent + 127 > 0xFE:
            return 0xFE if i.has("satfinite") else 0xFF
        return max(0, exponent + 127)

    return convert


def cvt(i: InstructionStatement) -> Scalar:
    """Decode a conversion."""
    if i.has("pack"):
        return _pack(i)
    to, of = i.types
    if not to.endswith("x2"):
        convert = _plain(i, to, of)
        return Scalar((bits_of_any(of),), bits_of_any(to), convert)
    single = to.removesuffix("x2")
    source = of.removesuffix("x2")
    lane, width = bits_of_any(to) // 2, bits_of_any(source)
    if single == "ue8m0":
        one = _scale(i, source)
    elif source == "ue8m0":

        def one(a: int) -> int:
            real = NAN if a == 0xFF else Number(False, 1, a - 127)
            return floats.encoded(real, FORMATS[single])

    else:
        one = _to_float(i, single, source)
    if of == "f32":
        return Scalar((32, 32), 2 * lane, lambda a, b: one(a) << lane | one(b))
    step = bits_of_any(of) // 2
    return Scalar(
        (2 * step,), 2 * lane, lambda a: one(a & mask(width)) | one(a >> step & mask(width)) << lane
    )


_IN_REGISTERS = {"e4m3": 8, "e5m2": 8, "e2m3": 8, "e3m2": 8, "e2m1": 4, "ue8m0": 8, "tf32": 32}


def bits_of_any(kind: str) -> int:
    """Return the bits of any type of a conversion, as it stands in a register."""
    single = kind.removesuffix("x2")
    lane = _IN_REGISTERS[single] if single in _IN_REGISTERS else bits_of(single)
    return lane * (1 if single == kind else 2)


def _plain(i: InstructionStatement, to: str, of: str) -> Callable[[int], int]:
    if to in FORMATS:
        return _to_float(i, to, of)
    if of in FORMATS:
        return _to_integer(i, to, of)
    if i.has("sat"):
        return lambda a: clamp(read(a, of), to)
    return lambda a: read(a, of)


def _pack(i: InstructionStatement) -> Scalar:
    to, width = i.types[0], bits_of(i.types[0])

    def compute(a: int, b: int, c: int = 0) -> int:
        high, low = (clamp(signed(n, 32), to) & mask(width) for n in (a, b))
        return c << 2 * width | high << width | low

    return Scalar((32,) * (len(i.operands) - 1), 32, compute)
