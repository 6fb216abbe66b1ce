"""Kernels of one thread for each element, verified against a formula."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify
from mmaproof.spec.formats import FORMATS

from .contract_texts import contract_text

THREADS = 32


class Kernel(NamedTuple):
    """A right kernel, and what is to be replaced in it by what to make it wrong."""

    body: str
    formula: str | list[str]
    arrays: dict[str, str]
    fault: tuple[str, str]

    def result(self) -> Result:
        """Verify the kernel."""
        return result_of(self.body, self.formula, self.arrays)

    def faulty_result(self) -> Result:
        """Verify it with its fault."""
        wrong = self.body.replace(*self.fault)
        assert wrong != self.body
        return result_of(wrong, self.formula, self.arrays)


def result_of(
    body: str,
    formula: str | Sequence[str],
    arrays: Mapping[str, str],
    *,
    values: Mapping[str, Sequence[float]] | None = None,
    target: str = "sm_90",
    requires: Sequence[str] = (),
    ensures: str = "",
) -> Result:
    """Verify a kernel whose thread `t` computes the elements `t`.

    Parameters
    ----------
    body : str
        PTX that reads the registers ``%A``, … of the arrays that are read, and writes those of the others.
        They have 16 bits for elements of 16 bits, else at least 32; integers are extended by their sign.
        ``%t`` is the thread; ``%p``, ``%h``, ``%r``, ``%d`` and ``%f`` are free registers.
    formula : str or sequence of str
        What each output is.
    arrays : mapping of str to str
        ``name: "type [access]"`` of vectors of `THREADS` elements.
    values : mapping of str to sequence of numbers, optional
        Contents of arrays that are given.
    target : str
        The processor.
    requires : sequence of str
        What inputs meet.
    ensures : str
        Further keys of ``[ensures]``.
    """
    conditions = f"\n[requires]\nconditions = {list(requires)}" if requires else ""
    kinds = {name: (words.split()[0], words.split()[-1] == "out") for name, words in arrays.items()}
    contract = contract_text(
        formula,
        {name: f"{kind} {THREADS} {'out' if out else 'in'}" for name, (kind, out) in kinds.items()},
        extra={name: f"values = {list(given)}" for name, given in (values or {}).items()},
        ensures=f"{ensures}\n[launch]\ngrid = 1\nblock = {THREADS}{conditions}",
    )
    with tempfile.TemporaryDirectory() as folder:
        kernel, wanted = Path(folder) / "kernel.ptx", Path(folder) / "contract.toml"
        kernel.write_text(kernel_text(body, kinds, target), encoding="utf-8")
        wanted.write_text(contract, encoding="utf-8")
        return verify(kernel, wanted).result


def kernel_text(body: str, kinds: Mapping[str, tuple[str, bool]], target: str) -> str:
    """Return the text of such a kernel; `kinds` says of each array its type and whether it is written."""
    declared, loads, stores = [], [], []
    for index, (name, (kind, out)) in enumerate(kinds.items()):
        fmt = FORMATS[kind]
        size, width = fmt.bits, 16 if fmt.bits == 16 else max(32, fmt.bits)
        declared.append(f".reg .b{width} %{name}; .reg .b64 %at{index};")
        read = (
            f"{kind[0]}{size}"
            if kind[0] in "us" and kind[1:].isdigit()
            else f"{'u' if size < 16 else 'b'}{size}"
        )
        loads += [
            f"ld.param.u64 %at{index}, [p{index}];",
            f"mad.wide.u32 %at{index}, %t, {size // 8}, %at{index};",
            *([] if out else [f"ld.global.{read} %{name}, [%at{index}];"]),
        ]
        stores += [f"st.global.b{size} [%at{index}], %{name};"] if out else []
    parameters = ", ".join(f".param .u64 p{index}" for index in range(len(kinds)))
    return "\n".join(
        [
            ".version 8.8", f".target {target}", ".address_size 64", f".visible .entry k({parameters})", "{",
            ".reg .pred %p<8>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %d<32>; .reg .f32 %f<32>;",
            ".reg .b32 %t;", *declared, "mov.u32 %t, %tid.x;", *loads, body, *stores, "ret;", "}",
        ]
    )  # fmt: skip
