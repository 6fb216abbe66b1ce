"""Evaluates formulas as they are printed: they are translated to Python, which parses them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SPELLING = (
    ("·", "*"),
    ("−", "-"),
    ("∧", "and"),
    ("^", "**"),
    (" mod ", " % "),
    (" div ", " // "),
    (" = ", " == "),
    ("bfp32-significand", "significand"),
)

_BOUND = re.compile(r"(?P<letter>\w+) = 0\.\.(?P<last>.+)")
_START = re.compile(r"(?P<state>\w+) (?P<sign>←|=) (?P<value>.+)", re.DOTALL)


def evaluated(text: str, **names: object) -> Any:
    """Evaluate a formula; names are arrays, indices, or functions such as roundings."""
    code = _translated(text)
    known = {
        "bits": lambda word, low, count: int(word) >> low & ((1 << count) - 1),
        "clamp_s32": lambda v: min(max(v, -(2**31)), 2**31 - 1),
        "sum": sum,
        "range": range,
        "fold": _fold,
        "pack": lambda width, fields: sum(int(field) << width * n for n, field in enumerate(fields)),
    }
    return eval(code, {"__builtins__": {}, **known, **names})


def _fold(step: Callable[[Any, int], Any], state: Any, count: int) -> Any:
    for number in range(count):
        state = step(state, number)
    return state


def _translated(text: str) -> str:
    """Turn sums and folds into Python's, the innermost last, and spell operators as Python does."""
    found = re.search(r"(?<![\w.])(sum|fold|pack\d+)\(", text)
    if found is None:
        for written, spelled in SPELLING:
            text = text.replace(written, spelled)
        return text
    end = _closing(text, found.end())
    arguments = _arguments(text[found.end() : end])
    before, after = _translated(text[: found.start()]), _translated(text[end + 1 :])
    bound = _BOUND.fullmatch(arguments[-1])
    assert bound is not None, text
    letter, count = bound["letter"], f"{_translated(bound['last'])} + 1"
    if found[1] == "fold":
        step, start = (_START.fullmatch(argument) for argument in arguments[:2])
        assert step is not None and start is not None and step["state"] == start["state"]
        body, first = _translated(step["value"]), _translated(start["value"])
        inside = f"fold(lambda {step['state']}, {letter}: {body}, {first}, {count})"
    elif found[1] == "sum":
        inside = f"sum([{_translated(arguments[0])} for {letter} in range({count})])"
    else:
        width = found[1].removeprefix("pack")
        inside = f"pack({width}, [{_translated(arguments[0])} for {letter} in range({count})])"
    return before + inside + after


def _closing(text: str, start: int) -> int:
    depth = 1
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place
    raise AssertionError(text)


def _arguments(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
