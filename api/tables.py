"""Other people's tables and layouts against the specification."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..spec.errors import InputError
from .arguments import several

if TYPE_CHECKING:
    from ..reports.report import Report


def gate(
    *tables: Path | str | Iterable[Path | str],
    isa: str | None = None,
    target: str | None = None,
    ptx: str | None = None,
    columns: Mapping[str, str] | None = None,
    complete: bool = False,
    allow: Path | str | None = None,
    allow_undecided: bool = False,
) -> Report:
    """Compare constraint tables and layouts with the specification.

    Parameters
    ----------
    *tables : Path or str, or several of them
        Tables (JSON, CSV), lock files, or TOML files that name some (``docs/gate.md``).
    isa, target, ptx : str, optional
        Of rows that don't say it.
    columns : mapping of str to str, optional
        What columns of the tables mean, by the name they have; nothing: ignore it.
    complete : bool
        Report what the specification allows and a table misses.
    allow : Path or str, optional
        The file of accepted differences.
    allow_undecided : bool
        Let rows pass that the specification does not decide.

    Raises
    ------
    InputError
        If a file is malformed; it names file and line.
    """
    from dataclasses import replace

    from ..gating.cell_reading import require_known
    from ..gating.columns import renamed
    from ..gating.rows import Defaults
    from ..gating.settings import settings
    from ..reports.gate_report import report
    from ..version import __version__

    require_known(isa, target, ptx)
    cells = {name: value for name, value in (("isa", isa), ("target", target), ("ptx", ptx)) if value}
    meanings = {old: renamed(new) for old, new in (columns or {}).items()}
    chosen = settings([Path(table) for table in several(tables)], Defaults(cells, meanings), complete)
    if allow is not None:
        if chosen.allow is not None:
            raise InputError(f"accepted differences are already in {chosen.allow}; remove --allow {allow}")
        chosen = replace(chosen, allow=Path(allow))
    chosen = replace(chosen, allow_undecided=allow_undecided or chosen.allow_undecided)
    return report(chosen, __version__)
