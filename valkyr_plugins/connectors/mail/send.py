"""`email.send`: send one message, whose ID is the same in every attempt of the step."""

from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import getaddresses, parseaddr

from pydantic import Field, field_validator

from runners.public.modules import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.mail.delivery import deliver, destination

MAX_RECIPIENTS = 100
MAX_COPIES = 1_000
# An address has at most 254 characters, and a name may precede it. Python's parser takes time that
# is quadratic in the length.
MAX_ADDRESS = 500


def _one_address(text: str) -> str:
    """Return the text. Raises ValueError unless it is one address, with or without a name."""
    if not _is_address(text):
        raise ValueError(f"{text[:100]!r} is not an email address such as ann@example.com")
    return text


def _is_address(text: str) -> bool:
    if len(text) > MAX_ADDRESS or len(text.splitlines()) != 1:
        return False
    if len(found := getaddresses([text])) != 1:
        return False
    name, address = found[0]
    try:
        parsed = Address(name, addr_spec=address)
    # For unusual input, the parser of email.headerregistry raises IndexError and other errors.
    except Exception:
        return False
    return bool(parsed.username and parsed.domain)


class EmailSendInputs(ModuleInputs):
    """The message and its recipients."""

    sender: str = Field(
        alias="from", description="The sender.", examples=["Shop <shop@example.com>"]
    )
    to: str | list[str] = Field(
        description="The recipients: one address, or a list of at most 100.",
        examples=[["ann@example.com"]],
    )
    cc: str | list[str] = Field(default_factory=list, description="Recipients of a copy.")
    bcc: str | list[str] = Field(default_factory=list, description="Recipients of blind copies.")
    reply_to: str | None = Field(None, description="The address for replies.")
    subject: str = Field(description="The subject.", max_length=500, examples=["Your order"])
    text: str = Field("", description="The message as plain text.")
    html: str | None = Field(None, description="The message as HTML, in addition to the text.")

    @field_validator("sender", "reply_to")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        return value if value is None else _one_address(value)

    @field_validator("to", "cc", "bcc")
    @classmethod
    def _addresses(cls, value: str | list[str]) -> list[str]:
        found = [value] if isinstance(value, str) else value
        if len(found) > MAX_COPIES:
            raise ValueError(f"expected at most {MAX_COPIES:,} addresses, found {len(found):,}")
        return [_one_address(address) for address in found]

    @field_validator("to")
    @classmethod
    def _not_empty(cls, value: list[str]) -> list[str]:
        if not 0 < len(value) <= MAX_RECIPIENTS:
            raise ValueError(f"expected 1 to {MAX_RECIPIENTS} addresses, found {len(value)}")
        return value

    @field_validator("subject")
    @classmethod
    def _one_line(cls, subject: str) -> str:
        if len(subject.splitlines()) > 1:
            raise ValueError("a subject must be a single line")
        return subject


class EmailSendOutputs(ModuleOutputs):
    """The result of sending the email."""

    message_id: str = Field(description="The message's id, the same in every retry.")
    accepted: list[str] = Field(description="The recipients that the mail server accepted.")
    refused: dict[str, str] = Field(
        description="The addresses that the mail server rejected, with its responses."
    )


class EmailSend(Module[EmailSendInputs]):
    """Sends an email through the installation's mail server, or through the server in a credential.

    After a crash, the email may be sent twice. Both messages have the same Message-ID, by which
    mail programs and servers can detect duplicates.
    """

    type = "email.send"
    title = "Send mail"
    category = "messages"
    queue = "io"
    effect = "external"
    credential = ("smtp",)
    judges_hosts = "credential"
    Inputs = EmailSendInputs
    Outputs = EmailSendOutputs
    circuit_target = "`email.send`, for all servers"
    example = {
        "from": "Shop <shop@example.com>",
        "to": "{{ input.email }}",
        "subject": "Your order {{ input.orderId }}",
        "text": "Thank you!",
    }
    bad_inputs = (
        Bad(
            "no address",
            {"from": "a@b.example", "to": "ann", "subject": "s"},
            ("not an email address"),
        ),
        Bad(
            "a header in the subject",
            {"from": "a@b.example", "to": "c@d.example", "subject": "s\r\nBcc: e@f.example"},
            "a subject must be a single line",
        ),
        Bad(
            "too many addresses",
            {"from": "a@b.example", "to": ["c@d.example"] * 101, "subject": "s"},
            "expected 1 to 100 addresses",
        ),
        Bad(
            "an address of 200,000 characters",
            {"from": "a." * 100_000, "to": "c@d.example", "subject": "s"},
            "not an email address",
        ),
        Bad(
            "too many copies",
            {
                "from": "a@b.example",
                "to": "c@d.example",
                "cc": ["e@f.example"] * 1_001,
                "subject": "s",
            },
            "at most 1,000 addresses",
        ),
    )

    def circuit(self, inputs: EmailSendInputs) -> str | None:
        return self.type

    def execute(self, inputs: EmailSendInputs, ctx: StepContext) -> Result:
        message = _message(inputs, ctx.idempotency_key)
        recipients = [parseaddr(a)[1] for a in (*inputs.to, *inputs.cc, *inputs.bcc)]
        recipients = list(dict.fromkeys(recipients))
        refused = deliver(message, recipients, destination(ctx.credential), seconds=ctx.remaining())
        return Result(
            {
                "messageId": str(message["Message-ID"]),
                "accepted": [address for address in recipients if address not in refused],
                "refused": refused,
            }
        )


def _message(inputs: EmailSendInputs, idempotency_key: str) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    domain = parseaddr(inputs.sender)[1].rpartition("@")[2]
    try:
        message["Message-ID"] = f"<{idempotency_key}@{domain}>"
        message["From"], message["Subject"] = inputs.sender, inputs.subject
        message["Date"] = datetime.now(UTC)
        message["To"] = ", ".join(inputs.to)
        if inputs.cc:
            message["Cc"] = ", ".join(inputs.cc)
        if inputs.reply_to is not None:
            message["Reply-To"] = inputs.reply_to
        message.set_content(inputs.text)
        if inputs.html is not None:
            message.add_alternative(inputs.html, subtype="html")
    except (ValueError, UnicodeError) as error:
        raise StepError(f"the email cannot be written: {error}") from error
    return message
