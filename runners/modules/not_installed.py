"""Stand-ins for modules whose packages are missing: publishing rejects them with the reason."""

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict

from executions.definition.catalog import ConfigProblem
from runners.modules.base import Module, ModuleInputs, StepContext, StepError


class AnyInputs(ModuleInputs):
    """Any inputs that a workflow passes to the module. The stand-in does not read the inputs."""

    model_config = ConfigDict(extra="allow")


class NotInstalled(Module[BaseModel]):
    """The stand-in for a declared module type whose package is not installed."""

    title = "Not installed"
    category = "not installed"
    Inputs = AnyInputs

    def __init__(self, type_name: str, package: str, extra: str) -> None:
        """Stand in for a type that needs `package`; `valkyr[extra]` installs the package."""
        # Other modules declare these attributes in their classes. This class represents many types,
        # so it sets them per object.
        own: Any = partial(setattr, self)
        own("type", type_name)
        own("title", type_name)
        self.install = f"pip install 'valkyr[{extra}]'"
        self.reason = (
            f"module {type_name!r} needs the Python package {package!r}, which is not installed: "
            f"{self.install}"
        )
        own("description", f"Not installed. To use it: {self.install}")

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        """Return the problem that publishing reports, regardless of the `with`."""
        return [ConfigProblem((), "not_installed", self.reason)]

    def execute(self, inputs: BaseModel, ctx: StepContext) -> NoReturn:
        """Raise StepError: the package was installed where the workflow was published, not here."""
        raise StepError(self.reason)


def stand_in(type_name: str, needed: tuple[str, str] | None) -> NotInstalled | None:
    """Return a stand-in if the package of `(package, extra)` is missing, otherwise None."""
    if needed is None or _is_installed(needed[0]):
        return None
    return NotInstalled(type_name, *needed)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # a parent package of `package` is missing
        return False
