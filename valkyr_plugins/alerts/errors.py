"""What somebody is told who sets a rule that cannot be, or whose test did not arrive."""

from executions.public.errors import Taken, ValkyrError, WithProblems


class AlertRuleRefused(WithProblems):
    """The alert rule would not do what it says."""

    code = "alert_rule_refused"


class AlertRuleExists(Taken):
    """There is an alert rule of that name already."""

    code = "alert_rule_exists"


class NotDelivered(ValkyrError):
    """The test did not arrive."""

    code = "test_not_delivered"
