"""Several PTX modules as one text, so that launches of all of them are of one file."""

from __future__ import annotations

import re
from collections.abc import Sequence
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


def merged(paths: Sequence[Path]) -> str:
    """Return the text of modules, each once, with what they name alike told apart."""
    texts = [path.read_text(encoding="utf-8") for path in dict.fromkeys(paths)]
    if len(texts) == 1:
        return texts[0]
    found, files, taken = [], 0, set[str]()
    newest = max(re.findall(r"^\s*\.version\s+([\d.]+)", "\n".join(texts), re.MULTILINE), key=_release)
    for number, text in enumerate(texts):
        names = set(_VARIABLE.findall(text.partition(".entry")[0])) | set(_functions(text))
        part = _SECTION.sub("", text)
        for name in names & taken:
            part = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", f"{name}_of_module{number}", part)
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
    return "\n".join(found)


def _shifted(pattern: re.Pattern[str], text: str, by: int) -> str:
    """Return a text with greater numbers of files."""
    return pattern.sub(lambda each: f"{each[1]}{int(each[2]) + by}", text)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in version.split("."))


def _functions(text: str) -> list[str]:
    return re.findall(r"\.func\s+(?:\([^)]*\)\s*)?([\w$]+)", text)
