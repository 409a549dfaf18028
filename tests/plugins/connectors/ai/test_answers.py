"""Any response of a server becomes an answer or a StepError."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.modules.base import StepError
from valkyr_plugins.connectors.ai.answers import (
    MAX_TEXT,
    Chunk,
    StreamedAnswer,
    read_chunk,
    read_vectors,
)
from valkyr_plugins.connectors.ai.requests import put_otherwise

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
said = st.fixed_dictionaries(
    {},
    optional={
        "content": st.none() | st.text() | anything,
        "refusal": st.none() | st.text(),
        "reasoning_content": st.none() | st.text(),
        "tool_calls": st.none()
        | st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "index": st.none() | st.integers(-1, 3),
                    "id": anything,
                    "function": st.fixed_dictionaries({}, optional={"arguments": anything}),
                },
            ),
            max_size=3,
        ),
    },
)
chunks = anything | st.fixed_dictionaries(
    {},
    optional={
        "id": anything,
        "choices": st.none()
        | st.lists(
            st.fixed_dictionaries(
                {}, optional={"delta": said, "message": said, "finish_reason": anything}
            ),
            max_size=2,
        ),
        "usage": anything,
    },
)


@given(st.lists(chunks, max_size=5))
def test_no_piece_of_an_answer_breaks_more_than_the_step(pieces):
    answer = StreamedAnswer()
    with suppress(StepError):
        for piece in pieces:
            answer.add(read_chunk(piece, "model.example.com"))

    assert isinstance(answer.text, str)
    said = len(answer.text) + len(answer.reasoning) + len(answer.refusal)
    assert answer.characters >= said + sum(len(call.text) for call in answer.calls.values())


def calling(arguments: Any) -> Chunk:
    call = {"function": {"name": "find", "arguments": arguments}}
    return read_chunk({"choices": [{"message": {"tool_calls": [call]}}]}, "model.example.com")


def test_arguments_as_an_object_count_like_their_text():
    arguments = {"number": "17"}
    objects, texts = StreamedAnswer(), StreamedAnswer()
    objects.add(calling(arguments))
    texts.add(calling(json.dumps(arguments)))

    assert objects.characters == texts.characters == len("find") + len('{"number": "17"}')
    with pytest.raises(StepError, match="exceeded 1,000,000 characters"):
        objects.add(calling({"text": "x" * MAX_TEXT}))


@given(anything)
def test_no_answer_about_vectors_breaks_more_than_the_step(value):
    with suppress(StepError):
        assert read_vectors(value, "model.example.com").data is not None


@given(st.lists(st.text(max_size=30), max_size=6))
def test_an_answer_is_the_same_in_one_piece_and_in_many(pieces):
    whole, parts = StreamedAnswer(), StreamedAnswer()
    whole.add(read_chunk({"choices": [{"message": {"content": "".join(pieces)}}]}, "m"))
    for piece in pieces:
        parts.add(read_chunk({"choices": [{"delta": {"content": piece}}]}, "m"))

    assert parts.text == whole.text


@given(st.text(max_size=200))
def test_a_refusal_that_names_no_key_changes_nothing(text):
    assert put_otherwise({"model": "m", "messages": []}, text) is None
