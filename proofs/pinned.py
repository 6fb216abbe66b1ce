"""The pinned set: which obligations there are and what each expects, in a file under version control.

An obligation that vanishes, appears or expects something else is a change of what is claimed. It fails
``mmaproof check`` until the file is written anew on purpose::

    python -m mmaproof.proofs.pinned > proofs/pinned_obligations.txt
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from ..spec.errors import InputError
from .catalogue import matching, selecting
from .obligation import Obligation, Status

FILE = "pinned_obligations.txt"
"""Beside this module: a line ``id expect`` for each obligation, in the order of the ids."""

COMMAND = f"python -m mmaproof.proofs.pinned > proofs/{FILE}"
"""Writes the file anew, at the root of the repository."""


RULE = "catalogue/pinned"
"""How reports name the demand that the catalogue is the pinned set."""

REASON = "The catalogue has the obligations, with the expected verdicts, that are pinned."
"""The same, in one line."""


@dataclass(frozen=True)
class PinnedDifference:
    """An obligation that is not pinned as the catalogue has it.

    Attributes
    ----------
    id : str
        The obligation.
    pinned, built : Status or None
        What the file says that it expects, and what the catalogue says; None where it is absent.
    """

    id: str
    pinned: Status | None
    built: Status | None

    @property
    def kind(self) -> Literal["vanished", "appeared", "changed"]:
        """What became of it."""
        if self.built is None:
            return "vanished"
        return "appeared" if self.pinned is None else "changed"

    @property
    def reason(self) -> str:
        """What became of the obligation."""
        if self.built is None:
            return f"vanished: it is pinned as {self.pinned}, and no longer in the catalogue"
        if self.pinned is None:
            return f"appeared: it expects {self.built}, and is not pinned"
        return f"changed: it is pinned as {self.pinned}, and expects {self.built} now"


def pinned_text(obligations: Iterable[Obligation]) -> str:
    """Return the file for these obligations."""
    return "".join(sorted(f"{obligation.id} {obligation.expect}\n" for obligation in obligations))


def parsed(text: str) -> dict[str, Status]:
    """Return the expected verdicts by obligation id that a file lists.

    Raises
    ------
    InputError
        If a line is not an id and ``proved`` or ``refuted``, or an id comes twice.
    """
    found: dict[str, Status] = {}
    expectations = {status.value: status for status in (Status.PROVED, Status.REFUTED)}
    for number, line in enumerate(text.splitlines(), 1):
        identifier, _, expect = line.partition(" ")
        if expect not in expectations or identifier in found:
            allowed = "an id that is not listed before, and proved or refuted"
            raise InputError(f"{line!r} must be {allowed}", f"{FILE}:{number}")
        found[identifier] = expectations[expect]
    return found


def pinned() -> Mapping[str, Status]:
    """Return the pinned set: the expected verdicts by obligation id."""
    return parsed(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))


def differences(patterns: Sequence[str] = ()) -> tuple[PinnedDifference, ...]:
    """Return where the catalogue is not the pinned set, among what patterns select (everything for none)."""
    chosen = selecting(tuple(patterns))
    listed = {identifier: expect for identifier, expect in pinned().items() if chosen(identifier)}
    built = {obligation.id: obligation.expect for obligation in matching(patterns)}
    return tuple(
        PinnedDifference(identifier, listed.get(identifier), built.get(identifier))
        for identifier in sorted({*listed, *built})
        if listed.get(identifier) is not built.get(identifier)
    )


if __name__ == "__main__":
    print(pinned_text(matching(())), end="")
