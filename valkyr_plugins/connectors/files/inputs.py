"""Common inputs of file steps: a path, the address of a store, and the content."""

import base64
import binascii
import codecs
from importlib.util import find_spec
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from runners.public.modules import ModuleInputs, StepContext, StepError
from valkyr_plugins.connectors.files.store import S3, Stores, Where


class StoreInputs(ModuleInputs):
    """The address of a store; only paths that begin with s3:// use it."""

    endpoint: str | None = Field(
        None,
        max_length=500,
        description=(
            "For s3://: the server, if it is neither Amazon's nor VALKYR_S3_ENDPOINT. "
            "Private addresses are rejected unless an administrator allows their range."
        ),
        examples=["https://s3.example.com"],
    )
    region: str | None = Field(
        None,
        max_length=60,
        description="For s3://: the region; by default VALKYR_S3_REGION or, if unset, us-east-1.",
        examples=["eu-central-1"],
    )


def stores(inputs: StoreInputs, ctx: StepContext) -> Stores:
    """Return the stores that the step's paths can use."""
    return Stores(Where(inputs.endpoint, inputs.region, ctx.credential), ctx)


def circuit_of(inputs: StoreInputs, *paths: str | None) -> str | None:
    """Return the circuit target of the S3 server; None if no path is in S3. Raises StepError."""
    if not any(path is not None and path.lower().startswith(f"{S3}://") for path in paths):
        return None
    from valkyr_plugins.connectors.files.s3.endpoint import endpoint_of

    return f"s3:{endpoint_of(inputs.endpoint, inputs.region).host}"


CIRCUIT_TARGET = "`s3:` and the server's host, for paths in S3; none for the files folder"


# The content of files in inputs and outputs: text in a charset, or Base64.


Encoding = Literal["text", "base64"]
MAX_CHARSET = 40


def _known(charset: str) -> str:
    """Return the charset. Raises ValueError unless it is a text encoding that Python supports."""
    try:
        known = codecs.lookup(charset)
    except (LookupError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise ValueError(
            f"{charset!r} is not a known charset: expected one such as utf-8 or cp1252"
        )
    return charset


Charset = Annotated[
    str,
    AfterValidator(_known),
    Field(max_length=MAX_CHARSET, examples=["cp1252"]),
]


def decoded(data: bytes, encoding: Encoding, charset: str, name: str) -> str:
    """Return bytes as text or Base64. Raises StepError if they are not valid in `charset`."""
    if encoding == "base64":
        return base64.b64encode(data).decode("ascii")
    try:
        return data.decode(charset)
    except UnicodeError as error:
        at = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        spelled = "UTF-8" if charset.lower() in ("utf-8", "utf8") else charset
        raise StepError(
            f"{name!r} is not {spelled} text{at}: read it as base64, or name its charset"
        ) from error


def encoded(content: str, encoding: Encoding, charset: str, name: str = "content") -> bytes:
    """Encode text, or decode Base64, to bytes. Raises StepError if `content` is invalid."""
    try:
        if encoding == "base64":
            return base64.b64decode(content, validate=True)
        return content.encode(charset)
    except (binascii.Error, UnicodeError, ValueError) as error:
        kind = "base64" if encoding == "base64" else f"text that {charset} can hold"
        raise StepError(f"{name} is not {kind}: {_short(error)}") from error


def _short(error: Exception) -> str:
    """Return an error's reason without the faulty text, which may be long or secret."""
    if isinstance(error, UnicodeEncodeError):
        return f"{error.reason} (character {error.start})"
    return str(error)[:200]


# Import what network stores need, once, before a worker forks.


def warm_up() -> None:
    """Import s3fs and its dependencies, if installed. This takes about 1 s and starts no thread."""
    if find_spec("s3fs") is not None:
        import valkyr_plugins.connectors.files.s3.store  # noqa: F401
