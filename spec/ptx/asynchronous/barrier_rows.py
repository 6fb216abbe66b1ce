"""The instructions on barrier objects (``mbarrier``), and arrivals of copies that are not bulk copies."""

from __future__ import annotations

from types import MappingProxyType

from ..targets import Availability
from .mbarrier import MOST
from .rows import Place, Row, Sort

SECTION = "9.7.13.15"
SINCE_80, SINCE_90 = Availability((7, 0), 80), Availability((8, 0), 90)

_LATER = MappingProxyType(
    {
        "shared::cta": Availability((7, 8), 80),
        "cluster": SINCE_90,
        "release": Availability((8, 0), 80),
        "acquire": Availability((8, 0), 80),
        "relaxed": Availability((8, 6), 90),
    }
)
_LATER_TX = MappingProxyType({name: since for name, since in _LATER.items() if name != "relaxed"})
_OWN = "shared|shared::cta?"
_ORDERED = "release+cta|release+cluster|relaxed+cta|relaxed+cluster?"
_ACQUIRED = "acquire+cta|acquire+cluster|relaxed+cta|relaxed+cluster?"
_RELAXED = "relaxed+cta|relaxed+cluster?"

_BARRIER = Place("addr", Sort.ADDRESS, space="shared")
_STATE = Place("state", Sort.RESULT, 64)
_REMOTE = Place("state", Sort.SINK)
_NUMBERS = range(1, MOST + 1)
_BYTES = Place("txCount", Sort.INTEGER, values=range(MOST + 1))
_COUNT = Place("count", Sort.INTEGER, values=_NUMBERS, available=Availability((7, 8), 90))
_NEEDED = Place("count", Sort.INTEGER, values=_NUMBERS)
_PASSED = Place("waitComplete", Sort.PREDICATE)
_HINT = Place("suspendTimeHint", Sort.INTEGER, available=Availability((7, 8), 90))

_ENDS = "q = 0 and x = 0 ⇒ p += 1, q = e"


def _arrivals(head: str, effect: str, drop: str) -> tuple[Row, ...]:
    returned = "state = the phase before"
    what = (drop, effect) if drop else (effect,)
    own = f"{_ORDERED} {_OWN} b64"
    remote = f"{_ORDERED} shared::cluster b64"
    one = tuple(line.replace("count", "1") for line in what)
    return (
        Row(head, own, (_STATE, _BARRIER, _COUNT), SINCE_80, SECTION, (*what, _ENDS, returned), _LATER),
        Row(head, remote, (_REMOTE, _BARRIER, _COUNT), SINCE_90, SECTION, (*what, _ENDS), _LATER),
        Row(
            f"{head}.expect_tx", own, (_STATE, _BARRIER, _BYTES), SINCE_90, SECTION,
            ("x += txCount", *one, _ENDS, returned), _LATER,
        ),
        Row(
            f"{head}.expect_tx", remote, (_REMOTE, _BARRIER, _BYTES), SINCE_90, SECTION,
            ("x += txCount", *one, _ENDS), _LATER,
        ),
        Row(
            f"{head}.noComplete", f"release+cta? {_OWN} b64", (_STATE, _BARRIER, _NEEDED), SINCE_80, SECTION,
            (*what, "undefined if q = 0 and x = 0", returned), _LATER,
        ),
    )  # fmt: skip


def _waits(head: str, since: Availability, *hint: Place) -> tuple[Row, ...]:
    modifiers = f"{_ACQUIRED} {_OWN} b64"
    parity = Place("phaseParity", Sort.INTEGER, values=range(2))
    state = Place("state", Sort.INTEGER, 64)
    parity_since = Availability(max(since.ptx, (7, 1)), since.minimum)
    return (
        Row(
            head, modifiers, (_PASSED, _BARRIER, state, *hint), since, SECTION,
            ("waitComplete = the phase of the state is over: the current one, or the one before",), _LATER,
        ),
        Row(
            f"{head}.parity", modifiers, (_PASSED, _BARRIER, parity, *hint), parity_since, SECTION,
            ("waitComplete = (p mod 2 ≠ phaseParity): the last phase with the parity is over",), _LATER,
        ),
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    Row(
        "mbarrier.init", f"{_OWN} b64", (_BARRIER, _NEEDED), SINCE_80, SECTION,
        ("p = 0, e = q = count, x = 0",), _LATER,
    ),
    Row("mbarrier.inval", f"{_OWN} b64", (_BARRIER,), SINCE_80, SECTION, ("no barrier is there",), _LATER),
    Row(
        "mbarrier.expect_tx", f"{_RELAXED} shared|shared::cta|shared::cluster? b64", (_BARRIER, _BYTES),
        SINCE_90, SECTION, ("x += txCount",), _LATER_TX,
    ),
    Row(
        "mbarrier.complete_tx", f"{_RELAXED} shared|shared::cta|shared::cluster? b64", (_BARRIER, _BYTES),
        SINCE_90, SECTION, ("x -= txCount", _ENDS), _LATER_TX,
    ),
    *_arrivals("mbarrier.arrive", "q -= count", ""),
    *_arrivals("mbarrier.arrive_drop", "q -= count", "e -= count"),
    *_waits("mbarrier.test_wait", SINCE_80),
    *_waits("mbarrier.try_wait", Availability((7, 8), 90), _HINT),
    Row(
        "mbarrier.pending_count", "b64", (Place("count", Sort.RESULT), Place("state", Sort.INTEGER, 64)),
        SINCE_80, SECTION, ("count = q of the state, of an arrival with .noComplete",),
    ),
    Row(
        "cp.async.mbarrier.arrive", f"noinc? {_OWN} b64", (_BARRIER,), SINCE_80, SECTION,
        ("when the thread's cp.async before it are done: q -= 1", _ENDS, "without .noinc: q += 1 at once"),
        _LATER,
    ),
)  # fmt: skip
"""Every row of barrier objects."""
