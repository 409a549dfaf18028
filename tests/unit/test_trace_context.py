"""The trace context that callers send, and the part of it that is trusted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executions.observability.trace_context import parent_of, read

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def test_a_traceparent_is_the_requests_trace() -> None:
    found = read([(b"traceparent", f"00-{TRACE}-{SPAN}-01".encode())])

    assert found.trace_id == TRACE
    assert found.parent is not None
    assert (found.parent.span_id, found.parent.flags) == (0x00F067AA0BA902B7, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\nX: y",
        f"01-{TRACE}-{SPAN}-01-" + "x" * 10_000,
    ],
)
def test_what_is_no_traceparent_begins_a_trace_of_its_own(text: str) -> None:
    assert parent_of(text) is None
    assert len(read([(b"traceparent", text.encode())]).trace_id) == 32


def test_a_later_version_is_understood_as_far_as_it_is_the_same() -> None:
    assert parent_of(f"42-{TRACE}-{SPAN}-03-more").flags == 1  # type: ignore[union-attr]


def test_of_two_traceparents_none_is_believed() -> None:
    one = (b"traceparent", f"00-{TRACE}-{SPAN}-01".encode())

    assert read([one, one]).parent is None


@pytest.mark.parametrize("text", ["order-17", "a.b:c@d/e+f=", "x" * 128])
def test_a_harmless_request_id_is_kept(text: str) -> None:
    assert read([(b"x-request-id", text.encode())]).request_id == text


@pytest.mark.parametrize(
    "text",
    ["", " ", "a b", "a\nb", "a\r\nSet-Cookie: b", "x" * 129, "x" * 10_000, "é", '"', "\x1b[2J"],
)
def test_a_hostile_request_id_is_replaced(text: str) -> None:
    found = read([(b"x-request-id", text.encode("latin-1"))]).request_id

    assert found != text
    assert len(found) == 32


@given(st.lists(st.tuples(st.sampled_from([b"traceparent", b"x-request-id"]), st.binary())))
def test_nothing_that_is_sent_breaks_reading(headers: list[tuple[bytes, bytes]]) -> None:
    found = read(headers)

    assert found.request_id.isascii()
    assert "\n" not in found.request_id
    assert int(found.trace_id, 16)
