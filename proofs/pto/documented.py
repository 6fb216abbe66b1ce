"""Names, types, choices, layouts and arrays of PTO are those of the headers' tables and of the standards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial

from ...spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from ...spec.pto.assembly import WORDS, first_word
from ...spec.pto.catalogue import OPERATIONS, operation_named
from ...spec.pto.choices import TF32_FORMATS, choices_named
from ...spec.pto.element_types import ELEMENT_TYPES, element_type_named
from ...spec.pto.targets import PROFILES, ProfileNames, profile_named
from ...spec.pto.text.type_reader import read_type, split
from ...spec.pto.text.types import OtherType
from ..comparison import compared, refusal_is
from ..families.generic import generic_theorems
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import names as stated


def _formats() -> list[Format]:
    return [entry.format for entry in ELEMENT_TYPES.values() if entry.format is not None]


def _steps() -> Iterator[tuple[FloatFormat, FloatFormat, FloatFormat]]:
    """Yield the steps of products; in f64 the simulator adds scaled ones."""
    yield from ((F16, F16, F32), (BF16, BF16, F32), (F32, F32, F32), (F64, F64, F64))


names = table_theorem(
    "pto/stated/names",
    "element types, operations, profiles and choices have the names of the documents",
    "widths, units of storage and formats of the element types, under all their names; operands of the "
    "operations in the order of the text, under all names, and what is said of products; profiles under the "
    "names of the tools; the option "
    "that a name of choices takes of every open point; how a text of PTO begins; types, as they are read "
    "and printed",
    "PTO IR manual; pto-isa headers at 3186c381; ptoas at a56b18c3",
    lambda: {
        "element-types": _elements,
        "operations": _operations,
        "profiles": _profiles,
        "choices": _choices,
        "words": _words,
        "types": _types,
    },
)


@refusal_is(None)
def _or_none(look_up: Callable[[], object]) -> object:
    return str(look_up())


def _elements() -> Certificate:
    expected: dict[str, object] = {}
    for name, row in stated.ELEMENTS.items():
        expected[name] = int(row["bits"]), int(row["bytes"]), int(row["in a unit"]), row["format"] or None
        expected |= dict.fromkeys(row["other names"].split(), name)
    expected |= dict.fromkeys(("i2", "float16x2", "no type"), None) | {"rounded": stated.ROUNDED}
    entries = set(stated.ELEMENTS)

    def specified() -> Iterator[tuple[str, object]]:
        yield from {"rounded": {name: _widths(fmt) for name, fmt in TF32_FORMATS.items()}}.items()
        for name in expected.keys() - {"rounded"} - entries:
            yield name, _or_none(partial(element_type_named, name))
        for name, entry in ELEMENT_TYPES.items():
            fmt = None if entry.format is None else entry.format.name
            yield name, (entry.bits, entry.storage_bytes, entry.per_unit, fmt)

    return compared(expected, specified)


def _widths(fmt: FloatFormat) -> tuple[int, int]:
    whole = 1 + fmt.exponent_bits + fmt.fraction_bits + fmt.padding_bits == fmt.bits == 32
    return (fmt.exponent_bits, fmt.fraction_bits) if whole and fmt.bias == 127 else (0, 0)


def _operations() -> Certificate:
    def specified() -> Mapping[str, object]:
        found: dict[str, object] = {
            each.name: (each.inputs, each.output, each.optional, each.view) for each in OPERATIONS.values()
        }
        for name in products:
            summary = OPERATIONS[name].summary
            found[f"{name} says"] = tuple(word in summary for word in stated.SAID.values())
        return found | {f"name {name}": _or_none(partial(operation_named, name)) for name in stated.SPELLED}

    spelled = {f"name {name}": operation for name, operation in stated.SPELLED.items()}
    products = [name for name in stated.OPERATIONS if name.startswith(("tmatmul", "tgemv"))]
    said = {f"{name} says": tuple(part in name for part in stated.SAID) for name in products}
    return compared({**stated.OPERATIONS, **spelled, **said}, specified)


def _profiles() -> Certificate:
    expected: dict[str, object] = {}
    for name, row in stated.PROFILES.items():
        expected[name] = row["matrix unit"] == "yes", row["microscaling"] == "yes"
        expected |= {f"name {other}": (name, True) for other in (name, *row["other names"].split())}
    expected |= {f"name {other}": (None, False) for other in stated.NO_PROFILES}

    def specified() -> Mapping[str, object]:
        known = ProfileNames()
        found: dict[str, object] = {
            name: (PROFILES[name].cube, PROFILES[name].microscaling) for name in known
        }
        for key in expected.keys() - found.keys():
            name = key.removeprefix("name ")
            found[key] = _or_none(partial(profile_named, name)), name in known
        return found

    return compared(expected, specified)


def _choices() -> Certificate:
    return answered(
        stated.CHOICES,
        lambda given, profile: asdict(
            choices_named(given.split() if given != "-" else [], PROFILES[profile])
        ),
    )


def _words() -> Certificate:
    texts = {**stated.FIRST_WORDS, **stated.OTHER_WORDS}
    return compared(
        {text: (word, text in stated.FIRST_WORDS) for text, word in texts.items()},
        lambda: {text: (first_word(text), first_word(text) in WORDS) for text in texts},
    )


def _types() -> Certificate:
    expected: dict[str, object] = {**stated.TYPES, **stated.TILE_TYPES}
    expected |= {f"pieces of {text}": pieces for text, pieces in stated.PIECES.items()}

    def specified() -> Mapping[str, object]:
        found: dict[str, object] = {text: _or_none(partial(read_type, text)) for text in stated.TILE_TYPES}
        for text in stated.TYPES:
            read = read_type(text)
            extents = tuple(map(str, read.extents)) if isinstance(read, OtherType) else None
            found[text] = None if read.element is None else str(read.element), extents
        return found | {f"pieces of {text}": tuple(split(text)) for text in stated.PIECES}

    return compared(expected, specified)


THEOREMS = (
    *generic_theorems("pto", _formats, lambda names: choices_named(names, PROFILES["A5"]), _steps),
    names,
)
