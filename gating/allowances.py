"""Accepted differences: which, why, and until when."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..spec.errors import InputError
from ..spec.findings import Checked, Finding, Position, Standing
from ..spec.text_files import read_text
from ..spec.toml_text import parse_toml
from . import table_rules

_HEADING = re.compile(r"^\s*\[\[\s*allow\s*\]\]", re.MULTILINE)
_KEYS = ("finding", "file", "reason", "expires")


@dataclass(frozen=True)
class Allowance:
    """An accepted difference.

    Attributes
    ----------
    line : int
        Where it is written.
    finding : str
        Id of the finding, or a pattern of ids with ``*``.
    file : str
        Pattern of the table's name; "*" for any.
    reason : str
        Why it is accepted.
    expires : date
        The last day on which it holds.
    """

    line: int
    finding: str
    file: str
    reason: str
    expires: datetime.date

    def covers(self, finding: Finding) -> bool:
        """Whether it is about a finding."""
        file = Path(finding.file)
        named = (
            self.file == "*" or fnmatchcase(file.as_posix(), self.file) or fnmatchcase(file.name, self.file)
        )
        return named and _matches(finding.id, self.finding)


def _matches(text: str, pattern: str) -> bool:
    """Whether a text is as a pattern in which only ``*`` is special."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def read_allowances(path: Path) -> tuple[Allowance, ...]:
    """Read a file of accepted differences.

    Raises
    ------
    InputError
        If it is malformed; it names the line.
    """
    text = read_text(path)
    document = parse_toml(text, str(path))
    entries = document.pop("allow", [])
    if document or not isinstance(entries, list):
        raise InputError(
            f"only [[allow]] tables are allowed, not {', '.join(document) or 'a value'}", f"{path}:1"
        )
    lines = [text.count("\n", 0, match.end()) + 1 for match in _HEADING.finditer(text)]
    lines += [1] * (len(entries) - len(lines))  # an array written in one line
    return tuple(_allowance(path, line, entry) for line, entry in zip(lines, entries, strict=False))


def _allowance(path: Path, line: int, entry: Any) -> Allowance:
    where = f"{path}:{line}"
    if not isinstance(entry, dict) or (unknown := sorted(set(entry) - set(_KEYS))):
        named = f"unknown key {unknown[0]!r}" if isinstance(entry, dict) else "no table"
        raise InputError(f"{named}; an accepted difference has {', '.join(_KEYS)}", where)
    for key in ("finding", "reason", "expires"):
        if key not in entry:
            raise InputError(f"an accepted difference needs {key!r}", where)
    expires = entry["expires"]
    if isinstance(expires, str):
        try:
            expires = datetime.date.fromisoformat(expires)
        except ValueError:
            raise InputError(f"expires = {expires!r} must be a date such as 2027-01-31", where) from None
    if isinstance(expires, datetime.datetime) or not isinstance(expires, datetime.date):
        raise InputError(f"expires = {expires} must be a date such as 2027-01-31", where)
    for key in ("finding", "reason"):
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise InputError(f"{key!r} must be a non-empty string", where)
    file = entry.get("file", "*")
    if not isinstance(file, str):
        raise InputError("'file' must be a name or a pattern", where)
    return Allowance(line, entry["finding"], file, entry["reason"], expires)


def apply_allowances(
    path: Path, allowances: Sequence[Allowance], files: Iterable[Checked], today: datetime.date
) -> list[Checked]:
    """Return the files with accepted findings, then what is wrong with the allowances themselves."""
    used: set[Allowance] = set()

    def accepted(finding: Finding) -> Finding:
        covering = [allowance for allowance in allowances if allowance.covers(finding)]
        used.update(covering)
        valid = next((each for each in covering if each.expires >= today), None)
        if valid is None:
            return finding
        return replace(finding, standing=Standing.ACCEPTED, accepted_because=valid.reason)

    checked = [replace(file, findings=tuple(map(accepted, file.findings))) for file in files]
    wrong = []
    for allowance in allowances:
        if allowance.expires < today:
            cause = table_rules.EXPIRED.saying(f"it expired on {allowance.expires}: {allowance.reason}")
            wrong.append(
                _about(path, allowance, f"accepted until {allowance.expires}", f"it is {today}", cause)
            )
        elif allowance not in used:
            cause = table_rules.UNUSED.saying("no finding has this id: remove it")
            wrong.append(_about(path, allowance, "accepted", "there is no such difference", cause))
    subjects = tuple((Position(allowance.line), allowance.finding) for allowance in allowances)
    return [*checked, Checked(str(path), "allowances", subjects, tuple(wrong))]


def _about(path: Path, allowance: Allowance, they_say: str, spec_says: str, cause: Any) -> Finding:
    return Finding(
        Standing.DRIFT, str(path), Position(allowance.line), allowance.finding, (cause,), they_say, spec_says
    )
