"""Common parts of Stripe's modules: a base class, types for money and IDs, the API's address."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field

from runners.public.modules import Module, ModuleInputs, StepError
from valkyr_plugins.connectors.conf import settings

# The URL of Stripe's API: Stripe's own, unless an administrator sets another one.


API_BASE = "VALKYR_STRIPE_API_BASE"
STRIPE = "https://api.stripe.com"


def api_base() -> str:
    """Return the URL of Stripe's API, without a final slash. Raises StepError if it is invalid."""
    base = settings().stripe_api_base.rstrip("/") or STRIPE
    if not _is_address(base):
        raise StepError(
            f"{API_BASE} is {base[:200]!r}, which is not an address such as {STRIPE}: ask an "
            "administrator to correct or unset it"
        )
    return base


def stripe_circuit() -> str | None:
    """Return the circuit target, such as `stripe:api.stripe.com`; None for an invalid setting."""
    try:
        return f"stripe:{urlsplit(api_base()).netloc}"
    except StepError:
        return None  # the step itself reports the error


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


# Stripe's largest amount, in the currency's smallest unit: 8 digits, for few currencies 12.
MAX_AMOUNT = 999_999_999_999
MAX_METADATA = 50


def _currency(text: str) -> str:
    if not (len(text) == 3 and text.isascii() and text.isalpha() and text.islower()):
        raise ValueError("expected three lower-case letters of ISO 4217, such as eur")
    return text


def _metadata(pairs: dict[str, str]) -> dict[str, str]:
    long = [name for name, value in pairs.items() if len(name) > 40 or len(value) > 500]
    if long or len(pairs) > MAX_METADATA:
        raise ValueError(
            f"Stripe accepts up to {MAX_METADATA} entries, names of up to 40 characters without "
            "square brackets and values of up to 500"
        )
    if any("[" in name or "]" in name for name in pairs):
        raise ValueError("names of metadata must not contain square brackets")
    return pairs


def _id_of(*prefixes: str) -> Any:
    def checked(text: str) -> str:
        if not text.startswith(prefixes) or not text.replace("_", "").isalnum():
            raise ValueError(f"expected an id that begins with {' or '.join(prefixes)}")
        return text

    return AfterValidator(checked)


# Strict, because "12.50", 12.5 and true must not become a number of cents.
Amount = Annotated[int, Field(strict=True, ge=1, le=MAX_AMOUNT)]
Currency = Annotated[str, AfterValidator(_currency)]
Metadata = Annotated[dict[str, str], AfterValidator(_metadata)]
PaymentIntentId = Annotated[str, Field(max_length=255), _id_of("pi_")]
ChargeId = Annotated[str, Field(max_length=255), _id_of("ch_", "py_")]
CustomerId = Annotated[str, Field(max_length=255), _id_of("cus_")]
PaymentMethodId = Annotated[str, Field(max_length=255), _id_of("pm_", "card_", "src_", "ba_")]
AccountId = Annotated[str, Field(max_length=255), _id_of("acct_")]

METADATA_HELP = "Your own data as texts, which Stripe stores with the object. Include no secrets."


class StripeInputs(ModuleInputs):
    """Inputs of every request to Stripe."""

    stripe_account: AccountId | None = Field(
        None,
        description="Act on behalf of this connected account (Stripe Connect).",
        examples=["acct_1032D82eZvKYlo2C"],
    )


InputsT = TypeVar("InputsT", bound=BaseModel)


class StripeModule(Module[InputsT]):
    """The base class of Stripe's modules."""

    category: ClassVar[str] = "payments"
    queue: ClassVar[str] = "io"
    effect: ClassVar[str] = "idempotent"
    credential: ClassVar[tuple[str, ...]] = ("stripe",)
    judges_hosts: ClassVar[str] = "everything"
    circuit_target: ClassVar[str] = "Stripe's API, `stripe:api.stripe.com`"

    def circuit(self, inputs: InputsT) -> str | None:
        return stripe_circuit()

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.payments.stripe_client  # noqa: F401 - loads stripe


def options(inputs: StripeInputs, idempotency_key: str | None) -> Any:
    """Return a request's options: the idempotency key (None for reading), and the account."""
    found = {"idempotency_key": idempotency_key, "stripe_account": inputs.stripe_account}
    return {name: value for name, value in found.items() if value is not None}


def given(**params: Any) -> Any:
    """Return the parameters that have a value; Stripe uses its defaults for the others."""
    return {name: value for name, value in params.items() if value not in (None, {})}


def plain(found: Any, what: str) -> Mapping[str, Any]:
    """Return Stripe's response as a mapping. Raises StepError if it is not an object with an ID."""
    value = found.to_dict() if hasattr(found, "to_dict") else found
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        raise StepError(f"Stripe's answer is not a {what}: expected an object with an id")
    return value


def id_of(value: Any) -> str | None:
    """Return the ID of an object that Stripe returns as an ID or in full; otherwise None."""
    found = value.get("id") if isinstance(value, Mapping) else value
    return found if isinstance(found, str) else None
