"""The state of the code: another one after each change, and read once as long as there is none."""

import os
from pathlib import Path

import pytest

from mmaproof.proofs import code_state as module
from mmaproof.proofs.code_state import attributes, code_state, take
from mmaproof.proofs.remembered import remembered


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a package of one file, which is the package whose state is asked for."""
    (tmp_path / "package" / "spec").mkdir(parents=True)
    (tmp_path / "package" / "spec" / "rows.py").write_text("ROWS = 1\n")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "package" / "proofs" / "code_state.py"))
    monkeypatch.setattr(module, "_extensions", list)
    return tmp_path / "package" / "spec" / "rows.py"


def changed_contents(path):
    path.write_text("ROWS = 2\n")


def changed_contents_and_restored_times(path):
    before = path.stat()
    path.write_text("ROWS = 2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_file(path):
    path.with_name("others.py").write_text("")


def no_file(path):
    path.unlink()


@pytest.mark.parametrize(
    "change", [changed_contents, changed_contents_and_restored_times, another_file, no_file]
)
def test_a_change_is_seen(package, change):
    before = attributes(), code_state()
    change(package)
    assert attributes() != before[0]
    assert code_state() != before[1]


def test_files_are_read_once(package, monkeypatch):
    state = code_state()
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} is read"))
    assert code_state() == state


def test_what_was_found_elsewhere_is_taken_until_files_change(package):
    take(attributes(), "digest of another process")
    assert code_state() == "digest of another process"
    changed_contents(package)
    assert code_state() != "digest of another process"


def test_an_answer_is_asked_for_again_when_the_code_was_changed(package, tmp_path, monkeypatch):
    answers = iter("abc")

    def asked():
        monkeypatch.setattr(module, "_digests", {})  # as in another process
        return remembered(tmp_path / "cache", "name", lambda: next(answers), ("spec",))

    assert [asked(), asked()] == ["a", "a"]
    changed_contents(package)
    assert [asked(), asked()] == ["b", "b"]
    package.write_text("ROWS = 1\n")  # the first contents: known again
    assert asked() == "a"
