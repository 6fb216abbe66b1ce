"""Whatever comes from outside, nothing that a terminal obeys is shown, and no value is echoed at length."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.shown_text import LONGEST_MESSAGE, LONGEST_VALUE, shortened, visible

ANY_TEXT = st.text(st.characters(), max_size=200)  # surrogates too: bytes of a name that is not UTF-8


@given(ANY_TEXT)
def test_nothing_that_a_terminal_obeys_is_shown(text):
    for character in visible(text):
        assert unicodedata.category(character) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(character) not in {"LRO", "RLO", "LRE", "RLE", "LRI", "RLI", "FSI"}
    visible(text).encode("utf-8")


@given(
    st.text(st.characters(codec="latin-1", categories=["L", "N", "P", "S", "Zs"], exclude_characters="\xad"))
)
def test_ordinary_text_stays(text):
    assert visible(text) == text


def test_escapes_are_those_of_python():
    assert visible("a\x1b[31m\n\u202eb\udcff") == "a\\x1b[31m\\n\\u202eb\\udcff"


@given(st.text("ab '\"\n\\", max_size=50), st.integers(0, 100_000))
def test_long_messages_are_cut(words, count):
    message = f"can't read {words * count!r} from {'x' * count}; known: a, b"
    cut = shortened(message)
    assert len(cut) <= LONGEST_MESSAGE
    assert cut.startswith("can't read ")


def test_only_the_long_value_is_cut():
    value = "v" * (LONGEST_VALUE + 1)
    message = f"the kernel's file can't be read: {value!r}; the file's rows aren't {'w' * LONGEST_VALUE!r}"
    assert shortened(message) == message.replace(value, value[:-1] + "…")
