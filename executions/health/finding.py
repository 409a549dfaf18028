"""What was found of one part, in words that say what to do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """Whether a part is well; `found`, `expected` and `do` are for who runs the installation."""

    well: bool
    found: str
    expected: str
    do: str = ""


def silent(seconds: float) -> HealthFinding:
    """The finding of a part that gave no answer in time."""
    return HealthFinding(
        False,
        f"no answer within {seconds:g} s",
        "an answer",
        "Is it running, and reachable from here? Its own log says more.",
    )
