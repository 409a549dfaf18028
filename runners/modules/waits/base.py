"""What modules that wait have in common: how long a wait may be, and how it is spelled."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from runners.modules.base import Module

MAX_DAYS = 365
MAX_SECONDS = MAX_DAYS * 86_400

# How long something may be waited for, in seconds.
Patience = Annotated[float, Field(gt=0, le=MAX_SECONDS, allow_inf_nan=False)]


class WaitingModule(Module[Any]):
    """Goes to sleep with `Wait`; the engine keeps the row, and lets it go on with `woken`."""

    category: ClassVar[str] = "control"
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0
    waits: ClassVar[bool] = True
    takes_secrets: ClassVar[bool] = False
