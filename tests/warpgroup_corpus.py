"""Kernels of ``kernels/warpgroup``, compiled for Hopper from CUDA with inline assembly, and their contracts.

``nvcc -std=c++17 -arch=sm_90a -ptx -o NAME_sm90a.ptx NAME.cu`` (CUDA 13.0) writes each PTX file.
"""

from __future__ import annotations

from pathlib import Path

CORPUS = Path(__file__).parent / "kernels" / "warpgroup"

_ARRAYS = """
[[array]]
name = "A"
type = "bf16"
shape = ["M", "K"]
[[array]]
name = "B"
type = "bf16"
shape = ["N", "K"]
[[array]]
name = "D"
type = "bf16"
shape = ["M", "N"]
access = "out"
[ensures]
formula = "D[i, j] = bf16(sum(k, A[i, k] * B[j, k]))"
"""

_MAPS = (("a_map", "A", "M", 32), ("b_map", "B", 16, 32), ("d_map", "D", "M", 0))
_NUMBERS = (("tiles", "N // 16"), ("steps", "K // 16"))


def _contract(rows: int, columns: int, parameters: str) -> str:
    return (
        '[kernel]\nisa = "ptx"\n[launch]\ngrid = 1\nblock = 384\n'
        f"[sizes]\nM = {rows}\nN = {columns}\nK = 48\n{parameters}{_ARRAYS}"
    )


def _parameters(table: str, places: tuple[int, ...] = ()) -> str:
    """Return the parameters, or fields of a structure at some places."""
    at = [f"offset = {place}\n" for place in places] or [""] * 5
    maps = [
        f'[[{table}]]\nname = "{name}"\ntype = "tensor_map"\nto = "{array}"\n'
        f"box = [{box!r}, 16]\nswizzle = {swizzle}\n".replace("'", '"')
        for name, array, box, swizzle in _MAPS
    ]
    numbers = [f'[[{table}]]\nname = "{name}"\ntype = "s32"\nvalue = "{value}"\n' for name, value in _NUMBERS]
    return "".join(each + place for each, place in zip((*maps, *numbers), at, strict=True))


CONTRACTS = {
    "ring": _contract(128, 32, _parameters("param")),
    "turns": _contract(
        64,
        48,
        '[[param]]\nname = "given"\nsize = 512\n' + _parameters("param.fields", (0, 128, 256, 384, 388)),
    ),
}


def text_of(name: str) -> str:
    """Return the PTX of a kernel."""
    return (CORPUS / f"{name}_sm90a.ptx").read_text(encoding="utf-8")
