"""What a remote runner may be told instead of what it asked for."""

from typing import Any

from executions.public.errors import ValkyrError, WithProblems, WrongState


class LeaseOver(WrongState):
    """This lease is over, so nothing was recorded; drop the work and lease anew."""

    code = "lease_lost"

    def __init__(self, state: str) -> None:
        """`state` is the run's present one."""
        super().__init__((self.__doc__ or "").strip(), state)


class NotRemote(WithProblems):
    """Some of the queues are not worked by remote runners."""

    code = "not_remote"

    def __init__(self, problems: list[Any]) -> None:
        """One problem a queue."""
        super().__init__((self.__doc__ or "").strip(), problems)


class UndeclaredOutcome(ValkyrError):
    """The step cannot end so."""

    code = "undeclared_outcome"
