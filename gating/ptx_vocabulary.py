"""The words of PTX tables, those of other tools included."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, cached_property, lru_cache
from types import MappingProxyType
from typing import Any

from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import instruction_set
from ..spec.ptx.assembly import parse
from ..spec.ptx.asynchronous.catalogue import form_of as form_of_row
from ..spec.ptx.asynchronous.catalogue import is_judged, spelling
from ..spec.ptx.catalogue import ALL_FORMS
from ..spec.ptx.legality import ALIGNED_SPELLED
from ..spec.ptx.targets import NEWEST, TARGETS, VERSIONS, Target, spell_version, target_named, version_named
from ..spec.ptx.variant import MULTIPLYING, SPARSE, WARPGROUP, Family, Shape, Variant
from ..spec.ptx.variant_rules import form_of
from .matching import index
from .type_names import TYPE_COLUMNS, type_name
from .vocabulary import NO, NONE, YES, Cells, Point, Vocabulary, first_word, matching_names

_FLAGS = ("block_scale", "satfinite", "trans")
_WORDS = ("kind", "scale_vec", "rounding", "bit_operation", "count", "space")


@lru_cache(maxsize=1 << 16)
def _variant(text: str) -> Variant:
    return parse(text).variant


def _cells(variant: Variant) -> Cells:
    product = variant.family in MULTIPLYING
    types = variant.element_types
    listed = {name: types.get(name, NONE) for name in ("d", "a", "b", "c")} if product else {}
    name = f"{variant.family}.{variant.role}" if variant.role else str(variant.family)
    layouts = dict(zip(("a_layout", "b_layout"), variant.layouts, strict=False)) if product else {}
    return {
        "instruction": name,
        "shape": str(variant.shape or NONE),
        **listed,
        "scale_type": types.get("scale", NONE),
        "type": NONE if product else ".".join(variant.types),
        "layout": ".".join(variant.layouts) or NONE,
        **layouts,
        "sparse": YES if variant.family in SPARSE.values() else NO,
        "metadata": _metadata(variant),
        **{column: getattr(variant, column) or NONE for column in _WORDS},
        **{column: YES if getattr(variant, column) else NO for column in _FLAGS},
    }


def _metadata(variant: Variant) -> str:
    if variant.family not in SPARSE.values():
        return NONE
    return "sp::ordered_metadata" if variant.ordered_metadata else "sp"


_NAMES = tuple(dict.fromkeys(family.partition(".")[0] for family in Family))


class PtxVocabulary(Vocabulary):
    """Whatever a table says can be spelled as a mnemonic."""

    modelled = f"of PTX, {', '.join(_NAMES)} are"

    @cached_property
    def points(self) -> Sequence[Point]:
        """Every legal variant."""
        found: dict[str, Point] = {}  # rows of wmma share the loads and stores of C and D
        for form in ALL_FORMS:
            for variant in form.variants():
                found.setdefault(str(variant), Point(str(variant), _cells(variant), form.source))
        return tuple(found.values())

    def normal(self, column: str, value: str) -> str:
        """Return PTX's spelling of a value."""
        plain = value.strip()
        low = plain.lower()
        if column in TYPE_COLUMNS:
            return type_name(plain)
        if low in ("none", "-", "n/a", "null", "absent"):
            return NONE
        if column in (*_FLAGS, "sparse"):
            from .columns import truth

            return YES if truth(plain) else NO
        match column:
            case "instruction":
                return _instruction(low)
            case "layout" | "a_layout" | "b_layout":
                return _layout(low)
            case "kind":
                return low.removeprefix(".").removeprefix("kind::")
            case "scale_vec":
                return low.removeprefix(".").removeprefix("scale_vec::").upper().replace("VEC", "")
            case "count":
                return low if low.startswith("x") else f"x{low}"
            case "metadata":
                return "sp::ordered_metadata" if low.startswith(("ordered", "sp::")) else low
        return low.removeprefix(".")

    def completed(self, cells: Cells) -> Cells:
        """Fill the instruction in: a product, ``mma`` where it has the shape, else ``wmma.mma``."""
        found = dict(cells)
        if found.get("instruction") == "mma.sp::ordered_metadata":
            found |= {"instruction": "mma.sp", "metadata": "sp::ordered_metadata"}
        if "instruction" not in found:
            if "type" in found:
                raise InputError("a row of element types that are moved needs the column 'instruction'")
            sparse = found.get("sparse") == YES or found.get("metadata", NONE) != NONE
            of_wmma = found.get("shape") in _wmma_shapes()
            found["instruction"] = "mma.sp" if sparse else "wmma.mma" if of_wmma else "mma"
        return found

    def name_of(self, text: str) -> str:
        """Return the first word of a mnemonic, of a matrix instruction or of an asynchronous one in full.

        Of asynchronous ones no cells are known, so only whole instructions are judged.
        """
        word = first_word(text).lower()
        if word not in _NAMES and not _is_asynchronous(text):
            raise UnsupportedError(f"{word!r} is not modelled; {self.modelled}")
        return word

    def in_full(self, text: str, *, alone: bool) -> bool:
        """Whether there is more than a name: a name says no form."""
        return super().in_full(text, alone=False)

    def read(self, text: str) -> Cells | None:
        """Return the columns of a variant."""
        try:
            variant = _variant(text)
            return _cells(form_of(variant).canonical(variant))
        except InputError:
            return None

    def spell(self, cells: Cells) -> str | None:
        """Return the legal variant that has most of the cells, with all of them put in."""
        nearest = _nearest(cells)
        if nearest is None:
            return None
        apart = ("a_layout", "b_layout") if "layout" in cells else ()
        filled = {column: value for column, value in nearest.cells.items() if column not in apart}
        return str(_with(_variant(nearest.text), {**filled, **cells}))

    def as_of(self, text: str, target: str, version: str | None) -> str:
        """Return the text of ``wmma`` without ``.aligned`` where a version does not spell it."""
        if version is None or not text.startswith("wmma.") or version_named(version) >= ALIGNED_SPELLED:
            return text
        return text.replace(".aligned", "", 1)

    def spells_target(self, value: str) -> bool:
        """Whether it is a target, such as ``sm_77``, ``8.0``, ``>= 80`` or ``compute capability 9.0``."""
        spelled = r"\s*>?=?\s*((sm|compute|cc)\b|(sm|compute|cc)?[_ ]?\d|sm_)"
        return re.match(spelled, value) is not None

    def targets(self, value: str) -> tuple[str, ...]:
        """Return targets; ``sm_80+`` is every one from sm_80 on."""
        name = _target_name(value)
        if name.endswith("+"):
            lowest = _known_target(name[:-1]).number
            return tuple(target.name for target in TARGETS.values() if target.number >= lowest)
        if "*" in name or "?" in name:
            return matching_names(name, tuple(TARGETS), "target")
        return (_known_target(name).name,)

    def versions(self, value: str) -> tuple[str | None, ...]:
        """Return versions; ``7.0+`` is every one from 7.0 on, and nothing is the newest."""
        if not value:
            return (spell_version(NEWEST),)
        text = re.sub(r"^(ptx|isa|v|>=)+\s*", "", value.strip().lower().replace(" ", ""))
        lowest = text.removesuffix("+").replace("_", ".")
        lowest = f"{lowest}.0" if lowest.isdigit() else lowest
        if "*" in lowest or "?" in lowest:
            return matching_names(lowest, tuple(map(spell_version, VERSIONS)), "PTX version")
        if re.fullmatch(r"\d{1,2}\.\d", lowest) and lowest not in map(spell_version, VERSIONS):
            raise UnsupportedError(f"PTX {lowest} is not known here; {_known_versions()} are")
        first = version_named(lowest)
        if text.endswith("+") or ">=" in value:
            return tuple(spell_version(version) for version in VERSIONS if version >= first)
        return (lowest,)

    def knows(self, target: str, version: str | None) -> bool:
        """Whether a PTX version has a target."""
        return version is None or version_named(version) >= target_named(target).since


def _is_asynchronous(text: str) -> bool:
    """Tell whether a text is judged by the rows of asynchronous instructions, and more than a name."""
    mnemonic = text.strip().split(maxsplit=1)[0] if text.strip() else ""
    return is_judged(mnemonic) and (form_of_row(mnemonic) is not None or bool(spelling(mnemonic).modifiers))


@cache
def _wmma_shapes() -> frozenset[str]:
    """Return the shapes that only wmma has."""
    by_name: dict[str, set[str]] = {}
    for point in VOCABULARY.points:
        by_name.setdefault(point.cells["instruction"], set()).add(point.cells["shape"])
    return frozenset(by_name["wmma.mma"] - by_name["mma"])


def _known_versions() -> str:
    return f"{spell_version(VERSIONS[0])} to {spell_version(NEWEST)}"


@lru_cache(maxsize=1024)
def _target_name(value: str) -> str:
    name = re.sub(r"^(>=\s*)?(sm|compute|cc)?[_\s-]?", "", value.strip().lower())
    name = re.sub(r"^([5-9]\d|1\d\d)\.0(?=\+?$)", r"\1", name)  # 80, as a data frame with gaps writes it
    name = re.sub(r"^(\d{1,2})\.(\d)", r"\1\2", name)
    open_ended = name.endswith("+") or value.strip().startswith(">=")
    return f"sm_{name.removesuffix('+')}" + "+" * open_ended if name[:1].isdigit() else value.strip().lower()


def _known_target(name: str) -> Target:
    if name not in TARGETS:
        raise UnsupportedError(f"{name} is not known here; {', '.join(TARGETS)} are")
    return target_named(name)


_INSTRUCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "mma.sync": "mma", "mma_sync": "mma", "mma.sync.aligned": "mma", "mma.sp.sync": "mma.sp",
        "mma_sp": "mma.sp", "mma.sp.sync.aligned": "mma.sp", "wmma": "wmma.mma", "wmma.mma.sync": "wmma.mma",
        "nvgpu.mma.sync": "mma", "nvvm.mma.sync": "mma", "nvgpu.mma.sp.sync": "mma.sp",
        "nvgpu.ldmatrix": "ldmatrix", "nvvm.ldmatrix": "ldmatrix",
        **dict.fromkeys(("wgmma", "wgmma.mma_async.sync", "nvvm.wgmma.mma_async"), "wgmma.mma_async"),
        **dict.fromkeys(("wgmma.sp", "wgmma.mma_async.sp.sync"), "wgmma.mma_async.sp"),
    }
)  # fmt: skip


def _instruction(low: str) -> str:
    return _INSTRUCTIONS.get(low, low)


def _layout(low: str) -> str:
    parts = re.split(r"[.\s/x_-]+", low.removeprefix("."))
    names = {"t": "row", "n": "col", "tn": "row.col", "nn": "col.col", "tt": "row.row", "nt": "col.row"}
    return ".".join(
        names.get(p, p.removesuffix("_major").replace("column", "col")) for p in parts if p != "major"
    )


_WEIGHTS = {"kind": 4, "a": 3, "b": 3, "shape": 3, "type": 3, "block_scale": 3}
"""What the columns that say which form is meant count; others count 1."""


def _nearest(cells: Cells) -> Point | None:
    """Return the variant of an instruction that has most of the cells, by weight; the first of several."""
    known = index(VOCABULARY)
    left = known.matching({"instruction": cells.get("instruction", "mma")})
    having = [
        (_WEIGHTS.get(column, 1), known.matching({column: value}))
        for column, value in cells.items()
        if known.has(column)
    ]
    best = {0: left}  # variants by the weight of their cells
    for weight, points in having:
        heavier: dict[int, int] = {}
        for total, some in best.items():
            for reached, part in ((total + weight, some & points), (total, some & ~points)):
                if part:
                    heavier[reached] = heavier.get(reached, 0) | part
        best = heavier
    return next(known.listed(best[max(best)])) if left else None


def _with(variant: Variant, cells: Cells) -> Variant:
    """Return the variant that the cells describe."""
    known = {field.name for field in fields(Variant)}
    changed: dict[str, Any] = {"shape": None if cells["shape"] == NONE else Shape.parse(cells["shape"])}
    for column in _WORDS:
        changed[column] = None if cells[column] == NONE else cells[column]
    for column in _FLAGS:
        changed[column] = cells[column] == YES
    if variant.family in MULTIPLYING:
        names = (
            ["d", "c"]
            if len(variant.types) == 2 and cells["a"] == cells["b"] == "f16"
            else ["d", "a", "b"]
            if variant.family in WARPGROUP
            else ["d", "a", "b", "c"]
        )
        scaled = cells["scale_type"] != NONE and ["scale_type"]
        changed["types"] = tuple(cells[name] for name in (*names, *(scaled or [])))
        changed["layouts"] = _product_layouts(cells)
        changed["popc"] = changed["bit_operation"] is not None
        if variant.family in SPARSE.values():
            changed["ordered_metadata"] = cells["metadata"] != "sp"
    else:
        changed["types"] = tuple(cells["type"].split("."))
        changed["layouts"] = () if cells["layout"] == NONE else tuple(cells["layout"].split("."))
    return replace(variant, **{name: value for name, value in changed.items() if name in known})


def _product_layouts(cells: Cells) -> tuple[str, ...]:
    if cells["layout"] == NONE:
        return ()
    stated = tuple(cells["layout"].split("."))
    apart = (cells.get("a_layout"), cells.get("b_layout"))
    return stated if None in apart or len(stated) != 2 else tuple(map(str, apart))


VOCABULARY = PtxVocabulary(instruction_set("ptx"))
