"""One-time codes (RFC 6238) and recovery codes, without a database; the time is an argument."""

import hmac
import secrets
from collections.abc import Iterable
from hashlib import sha256

import pyotp

STEP_SECONDS = 30
# Maximum difference between clocks, in time steps.
DRIFT = 1
DIGITS = 6
RECOVERY_CODES = 10
# After this many wrong codes in a row, an account accepts no code for 1 min. Each further wrong
# code doubles this time, up to 1 h. So an attacker can try about 40 of a million codes a day.
FREE_FAILURES = 10
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 60, 3_600
# 80 random bits in base 32, in four groups of four. With this number of random bits, a code needs
# no salt and no slow hash.
_GROUPS, _GROUP = 4, 4
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def new_secret() -> str:
    """Return a secret of 160 random bits, as RFC 4226 recommends, in base 32."""
    return pyotp.random_base32(32)


def address_of(secret: str, name: str, issuer: str) -> str:
    """Return the `otpauth://` address that authenticator apps read from a QR code."""
    return pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS).provisioning_uri(
        name=name, issuer_name=issuer
    )


def normal(text: str) -> str:
    """Return a typed code without spaces and dashes, in capitals."""
    return "".join(text.split()).replace("-", "").upper()


def is_one_time_code(text: str) -> bool:
    """Return whether a normalised code has the form of an app's code, not of a recovery code."""
    return len(text) == DIGITS and text.isascii() and text.isdigit()


def matching_step(secret: str, code: str, seconds: float, *, after: int) -> int | None:
    """Return the time step that yields this code, near the Unix time `seconds`.

    Return None for a wrong code. Steps up to `after` do not count: their codes, or later ones, were
    accepted before.
    """
    now = int(seconds) // STEP_SECONDS
    generator = pyotp.HOTP(secret, digits=DIGITS)
    found = [
        step
        for step in range(now - DRIFT, now + DRIFT + 1)
        if hmac.compare_digest(generator.at(step), code)
    ]
    return next((step for step in found if step > after), None)


def wait_after(failures: int) -> int:
    """Return the seconds for which one-time codes are rejected after `failures` wrong codes."""
    if failures < FREE_FAILURES:
        return 0
    doublings = min(failures - FREE_FAILURES, 6)
    return min(FIRST_WAIT_SECONDS << doublings, LONGEST_WAIT_SECONDS)


def new_recovery_codes() -> list[str]:
    """Return ten new recovery codes, in the form in which users write them down."""
    return [_new_recovery_code() for _ in range(RECOVERY_CODES)]


def digest(code: str) -> str:
    """Return the stored form of a recovery code: the SHA-256 of its normal form, in hex."""
    return sha256(normal(code).encode(errors="replace")).hexdigest()


def digests(codes: Iterable[str]) -> list[str]:
    """Return the stored forms of several recovery codes."""
    return [digest(code) for code in codes]


def _new_recovery_code() -> str:
    text = "".join(secrets.choice(_ALPHABET) for _ in range(_GROUPS * _GROUP))
    return "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))
