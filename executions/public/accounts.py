"""Count and check sign-ins, end sessions, and synchronise memberships with another system."""

from executions.accounts.authentication import SESSION_REFUSAL
from executions.accounts.errors import TokenRefused
from executions.accounts.members import follow
from executions.accounts.sessions import end_others
from executions.accounts.tokens import shut_out
from executions.admission.rates import Rate, count, of_sign_in
from executions.ports import second_factor

__all__ = [
    "SESSION_REFUSAL",
    "Rate",
    "TokenRefused",
    "count",
    "end_others",
    "follow",
    "of_sign_in",
    "second_factor",
    "shut_out",
]
