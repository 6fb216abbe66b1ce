"""Two tables are compared entry by entry, in both directions; nothing stated is an error."""

from __future__ import annotations

import numpy as np
import pytest
from theorem_checks import judged

from mmaproof.proofs.comparison import arrays_compared, compared, difference
from mmaproof.proofs.obligation import Certificate, Status
from mmaproof.proofs.text_tables import bits, rows
from mmaproof.proofs.verdict import COMPARISON, ENUMERATION

STATED = {"a": 1, "b": frozenset({2, 3})}


@pytest.mark.parametrize(
    ("specified", "message"),
    [
        ({"a": 1}, "b is stated, and not specified"),
        ({"a": 2, "b": frozenset({2, 3})}, "a: 1 is stated, 2 specified"),
        ({**STATED, ("c", 4): 0}, "c 4 is specified, and not stated"),
    ],
)
def test_a_difference_refutes(specified: dict[object, object], message: str) -> None:
    verdict = judged(compared(STATED, lambda: specified))
    assert verdict.status is Status.REFUTED
    assert verdict.message == message


def test_equal_tables_are_proved_by_comparison() -> None:
    """And never by enumeration, which is of a whole domain: with other entries, of arrays, when refuted."""
    assert difference(STATED, dict(STATED)) is None
    same = judged(compared(STATED, lambda: STATED))
    ones = {"a": np.ones(2)}
    arrays = judged(arrays_compared(ones, lambda: ones))
    other = judged(compared(STATED, dict))
    assert [each.status for each in (same, arrays, other)] == [Status.PROVED, Status.PROVED, Status.REFUTED]
    assert {each.method for each in (same, arrays, other)} == {COMPARISON}
    whole = judged(Certificate(lambda: None, 2))
    assert (whole.status, whole.method) == (Status.PROVED, ENUMERATION)


def test_an_empty_table_says_nothing() -> None:
    assert judged(compared({}, dict)).status is Status.ERROR


def test_tables_are_read_by_columns_and_ranges_in_their_order() -> None:
    assert rows("name | bits\nx    | 29 11-13\ny    |") == [
        {"name": "x", "bits": "29 11-13"},
        {"name": "y", "bits": ""},
    ]
    assert list(bits("29 11-13")) == [29, 11, 12, 13]
    with pytest.raises(ValueError, match="argument 2"):
        rows("name | bits\nx")
