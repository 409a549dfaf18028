"""What somebody is told whose budget is spent, or who set one that cannot be."""

from executions.errors import QuotaExceeded, WithProblems
from executions.quotas.setting import QuotaExists
from runners.modules.base import StepError


class BudgetSpent(StepError):
    """A step that costs is refused: a budget that it would draw on is spent."""


class SpenderStopped(QuotaExceeded):
    """Nothing starts: a budget with a kill switch is spent."""

    code = "budget_spent"


class BudgetExists(QuotaExists):
    """There is such a budget already; change it instead."""

    code = "budget_exists"


class BudgetRefused(WithProblems):
    """The budget would not do what it says."""

    code = "budget_refused"
