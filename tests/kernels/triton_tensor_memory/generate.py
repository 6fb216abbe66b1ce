"""Compile products.py to PTX, with triton 3.9: ``python generate.py``.

For sm_100a the files are beside it, and of some, for sm_90a, in ``triton_warpgroup``. With each goes the
contract for it. The faults are edits of the text, see ``tests/triton_tensor_memory_faults.py`` and
``tests/triton_warpgroup_faults.py``.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import products
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = Path(__file__).parent
SWIZZLES = (0, 32, 64, 128)
TYPES = {"f16": "*fp16", "f32": "*fp32", "e2m1": "*u8", "ue4m3": "*fp8e4nv"}


class Build(NamedTuple):
    """What to compile, and the contract.

    Parameters are arrays (type and shape), with ``box`` by tensor maps, or numbers (their type, and what they
    are); the last array is written.
    """

    kernel: str
    constants: dict[str, int]
    stages: int
    grid: list[str]
    sizes: dict[str, int]
    parameters: dict[str, tuple[str, object]]
    ensures: str
    boxes: Mapping[str, list[int]] = MappingProxyType({})


PRODUCT = 'formula = "c[i, j] = f16(sum(k, a[i, k] * b[j, k]))"'
NUMBERS = {"m_size": ("s32", "M"), "n_size": ("s32", "N"), "k_size": ("s32", "K")}
OF_MAPS = {"a": ("f16", ["M", "K"]), "b": ("f16", ["N", "K"]), "c": ("f16", ["M", "N"])}
BOXES = {"a": [64, 32], "b": [32, 32], "c": [64, 32]}
TILE = {"TILE_M": 64, "TILE_N": 32, "TILE_K": 32}

BUILDS = (
    Build(
        "by_pointers", {**TILE, "TILE_M": 128}, 3, ["(M + 127) // 128", "N // 32"],
        {"M": 96, "N": 32, "K": 112},
        {"a": ("f16", ["M", "K"]), "b": ("f16", ["K", "N"]), "c": ("f32", ["M", "N"]), **NUMBERS},
        'formula = "c[i, j] = sum(k, a[i, k] * b[k, j])"',
    ),
    Build(
        "by_roles", TILE, 2, ["M // 64", "N // 32"], {"M": 64, "N": 32, "K": 96},
        {**OF_MAPS, "k_size": ("s32", "K")}, PRODUCT, BOXES,
    ),
    Build(
        "persistent", TILE, 2, ["2"], {"M": 128, "N": 64, "K": 64}, {**OF_MAPS, **NUMBERS}, PRODUCT, BOXES,
    ),
    Build(
        "scaled", {"TILE_M": 128, "TILE_N": 32, "K": 128}, 2, ["1"], {},
        {
            "a": ("e2m1", [128, 128]), "a_scale": ("ue4m3", [128, 8]), "b": ("e2m1", [32, 128]),
            "b_scale": ("ue4m3", [32, 8]), "c": ("f32", [128, 32]),
        },
        'formula = "c[i, j] = sum(k, a[i, k] * a_scale[i, k // 16] * b[j, k] * b_scale[j, k // 16])"',
    ),
    Build(
        "attention", {"D": 16, "TILE_M": 64, "TILE_N": 16}, 2, ["1"], {"N": 32},
        {
            "q": ("f16", [64, 16]), "k": ("f16", ["N", 16]), "v": ("f16", ["N", 16]), "o": ("f32", [64, 16]),
            "n_size": ("s32", "N"), "scale": ("f32", None),
        },
        'let = ["p[i, j] = exp2(scale * sum(l, q[i, l] * k[j, l]))"]\n'
        'formula = "o[i, j] = sum(t, f16(p[i, t]) * v[t, j]) / sum(t, p[i, t])"',
    ),
)  # fmt: skip


ON_HOPPER = ("persistent", "attention")


def build(each: Build, architecture: int, folder: Path) -> None:
    """Write a kernel and its contract."""
    function = getattr(products, each.kernel)
    signature, attributes = {}, {}
    last = [name for name, (_, shape) in each.parameters.items() if isinstance(shape, list)][-1]
    lines = []
    for number, name in enumerate(function.arg_names):
        if name in each.constants:
            signature[name] = "constexpr"
            continue
        kind, shape = each.parameters[name]
        if name in each.boxes:
            signature[name] = f"tensordesc<fp16{each.boxes[name]}>"
        elif isinstance(shape, list):
            signature[name], attributes[(number,)] = TYPES[kind], [["tt.divisibility", 16]]
        elif shape is None:
            signature[name] = "fp32"
        else:
            signature[name], attributes[(number,)] = "i32", [["tt.divisibility", 16]]
    source = ASTSource(function, signature, constexprs=each.constants, attrs=attributes)
    built = triton.compile(
        source,
        target=GPUTarget("cuda", architecture, 32),
        options={"num_warps": 4, "num_stages": each.stages},
    )
    text = clean(built.asm["ptx"])
    (folder / f"{each.kernel}.ptx").write_text(text)
    threads = int(re.search(r"\.reqntid (\d+)", text)[1])
    grid = [int(extent) if extent.isdigit() else extent for extent in each.grid]
    lines += ["[kernel]", 'isa = "ptx"', "[launch]", f"grid = {grid}", f"block = {threads}"]
    lines += [f"dynamic_shared = {built.metadata.shared}"]
    lines += ["[sizes]", *(f"{name} = {value}" for name, value in each.sizes.items())] if each.sizes else []
    swizzles = [SWIZZLES[found["swizzle"]] for found in built.metadata.tensordesc_meta or ()]
    for name, (kind, shape) in each.parameters.items():
        array = [f'name = "{name}"', f'type = "{kind}"', f"shape = {shape}"]
        array += ['access = "out"'] if name == last else []
        if name in each.boxes:
            lines += [
                "[[array]]", *array, "[[param]]", f'name = "{name}_map"', 'type = "tensor_map"',
                f'to = "{name}"', f"box = {each.boxes[name]}", f"swizzle = {swizzles.pop(0)}",
            ]  # fmt: skip
            for place, integer in enumerate(("s32", "s32", "s64", "s64")):
                lines += ["[[param]]", f'name = "{name}_{place}"', f'type = "{integer}"', "value = 1"]
        elif isinstance(shape, list):
            lines += ["[[param]]", *array]
        else:
            lines += ["[[param]]", *array[:2], *([f'value = "{shape}"'] if shape else [])]
    for name in ("global_scratch", "profile_scratch"):
        lines += ["[[param]]", f'name = "{name}"', 'type = "u64"', "value = 0"]
    lines += ["[ensures]", each.ensures]
    (folder / f"{each.kernel}.toml").write_text("\n".join(lines).replace("'", '"') + "\n")
    print(f"{len(text):8} {each.kernel} for sm_{architecture}a")


def clean(ptx: str) -> str:
    """Drop what names this machine, places in the source, and the DWARF sections."""
    ptx = re.sub(r"^\s*(\.loc\s|//|\$L__tmp|\$L__func).*\n", "", ptx, flags=re.MULTILINE)
    ptx = re.sub(r"^\s*\.file.*\n", "", ptx, flags=re.MULTILINE)
    return re.sub(r"^\s*\.section\s[^{]*\{.*?\}\n?", "", ptx, flags=re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    for each in BUILDS:
        build(each, 100, HERE)
        if each.kernel in ON_HOPPER:
            build(each, 90, HERE.parent / "triton_warpgroup")
