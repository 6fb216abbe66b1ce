"""Contracts of small kernels that make an array Y of an array X, at sizes that may be many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def contract_of(
    entry: str,
    sizes: Mapping[str, str],
    grid: Sequence[str],
    block: Sequence[int],
    formula: str,
    *,
    output: Sequence[str] | None = None,
    passed: Sequence[str] = (),
) -> str:
    """Return a contract.

    Parameters
    ----------
    entry : str
        The kernel, which takes X, Y and what is passed behind them.
    sizes : mapping of str to str
        The sizes by their domains; X has one axis of each.
    grid, block : sequence
        Extents.
    formula : str
        What Y is.
    output : sequence of str, optional
        The sizes of the axes of Y; those of X by default.
    passed : sequence of str
        The sizes that are passed, as u32 by their names in small letters.
    """
    arrays = (("X", "in", tuple(sizes)), ("Y", "out", tuple(output or sizes)))
    lines = [
        "[kernel]", 'isa = "ptx"', f'entry = "{entry}"',
        "[launch]", f"grid = {_list(grid)}", f"block = {list(block)}",
        "[sizes]", *(f'{name} = "{domain}"' for name, domain in sizes.items()),
    ]  # fmt: skip
    for name, access, shape in arrays:
        lines += ["[[param]]", f'name = "{name}"', 'type = "f32"']
        lines += [f"shape = {_list(shape)}", f'access = "{access}"']
    for name in passed:
        lines += ["[[param]]", f'name = "{name.lower()}"', 'type = "u32"', f'value = "{name}"']
    return "\n".join([*lines, "[ensures]", f'formula = "{formula}"', ""])


def _list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"
