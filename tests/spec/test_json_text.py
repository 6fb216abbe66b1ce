"""What is read as JSON is JSON, and comes back as it is; anything else is one error."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.json_text import read_json
from mmaproof.spec.text_files import read_text

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(DOCUMENTS)
def test_a_document_comes_back(document):
    assert read_json(json.dumps(document)) == document


@given(st.text(alphabet='[]{},:"0123456789.eE+-aNinfty \n\\u', max_size=40))
def test_anything_else_is_one_error(text):
    try:
        read_json(text)
    except InputError as reason:
        assert str(reason).startswith("not JSON")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"N": Infinity}', "f: not JSON: Infinity is not JSON"),
        ("[NaN]", "NaN is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("[1e400]", "1e400 is too large"),
        ("9" * 5000, "integer string"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' stands there twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[1,\n2", "f:2: not JSON"),
        ("", "f:1: not JSON"),
    ],
)
def test_what_is_refused(text, said):
    with pytest.raises(InputError) as caught:
        read_json(text, "f")
    assert said in str(caught.value)


def test_text_files(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_text(path) == "one\ntwo\nthree\n"
    path.write_bytes(b"one\ntwo \xff\n")
    for broken, said in (
        (path, "text:2: not UTF-8: byte 8 is 0xff"),
        (tmp_path, "can't be read: Is a directory"),
        (tmp_path / "none", "can't be read: No such file"),
        (tmp_path / "a\0b", "can't be read: embedded null byte"),
    ):
        with pytest.raises(InputError) as caught:
            read_text(broken)
        assert said in str(caught.value)


def test_a_file_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("mmaproof.spec.text_files.LARGEST", 100)
    (tmp_path / "large").write_bytes(bytes(101))
    for path in (tmp_path / "large", "/dev/zero"):
        with pytest.raises(InputError, match="more than 100 bytes"):
            read_text(type(tmp_path)(path))
