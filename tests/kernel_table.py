"""The table of what can be verified, by kind of kernel, from the corpora: ``docs/kernel-kinds.md``.

``python tests/kernel_table.py > docs/kernel-kinds.md`` writes it. Nothing is verified on the way: the tests
of the corpora hold that each kernel has the verdict that is said here.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent), str(TESTS)]

HEADING = """# What can be verified, by kind of kernel

Written by `python tests/kernel_table.py` from the kernels that the tests verify, for all data at the sizes of
their contracts. Each fault was planted in a kernel, and is refuted. Each edit leaves the results that the
contract states unchanged, and the kernel stays verified.

"""
COLUMNS = ("kind", "written in", "targets", "formula", "kernels verified", "edits verified", "faults refuted")

KINDS = {
    "dequantised_s4_f16": "product with 4-bit weights, bit tricks",
    "grouped_f32": "grouped product, alpha and beta",
    "mma_f16": "product, f16",
    "mma_f64": "product, f64",
    "mma_mxf4": "product, block-scaled 4-bit",
    "mma_mxf8f6f4": "product, block-scaled 8-bit",
    "mma_s4": "product, 4-bit integers",
    "mma_sparse_f16": "product, 2:4 sparse",
    "nf4_f32": "product with weights looked up (NF4)",
    "shuffled_gemv_f32": "product with a vector, warp shuffles",
    "simt_f32": "product, f32 without tensor cores",
    "wmma_f16": "product, f16, wmma",
    "wmma_f16_scaled": "product, f16, wmma, fragments scaled",
    "wmma_s4": "product, 4-bit integers, wmma",
    "wmma_s8": "product, 8-bit integers, wmma",
}
"""Kinds of the CUDA kernels among the examples, by entry."""


class Row(NamedTuple):
    """A line of the table, all but the formula and the counts."""

    kind: str
    language: str
    formula: str


def _corpus(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = json.loads((folder / "kernels.json").read_text(encoding="utf-8"))
    return found


def _formula(contract: str) -> str:
    """Return what the text of a contract says is computed, with the names that it gives to parts."""
    ensures = tomllib.loads(contract)["ensures"]
    parts = [ensures.get("let", []), ensures["formula"]]
    return "; ".join(text for part in parts for text in ([part] if isinstance(part, str) else part))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _other_kernels() -> Iterator[tuple[Row, str, str]]:
    """Yield those of Triton with scaled operands, of Power and of PTO."""
    import power_kernels
    import pto_kernels
    import scaled_triton_contracts as scaled

    from tests.refinement.power.test_verify_power_kernels import MUTANTS
    from tests.refinement.pto.test_verify_pto_mutants import FAULTS

    for file, facts in scaled.KERNELS.items():
        row = Row(f"product, {file.partition('_')[0]}", "Triton", _formula(scaled.contract(facts)))
        yield row, facts["target"], "kernel"
    for name, contract in power_kernels.CONTRACTS.items():
        row = Row(f"{name.upper()} of Power", "C", _formula(_GIVEN.sub("1", contract)))
        yield row, "power10", "kernel"
        for mutant in MUTANTS:
            if mutant[0] == name:
                yield row, "power10", "fault"
    for name in pto_kernels.KERNELS:
        row = Row(name.replace("_", " "), "PTO", _formula(pto_kernels.contract_of(name)))
        yield row, ", ".join(pto_kernels.PROFILES), "kernel"
        for fault in FAULTS.values():
            if fault.kernel == name:
                yield row, ", ".join(pto_kernels.PROFILES), "fault"


_GIVEN = re.compile(r"\{\w+\}")
"""A number that a test gives."""


def kernels() -> Iterator[tuple[Row, str, str]]:
    """Yield of every file its row, its target, and what it is: ``kernel``, ``edit`` or ``fault``."""
    import row_contracts
    from cuda_contracts import CORPUS as EXAMPLES
    from cuda_faults import FAULTS

    examples = _corpus(EXAMPLES)
    rows = {
        entry: Row(kind, "CUDA", _formula(_text(EXAMPLES / f"{entry}.toml"))) for entry, kind in KINDS.items()
    }
    for facts in examples.values():
        yield rows[facts["entry"]], facts["target"], "kernel"
    for fault in FAULTS:
        facts = examples[fault.edit.kernel]
        yield rows[facts["entry"]], facts["target"], "fault"
    operators = TESTS / "kernels" / "cuda_operators"
    for facts in _corpus(operators).values():
        row = Row(facts["kind"], "CUDA", _formula(_text(operators / f"{facts['kernel']}.toml")))
        yield row, facts["target"], "fault" if facts["fault"] else "edit" if facts["edit"] else "kernel"
    for facts in _corpus(TESTS / "kernels" / "triton").values():
        what = f"product, {facts['types']['ab']}" + (", bias" if facts["bias"] else "")
        formula = "C[i, j] = sum(k, A[i, k] * B[k, j])" + (" + bias[j]" if facts["bias"] else "")
        yield Row(what, "Triton", formula), facts["target"], "fault" if facts["fault"] else "kernel"
    for facts in row_contracts.KERNELS.values():
        meaning = row_contracts.MEANINGS[facts["kernel"]]
        row = Row(facts["kernel"].replace("_", " "), "Triton", "; ".join([*meaning.let, *meaning.formulas]))
        yield row, facts["target"], "fault" if facts["fault"] else "edit" if facts["edit"] else "kernel"
    yield from _other_kernels()


def table() -> str:
    """Return the document."""
    counts: dict[Row, Counter[str]] = {}
    targets: dict[Row, dict[str, None]] = {}
    for row, target, what in kernels():
        counts.setdefault(row, Counter())[what] += 1
        targets.setdefault(row, {})[target] = None
    lines = [COLUMNS, tuple("---" for _ in COLUMNS)]
    for row, found in counts.items():
        numbers = (str(found[what]) if found[what] else "" for what in ("kernel", "edit", "fault"))
        lines.append((row.kind, row.language, ", ".join(targets[row]), f"`{_spaced(row.formula)}`", *numbers))
    return HEADING + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _spaced(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    print(table(), end="")
