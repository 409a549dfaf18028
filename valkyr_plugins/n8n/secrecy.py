"""Find and remove values that look like secrets, because exports sometimes contain tokens."""

import re
from itertools import pairwise
from typing import Any

LEFT_OUT = "[omitted: it looks like a secret]"
_WORDS = frozenset({"password", "passwd", "pwd", "secret", "token", "apikey", "authorization",
                    "bearer", "passphrase", "apitoken", "cookie"})  # fmt: skip
_PAIRS = frozenset({("api", "key"), ("private", "key"), ("access", "key"), ("auth", "key"),
                    ("secret", "key"), ("account", "key"), ("subscription", "key")})  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# The search takes linear time, because a JWT is searched for only once in each run of its letters.
_TOKEN = re.compile(
    r"""(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_A-Za-z0-9]{16,}
    |xox[abeprs]-[A-Za-z0-9-]{10,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}
    |glpat-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}
    |(?<![A-Za-z0-9_-])(?:(?!eyJ)[A-Za-z0-9_-])*+eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    |\b\d{8,10}:[A-Za-z0-9_-]{35}\b
    |https://hooks\.slack\.com/services/[A-Za-z0-9/]+
    |-----BEGIN[A-Z ]*PRIVATE\ KEY-----[\s\S]*?(?:-----END[A-Z ]*PRIVATE\ KEY-----|\Z)
    |(?<=Bearer\ )[A-Za-z0-9._~+/-]{12,}=*|(?<=Basic\ )[A-Za-z0-9+/]{12,}=*
    |(?<=://)[^\s/:@{}]+:[^\s/@{}]+(?=@)""",
    re.VERBOSE,
)
_PARAMETER = re.compile(r"([?&]([A-Za-z_.-]+)=)([^&\s{}#\"']{6,})")
# Common placeholders for secrets.
_STAND_IN = re.compile(r"(?i)^\W*(your|<|\[|xxx|\*\*\*|\.\.\.|todo|changeme|placeholder)")
SHORTEST = 8


def secret_name(name: str) -> bool:
    """Return whether a field with this name usually contains a secret."""
    words = [word.lower() for word in _WORD.findall(name)]
    pairs = list(pairwise(words))
    return any(word in _WORDS for word in words) or any(pair in _PAIRS for pair in pairs)


def secret_value(name: str, value: Any) -> bool:
    """Return whether a field's name or its text suggests that its value is a secret."""
    if not isinstance(value, str) or "{{" in value:
        return False
    named = secret_name(name) and len(value) >= SHORTEST and " " not in value.strip()
    bearer = secret_name(name) and re.match(r"(?i)(bearer|basic|token) \S{8,}", value)
    return named or bool(bearer) or _TOKEN.search(value) is not None


def stand_in(value: str) -> bool:
    """Return whether a value is a placeholder for a secret, such as YOUR_TOKEN."""
    return _STAND_IN.match(value) is not None


def without_secrets(text: str, instead: str = LEFT_OUT) -> str:
    """Return the text with `instead` in place of the parts that look like a secret."""
    found = _TOKEN.sub(lambda match: instead, text)
    return _PARAMETER.sub(
        lambda match: match[1] + (instead if secret_name(match[2]) else match[3]), found
    )


def scrubbed(value: Any, name: str = "") -> Any:
    """Return a JSON value in which strings that look like secrets are wholly or partly replaced."""
    if isinstance(value, str):
        return (
            LEFT_OUT if secret_value(name, value) and secret_name(name) else without_secrets(value)
        )
    if isinstance(value, dict):
        # In a list of fields, each field is an object with a name and a value.
        own = value.get("name") if isinstance(value.get("name"), str) else ""
        return {
            key: scrubbed(item, str(own) if key == "value" and own else key)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [scrubbed(item, name) for item in value]
    return value
