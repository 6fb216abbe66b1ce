"""Functions whose results depend on where arrays lie are not verified; those that only look at it are."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_kernels import messages, verified

from mmaproof.refinement.findings.result import Verdict

CONTRACT = """
[kernel]
isa = "power"
entry = "f"

[[param]]
name = "y"
type = "s64"
shape = [4]
access = "out"

[[param]]
name = "x"
type = "s64"
shape = [4]

[ensures]
formula = "y[i] = x[i]"
"""

COPY = "".join(f"\tld 5,{8 * n}(4)\n\tstd 5,{8 * n}(3)\n" for n in range(4))
AGAIN = "\tld 5,0(4)\n\tstd 5,0(3)\n"
ZERO = "\tli 5,0\n\tstd 5,0(3)\n"
LOOKS = {
    "order": "\tcmpld 3,4\n\t{branch} .L1\n",
    "order of the ends": "\taddi 6,3,32\n\taddi 7,4,32\n\tcmpld 6,7\n\t{branch} .L1\n",
    "difference": "\tsub 6,3,4\n\tcmpdi 6,0\n\t{branch} .L1\n",
    "the end of one": "\taddi 6,4,32\n\tcmpld 3,6\n\t{branch} .L1\n",
    "the end of the other": "\taddi 6,3,32\n\tcmpld 4,6\n\t{branch} .L1\n",
    "a bit": "\tandi. 6,4,16\n\tcmpldi 6,8\n\t{branch} .L1\n",
    "another bit": "\tandi. 6,4,256\n\tcmpldi 6,8\n\t{branch} .L1\n",
}


def verdict_of(text: str, folder: Path) -> tuple[Verdict | str, str]:
    path = folder / "kernel.s"
    path.write_text(f"\t.globl f\n\t.type f, @function\nf:\n{text}\tblr\n")
    found = verified(path, CONTRACT)
    return found.result.verdict, messages(found)


@pytest.mark.parametrize(
    ("looks", "branch"),
    [
        *((looks, branch) for looks in LOOKS for branch in ("blt", "bge")),
        *(("the end of " + which, branch) for which in ("one", "the other") for branch in ("beq", "bne")),
    ],
)
def test_a_path_by_the_places_of_arrays(looks: str, branch: str, tmp_path: Path) -> None:
    look = LOOKS[looks].format(branch=branch)
    assert verdict_of(f"{COPY}{look}{AGAIN}.L1:\n", tmp_path)[0] is Verdict.VERIFIED
    assert verdict_of(f"{COPY}{look}{ZERO}.L1:\n", tmp_path)[0] is not Verdict.VERIFIED


def test_what_differs_is_said_with_its_line(tmp_path: Path) -> None:
    verdicts = [
        verdict_of(f"{COPY}{LOOKS['order'].format(branch=each)}{ZERO}.L1:\n", tmp_path)
        for each in ("blt", "bge")
    ]
    (said,) = [text for verdict, text in verdicts if verdict is not Verdict.REFUTED]
    assert "y gets other contents: they depend on the addresses of arrays" in said


def test_a_fault_at_other_places_is_said(tmp_path: Path) -> None:
    verdicts = [
        verdict_of(f"{COPY}{LOOKS['order'].format(branch=each)}\tld 5,64(4)\n.L1:\n", tmp_path)
        for each in ("blt", "bge")
    ]
    assert all(verdict is not Verdict.VERIFIED for verdict, _ in verdicts)
    assert any("with arrays at other addresses" in text for _, text in verdicts)


def test_loops_whose_ends_are_addresses_are_verified(tmp_path: Path) -> None:
    text = (
        "\taddi 6,4,32\n.L1:\n\tld 5,0(4)\n\tstd 5,0(3)\n\taddi 3,3,8\n\taddi 4,4,8\n\tcmpld 4,6\n\tblt .L1\n"
    )
    assert verdict_of(text, tmp_path)[0] is Verdict.VERIFIED


def test_an_empty_array_is_beside_another(tmp_path: Path) -> None:
    stores = "".join(f"\tstd 5,{8 * n}(3)\n" for n in range(4))
    path = tmp_path / "kernel.s"
    path.write_text(f"\t.globl f\n\t.type f, @function\nf:\n\tli 5,0\n{stores}\tblr\n")
    head, _, x = CONTRACT.rpartition("shape = [4]")
    found = verified(path, f"{head}shape = [0]{x}".replace("= x[i]", "= 0"))
    assert found.result.verdict == "verified", messages(found)
