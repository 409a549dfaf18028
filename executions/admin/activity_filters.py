"""Filters of the audit trail: who, what, about what kind of thing, when, from where."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from ipaddress import ip_address
from typing import Any

from django.contrib.admin import SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateFilter, TextFilter

# What people and programs do, by how the actions begin.
GROUPS = {
    "workflow.": "workflows",
    "trigger.": "triggers",
    "execution.": "executions",
    "run.": "runs",
    "dead_letter.": "dead letters",
    "event.": "events",
    "message.": "refused messages",
    "payload.": "payloads revealed",
    "credential.": "credentials",
    "account.": "sign-ins",
    "user.": "users",
    "group.": "groups",
    "membership.": "members",
    "service_account.": "service accounts",
    "api_token.": "API tokens",
    "workspace.": "workspaces",
    "tier.": "tiers",
    "quota.": "quotas",
    "activity.": "exports of the trail",
}
OBJECTS = (
    "ApiToken", "Credential", "DeadLetterQueue", "Event", "Group", "Membership", "Quota",
    "RefusedMessage", "Run", "ServiceAccount", "Tier", "Trigger", "User", "Workflow",
    "WorkflowExecution", "Workspace",
)  # fmt: skip


class PersonFilter(TextFilter):
    """By the whole name of a user, or of the part of the engine that acted."""

    title = "name"
    parameter_name = "who"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of that name."""
        name = (self.value() or "").strip()
        return queryset.filter(actor_name=name) if name else queryset


class AddressFilter(TextFilter):
    """By the address it came from; what is none matches nothing."""

    title = "address"
    parameter_name = "address"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows from there."""
        text = (self.value() or "").strip()
        if not text:
            return queryset
        try:
            return queryset.filter(address=str(ip_address(text)))
        except ValueError:
            return queryset.none()


class ActionFilter(SimpleListFilter):
    """By what kind of thing was done."""

    title = "action"
    parameter_name = "did"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """The groups there are."""
        return list(GROUPS.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows whose action begins so."""
        start = self.value()
        return queryset.filter(action__startswith=start) if start in GROUPS else queryset


class ObjectFilter(SimpleListFilter):
    """By what it was done to."""

    title = "object"
    parameter_name = "object"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        """The kinds there are."""
        return [(name, name) for name in OBJECTS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows about that kind."""
        return queryset.filter(object_type=self.value()) if self.value() else queryset


class DaysFilter(RangeDateFilter):
    """From one day to another, both whole, in UTC; what is no day narrows nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = "day"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The rows of these days."""
        first, last = (
            _day(self.used_parameters.get(f"created_at_{end}")) for end in ("from", "to")
        )
        if first is not None:
            queryset = queryset.filter(created_at__gte=first)
        if last is not None:
            queryset = queryset.filter(created_at__lt=last + timedelta(days=1))
        return queryset


def _day(text: Any) -> datetime | None:
    try:
        day = date.fromisoformat(str(text))
        return datetime(day.year, day.month, day.day, tzinfo=UTC) if day.year < 9999 else None
    except ValueError:
        return None
