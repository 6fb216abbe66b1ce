"""Several PTX modules as one text, so that launches of all of them are of one file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_HEAD = re.compile(r"^\s*\.(version|target|address_size)\b.*$", re.MULTILINE)
_FILE = re.compile(r"^(\s*\.file\s+)(\d+)", re.MULTILINE)
_LOC = re.compile(r"^(\s*\.loc\s+)(\d+)", re.MULTILINE)
_INLINED = re.compile(r"(inlined_at\s+)(\d+)")
_SECTION = re.compile(r"^\s*\.section\s+[^{]*\{.*?^\s*\}", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(
    r"^\s*(?:\.(?:extern|visible|weak|common)\s+)*\.(?:shared|global|const)\b[^;]*?([\w$]+)(?:\[[^\]]*\])*\s*(?:=|;)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Merged:
    """Several modules as one.

    Attributes
    ----------
    text : str
        Its text.
    renamed : mapping of (str, str) to str
        What a module's name has become, by the module's file and the name there.
    """

    text: str
    renamed: Mapping[tuple[str, str], str]

    def variable(self, path: str, name: str) -> str:
        """Return the name of a variable of a module."""
        return self.renamed.get((path, name), name)


def merged(paths: Sequence[Path]) -> Merged:
    """Return modules, each once, with what they name alike told apart."""
    files_read = list(dict.fromkeys(paths))
    texts = [path.read_text(encoding="utf-8") for path in files_read]
    if len(texts) <= 1:
        return Merged("".join(texts), {})
    found, files, taken, renamed = [], 0, set[str](), {}
    newest = max(re.findall(r"^\s*\.version\s+([\d.]+)", "\n".join(texts), re.MULTILINE), key=_release)
    for number, text in enumerate(texts):
        names = set(_VARIABLE.findall(text.partition(".entry")[0])) | set(_functions(text))
        part = _SECTION.sub("", text)
        for name in names & taken:
            other = renamed[str(files_read[number]), name] = f"{name}_of_module{number}"
            part = with_name(part, name, other)
        taken |= names
        if number:
            part = _HEAD.sub("", part)
        else:
            part = re.sub(r"(\.version\s+)[\d.]+", rf"\g<1>{newest}", part, count=1)
        highest = max((int(each[1]) for each in _FILE.findall(part)), default=0)
        for pattern in (_FILE, _LOC, _INLINED):
            part = _shifted(pattern, part, files)
        files += highest
        found.append(part)
    return Merged("\n".join(found), renamed)


def with_name(text: str, name: str, other: str) -> str:
    """Return the text of a module in which what has a name, which may be that of an opcode, has another.

    Files keep their names, and so do the parameters of a function, which begin with its name.
    """
    token = re.compile(rf'"[^"\n]*"|(?<![\w$%.]){re.escape(name)}(?![\w$.])')
    return token.sub(lambda each: each[0] if each[0].startswith('"') else other, text)


def _shifted(pattern: re.Pattern[str], text: str, by: int) -> str:
    """Return a text with greater numbers of files."""
    return pattern.sub(lambda each: f"{each[1]}{int(each[2]) + by}", text)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in version.split("."))


def _functions(text: str) -> list[str]:
    return re.findall(r"\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", text)
