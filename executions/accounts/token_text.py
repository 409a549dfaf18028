"""The text of an API token: `vlk_`, 256 random bits in base 62, and a CRC-32 in base 62.

The beginning lets scanners of leaked secrets know it; the checksum tells a typo from a forgery
without asking the database.
"""

import re
import secrets
import string
from hashlib import sha256
from zlib import crc32

BEGINNING = "vlk_"
_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BITS = 256
_SECRET_LENGTH = 43  # 62^43 > 2^256
_CHECK_LENGTH = 6  # 62^6 > 2^32
_SHOWN = 12
_FORM = re.compile(rf"{BEGINNING}[0-9A-Za-z]{{{_SECRET_LENGTH + _CHECK_LENGTH}}}")


def make() -> str:
    """A new token's text, 53 characters."""
    body = BEGINNING + _base62(secrets.randbits(_BITS), _SECRET_LENGTH)
    return body + _check(body)


def is_well_formed(text: str) -> bool:
    """Whether the text was made by `make`, but for one chance in four thousand million."""
    if not _FORM.fullmatch(text):
        return False
    return text[-_CHECK_LENGTH:] == _check(text[:-_CHECK_LENGTH])


def digest(text: str) -> str:
    """What is stored of a token: its SHA-256 in hex. 256 random bits need no salt."""
    return sha256(text.encode()).hexdigest()


def beginning_of(text: str) -> str:
    """As much of a token as may be shown, to know it by."""
    return text[:_SHOWN]


def _check(body: str) -> str:
    return _base62(crc32(body.encode()), _CHECK_LENGTH)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
