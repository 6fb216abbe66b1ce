from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.targets import (
    NEWEST,
    TARGETS,
    VERSIONS,
    Availability,
    spell_version,
    target_named,
    version_named,
)

targets = st.sampled_from(list(TARGETS.values()))
versions = st.sampled_from(VERSIONS)


@given(targets)
def test_a_target_is_found_by_its_name(target) -> None:
    assert target_named(target.name) is target
    assert target.since in VERSIONS


@given(versions)
def test_a_version_is_found_by_its_spelling(version) -> None:
    assert version_named(spell_version(version)) == version
    assert tuple(sorted(set(VERSIONS))) == VERSIONS and version <= NEWEST


@pytest.mark.parametrize("name", ["sm_90b", "90", "", "SM_90", "sm_60", "sm_90 "])
def test_unknown_targets_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"unknown target .*; known: sm_70, .*sm_121f"):
        target_named(name)


@pytest.mark.parametrize("text", ["", "9", "9.10", "5.0", "8.9", "9.0 ", "٩.0", "8,7"])
def test_unknown_versions_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"unknown PTX version .*; known: 6.0, "):
        version_named(text)


@given(targets, versions, versions)
def test_what_is_available_stays_available(target, ptx, needed) -> None:
    for row in (Availability(needed, 80), Availability(needed, exactly=frozenset({"sm_90a", "sm_120f"}))):
        if row.allows(target, ptx):
            assert row.on(target) and ptx >= needed and ptx >= target.since
            assert all(row.allows(target, later) for later in VERSIONS if later >= ptx)
        elif row.on(target):
            assert ptx < max(needed, target.since)


def test_a_minimum_holds_for_every_later_target_whatever_its_suffix() -> None:
    row = Availability((7, 0), 90)
    assert {target.name for target in TARGETS.values() if row.on(target)} == {
        name for name in TARGETS if int(name[3:].rstrip("af")) >= 90
    }
