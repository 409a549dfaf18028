"""Endpoints that list, create, read, change and delete budgets; a budget includes its spending."""

# ruff: noqa: N815 - the names are the JSON's
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.api import Body, Flag, Text, Whole, operation, time_text
from valkyr_plugins.limits.api.limits import LimitEndpoint, LimitQuery, LimitShape, NewLimit
from valkyr_plugins.limits.budgets import BUDGETS, FIELDS, Use, uses_of
from valkyr_plugins.limits.models import Budget, BudgetPeriod

# Budgets as JSON, with their spending. Amounts are decimal numbers in strings.


PERIODS = [(period.value, period.value) for period in BudgetPeriod]


class Amount(serializers.DecimalField):
    """An exact decimal number: accepted as a string or a JSON number, returned as a string."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            max_digits=24, decimal_places=8, normalize_output=True, coerce_to_string=True, **options
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return the Decimal. Raises ValidationError for a value that is not a valid number."""
        if isinstance(data, bool) or not isinstance(data, str | int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class BudgetShape(LimitShape):
    """A budget, and its spending in the current period."""

    period = serializers.ChoiceField(PERIODS, help_text="When the budget resets, in UTC.")
    currency = serializers.SerializerMethodField()
    amount = Amount()
    soft_percent = serializers.IntegerField(allow_null=True)
    kill_switch = serializers.BooleanField()
    spent = serializers.SerializerMethodField()
    percent = serializers.SerializerMethodField()
    startsAt = serializers.SerializerMethodField()
    endsAt = serializers.SerializerMethodField()

    class Meta:
        model = Budget
        fields = [
            "id", "workspace_id", "user_id", "username", "period", "currency", "amount",
            "soft_percent", "kill_switch", "spent", "percent", "startsAt", "endsAt", "created_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_currency(self, budget: Budget) -> str | None:
        """Return the budget's currency; null for a budget of tokens."""
        return budget.currency or None

    @extend_schema_field(Amount)
    def get_spent(self, budget: Budget) -> Any:
        """Return the spending in the current period."""
        return Amount().to_representation(self._use(budget).spent)

    def get_percent(self, budget: Budget) -> float:
        """Return the spent percentage of the amount."""
        return self._use(budget).percent

    @extend_schema_field(serializers.DateTimeField)
    def get_startsAt(self, budget: Budget) -> Any:  # noqa: N802 - the JSON's name
        """Return the start of the current period."""
        return time_text(self._use(budget).starts_at)

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_endsAt(self, budget: Budget) -> Any:  # noqa: N802
        """Return when the budget resets; null if it never does."""
        ends_at = self._use(budget).ends_at
        return None if ends_at is None else time_text(ends_at)

    def _use(self, budget: Budget) -> Use:
        use: Use = self.context["uses"][budget.pk]
        return use


class BudgetQuery(LimitQuery):
    """The query parameters of `listBudgets`."""


class BudgetChange(Body):
    """The body of `patchBudget`."""

    amount = Amount(required=False, help_text="Money, or a whole number of tokens; more than 0.")
    soft_percent = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=100,
        help_text="Percentage at which users are warned; null for no warning.",
    )
    kill_switch = Flag(
        required=False,
        help_text=(
            "Once it is spent, cancel the spender's running executions and start no new ones."
        ),
    )


class NewBudget(NewLimit, BudgetChange):
    """The body of `createBudget`."""

    period = serializers.ChoiceField(PERIODS, required=False, help_text="Default: `month`.")
    currency = Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=3,
        help_text="A three-letter code (ISO 4217); without it, the budget counts tokens.",
    )
    amount = Amount(help_text="Money, or a whole number of tokens; more than 0.")


class BudgetEndpoint(LimitEndpoint):
    """The base class of the endpoints for budgets."""

    kind, shape, uses_of = BUDGETS, BudgetShape, uses_of


class Budgets(BudgetEndpoint):
    """The endpoint that lists and creates budgets."""

    @operation("listBudgets", "Budget", {200: BudgetShape(many=True)}, parameters=[BudgetQuery])
    def get(self, request: Request) -> Response:
        """List the budgets of your workspaces, newest first, with their spending."""
        return self.listed(request, BudgetQuery)

    @operation(
        "createBudget",
        "Budget",
        {201: BudgetShape},
        request=NewBudget,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a budget, which limits the spending of a workspace or a member."""
        given = self.body(NewBudget)
        facts = {name: given[name] for name in FIELDS if name in given}
        facts["period"] = given.get("period", BudgetPeriod.MONTH.value)
        facts["currency"] = given.get("currency") or ""
        return self.created(given, facts)


class OneBudget(BudgetEndpoint):
    """The endpoint that reads, changes and deletes one budget."""

    @operation("getBudget", "Budget", {200: BudgetShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one budget with its spending."""
        return self.one(id)

    @operation("patchBudget", "Budget", {200: BudgetShape}, request=BudgetChange, errors=[403, 404])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change the amount, the threshold or the kill switch; the recorded spending is kept."""
        return self.changed(id, BudgetChange)

    @operation("deleteBudget", "Budget", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Delete a budget and its counters; it no longer limits anything."""
        return self.deleted(id)
