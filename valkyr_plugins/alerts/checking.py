"""What an alert rule must be for it to work; each mistake with its place. Nothing is asked of rows.

Paths are the names of the API.
"""

import math
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from executions.public.definitions import DefinitionProblem
from runners.public.modules import StepError
from valkyr_plugins.alerts.clipping import clipped
from valkyr_plugins.alerts.models import AlertChannel, AlertKind, AlertRule
from valkyr_plugins.connectors.mail.settings import destination
from valkyr_plugins.connectors.network.addressed import http_url

MOST_RECIPIENTS = 20
SHORTEST_SECRET, LONGEST_SECRET = 16, 4_000
# field → its name in the API, the least and the most it may be.
BOUNDS: dict[str, tuple[str, float, float]] = {
    "interval_seconds": ("intervalSeconds", 60, 7 * 86_400),
    "rate_factor": ("rateFactor", 1, 1_000),
    "rate_least": ("rateLeast", 1, 1_000_000),
    "oldest_hours": ("oldestHours", 0.1, 8_760),
    "waiting_seconds": ("waitingSeconds", 10, 86_400),
    "silent_seconds": ("silentSeconds", 20, 86_400),
}


def problems_of(rule: AlertRule, secret: str) -> list[DefinitionProblem]:
    """Everything that is wrong with the rule, were this its channel's secret."""
    return [*_of_words(rule), *_of_numbers(rule), *_of_channel(rule, secret)]


def _of_words(rule: AlertRule) -> Iterator[DefinitionProblem]:
    name = rule.name.strip()
    if not name or len(rule.name) > 100 or clipped(rule.name, 200) != name:
        yield DefinitionProblem("name", "bad_name", "Give one line of 1 to 100 characters.")
    if not rule.kinds:
        yield DefinitionProblem("kinds", "required", "Name at least one thing to be told of.")
    known = ", ".join(AlertKind.values)
    for kind in sorted(set(rule.kinds) - set(AlertKind.values)):
        yield DefinitionProblem("kinds", "unknown", f"{clipped(kind, 40)!r} is none of: {known}.")
    if len(set(rule.kinds)) < len(rule.kinds):
        yield DefinitionProblem("kinds", "twice", "Name each kind once.")


def _of_numbers(rule: AlertRule) -> Iterator[DefinitionProblem]:
    for field, (path, least, most) in BOUNDS.items():
        value = getattr(rule, field)
        if not (math.isfinite(value) and least <= value <= most):
            message = f"Expected {least:g} to {most:,g}; found {value:g}."
            yield DefinitionProblem(path, "out_of_range", message)


def _of_channel(rule: AlertRule, secret: str) -> Iterator[DefinitionProblem]:
    match rule.channel:
        case AlertChannel.EMAIL:
            yield from _of_mail(rule, secret)
        case AlertChannel.SLACK:
            if not secret or not _is_http(secret):
                what = "Give the incoming webhook's address: https://hooks.slack.com/services/…"
                yield DefinitionProblem("secret", "no_address", what)
        case AlertChannel.WEBHOOK:
            yield from _of_webhook(rule, secret)
        case _:
            known = ", ".join(AlertChannel.values)
            yield DefinitionProblem("channel", "unknown", f"Expected one of: {known}.")
    if rule.channel != AlertChannel.EMAIL and rule.recipients:
        yield DefinitionProblem("recipients", "unexpected", "Only e-mail has recipients.")
    if rule.channel != AlertChannel.WEBHOOK and rule.url:
        yield DefinitionProblem("url", "unexpected", "Only a webhook has an address here.")


def _of_mail(rule: AlertRule, secret: str) -> Iterator[DefinitionProblem]:
    if not 1 <= len(rule.recipients) <= MOST_RECIPIENTS:
        found = len(rule.recipients)
        message = f"Expected 1 to {MOST_RECIPIENTS} addresses; found {found}."
        yield DefinitionProblem("recipients", "count", message)
    for address in rule.recipients[: MOST_RECIPIENTS + 1]:
        try:
            validate_email(address)
        except ValidationError:
            message = f"{clipped(address, 100)!r} is no mail address such as ann@example.com."
            yield DefinitionProblem("recipients", "no_address", message)
    if secret:
        try:
            destination({"url": secret})
        except StepError as error:
            yield DefinitionProblem("secret", "no_server", error.message)


def _of_webhook(rule: AlertRule, secret: str) -> Iterator[DefinitionProblem]:
    if not _is_http(rule.url) or urlsplit(rule.url).username is not None:
        what = "Expected an address that begins with https:// or http://, without user or password."
        yield DefinitionProblem("url", "no_address", what)
    if not SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET:
        yield DefinitionProblem(
            "secret",
            "length",
            f"Expected a signing secret of {SHORTEST_SECRET} to {LONGEST_SECRET:,} characters; "
            f"found {len(secret):,}.",
        )


def _is_http(url: str) -> bool:
    try:
        return bool(url.isprintable() and len(url) <= 2_000 and http_url(url))
    except ValueError:
        return False
