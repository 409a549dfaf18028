"""What quotas count, and after what budgets begin anew."""

from enum import StrEnum

from django.db.models import TextChoices


class Resource(TextChoices):
    """What a quota counts."""

    EXECUTIONS = "executions", "executions"
    MODULE = "module", "steps of a module type"
    TOKENS = "tokens", "tokens of language models"


class BudgetPeriod(StrEnum):
    """After what a budget begins anew; days and months in UTC."""

    DAY = "day"
    MONTH = "month"
    TOTAL = "total"
