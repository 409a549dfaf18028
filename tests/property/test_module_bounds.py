"""For any input, addresses, packed bodies, paths and failures stay within their limits."""

import gzip
import json
import zlib
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.failures.classification import classify
from runners.modules.base import StepError
from valkyr_plugins.connectors.files.root import path_parts
from valkyr_plugins.connectors.network.addresses import may_connect
from valkyr_plugins.connectors.network.response import ResponseTooLarge, read_body


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_allowed():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("VALKYR_HTTP_ALLOWED_NETWORKS", raising=False)
        yield


@given(st.integers(0, 2**32 - 1))
def test_an_address_is_judged_alike_in_every_writing(number):
    plain = may_connect(str(IPv4Address(number)))

    mapped = IPv6Address((0xFFFF << 32) | number)
    translated = IPv6Address(int(IPv6Address("64:ff9b::")) | number)
    assert may_connect(str(mapped)) == may_connect(str(translated)) == plain


@given(st.ip_addresses(v=6, network="fc00::/7") | st.ip_addresses(v=4, network="10.0.0.0/8"))
def test_private_addresses_are_refused(address):
    assert not may_connect(str(address))


PACKERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "identity": bytes,
}


def response(encoding, packed, size):
    chunks = [packed[start : start + size] for start in range(0, len(packed), size)]
    return httpx.Response(200, headers={"content-encoding": encoding}, content=iter(chunks))


@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=5_000), st.integers(1, 700))
def test_a_packed_body_arrives_however_it_is_cut(encoding, body, size):
    assert read_body(response(encoding, PACKERS[encoding](body), size), 5_000) == body


@given(st.sampled_from(sorted(PACKERS)), st.integers(1, 5_000), st.integers(1, 700))
def test_a_body_of_one_byte_too_many_is_refused(encoding, limit, size):
    packed = PACKERS[encoding](b"x" * (limit + 1))

    with pytest.raises(ResponseTooLarge):
        read_body(response(encoding, packed, size), limit)
    packed = PACKERS[encoding](b"x" * limit)
    assert len(read_body(response(encoding, packed, size), limit)) == limit


@given(st.sampled_from(["gzip", "deflate"]), st.binary(min_size=1, max_size=300))
def test_a_body_that_is_not_what_it_says_is_an_error_or_bounded(encoding, noise):
    with suppress(StepError, ResponseTooLarge):
        assert len(read_body(response(encoding, noise, 50), 1_000)) <= 1_000


@given(st.text(alphabet="a./\\\x00", max_size=20) | st.text(max_size=50))
def test_a_path_has_only_plain_parts_or_is_refused(path):
    try:
        parts = path_parts(path)
    except StepError:
        return
    assert parts
    assert not {"", ".", ".."}.intersection(parts)
    assert not any("/" in part or "\x00" in part for part in parts)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.binary() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
text = st.text(st.characters(exclude_categories=()))


@given(text | st.text("\x00\ud800\udfff", max_size=3_000), anything)
def test_every_failure_can_be_stored(message, details):
    for error in (StepError(message, details=details), ValueError(message), KeyError(message)):
        failure = classify(error)

        stored = json.dumps([failure.message, failure.details, failure.traceback],
                            ensure_ascii=False, allow_nan=False)  # fmt: skip
        stored.encode("utf-8")
        assert "\\u0000" not in stored
        assert len(failure.message) <= 2_000
