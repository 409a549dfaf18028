"""What holds for well-known targets where nobody wrote a rule; plain data, without tables.

An administrator's rules of the same pattern, or a more specific one, come first.
"""

from runners.targets.rules import TargetLimits, TargetRule, limits_for

DEFAULTS: tuple[TargetRule, ...] = (
    # Models that reason are slow by nature, and their providers slow to recover.
    TargetRule("llm:deepseek-r1*", failures=3, recovery=300, timeout=300),
    TargetRule("llm:deepseek-reasoner*", failures=3, recovery=300, timeout=300),
    TargetRule("llm:glm-*", failures=5, recovery=180, timeout=180),
    TargetRule("llm:*", failures=5, recovery=60, timeout=120),
    TargetRule("vector:*", failures=3, recovery=30),
    TargetRule("mongodb:*", failures=5, recovery=45),
)
# What holds for every other target is the installation's, by its settings.
BASE = TargetLimits(failures=5, window=60, recovery=60)


def timeout_seconds(model: str) -> float:
    """How long a call of a language model may take, in seconds, by its name: `glm-4-plus`."""
    found = limits_for(f"llm:{model}", DEFAULTS, BASE).timeout
    assert found is not None, "llm:* gives every model a time-out"
    return found
