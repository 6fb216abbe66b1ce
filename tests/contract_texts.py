"""Contracts written from a formula and a line for each array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mmaproof.refinement.contract.contract import Contract
from mmaproof.refinement.contract.reading import parse_contract


def contract_text(
    formula: str | Sequence[str],
    arrays: Mapping[str, str],
    *,
    sizes: Mapping[str, int] | None = None,
    ensures: str = "",
    scalars: Mapping[str, str] | None = None,
    extra: Mapping[str, str] | None = None,
    let: Sequence[str] = (),
) -> str:
    """Return TOML; arrays are ``name: "type extent … [access]"``, scalars ``name: "type [value]"``."""
    lines = ['[kernel]\nisa = "ptx"\n', "[sizes]"]
    lines += [f"{name} = {value}" for name, value in (sizes or {}).items()]
    for name, words in arrays.items():
        fmt, *shape = words.split()
        access = shape.pop() if shape[-1] in ("in", "out", "inout") else "in"
        lines += [
            "\n[[param]]",
            f'name = "{name}"',
            f'type = "{fmt}"',
            f"shape = {shape!r}",
            f'access = "{access}"',
            (extra or {}).get(name, ""),
        ]
    for name, words in (scalars or {}).items():
        fmt, *value = words.split(maxsplit=1)
        lines += [
            "\n[[param]]",
            f'name = "{name}"',
            f'type = "{fmt}"',
            *(f"value = {each}" for each in value),
        ]
    texts = [formula] if isinstance(formula, str) else list(formula)
    if let:
        ensures += f"\nlet = {list(let)!r}"
    quoted = ", ".join(f"'''{text}'''" for text in texts)
    return "\n".join([*lines, "\n[ensures]", f"formula = [{quoted}]", ensures, ""])


def contract_of(formula: str | Sequence[str], arrays: Mapping[str, str], **details: Any) -> Contract:
    """Return a contract; see `contract_text`."""
    return parse_contract(contract_text(formula, arrays, **details), "test.toml")
