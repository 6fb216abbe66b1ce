"""Kernels that average values with softmax weights tile by tile, some scores masked by data.

Thread `i` computes ``C[i] = sum(k, w(k) * X{k}[i]) / sum(k, w(k))`` with weights of 2 to the power of scores.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from mmaproof.refinement.findings.result import Result

from .elementwise_kernels import result_of

LEAST = "0fFF800000"
BEFORE, AFTER = "before", "after"
"""Scores are scaled by data before they are masked, or then."""


class OnlineSoftmax(NamedTuple):
    """A kernel, and its contract.

    Attributes
    ----------
    tiles : sequence
        The scores of each tile.
    masked : collection of int
        Scores that are -∞ where data say so.
    scale : str
        Whether and when scores are scaled: `BEFORE` or `AFTER` they are masked, or not.
    guarded : bool
        Whether 0 is subtracted instead of a greatest score that is -∞.
    zeros : bool
        Whether in the contract what is masked has the weight 0, and not the score -∞.
    """

    tiles: Sequence[Sequence[int]]
    masked: Collection[int]
    scale: str = ""
    guarded: bool = False
    zeros: bool = False

    @property
    def scores(self) -> range:
        """All scores."""
        return range(sum(map(len, self.tiles)))

    def result(self) -> Result:
        """Verify the kernel."""
        arrays = {f"X{k}": "f32" for k in self.scores} | {f"M{k}": "s8" for k in self.masked}
        arrays |= ({"S": "f32"} if self.scale else {}) | {"C": "f32 out"}
        return result_of(self.body(), self.formula(), arrays)

    def formula(self) -> str:
        """Return the contract's formula."""
        weights = [self._weight(k) for k in self.scores]
        weighted = " + ".join(f"{weight} * X{k}[i]" for k, weight in enumerate(weights))
        return f"C[i] = ({weighted}) / ({' + '.join(weights)})"

    def _weight(self, score: int) -> str:
        number, condition = f"X{score}[i]", f"M{score}[i] != 0"
        scaled = f"{number} * S[i]" if self.scale else number
        if score not in self.masked:
            return f"exp2({scaled})"
        if self.zeros:
            return f"where({condition}, exp2({scaled}), 0)"
        if self.scale == AFTER:
            return f"exp2(where({condition}, {number}, -inf) * S[i])"
        return f"exp2(where({condition}, {scaled}, -inf))"

    def body(self) -> str:
        """Return the kernel's instructions."""
        text = _Text()
        scores = [self._score(text, k) for k in self.scores]
        total = weighted = greatest = ""
        for tile in self.tiles:
            former = greatest
            for k in tile:
                greatest = text.made("max.f32", greatest, scores[k]) if greatest else scores[k]
            shift = self._shift(text, greatest)
            factor = text.power(former, shift) if former else ""
            if factor:
                total = text.made("mul.f32", total, factor)
                weighted = text.made("mul.f32", weighted, factor)
            for k in tile:
                weight = text.power(scores[k], shift)
                product = text.made("mul.f32", weight, f"%X{k}")
                total = text.made("add.f32", total, weight) if total else weight
                weighted = text.made("add.f32", weighted, product) if weighted else product
        return "\n".join([*text.lines, f"div.rn.f32 %C, {weighted}, {total};"])

    def _score(self, text: _Text, score: int) -> str:
        found = f"%X{score}"
        if self.scale == BEFORE:
            found = text.made("mul.f32", found, "%S")
        if score in self.masked:
            text.lines.append(f"setp.ne.s32 %p1, %M{score}, 0;")
            found = text.made("selp.f32", found, LEAST, "%p1")
        return text.made("mul.f32", found, "%S") if self.scale == AFTER else found

    def _shift(self, text: _Text, greatest: str) -> str:
        if not self.guarded:
            return greatest
        text.lines.append(f"setp.eq.f32 %p2, {greatest}, {LEAST};")
        return text.made("selp.f32", "0f00000000", greatest, "%p2")


class _Text:
    """Instructions, each with a register of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._registers = 0

    def made(self, opcode: str, *operands: str) -> str:
        register = f"%f{self._registers}"
        self._registers += 1
        self.lines.append(f"{opcode} {register}, {', '.join(operands)};")
        return register

    def power(self, score: str, shift: str) -> str:
        """Return 2 to the power of a difference."""
        return self.made("ex2.approx.f32", self.made("sub.f32", score, shift))
