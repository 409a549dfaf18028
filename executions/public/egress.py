"""Find the hosts that a workspace allows connections to."""

from executions.egress.rules import EgressRules, Verdict
from executions.egress.workspace_rules import rules_of

__all__ = [
    "EgressRules",
    "Verdict",
    "rules_of",
]
