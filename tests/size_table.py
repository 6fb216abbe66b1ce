"""The table of what is shown of the corpora's kernels for every size: ``docs/kernels-of-every-size.md``.

``python tests/size_table.py > docs/kernels-of-every-size.md`` writes it; it proves each line again, which
takes some minutes. With words as arguments, only kernels whose names contain one of them are looked at.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent), str(TESTS)]

HEADING = """# What is shown for every size, by kernel

Written by `python tests/size_table.py`, for the kernels of the corpora that have no fault, with tiles of at
most 4,096 elements. The columns "every number" say whether a kernel is verified for every number of the
size that its sum runs over (at one block), and of the sizes by which its grid grows (at one step of the
others). Sizes are multiples of the tiles; those of `ragged` kernels, which have masks, are any numbers. K
of the sparse kernel is any multiple of 32 in the first column, and 224 in the second: its 7 given values
are then the same in all tiles. A number is the largest that is shown, where not all are. Otherwise the cell
names the obstacle, and sizes are tried one by one. See [Every size](every-size.md).

| kernel | corpus | sum over | every number | grid over | every number |
|---|---|---|---|---|---|
"""

_SIZES = re.compile(r"(?m)^\[\[?sizes\]?\]\n(?:[A-Za-z]\w* = .*\n)+\n?")

_MOST_ELEMENTS = 1 << 12
"""Of a tile of the kernels that are asked about."""

_SPARSE_STEP = 32
"""Of K of the sparse kernel, whose rows then begin anywhere among its given values."""

_STEPS = 1009
"""Steps in K of a contract in which strides are numbers: no other numbers of it are parts of this K."""


class Question(NamedTuple):
    """A kernel, and its sizes.

    Attributes
    ----------
    corpus, kernel : str
        Its folder in words, and its file.
    path : Path
        The file.
    contract : str
        Its contract, with ``{sizes}`` in place of their numbers.
    one : dict of str to int
        Each size, of one block.
    steps : dict of str to int
        What each is a multiple of.
    """

    corpus: str
    kernel: str
    path: Path
    contract: str
    one: Mapping[str, int]
    steps: Mapping[str, int]

    def at(self, *every: str) -> str:
        """Return the contract with some sizes that may be every number, others at one block."""
        sizes = {
            name: f"any multiple of {self.steps[name]}" if name in every else number
            for name, number in self.one.items()
        }
        lines = "".join(f"{name} = {json.dumps(number)}\n" for name, number in sizes.items())
        return self.contract.replace("{sizes}", f"[sizes]\n{lines}\n")


def questions() -> list[Question]:
    """Return the kernels that are asked about: of each for several processors one, and of small tiles."""
    found: dict[tuple[str, str], Question] = {}
    for kernel in (*_of_cuda(), *_of_split_k(), *_of_triton(), *_of_scaled(), *_of_pipelines()):
        if prod(kernel.one.get(name, 1) for name in "MN") <= _MOST_ELEMENTS:
            found.setdefault((kernel.corpus, re.sub(r"_sm\d+a?\.ptx", "", kernel.kernel)), kernel)
    return list(found.values())


def _corpus(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = json.loads((folder / "kernels.json").read_text(encoding="utf-8"))
    return found


def _listed(text: str) -> tuple[str, dict[str, int]]:
    """Return a contract without its sizes, and the first of these."""
    found = _SIZES.search(text)
    assert found is not None
    sizes = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", found[0])}
    return _SIZES.sub("", text[: found.start()]) + "{sizes}" + _SIZES.sub("", text[found.start() :]), sizes


def _of_cuda() -> Iterator[Question]:
    from cuda_contracts import CORPUS, KERNELS, TILES

    for name, facts in KERNELS.items():
        if (entry := facts["entry"]) in TILES:
            others, step = TILES[entry]
            text, _ = _listed((CORPUS / f"{entry}.toml").read_text(encoding="utf-8"))
            one = {size: int(number) for size, number in re.findall(r"(\w+) = (\d+)", others)} | {"K": step}
            steps = {**one, "K": _SPARSE_STEP} if entry == "mma_sparse_f16" else one
            yield Question("CUDA", name, CORPUS / name, text, one, steps)


def _of_split_k() -> Iterator[Question]:
    from operator_kernels import CORPUS

    for kernel in ("split_k_f16", "serial_split_k_f32", "split_k_tickets_f32"):
        text, one = _listed((CORPUS / f"{kernel}.toml").read_text(encoding="utf-8"))
        name = f"{kernel}_sm80.ptx"
        steps = {size: one[size] for size in "MNK"}
        yield Question("CUDA, split K", name, CORPUS / name, text, one, steps)


def _of_triton() -> Iterator[Question]:
    from triton_contracts import CORPUS, KERNELS, for_sizes

    for name, facts in KERNELS.items():
        if not facts["fault"]:
            one = dict(zip("MNK", facts["tile"], strict=True))
            text = for_sizes(name, dict.fromkeys(one, 1))
            text = re.sub(r"\[sizes\]\n(\w = 1\n)+", "{sizes}", text)
            steps = dict.fromkeys(one, 1) if facts["ragged"] else one
            yield Question("Triton", name, CORPUS / name, text, one, steps)


def _of_scaled() -> Iterator[Question]:
    from scaled_triton_contracts import CORPUS, KERNELS, contract

    for name, facts in KERNELS.items():
        one = dict(zip("MNK", facts["tile"], strict=True))
        text, sizes = _listed(contract(facts, steps=_STEPS))
        for part in (1, 2, 4, 16, 32, 64):
            number = f"\nvalue = {sizes['K'] // part}\n"
            text = text.replace(number, f'\nvalue = "K // {part}"\n')
        text = text.replace(f"\nvalue = {one['N']}\n", '\nvalue = "N"\n')
        grid = [f"{size} // {one[size]}" for size in "MN"]
        text = text.replace("[launch]\n", f"[launch]\ngrid = {json.dumps(grid)}\n")
        yield Question("Triton, scaled", name, CORPUS / name, text, one, one)


PIPELINES = {
    "Hopper": ("triton_warpgroup", {"by_pointers": 64, "by_maps": 32, "by_roles": 64}),
    "Blackwell": ("triton_tensor_memory", {"by_pointers": 32, "by_roles": 64}),
}
"""Kernels that wait at barriers, with what K is a multiple of; tiles are of 64 or 128 rows and 32 columns."""


def _of_pipelines() -> Iterator[Question]:
    for processor, (folder, steps_of) in PIPELINES.items():
        for kernel, step in steps_of.items():
            path = TESTS / "kernels" / folder / f"{kernel}.ptx"
            text, _ = _listed(path.with_suffix(".toml").read_text(encoding="utf-8"))
            one = {"M": 128 if "127" in text else 64, "N": 32, "K": step}
            yield Question(f"Triton, {processor}", f"{folder}/{kernel}.ptx", path, text, one, one)


def row(question: Question) -> str:
    """Return a line of the table, by proving what it says."""
    from mmaproof.refinement.contract.reading import parse_contract

    grid = re.findall(r"\w+", question.contract.partition("grid = ")[2].partition("\n")[0])
    of_grid = [name for name in question.steps if name in grid]
    others = [name for name in ("K", "N") if name in question.steps and name not in grid]
    cells = [question.kernel, question.corpus]
    for every in (others[:1], of_grid):
        if not every:
            cells += ["", ""]
            continue
        cells.append(", ".join(every))
        try:
            contract = parse_contract(question.at(*every))
            cells.append(_answer(question, contract, by_grid=every is of_grid))
        except Exception as error:
            cells.append(_reason(error, question))
    return "| " + " | ".join(cells) + " |\n"


def _answer(question: Question, contract: Any, *, by_grid: bool) -> str:
    """Return how far sizes are shown; raises UnsupportedError if they aren't."""
    from mmaproof.refinement.every_size import check_launches
    from mmaproof.refinement.machine.front_end import read_kernel
    from mmaproof.refinement.ptx.any_size.block_proofs import BlockProver
    from mmaproof.refinement.ptx.front_end import PtxKernel

    check_launches(contract)
    kernel = read_kernel("ptx", question.path, contract.entry, contract.target)
    assert isinstance(kernel, PtxKernel)
    domains = {each.name: each for each in contract.quantified.domains}
    if by_grid:
        shown = list(BlockProver(kernel, contract, lambda what: None).proof({}, None).domains)
    else:
        (domain,) = domains.values()
        shown = [kernel.for_every(contract, {}, domain, lambda what: None).domain]
    ends = {each.name: each.most for each in shown if each.name in domains}
    if all(most == domains[name].most for name, most in ends.items()):
        return "yes"
    if len(set(ends.values())) == 1:
        return f"up to {next(iter(ends.values()))}"
    return ", ".join(f"{name} up to {most}" for name, most in sorted(ends.items()))


def _reason(error: Exception, question: Question) -> str:
    return "no: " + " ".join(str(error).replace(f"{question.path}:", "line ").split()).replace("|", "\\|")


if __name__ == "__main__":
    print(HEADING, end="")
    for each in questions():
        if not sys.argv[1:] or any(word in each.kernel for word in sys.argv[1:]):
            print(row(each), end="", flush=True)
