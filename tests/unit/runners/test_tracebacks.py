"""Tracebacks show source positions, and never values."""

import json

import pytest

from runners.failures.failure_text import own_frames


def own_function(secret):
    return json.loads(secret)


def deeper(levels):
    if levels == 0:
        raise ValueError("deep")
    deeper(levels - 1)


def traceback_of(action):
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any will do
        action()
    return own_frames(caught.value)


def test_our_frames_are_told_with_their_source_and_library_frames_are_folded():
    text = traceback_of(lambda: own_function("hunter2"))

    assert text.startswith("JSONDecodeError:\n")
    assert "tests/unit/runners/test_tracebacks.py:" in text
    assert "in own_function\n    return json.loads(secret)" in text
    assert "3 in libraries, last json/decoder.py:" in text


def test_no_value_and_no_message_is_told():
    secret = "hunter2" * 2

    assert secret not in traceback_of(lambda: own_function(secret))


def test_causes_are_told_too():
    def wrapped():
        try:
            own_function("{")
        except ValueError as error:
            raise RuntimeError("wrapped") from error

    text = traceback_of(wrapped)

    assert text.index("RuntimeError:") < text.index("JSONDecodeError:")


def test_a_deep_traceback_is_cut_and_keeps_its_end():
    text = traceback_of(lambda: deeper(500))

    assert len(text) <= 8_000
    assert text.endswith('raise ValueError("deep")')


def test_an_error_that_was_never_raised_has_only_a_name():
    assert own_frames(ValueError("x")) == "ValueError:"
