"""The Authorization header that a step's credential makes."""

import base64
from collections.abc import Mapping

from runners.public.modules import StepError


def authorization(credential: Mapping[str, str]) -> str:
    """Bearer (RFC 6750) or Basic (RFC 7617, in UTF-8); raises StepError for other fields."""
    match credential:
        case {"token": token}:
            return f"Bearer {_one_line(token, 'token')}"
        case {"username": username, "password": password}:
            pair = f"{username}:{password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
    raise StepError(
        "the credential is of no type that HTTP knows: expected bearer (token) or basic (username "
        f"and password), found the fields {', '.join(sorted(credential))}"
    )


def _one_line(text: str, field: str) -> str:
    """A header is printable ASCII; httpx's own error would not say which field is wrong."""
    if text.isascii() and text.isprintable():
        return text
    raise StepError(f"the credential's {field} is not printable ASCII, so no header can hold it")
