"""What the specification refuses: a refusal as an answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from ..spec.errors import InputError

Asked = ParamSpec("Asked")

REFUSED = "refused"
"""What tables call what is refused."""


def refused(read: Callable[[], object]) -> bool:
    """Tell whether what reads a text refuses it."""
    try:
        read()
    except InputError:
        return True
    return False


def refusal_is(
    answer: object, *errors: type[Exception]
) -> Callable[[Callable[Asked, object]], Callable[Asked, object]]:
    """Return the decorator of a question whose answer is `answer` where it is refused.

    Parameters
    ----------
    answer : object
        What a refusal is to say.
    *errors : exception classes
        What refusals are; by default `InputError`.
    """
    caught = errors or (InputError,)

    def decorated(question: Callable[Asked, object]) -> Callable[Asked, object]:
        @wraps(question)
        def answering(*given: Asked.args, **named: Asked.kwargs) -> object:
            try:
                return question(*given, **named)
            except caught:
                return answer

        return answering

    return decorated
