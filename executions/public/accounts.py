"""Memberships that another system decides, and how often somebody may try to sign in."""

from executions.accounts.members import follow
from executions.admission.rates import count, of_sign_in

__all__ = [
    "count",
    "follow",
    "of_sign_in",
]
