"""Where mail goes: a URL that an administrator sets or a step's credential holds, taken apart."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from runners.public.modules import StepError

EMAIL_URL = "VALKYR_EMAIL_URL"
FORMS = "smtp://user:password@host:587 or smtps://host:465"
FOLDER = "file:///path/to/folder"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """`tls` says when encryption begins; `starttls` only asks for it where it is offered.

    `trusted` is one that an administrator named, which may stand in a private network.
    """

    host: str
    port: int
    user: str
    password: str
    tls: Literal["starttls", "from_start"]
    trusted: bool

    @property
    def needs_tls(self) -> bool:
        """A password crosses a network under TLS only."""
        return bool(self.user) and self.host not in LOOPBACK

    def __repr__(self) -> str:
        return f"SmtpServer({self.host}:{self.port})"


def destination(credential: Mapping[str, str] | None = None) -> SmtpServer | Path:
    """The credential's SMTP server; without one the administrator's, or the folder for .eml files.

    StepError when none is set well.
    """
    if credential is not None:
        return _server(credential.get("url", ""), "the credential's url", trusted=False)
    setting = os.environ.get(EMAIL_URL, "")
    if not setting:
        raise StepError(
            f"mail is off: an administrator turns it on by setting {EMAIL_URL}: {FORMS}, "
            f"or {FOLDER}"
        )
    if setting.startswith("file:"):
        return _folder(setting)
    return _server(setting, EMAIL_URL, trusted=True)


def _folder(setting: str) -> Path:
    url = urlsplit(setting)
    if url.path.startswith("/") and url.netloc in ("", "localhost"):
        return Path(unquote(url.path))
    raise StepError(f"{EMAIL_URL} is not a URL that is understood: {FORMS}, or {FOLDER}")


def _server(setting: str, name: str, *, trusted: bool) -> SmtpServer:
    # The setting holds a password, so no message may quote it.
    misunderstood = StepError(f"{name} is not a URL that is understood: {FORMS}")
    try:
        url = urlsplit(setting)
        port = url.port
    except ValueError:
        raise misunderstood from None
    if url.scheme not in ("smtp", "smtps") or not url.hostname:
        raise misunderstood
    secure = url.scheme == "smtps"
    return SmtpServer(
        host=url.hostname,
        port=port or (465 if secure else 587 if url.username else 25),
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        tls="from_start" if secure else "starttls",
        trusted=trusted,
    )
