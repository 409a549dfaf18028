"""Deliver mail to an SMTP server, or into a folder as an .eml file."""

import os
import smtplib
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from runners.public.modules import StepError, among, error_type_of, judge
from valkyr_plugins.connectors.conf import settings
from valkyr_plugins.connectors.files.root import replace
from valkyr_plugins.connectors.network.addresses import ALLOWED_NETWORKS, may_connect

# Parse the destination of mail: the URL of an administrator or of a step's credential.


EMAIL_URL = "VALKYR_EMAIL_URL"
FORMS = "smtp://user:password@host:587 or smtps://host:465"
FOLDER = "file:///path/to/folder"
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """An SMTP server; `tls` says when encryption begins.

    With `starttls`, encryption begins if the server offers it; with `needs_tls`, the server must.
    `trusted` means that an administrator named the server; it may be in a private network.
    """

    host: str
    port: int
    user: str
    password: str
    tls: Literal["starttls", "from_start"]
    trusted: bool

    @property
    def needs_tls(self) -> bool:
        """Return whether a password is sent over a network, so that TLS is required."""
        return bool(self.user) and self.host not in LOOPBACK

    def __repr__(self) -> str:
        return f"SmtpServer({self.host}:{self.port})"


def destination(credential: Mapping[str, str] | None = None) -> SmtpServer | Path:
    """Return the credential's SMTP server or, without a credential, the configured destination.

    An administrator configures a server or a folder. Raises StepError if the configuration is
    missing, or if a URL is invalid.
    """
    if credential is not None:
        return _server(credential.get("url", ""), "the credential's url", trusted=False)
    setting = settings().email_url
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
    raise StepError(f"{EMAIL_URL} is not a valid URL: {FORMS}, or {FOLDER}")


def _server(setting: str, name: str, *, trusted: bool) -> SmtpServer:
    # The setting contains a password, so no message may quote it.
    misunderstood = StepError(f"{name} is not a valid URL: {FORMS}")
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


# Send mail to a server that a credential names, only at addresses that steps may reach.


class GuardedSmtp(smtplib.SMTP):
    """An SMTP client that checks each address before it connects."""

    trusted = False

    def _get_socket(self, host: str, port: int, timeout: float | None) -> socket.socket:
        failure: OSError | None = None
        for address in _permitted(host, port, trusted=self.trusted):
            try:
                return socket.create_connection((address, port), timeout)
            except OSError as error:
                failure = error
        raise failure or OSError(f"{host} has no address")


class GuardedSmtpSsl(smtplib.SMTP_SSL, GuardedSmtp):
    """A GuardedSmtp with TLS from the start: SMTP_SSL gets its socket from the next base class."""


class NamedSmtp(GuardedSmtp):
    """A client for a server that an administrator named, which may be in a private network."""

    trusted = True


class NamedSmtpSsl(smtplib.SMTP_SSL, NamedSmtp):
    """A NamedSmtp that uses TLS from the start."""


def _permitted(host: str, port: int, *, trusted: bool) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    permitted = [address for address in addresses if trusted or may_connect(address)]
    if addresses and not permitted:
        raise StepError(
            f"{host} is at {', '.join(addresses[:4])}, a private or special address, which "
            "credentials must not use: use a public address, or ask an administrator to add its "
            f"range to {ALLOWED_NETWORKS}"
        )
    return among(host, port, permitted)


def deliver(
    message: EmailMessage, recipients: list[str], to: SmtpServer | Path, *, seconds: float
) -> dict[str, str]:
    """Send the message, or write it into the folder.

    Each network operation must end within `seconds`. Return the rejected recipients with reasons.
    Raises StepError if the delivery to a server fails for all recipients.
    """
    if isinstance(to, Path):
        _lay_down(message, to)
        return {}
    judge(to.host, to.port)
    try:
        return _send(message, recipients, to, max(seconds, 0.001))
    except OSError as error:
        # smtplib's errors are OSErrors too. None of them names the server, so the message adds it.
        raise StepError(
            f"mail server {to.host}:{to.port}: {type(error).__name__}: {_said(error)}",
            error_type_of(error),
        ) from error


def _said(error: OSError) -> str:
    """Return the server's answer from the error, or the error's own text if there is none."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "; ".join(f"{who}: {why}" for who, why in _readable(error.recipients).items())
    if isinstance(error, smtplib.SMTPResponseException):
        text = error.smtp_error
        readable = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return f"{error.smtp_code} {readable}"
    return str(error)


def _lay_down(message: EmailMessage, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # The name depends on the message, so that a repetition replaces the file instead of adding one.
    name = f"{message['Message-ID'].strip('<>').partition('@')[0]}.eml"
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        replace(handle, name, str(folder / name), [message.as_bytes(policy=SMTP)])
    finally:
        os.close(handle)


def _send(
    message: EmailMessage, recipients: list[str], server: SmtpServer, seconds: float
) -> dict[str, str]:
    with _connect(server, seconds) as connection:
        if server.user:
            connection.login(server.user, server.password)
        refused = connection.send_message(message, to_addrs=recipients)
    return _readable(refused)


def _readable(refused: Mapping[str, tuple[int, bytes]]) -> dict[str, str]:
    return {
        address: f"{code} {text.decode('utf-8', 'replace')}"[:300]
        for address, (code, text) in refused.items()
    }


def _connect(server: SmtpServer, seconds: float) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if server.tls == "from_start":
        encrypted = NamedSmtpSsl if server.trusted else GuardedSmtpSsl
        return encrypted(server.host, server.port, timeout=seconds, context=context)
    plain = NamedSmtp if server.trusted else GuardedSmtp
    connection = plain(server.host, server.port, timeout=seconds)
    try:
        _encrypt(connection, server, context)
    except BaseException:
        connection.close()
        raise
    return connection


def _encrypt(connection: smtplib.SMTP, server: SmtpServer, context: ssl.SSLContext) -> None:
    connection.ehlo_or_helo_if_needed()
    if connection.has_extn("starttls"):
        connection.starttls(context=context)
        connection.ehlo()
    elif server.needs_tls:
        raise StepError(
            f"{server.host}:{server.port} offers no STARTTLS, and a password is not sent "
            "without it: use smtps:// or another port"
        )
