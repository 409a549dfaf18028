"""What the modules have in common that only work out a value from values, and so run inline."""

from typing import Any, ClassVar

from runners.public.modules import Module


class PureModule(Module[Any]):
    """Reads and writes nothing: repeating it does no harm, and trying again no good."""

    category: ClassVar[str] = "data"
    inline: ClassVar[bool] = True
    computes: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0
