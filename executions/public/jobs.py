"""Let a worker compute what a request asks for."""

from executions.errors import JobFailed
from executions.jobs.asking import ask, newest
from executions.jobs.kinds import JobKind, register
from executions.jobs.waiting import wait
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
