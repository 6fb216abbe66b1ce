"""Types, buffers, sizes and layouts of PTO are those of the headers' tables."""

from __future__ import annotations

from collections.abc import Iterator

from ...spec.formats import Format
from ...spec.pto.choices import choices_named
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.targets import PROFILES
from ..families import formats
from ..families.choices import choices
from ..families.conversions import conversions
from ..families.digit_layouts import digit_layouts
from ..families.named_arrays import named_arrays
from ..obligation import Case, theorem


@theorem("pto/stated/formats", formats.TITLE, formats.STATEMENT, formats.SOURCE)
def format_constants() -> Iterator[Case]:
    """Yield one certificate for each element type whose encoding is public."""
    yield from formats.cases(_formats())


def _formats() -> list[Format]:
    return [entry.format for entry in ELEMENT_TYPES.values() if entry.format is not None]


CONVERSIONS = conversions("pto", _formats)

OPEN_POINTS = choices("pto", lambda names: choices_named(names, PROFILES["A5"]))

DIGITS = digit_layouts("pto")

ARRAYS = named_arrays("pto")

THEOREMS = (format_constants, CONVERSIONS, OPEN_POINTS, DIGITS, ARRAYS)
