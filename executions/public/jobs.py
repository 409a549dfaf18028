"""Let a worker compute the response to a request."""

from executions.errors import JobFailed
from executions.jobs.requests import ask, newest, wait
from executions.jobs.worker import JobKind, register
from executions.models import Job
from executions.states import JobState

__all__ = [
    "Job",
    "JobFailed",
    "JobKind",
    "JobState",
    "ask",
    "newest",
    "register",
    "wait",
]
