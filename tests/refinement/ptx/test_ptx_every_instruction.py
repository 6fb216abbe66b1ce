"""Every instruction means the same of numbers as of data, thread by thread and operand by operand."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from ptx_forms import FORMS, OF_ADDRESSES, WITHOUT_RESULTS, Form
from ptx_instructions import execute

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.instruction_set import DECODERS
from mmaproof.refinement.terms import bit_slices
from mmaproof.refinement.terms.evaluation import Words
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.spec.float_encoding import is_nan
from mmaproof.spec.formats import BF16, F16, F32, F64

TUPLES = 64
"""Operands tried: two warps of them."""

KNOWN, DATA, BY_OPERAND, MIXED = range(4)
"""How the same operands are given in one quarter of the threads after another."""


def _specials(width: int) -> Words:
    """Return words that are special as integers, or as one or more floats."""
    found = [0, 1, 2, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 0x80, 0x7F, 0xFF, 8, 31, 32]
    for fmt in (F16, BF16, F32, F64):
        infinity = fmt.infinity
        assert infinity is not None
        one, quiet, small = fmt.bias << fmt.fraction_bits, infinity | 1 << (fmt.fraction_bits - 1), 1
        largest, normal = infinity - 1, 1 << fmt.fraction_bits
        for magnitude in (0, one, quiet | 5, infinity | 1, small, normal - 1, normal, largest, infinity):
            for word in (magnitude, magnitude | fmt.sign_mask):
                found += [sum(word << low for low in range(0, width, fmt.bits)), word]
    return np.array([word & ((1 << width) - 1) for word in found], dtype=np.uint64)


def _drawn(random: np.random.Generator, kind: str) -> Words:
    if kind == "pred":
        return random.integers(0, 2, TUPLES).astype(np.uint64)
    width = int(kind[1:])
    anything = random.integers(0, 1 << 64, TUPLES, dtype=np.uint64) & np.uint64((1 << width) - 1)
    special = random.choice(_specials(width), TUPLES)
    return np.where(random.random(TUPLES) < 0.6, special, anything)


class _Mixture:
    """Makes terms of operands: known, data, and both."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.random = np.random.default_rng(0)

    def __call__(
        self, store: TermStore, values: dict[str, Words], name: str, words: Words, width: int
    ) -> Ids:
        known = store.constants(words, width)
        if name in self.form.known:
            return known
        values[name] = words
        data = store.inputs(name, bits(width), np.arange(len(words)))
        parts = [data] if width == 8 else [self._parts(store, values, name, words, width) for _ in range(2)]
        quarter, thread = np.divmod(np.arange(len(words)), TUPLES)
        by_operand = np.where((thread + int(name[1:])) % 2 == 0, data, known)
        mixed = np.choose(self.random.integers(0, 2 + len(parts), len(words)), [known, data, *parts])
        chosen: NDArray[np.int32] = np.choose(quarter, [known, data, by_operand, mixed]).astype(np.int32)
        return chosen

    def _parts(self, store: TermStore, values: dict[str, Words], name: str, words: Words, width: int) -> Ids:
        """Return words of which each part is known in some threads, and data in others."""
        size = int(self.random.choice([8, width // 2]))
        pattern = self.random.integers(0, 3, len(words))
        parts = []
        for low in range(0, width, size):
            part = (words >> np.uint64(low)) & np.uint64((1 << size) - 1)
            own = f"{name}_{low}_{size}"
            values[own] = part
            data = store.inputs(own, bits(size), np.arange(len(words)))
            known = self.random.integers(0, 2, 3)[pattern] == 1
            parts.append(np.where(known, store.constants(part, size), data).astype(np.int32))
        return bit_slices.concatenate(store, parts)


def _operands(form: Form, repeated: int) -> dict[str, tuple[str, Words]]:
    random = np.random.default_rng(len(form.sources))
    found = {}
    for name, kind in form.sources.items():
        words = _drawn(random, kind)
        words = np.where((words == 0) & (name in form.nonzero), np.uint64(3), words)
        found[name] = (kind, np.tile(words, repeated))
    return found


ELSEWHERE = frozenset({"clusterlaunchcontrol", "elect", "tcgen05", "tensormap", "wgmma"})
"""What has tests of its own."""


def test_no_instruction_is_forgotten() -> None:
    tried = frozenset().union(*(form.opcodes for form in FORMS))
    assert tried | WITHOUT_RESULTS | OF_ADDRESSES | ELSEWHERE >= set(DECODERS)


def _alike(together: tuple[Form, ...]) -> list[tuple[Form, ...]]:
    """Return forms in groups of one name and the same sources, no more than a kernel has parameters for."""
    found: dict[str, list[Form]] = {}
    for form in together:
        key = f"{form.name.partition('.')[0]} {form.sources} {form.known} {form.nonzero}"
        found.setdefault(key, []).append(form)
    return [tuple(some[at : at + 24]) for some in found.values() for at in range(0, len(some), 24)]


KERNELS = _alike(tuple(form for form in FORMS if form.sources))


@pytest.mark.parametrize("together", KERNELS, ids=lambda some: f"{some[0].name} {len(some)}")
def test_terms_evaluate_to_what_numbers_give(together: tuple[Form, ...]) -> None:
    first = together[0]
    text, results, owners = "", {}, {}
    for number, form in enumerate(together):
        renamed = re.sub(r"\br(\d)\b", rf"r{number}_\1", form.text)
        text += f"{{ {renamed} }}\n"
        for name, kind in form.results.items():
            own = name.replace("r", f"r{number}_")
            results[own], owners[own] = kind, form
    numbers = execute(text, _operands(first, 1), results)
    operands = _operands(first, 4)
    mixed = execute(text, operands, results, _Mixture(first))
    assert numbers.findings == mixed.findings == ()
    for result, form in owners.items():
        expected = numbers.results[result]
        for how, found in enumerate(mixed.results[result].reshape(4, TUPLES)):
            for wrong in np.flatnonzero((found != expected) & ~_are_nans(form, found, expected)):
                given = ", ".join(hex(int(words[wrong])) for _, words in operands.values())
                got, wanted = int(found[wrong]), int(expected[wrong])
                pytest.fail(f"{form.text} of {given}, quarter {how}: {result} is {got:#x}, not {wanted:#x}")


_FLOATS = {"f16": F16, "f16x2": F16, "bf16": BF16, "bf16x2": BF16, "f32": F32, "f64": F64}


def _are_nans(form: Form, *sides: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell where words (n,) are the same but for the bits of NaNs, which PTX leaves open."""
    fmt = _FLOATS.get(form.text.split()[0].rpartition(".")[2])
    if fmt is None:
        return np.zeros(len(sides[0]), dtype=bool)
    lanes = [side.astype(np.uint64)[:, None] >> np.arange(0, 64, fmt.bits, dtype=np.uint64) for side in sides]
    left, right = (lane.astype(fmt.storage) for lane in lanes)
    return np.asarray(((left == right) | (is_nan(left, fmt) & is_nan(right, fmt))).all(axis=1))


REFUSING = [(form, name) for form in FORMS for name in sorted(form.known)]


@pytest.mark.parametrize(("form", "name"), REFUSING, ids=lambda each: getattr(each, "name", str(each)))
def test_what_must_be_known_is_refused_where_it_is_data(form: Form, name: str) -> None:
    (finding,) = execute(form.text, _operands(form, 1), form.results, [name]).findings
    assert finding.kind is Kind.UNSUPPORTED
