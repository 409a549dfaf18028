"""Rate limits by user, by address and by operation; above a limit, the response is a 429."""

from collections.abc import Sequence

from rest_framework.exceptions import APIException
from rest_framework.request import Request

from executions.admission import rates
from executions.admission.rates import Excess, Rate
from executions.configuration import settings as valkyr_settings

REFUSED_HOOKS = 60


class TooMany(APIException):
    """A rate limit was exceeded; the headers contain the limit and the seconds to wait."""

    status_code = 429
    default_code = "throttled"

    def __init__(self, excess: Excess) -> None:
        rate, seconds = excess.rate, excess.whole_seconds
        super().__init__(str(excess))
        # As in the IETF draft "RateLimit header fields for HTTP".
        self.headers = {
            "Retry-After": str(seconds),
            "RateLimit-Policy": f'"minute";q={rate.most};w={rates.SECONDS}',
            "RateLimit": f'"minute";r=0;t={seconds}',
        }


def check(counted: Sequence[Rate]) -> None:
    """Count a request against its rate limits. Raises TooMany if it exceeds a limit."""
    excess = rates.count(counted)
    if excess is not None:
        raise TooMany(excess)


def check_known(rate: Rate) -> None:
    """Raise TooMany if this process knows that the rate is exceeded; count nothing."""
    excess = rates.exceeded(rate)
    if excess is not None:
        raise TooMany(excess)


def of_principal(request: Request, *, starts: bool) -> list[Rate]:
    """Return the rate limits of a user's requests; if `starts`, also the limit of starts.

    An anonymous caller has none.
    """
    whom = getattr(request.user, "pk", None)
    if whom is None:
        return []
    found = [Rate("API requests", str(whom), valkyr_settings().api_rate)]
    if starts:
        what = "API requests that start executions"
        found.append(Rate(what, str(whom), valkyr_settings().trigger_rate))
    return found


def of_sign_in(request: Request, name: object) -> list[Rate]:
    """Return the rate limits of a sign-in; a user name that is not text is ignored."""
    return rates.of_sign_in(_address(request), name if isinstance(name, str) else None)


def of_refusal(request: Request) -> Rate:
    """Return the rate limit of requests without a valid sign-in, by address."""
    rate = valkyr_settings().refusal_rate
    return Rate("rejected requests from your address", _whom(request), rate)


def of_visitor(request: Request) -> Rate:
    """Return the rate limit of public requests, which need no sign-in, by address."""
    return Rate(
        "requests without sign-in from your address", _whom(request), valkyr_settings().refusal_rate
    )


def of_hook(request: Request, trigger_id: object) -> Rate:
    """Return the rate limit of one address's authenticated requests to one webhook."""
    whom = f"{trigger_id} {_whom(request)}"
    return Rate("requests to this webhook", whom, valkyr_settings().webhook_rate)


def of_refused_hook(request: Request) -> Rate:
    """Return the rate limit of rejected webhook and callback requests, by address."""
    return Rate("rejected calls from your address", _whom(request), REFUSED_HOOKS)


def _whom(request: Request) -> str:
    return rates.network_of(_address(request))


def _address(request: Request) -> str:
    """Return the peer's address, since the caller could forge a forwarded address."""
    return str(request.META.get("REMOTE_ADDR", ""))
