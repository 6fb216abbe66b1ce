"""What Power instructions give on named arrays, and what they raise: as the ISA and the lists have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from ...spec.algebra import Array
from ...spec.instruction_set import instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.power.catalogue import UPDATES
from ...spec.power.choices import Choices
from ...spec.power.float_exceptions import Exceptions, raised, sticky_bits
from ...spec.power.operand_arrays import rounding_named
from ...spec.power.rank_k_update import Live, saturation
from ...spec.rounding import Rounding
from ..comparison import REFUSED, compared, refusal_is, refused
from ..obligation import Certificate
from ..table_theorem import Table, answered, table_theorem
from .documented import STATED

executed = table_theorem(
    "power/stated/executed",
    "named arrays are taken and refused as docs/command-line.md says, and status bits are the ISA's",
    "accumulator moves copy registers row by row; matrix and register views agree, with an accumulator and "
    "without, of a batch; missing, surplus and "
    "misshapen arrays, unknown roundings, moves without registers and listed instructions that are illegal "
    "on Power10 are refused; elements that saturating forms clamp are told; NaNs are kept by rows and "
    "columns, those of each update of a batch in its own; FX and VX summarise what is raised, as listed",
    "Power ISA 3.1 section 7.2",
    lambda: {
        "moves": _moves,
        "views": _views,
        "roundings": _roundings,
        "status": _status,
        "nans": _nans,
        "saturated": _saturated,
        "batches": _batches,
        "exceptions": Table(STATED, "exceptions", "negation, mnemonic, RN, X, Y, ACC", _raised),
    },
)


def _run(
    text: str, arrays: Mapping[str, Array], registers: bool = True, rounding: str | None = None
) -> Mapping[str, Array]:
    read = instruction_set("power").read(text)
    return read.execute(arrays, as_registers=registers, rounding=rounding, choices=[])


_BYTES = (np.arange(64) * 7 % 256).astype(np.uint8)


_ILLEGAL = (
    "xvi8ger4pp a0,vs3,vs36", "xvi8ger4pp a0,vs34,vs0", "xvi8ger4pp a1,vs34,vs7", "xvi8ger4pp a8,vs34,vs36",
    "xvi8ger4pp a0,vs64,vs36", "xvi8ger4pp a0,vs34,vs36,15,15,15", "pmxvi8ger4pp a0,vs34,vs36,15,15",
    "pmxvi8ger4pp a0,vs34,vs36,16,15,15", "pmxvi8ger4pp",
)  # fmt: skip
_LEGAL = ("xvi8ger4pp a0,vs4,vs36", "xvi8ger4pp a1,vs34,vs3", "pmxvi8ger4pp a0,vs34,vs36,15,15,15",
          "xvi8ger4pp")  # fmt: skip
"""What Power10 does not execute (operands overlap the accumulator, are none, or are missing), and does."""


def _moves() -> Certificate:
    four = _BYTES.reshape(4, 16)
    expected: dict[object, object] = {
        "xxsetaccz a0": {"acc": [0] * 64},
        "xxmtacc a0": {"acc": _BYTES.tolist()},
        "xxmfacc a0": {"vsr": four.tolist()},
        "xxmtacc a0 twice": {"acc": [_BYTES.tolist()] * 2},
        "xxmfacc a0 twice": {"vsr": [four.tolist()] * 2},
        "as matrices": True, "missing": True, "surplus": True, "shape": True, "type": True, "load": True,
        **dict.fromkeys(_ILLEGAL, True), **dict.fromkeys(_LEGAL, False),
    }  # fmt: skip

    def specified() -> Mapping[object, object]:
        runs: dict[str, dict[str, Array]] = {
            "xxsetaccz a0": {}, "xxmtacc a0": {"vsr": four}, "xxmfacc a0": {"acc": _BYTES},
            "xxmtacc a0 twice": {"vsr": np.stack([four, four])},
            "xxmfacc a0 twice": {"acc": np.stack([_BYTES, _BYTES])},
        }  # fmt: skip
        found: dict[object, object] = {
            text: {name: each.tolist() for name, each in _run(text.removesuffix(" twice"), arrays).items()}
            for text, arrays in runs.items()
        }
        x, y, acc = (np.zeros(size, dtype=np.uint8) for size in (16, 16, 64))
        for text in (*_ILLEGAL, *_LEGAL):
            found[text] = refused(partial(_run, text, {"x": x, "y": y, "acc": acc}))
        return found | {
            "as matrices": refused(lambda: _run("xxsetaccz a0", {}, False)),
            "missing": refused(lambda: _run("xxmfacc a0", {})),
            "surplus": refused(lambda: _run("xxsetaccz a0", {"x": _BYTES})),
            "shape": refused(lambda: _run("xxmfacc a0", {"acc": four})),
            "type": refused(lambda: _run("xxmfacc a0", {"acc": _BYTES.astype(int)})),
            "load": refused(lambda: _run("lxv vs1,0(r3)", {})),
        }

    return compared(expected, specified)


_VIEWS = {
    "xvi8ger4": (">i1", ">u1", ">i4", 4, 4), "xvi16ger2": (">i2", ">i2", ">i4", 2, 4),
    "xvf16ger2": (">f2", ">f2", ">f4", 2, 4), "xvf32ger": (">f4", ">f4", ">f4", 1, 4),
    "xvf64ger": (">f8", ">f8", ">f8", 1, 2),
}  # fmt: skip
"""Types in the order of the ISA, whose bytes are big-endian; k and columns."""


def _views() -> Certificate:
    expected: dict[object, object] = {}
    given: dict[str, tuple[Array, Array, Array]] = {}
    for name, (_, _, _, rank, columns) in _VIEWS.items():
        x = (np.arange(2 * 4 * rank) * 37 % 11 - 5).reshape(2, 4, rank)
        y = (np.arange(columns * rank) * 29 % 7).reshape(columns, rank)
        acc = (np.arange(4 * columns) * 31 % 13 - 6).reshape(4, columns)
        given[name] = x, y, acc
        total = acc + x @ y.T
        expected[name] = expected[name, "registers"] = total.tolist()
        expected[name, "unprimed"] = True
        expected[name, "alone"] = (x @ y.T).tolist()

    def specified() -> Iterator[tuple[object, object]]:
        for name, (x_type, y_type, result, _, columns) in _VIEWS.items():
            x, y, acc = given[name]
            text = f"{name}pp a0,vs34,vs36"
            arrays: dict[str, Array] = {"x": x, "y": y, "acc": acc}
            yield name, _run(text, arrays, registers=False)["acc"].astype(int).tolist()
            types = {"x": x_type, "y": y_type, "acc": result}
            words = {
                each: np.ascontiguousarray(array.astype(types[each])).view(np.uint8)
                for each, array in arrays.items()
            }
            flat = {each: array.reshape((2, -1) if each == "x" else -1) for each, array in words.items()}
            if name == "xvf64ger":  # a row of two doubles in each register of an accumulator
                assert flat["acc"].size == 64
            done = np.ascontiguousarray(_run(text, flat)["acc"]).view(result)
            yield (name, "registers"), done.astype(int).reshape(2, 4, columns).tolist()
            unprimed = {each: array for each, array in arrays.items() if each != "acc"}
            alone = _run(f"{name} a0,vs34,vs36", unprimed, registers=False)["acc"]
            yield (name, "alone"), alone.astype(int).tolist()
            yield (name, "unprimed"), refused(partial(_run, text, unprimed, False))

    return compared(expected, specified)


_SATURATED = (
    # mnemonic, X[i, p], Y[j, p], ACC, whether the sum of products (and ACC) is clamped where it is enabled
    ("xvi16ger2s", -32768, -32768, 0, True),
    ("xvi16ger2s", -32768, -32767, 0, False),
    ("xvi16ger2", -32768, -32768, 0, False),
    ("xvi16ger2spp", 1, 1, 2**31 - 3, False),
    ("xvi16ger2spp", 1, 1, 2**31 - 2, True),
    ("xvi16ger2spp", 1, -1, 2 - 2**31, False),
    ("xvi16ger2spp", 1, -1, 1 - 2**31, True),
    ("xvi16ger2pp", 1, 1, 2**31 - 2, False),
    ("xvi8ger4spp", 1, 1, 2**31 - 4, True),
    ("xvi8ger4pp", 1, 1, 2**31 - 4, False),
)


def _saturated() -> Certificate:
    """Return the claim that what is clamped is told, of enabled rows and columns alone."""
    rows, columns = np.array([True, False, True, True]), np.array([True, True, False, True])
    enabled = rows[:, None] & columns

    def clamped(name: str, *numbers: int) -> object:
        family = UPDATES[name].family
        live = Live(rows, columns, np.ones(family.rank, dtype=bool))
        shapes, formats = ((4, family.rank), (4, family.rank), (4, 4)), (family.x, family.y, family.result)
        x, y, acc = (
            np.full(shape, number & (1 << fmt.bits) - 1, dtype=fmt.storage)
            for shape, number, fmt in zip(shapes, numbers, formats, strict=True)
        )
        return saturation(NumpyAlgebra(), UPDATES[name], x, y, acc, live).tolist()

    return answered({row[:-1]: (enabled & row[-1]).tolist() for row in _SATURATED}, clamped)


def _roundings() -> Certificate:
    names = ("nearest-even", "toward-zero", "upward", "downward")
    expected: dict[str, object] = {
        each: code for code, name in enumerate(names) for each in (name, str(code))
    }
    expected |= {"4": "refused", "up": "refused"}

    @refusal_is(REFUSED)
    def code(name: str) -> object:
        return int(rounding_named(name).value)

    return answered(expected, code)


_EXCEPTIONS = ("OX", "UX", "XX", "VXSNAN", "VXISI", "VXIMZ")
"""In the order of `Exceptions`."""


def _status() -> Certificate:
    raised_and_bits = {
        "": 0,
        "XX": 0x82000000,
        "OX XX": 0x92000000,
        "UX XX": 0x8A000000,
        "VXSNAN": 0xA1000000,
        "VXISI": 0xA0800000,
        "VXIMZ": 0xA0100000,
        " ".join(_EXCEPTIONS): 0xBB900000,
        "XX VXIMZ": 0xA2100000,
    }
    return answered(
        {
            tuple(name in some.split() for name in _EXCEPTIONS): value
            for some, value in raised_and_bits.items()
        },
        lambda *some: sticky_bits(Exceptions(*map(np.array, some))),
    )


def _nans() -> Certificate:
    """Return the claim that each element keeps the NaN of its row or column, in the order X, Y, ACC."""
    numbers = np.full((4, 1), 0x3F800000, dtype=np.uint32)
    payloads = 0x7FC00001 + np.arange(4, dtype=np.uint32).reshape(4, 1)
    square = 0x7FC00100 + np.arange(16, dtype=np.uint32).reshape(4, 4)
    one = np.full((4, 4), 0x3F800000, dtype=np.uint32)
    given = {
        "rows": (payloads, numbers, one), "columns": (numbers, payloads, one),
        "both": (payloads, payloads + 8, one),
        "accumulator": (numbers, numbers, square), "all": (payloads, numbers, square),
    }  # fmt: skip
    expected = {
        "rows": np.broadcast_to(payloads, (4, 4)).tolist(),
        "columns": np.broadcast_to(payloads.T, (4, 4)).tolist(),
        "both": np.broadcast_to(payloads, (4, 4)).tolist(),
        "accumulator": square.tolist(),
        "all": np.broadcast_to(payloads, (4, 4)).tolist(),
    }

    def specified() -> Iterator[tuple[str, object]]:
        for name, arrays in given.items():
            named = dict(zip(("x_bits", "y_bits", "acc_bits"), arrays, strict=True))
            yield name, _run("xvf32gerpp a0,vs34,vs36", named, registers=False)["acc_bits"].tolist()

    return compared(expected, specified)


def _batches() -> Certificate:
    """Return the claim that updates of a batch keep their own NaNs, in the order X, Y, ACC."""
    size, one = 5, 0x3C00
    x, y = np.full((size, 4, 2), one, dtype=np.uint16), np.full((size, 4, 2), one, dtype=np.uint16)
    acc = np.full((size, 4, 4), 0x40400000, dtype=np.uint32)  # 3
    expected = np.full((size, 4, 4), 0x40A00000, dtype=np.uint32)  # 1 * 1 + 1 * 1 + 3 = 5
    for at in range(size):
        row, column = at % 4, (at * 2 + 1) % 4
        acc[at, 3 - row, (at + 2) % 4] = expected[at, 3 - row, (at + 2) % 4] = 0x7FC00300 + at
        y[at, column, 0], expected[at, :, column] = 0x7E20 + at, (0x7E20 + at & 0x3FF) << 13 | 0x7F800000
        x[at, row, 0], expected[at, row] = 0x7E10 + at, (0x7E10 + at & 0x3FF) << 13 | 0x7F800000

    def specified() -> Mapping[object, object]:
        arrays: Mapping[str, Array] = {"x_bits": x, "y_bits": y, "acc_bits": acc}
        text, found = "xvf16ger2pp a0,vs34,vs36", dict[object, object]()
        for name, places in {"all": slice(None), "two": slice(1, 3), "one": slice(4, 5)}.items():
            some = {each: array[places] for each, array in arrays.items()}
            found[name] = _run(text, some, registers=False)["acc_bits"].tolist()
        for at in range(size):
            single = {each: array[at] for each, array in arrays.items()}
            found[at] = _run(text, single, registers=False)["acc_bits"].tolist()
        return found

    parts = {"all": expected, "two": expected[1:3], "one": expected[4:5]}
    singly = {at: expected[at].tolist() for at in range(size)}
    return compared({**{name: part.tolist() for name, part in parts.items()}, **singly}, specified)


def _raised(negation: str, mnemonic: str, rounding: str, x: str, y: str, acc: str) -> str:
    """Return what is raised by an update of which all elements of an operand are alike."""
    update = UPDATES[mnemonic]
    family = update.family
    shapes = (4, family.rank), (family.columns, family.rank), (4, family.columns)
    x_words, y_words, accumulator = (
        np.full(shape, int(word or "0", 16), dtype=fmt.storage)
        for shape, word, fmt in zip(shapes, (x, y, acc), (family.x, family.y, family.result), strict=True)
    )
    every = Live(*(np.ones(size, dtype=bool) for size in (4, family.columns, family.rank)))
    direction, choices = Rounding(int(rounding)), Choices(negation=negation)
    found = raised(NumpyAlgebra(), update, x_words, y_words, accumulator, every, direction, choices)
    assert all(np.all(some == np.asarray(some).flat[0]) for some in found)
    return " ".join(name for name, some in zip(_EXCEPTIONS, found, strict=True) if np.any(some))


THEOREMS = (executed,)
