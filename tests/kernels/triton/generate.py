"""Compile gemm.py to the PTX files beside it: ``python generate.py``, with triton 3.9 (no GPU, no torch).

``kernels.json`` says of each file what a contract must know: the launch, the parameters, the fault seeded.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = Path(__file__).parent
SOURCE = HERE / "gemm.py"

ELEMENT_TYPES = {
    "f16": "fp16", "bf16": "bf16", "tf32": "fp32", "f32": "fp32", "s8": "i8", "s32": "i32",
    "e4m3": "fp8e4nv", "e5m2": "fp8e5",
}  # fmt: skip
ACCUMULATORS = {"f16": tl.float16, "f32": tl.float32, "s32": tl.int32}

FAULTS = {
    "a_stride": (("rows[:, None] * stride_am", "rows[:, None] * stride_bk"),),
    "b_advance": (("b_tile += TILE_K * stride_bk", "b_tile += TILE_K * stride_am"),),
    "k_loop_short": (("tl.cdiv(k_size, TILE_K))", "tl.cdiv(k_size, TILE_K) - 1)"),),
    "program_order": (
        ("program % (GROUP * tiles_n) % rows_of_tiles", "program % (GROUP * tiles_n) // rows_of_tiles"),
        ("tile_n = program % (GROUP * tiles_n) // rows_of_tiles",
         "tile_n = program % (GROUP * tiles_n) % rows_of_tiles"),
    ),
    "no_k_mask": (
        ("mask=(rows[:, None] < m_size) & (inner[None, :] < left)", "mask=rows[:, None] < m_size"),
        ("mask=(inner[:, None] < left) & (columns[None, :] < n_size)", "mask=columns[None, :] < n_size"),
    ),
    "no_k_mask_a": (("(rows[:, None] < m_size) & (inner[None, :] < left)", "rows[:, None] < m_size"),),
    "k_mask_constant": (("left = k_size - step * TILE_K", "left = k_size"),),
    "mask_fill": (("(inner[None, :] < left), other=0)", "(inner[None, :] < left), other=1)"),
                  ("(columns[None, :] < n_size), other=0)", "(columns[None, :] < n_size), other=1)")),
    "no_n_mask_store": (
        ("tl.store(c_tile, c, mask=(rows[:, None] < m_size) & (columns[None, :] < n_size))",
         "tl.store(c_tile, c, mask=rows[:, None] < m_size)"),
    ),
    "bias_axis": (("bias.to(ACCUMULATOR)[None, :]", "bias.to(ACCUMULATOR)[:, None]"),),
}  # fmt: skip
"""Single faults, as replacements in the source."""


@dataclass(frozen=True)
class Build:
    """One PTX file: ``types`` are of A and B, the accumulator, and C."""

    types: tuple[str, str, str]
    tile: tuple[int, int, int]
    stages: int
    target: int = 80
    warps: int = 4
    ragged: bool = False
    bias: bool = False
    b_columns: bool = False
    fault: str | None = None
    debug: bool = False

    @property
    def name(self) -> str:
        words = [
            "gemm", *self.types, "x".join(map(str, self.tile)), f"s{self.stages}",
            *(word for word in ("ragged", "bias", "b_columns") if getattr(self, word)),
            f"sm{self.target}", *([f"fault_{self.fault}"] if self.fault else []),
        ]  # fmt: skip
        return "_".join(words)


F16 = ("f16", "f32", "f32")
CORRECT = (
    Build(F16, (32, 32, 32), 1, debug=True),
    Build(F16, (64, 64, 32), 2),
    Build(F16, (64, 64, 32), 3, debug=True),
    Build(F16, (128, 64, 32), 3),
    Build(F16, (128, 128, 32), 3, warps=8),
    Build(F16, (128, 128, 64), 3, warps=8),
    Build(F16, (64, 64, 32), 2, target=89),
    Build(F16, (64, 64, 32), 3, target=120),
    Build(("f16", "f32", "f16"), (64, 64, 32), 2),
    Build(("f16", "f16", "f16"), (32, 64, 32), 2),
    Build(("f16", "f32", "f16"), (32, 32, 32), 2, ragged=True, bias=True, target=120),
    Build(F16, (32, 32, 32), 1, ragged=True),
    Build(F16, (32, 64, 32), 2, ragged=True),
    Build(F16, (64, 32, 32), 3, ragged=True),
    Build(F16, (32, 32, 32), 2, ragged=True, bias=True),
    Build(F16, (32, 64, 32), 2, bias=True),
    Build(F16, (64, 64, 32), 2, b_columns=True),
    Build(F16, (32, 32, 32), 3, b_columns=True, ragged=True),
    Build(("bf16", "f32", "f32"), (64, 64, 32), 3),
    Build(("bf16", "f32", "bf16"), (64, 64, 32), 2, target=120, bias=True),
    Build(("tf32", "f32", "f32"), (32, 32, 32), 2),
    Build(("tf32", "f32", "f32"), (64, 64, 32), 3, target=89),
    Build(("s8", "s32", "s32"), (64, 64, 64), 2),
    Build(("s8", "s32", "s32"), (32, 32, 32), 1, ragged=True),
    Build(("s8", "s32", "s32"), (64, 64, 64), 2, target=120, b_columns=True),
    Build(("e4m3", "f32", "f32"), (64, 64, 64), 2, target=89),
    Build(("e4m3", "f32", "f32"), (32, 32, 32), 1, target=89, b_columns=True),
    Build(("e5m2", "f32", "f32"), (64, 64, 64), 3, target=89, b_columns=True),
    Build(("e4m3", "f32", "f16"), (64, 64, 64), 2, target=120, b_columns=True),
)
RAGGED = Build(F16, (32, 32, 32), 2, ragged=True)
FAULTY = (
    *(replace(Build(F16, (32, 64, 32), 2), fault=fault)
      for fault in ("a_stride", "b_advance", "k_loop_short", "program_order")),
    *(replace(RAGGED, fault=fault)
      for fault in ("k_loop_short", "no_k_mask", "no_k_mask_a", "k_mask_constant", "mask_fill",
                    "no_n_mask_store")),
    Build(("s8", "s32", "s32"), (32, 32, 32), 1, ragged=True, fault="no_k_mask"),
    Build(F16, (32, 32, 32), 2, bias=True, fault="bias_axis"),
    Build(F16, (32, 32, 32), 1, target=120, fault="program_order"),
)  # fmt: skip


def load(fault: str | None) -> triton.JITFunction:
    """Return the kernel, with a fault where one is named."""
    text = SOURCE.read_text()
    for correct, wrong in FAULTS[fault] if fault else ():
        assert text.count(correct) == 1, (fault, correct)
        text = text.replace(correct, wrong)
    linecache.cache[SOURCE.name] = (len(text), None, text.splitlines(keepends=True), SOURCE.name)
    module = {"__name__": f"gemm_{fault}"}
    exec(compile(text, SOURCE.name, "exec"), module)
    return module["gemm"]


def compile_build(build: Build) -> tuple[str, dict[str, object]]:
    """Return the PTX of a build and its row of ``kernels.json``."""
    kernel = load(build.fault)
    operand, accumulator, result = build.types
    constants = {
        "TILE_M": build.tile[0], "TILE_N": build.tile[1], "TILE_K": build.tile[2], "GROUP": 2,
        "ACCUMULATOR": ACCUMULATORS[accumulator], "RAGGED": build.ragged, "BIAS": build.bias,
        "stride_ak": 1, "stride_cn": 1, "stride_bk" if build.b_columns else "stride_bn": 1,
        **({} if build.bias else {"bias_pointer": None}),
    }  # fmt: skip
    pointers = {"a": operand, "b": operand, "c": result, "bias": result}
    types = {f"{name}_pointer": f"*{ELEMENT_TYPES[kind]}" for name, kind in pointers.items()}
    signature = {
        name: "constexpr" if name in constants else types.get(name, "i32") for name in kernel.arg_names
    }
    free = () if not build.ragged else ("m_size", "n_size", "k_size")
    compiled = triton.compile(
        ASTSource(
            kernel,
            signature=signature,
            constexprs={(kernel.arg_names.index(name),): value for name, value in constants.items()},
            attrs={
                (index,): [["tt.divisibility", 16]]
                for index, (name, kind) in enumerate(signature.items())
                if kind != "constexpr" and name not in free
            },
        ),
        target=GPUTarget("cuda", build.target, 32),
        options={"num_warps": build.warps, "num_stages": build.stages},
    )
    metadata = compiled.metadata
    assert not metadata.global_scratch_size and not metadata.profile_scratch_size
    parameters = [name for name, kind in signature.items() if kind != "constexpr"]
    row = {
        "entry": metadata.name,
        "target": re.search(r"^\.target (\w+)", compiled.asm["ptx"], re.MULTILINE)[1],
        "threads": 32 * metadata.num_warps,
        "shared_bytes": metadata.shared,
        "parameters": [*parameters, "global_scratch", "profile_scratch"],
        "types": dict(zip(("ab", "accumulator", "c"), build.types, strict=True)),
        "tile": build.tile,
        "group": 2,
        "ragged": build.ragged,
        "bias": build.bias,
        "b_columns": build.b_columns,
        "divisible_by_16": not build.ragged,
        "fault": build.fault,
    }
    return clean(compiled.asm["ptx"], build.debug), row


def clean(ptx: str, debug: bool) -> str:
    """Drop what names this machine, and the DWARF sections unless they are wanted."""
    ptx = re.sub(r'(\.file\s+\d+ )"[^"]*/([^"/]+)"', r'\1"\2"', ptx)
    if debug:
        return ptx
    ptx = re.sub(r", function_name [^/\n]*", " ", ptx)
    return re.sub(r"^\s*\.section\s[^{]*\{.*?\}\n?", "", ptx, flags=re.DOTALL | re.MULTILINE)


def builds() -> Iterator[Build]:
    """Every build; names must differ."""
    every = (*CORRECT, *FAULTY)
    assert len({build.name for build in every}) == len(every)
    yield from every


if __name__ == "__main__":
    table = {}
    for stale in HERE.glob("*.ptx"):
        stale.unlink()
    for build in builds():
        text, table[f"{build.name}.ptx"] = compile_build(build)
        (HERE / f"{build.name}.ptx").write_text(text)
        print(f"{len(text):8} {build.name}")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in table.items())
    (HERE / "kernels.json").write_text(f"{{\n{rows}\n}}\n")
