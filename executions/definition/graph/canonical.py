"""JSON in one spelling, so that equal values have equal hashes."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """`value` as ASCII JSON with sorted keys and no spaces; raises ValueError for NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_hex(value: Any) -> str:
    """The SHA-256 of a JSON value's canonical spelling, in lower-case hex."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()
