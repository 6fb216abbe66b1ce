"""The open points of every instruction set, as docs/contracts.md and the help of ``--choice`` name them."""

from __future__ import annotations

from ..text_tables import table


def points(isa: str) -> dict[str, tuple[str, ...]]:
    """Return the readings of each open point, the default first."""
    return {
        row["point"]: (row["default"], *row["other readings"].split())
        for row in table(__package__, "points")
        if row["isa"] == isa
    }


def presets(isa: str) -> dict[str, dict[str, str]]:
    """Return the readings of each preset, by point."""
    defaults = {point: readings[0] for point, readings in points(isa).items()}
    return {
        row["preset"]: {**defaults, **dict(reading.split("=") for reading in row["readings"].split())}
        for row in table(__package__, "presets")
        if row["isa"] == isa
    }
