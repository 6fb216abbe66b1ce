"""Kernels with words exchanged, numbers blown up, or their end cut off: judged or refused; nothing else."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mmaproof.refinement.ptx.run import batch
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import MmaproofError

from ..test_hostile_contracts import GIB, bounded

KERNEL = """\
.version 8.7
.target sm_90
.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.const .align 4 .f32 half[2] = {0f3F000000, 0f3F800000};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 a, .param .u64 c, .param .u32 n) .maxntid 64, 1, 1
{
.reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>;
.shared .align 16 .b8 tile[256]; .local .align 4 .b8 own[16];
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [c];
ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x;
mov.u32 %r7, 0;
mov.u32 %r2, tile;
shl.b32 %r3, %r1, 2;
add.s32 %r4, %r2, %r3;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
st.shared.f32 [%r4], %f1;
st.local.u32 [own+4], %r1;
bar.sync 0;
again:
ld.shared.f32 %f2, [%r4];
ld.const.f32 %f3, [half+4];
fma.rn.f32 %f2, %f2, %f3, 0f00000000;
ld.global.u32 %r8, [table+8];
shfl.sync.bfly.b32 %r5|%p2, %r8, 1, 31, -1;
prmt.b32 %r6, %r5, %r8, 0x3210;
add.s32 %r7, %r7, 1;
setp.lt.u32 %p1, %r7, 2;
@%p1 bra again;
setp.lt.u32 %p3, %r1, %r9;
@%p3 st.global.f32 [%rd5], %f2;
ret;
}
"""
CONTRACT = """\
[kernel]
isa = "ptx"
[launch]
block = 32
dynamic_shared = 64
[[param]]
name = "A"
type = "f32"
shape = [32]
[[param]]
name = "C"
type = "f32"
shape = [32]
access = "out"
[[param]]
name = "n"
type = "u32"
value = 32
[ensures]
formula = "C[i] = A[i]"
"""
TOKEN = re.compile(r"\s+|[%.]?[\w$]+|.", re.DOTALL)
NUMBERS = (
    "0", "1", "-1", "3", "31", "32", "33", "4096", "65536", "1099511627776", "140737488355328",
    "0x7fffffffffffffff", "0xffffffffffffffff", "9" * 40,
    "0f7FC00000", "0d7FF0000000000000", "1e40", "WARP_SZ", "(1 << 40)",
)  # fmt: skip
WORDS = (
    "%r1", "%rd1", "%f1", "%h1", "%p1", "%tid.x", "%laneid", "%clock64", "_", "tile", "own", "table", "half",
    "a", "dynamic", "again", "{", "}", "[", "]", "(", ")", ";", ",", "|", "@", "!", "+", "-", "/*", "//", '"',
    ".u8", ".u16", ".u32", ".u64", ".f16", ".f32", ".f64", ".b128", ".v2", ".v4", ".global", ".shared",
    ".local", ".const", ".param", ".generic", ".sync", ".aligned", ".align", ".reg", ".reqntid", ".maxnreg",
    "ret", "exit", "bra", "trap", "atom", "red", "cp.async.ca.shared.global",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "bar.warp.sync", "vote.sync.all.pred", "div.rn", "cvt.rni",
)  # fmt: skip


def changed(text: str, chance: random.Random) -> str:
    """Return a kernel with a few words changed."""
    tokens = TOKEN.findall(text)
    start = next(i for i, token in enumerate(tokens) if token == ".address_size")
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(start, len(tokens))
        numbers = [i for i in range(start, len(tokens)) if tokens[i].isdigit()]
        words = [i for i in range(start, len(tokens)) if tokens[i].strip() and not tokens[i].isdigit()]
        match chance.choice(("number", "number", "word", "word", "swap", "swap", "drop", "repeat", "cut")):
            case "number" if numbers:
                tokens[chance.choice(numbers)] = chance.choice(NUMBERS)
            case "word" if words:
                tokens[chance.choice(words)] = chance.choice((*WORDS, *NUMBERS))
            case "swap" if words:
                one, other = chance.choice(words), chance.choice(words)
                tokens[one], tokens[other] = tokens[other], tokens[one]
            case "drop":
                del tokens[at : at + chance.randint(1, 3)]
            case "repeat":
                tokens[at:at] = tokens[at : at + chance.randint(1, 40)]
            case "cut" if chance.random() < 0.2:
                del tokens[at:]
    return "".join(tokens)


@pytest.mark.parametrize("seed", range(4))
def test_hostile_kernels(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "LIMITS", replace(batch.LIMITS, steps=1 << 10))
    chance = random.Random(seed)
    kernel, contract = tmp_path / "k.ptx", tmp_path / "k.toml"
    contract.write_text(CONTRACT, encoding="utf-8")
    with bounded(4 * GIB):
        for _ in range(60):
            text = changed(KERNEL, chance)
            kernel.write_text(text, encoding="utf-8")
            try:
                verify(kernel, contract)
            except MmaproofError as error:
                assert str(error)
            except Exception as error:
                raise AssertionError(text) from error
