"""What instruction sets share, stated a second time with the formats and choices of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ...spec.formats import Format
from ..obligation import Case, Theorem, theorem
from . import formats
from .arithmetic import Step, fused
from .conversions import conversions
from .digit_layouts import digit_layouts
from .formats import Named, choices
from .matrix_sums import matrix_sums
from .named_arrays import named_arrays
from .packed_bytes import packed_bytes


def generic_theorems(
    isa: str,
    element_types: Callable[[], Iterable[Format]],
    choices_named: Named,
    steps: Callable[[], Iterable[Step]] | None = None,
) -> tuple[Theorem, ...]:
    """Return the theorems about formats, conversions, sums, open points, layouts and arrays.

    Parameters
    ----------
    isa : str
        Whose they are.
    element_types : callable
        Returns the formats that its operands have.
    choices_named : callable
        Reads its ``--choice`` arguments.
    steps : callable, optional
        Returns the formats of its fused multiply-adds; nothing is stated of these where there are none.
    """

    @theorem(f"{isa}/stated/formats", formats.TITLE, formats.STATEMENT, formats.SOURCE)
    def format_constants() -> Iterator[Case]:
        yield from formats.cases(element_types())

    return (
        format_constants,
        conversions(isa, element_types),
        *(() if steps is None else (fused(isa, steps),)),
        matrix_sums(isa),
        packed_bytes(isa),
        choices(isa, choices_named),
        digit_layouts(isa),
        named_arrays(isa),
    )
