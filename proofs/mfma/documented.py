"""The element types of MFMA are those of their standards."""

from __future__ import annotations

from collections.abc import Iterator

from ...spec.mfma.elements import E4M3FNUZ, E5M2FNUZ
from ..families import formats
from ..obligation import Case, theorem


@theorem("mfma/stated/formats", formats.TITLE, formats.STATEMENT, formats.SOURCE)
def format_constants() -> Iterator[Case]:
    """Yield one certificate for each element type that no other instruction set has."""
    yield from formats.cases((E4M3FNUZ, E5M2FNUZ))


THEOREMS = (format_constants,)
