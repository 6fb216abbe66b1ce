"""The words of Power MMA tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import instruction_set
from ..spec.power.assembly import parse
from ..spec.power.catalogue import RankKUpdate
from ..spec.power.forms import FORMS, Form
from ..spec.power.legality import TARGETS
from .vocabulary import Cells, Point, first_word, matching_names

_TYPE_COLUMNS = ("a", "b", "c", "d")


def _cells(form: Form) -> Cells:
    cells = {"instruction": form.mnemonic}
    if isinstance(form.operation, RankKUpdate):
        family = form.operation.family
        cells |= {
            "shape": f"m4n{family.columns}k{family.rank}",
            "a": str(family.x),
            "b": str(family.y),
            "c": str(family.result),
            "d": str(family.result),
            "satfinite": "yes" if form.operation.saturates else "no",
        }
    return cells


@cache
def _points() -> tuple[Point, ...]:
    return tuple(
        Point(form.mnemonic, _cells(form), f"Power ISA {form.isa} Book I") for form in FORMS.values()
    )


class PowerVocabulary:
    """See `Vocabulary`."""

    isa = instruction_set("power")
    free_columns = ()

    def points(self) -> Sequence[Point]:
        """Return every form."""
        return _points()

    def normal(self, column: str, value: str) -> str:
        """Return the value in lower case; integers are called s8 and u8, as everywhere in mmaproof."""
        low = value.strip().lower()
        if column in _TYPE_COLUMNS and (match := re.fullmatch(r"(u?)(?:int|i)(\d+)(?:_t)?", low)):
            return f"{'u' if match[1] else 's'}{match[2]}"
        return low

    def completed(self, cells: Mapping[str, str]) -> Mapping[str, str]:
        """Return the cells: nothing follows from them."""
        return cells

    def in_full(self, text: str, *, alone: bool) -> bool:
        """Whether there are operands, or nothing else is said of the form."""
        return alone or text.lower() not in FORMS

    def name_of(self, text: str) -> str:
        """Return the mnemonic."""
        word = first_word(text)
        try:
            return parse(word).form.mnemonic
        except InputError:
            raise UnsupportedError(f"{word!r} is not modelled; of Power, the MMA instructions are") from None

    def read(self, text: str) -> Cells | None:
        """Return the columns of a form."""
        try:
            return _cells(parse(text).form)
        except InputError:
            return None

    def spell(self, cells: Cells) -> str | None:
        """Return None: types and rank are in the mnemonic, so there is no wrong spelling."""
        return None

    def as_of(self, text: str, version: str | None) -> str:
        """Return the text: it never changed."""
        return text

    def spells_target(self, value: str) -> bool:
        """Whether it is ``pwr10``, ``power_10``, ..."""
        return re.match(r"\s*(pwr|power_?)\d", value) is not None

    def targets(self, value: str) -> tuple[str, ...]:
        """Return processors."""
        name = value.strip().lower()
        if name.endswith("+"):
            first = list(TARGETS).index(matching_names(name[:-1], tuple(TARGETS), "target")[0])
            return tuple(TARGETS)[first:]
        return matching_names(re.sub(r"^(pwr|power_?)(?=\d)", "power", name), tuple(TARGETS), "target")

    def versions(self, value: str) -> tuple[str | None, ...]:
        """Return that there is none."""
        return (None,)

    def knows(self, target: str, version: str | None) -> bool:
        """Whether there is such a processor: always."""
        return True


VOCABULARY = PowerVocabulary()
