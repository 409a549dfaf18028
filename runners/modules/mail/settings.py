"""Where mail goes: the one URL an administrator sets, taken apart and checked."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from runners.modules.base import StepError

EMAIL_URL = "VALKYR_EMAIL_URL"
FORMS = "smtp://user:password@host:587, smtps://host:465 or file:///path/to/folder"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """`tls` says when encryption begins; `starttls` only asks for it where it is offered."""

    host: str
    port: int
    user: str
    password: str
    tls: Literal["starttls", "from_start"]

    @property
    def needs_tls(self) -> bool:
        """A password crosses a network under TLS only."""
        return bool(self.user) and self.host not in LOOPBACK

    def __repr__(self) -> str:
        return f"SmtpServer({self.host}:{self.port})"


def destination() -> SmtpServer | Path:
    """The SMTP server, or the folder that takes .eml files; StepError when none is set well."""
    setting = os.environ.get(EMAIL_URL, "")
    if not setting:
        raise StepError(
            f"mail is off: an administrator turns it on by setting {EMAIL_URL}: {FORMS}"
        )
    # The setting holds a password, so no message may quote it.
    try:
        url = urlsplit(setting)
        port = url.port
    except ValueError:
        raise StepError(f"{EMAIL_URL} is not a URL that is understood: {FORMS}") from None
    if url.scheme == "file" and url.path.startswith("/") and url.netloc in ("", "localhost"):
        return Path(unquote(url.path))
    if url.scheme not in ("smtp", "smtps") or not url.hostname:
        raise StepError(f"{EMAIL_URL} is not a URL that is understood: {FORMS}")
    secure = url.scheme == "smtps"
    return SmtpServer(
        host=url.hostname,
        port=port or (465 if secure else 587 if url.username else 25),
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        tls="from_start" if secure else "starttls",
    )
