"""Convert Crypto nodes, which make digests, signatures and random values, into `python.code`."""

from typing import Any

from valkyr_plugins.n8n.families.programs import program
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family
from valkyr_plugins.n8n.shape import Shape
from valkyr_plugins.n8n.texts import is_expression

DIGESTS = """import base64
import hashlib


def main(inputs):
    found = hashlib.new(inputs["type"], str(inputs["value"]).encode())
    if inputs["encoding"] == "base64":
        return base64.b64encode(found.digest()).decode()
    return found.hexdigest()
"""


SIGNATURES = """import base64
import hmac


def main(inputs):
    key, value = str(inputs["key"]).encode(), str(inputs["value"]).encode()
    found = hmac.new(key, value, inputs["type"])
    if inputs["encoding"] == "base64":
        return base64.b64encode(found.digest()).decode()
    return found.hexdigest()
"""
RANDOM = """import base64
import secrets
import uuid


def main(inputs):
    kind, length = inputs["kind"], int(inputs["length"])
    if kind == "uuid":
        return str(uuid.uuid4())
    if kind == "base64":
        return base64.b64encode(secrets.token_bytes(length)).decode()[:length]
    if kind == "hex":
        return secrets.token_hex(length)[:length]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    return "".join(secrets.choice(letters) for _ in range(length))
"""


@family("crypto")
def crypto(work: NodeWork) -> Made:
    """Make a `python.code` task for a digest, a keyed signature or a random value. Raises Left."""
    kind = {"MD5": "md5", "SHA256": "sha256", "SHA512": "sha512", "SHA1": "sha1",
            "SHA384": "sha384", "SHA3-256": "sha3_256", "SHA3-512": "sha3_512"}.get(
        work.word("type", "MD5"))  # fmt: skip
    action = work.word("action", "hash")
    if action == "generate":
        length = work.get("stringLength", 32)
        random = {"kind": work.word("encodingType", "uuid"), "length": work.value(length)}
        return program(work, RANDOM, random, _with_result(work))
    if kind is None or work.get("binaryData") is True or action not in ("hash", "hmac"):
        raise Left("it signs with a private key, or reads a file; do it in a module of your own")
    inputs: dict[str, Any] = {"value": work.value(work.get("value", "")), "type": kind,
              "encoding": work.word("encoding", "hex")}  # fmt: skip
    if action == "hash":
        return program(work, DIGESTS, inputs, _with_result(work))
    if not is_expression(work.get("secret")):
        raise Left("it signs with a secret, which python.code does not take")
    work.remark("Its key is in the data: see whether that is a secret.")
    return program(
        work, SIGNATURES, inputs | {"key": work.value(work.get("secret"))}, _with_result(work)
    )


def _with_result(work: NodeWork) -> Shape:
    """Return the shape of the input, with the result in an additional field."""
    name = work.word("dataPropertyName", "data")
    came = work.shape
    return Shape(None, came.base, {**came.named, (name,): f"{work.output}.result"}, why=came.why)
