"""What holds for well-known targets where nobody wrote a rule; plain data, without tables.

An administrator's rules (`CircuitRule`) of the same pattern, or a more specific one, come first.
"""

from runners.targets.rules import Limits, Rule, limits_for

DEFAULTS: tuple[Rule, ...] = (
    # Models that reason are slow by nature, and their providers slow to recover.
    Rule("llm:deepseek-r1*", failures=3, recovery=300, timeout=300),
    Rule("llm:deepseek-reasoner*", failures=3, recovery=300, timeout=300),
    Rule("llm:glm-*", failures=5, recovery=180, timeout=180),
    Rule("llm:*", failures=5, recovery=60, timeout=120),
    Rule("vector:*", failures=3, recovery=30),
    Rule("mongodb:*", failures=5, recovery=45),
)
# What holds for every other target is the installation's, by its settings.
BASE = Limits(failures=5, window=60, recovery=60)


def timeout_seconds(model: str) -> float:
    """How long a call of a language model may take, in seconds, by its name: `glm-4-plus`."""
    found = limits_for(f"llm:{model}", DEFAULTS, BASE).timeout
    assert found is not None, "llm:* gives every model a time-out"
    return found
