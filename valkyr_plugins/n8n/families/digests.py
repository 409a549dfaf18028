"""Convert Crypto: a digest of a text, in `python.code`."""

from valkyr_plugins.n8n.families.programs import program
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family
from valkyr_plugins.n8n.shape import Shape

DIGESTS = """import base64
import hashlib


def main(inputs):
    found = hashlib.new(inputs["type"], str(inputs["value"]).encode())
    if inputs["encoding"] == "base64":
        return base64.b64encode(found.digest()).decode()
    return found.hexdigest()
"""


@family("crypto")
def crypto(work: NodeWork) -> Made:
    """Make a digest of a text."""
    kind = {"MD5": "md5", "SHA256": "sha256", "SHA512": "sha512", "SHA1": "sha1",
            "SHA384": "sha384", "SHA3-256": "sha3_256", "SHA3-512": "sha3_512"}.get(
        work.word("type", "MD5"))  # fmt: skip
    if work.word("action", "hash") != "hash" or kind is None or work.get("binaryData") is True:
        raise Left("it signs, or makes random values; do it in python.code, with no secret in it")
    inputs = {"value": work.value(work.get("value", "")), "type": kind,
              "encoding": work.word("encoding", "hex")}  # fmt: skip
    name = work.word("dataPropertyName", "data")
    came = work.shape
    shape = Shape(None, came.base, {**came.named, (name,): f"{work.output}.result"}, why=came.why)
    return program(work, DIGESTS, inputs, shape)
