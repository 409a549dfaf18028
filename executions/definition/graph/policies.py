"""The named retry policies, and a step's own policy written out.

Numbers: docs/architecture.md, section 7. A version stores the policy written out, so that a later
change here alters nothing that runs.
"""

from collections.abc import Mapping
from typing import Any

from executions.definition.graph.model import RetryPolicy

POLICIES: Mapping[str, RetryPolicy] = {
    policy.name: policy
    for policy in (
        RetryPolicy("standard", 3, 1.0, None, (0.0, 0.5), 0.0),
        RetryPolicy("llm", 4, 1.0, 60.0, (0.0, 0.0), 0.1),
        RetryPolicy("patient", 10, 2.0, 300.0, (0.0, 3.0), 0.0),
        RetryPolicy("none", 1, 0.0, None, (0.0, 0.0), 0.0),
    )
}

DEFAULT_POLICY = "standard"
CUSTOM = "custom"


def written_out(retry: str | Mapping[str, Any]) -> dict[str, Any]:
    """A policy's name or a task's own values as every value of the policy.

    A task's own values are `maxAttempts`, `baseSeconds`, `maxSeconds` and `jitter` (a share of the
    delay, or `[least, most]` seconds added); those left out are the standard policy's. Raises
    KeyError for an unknown name.
    """
    if isinstance(retry, str):
        return _as_document(POLICIES[retry])
    document = _as_document(POLICIES[DEFAULT_POLICY]) | {"name": CUSTOM}
    document |= {key: value for key, value in retry.items() if key in document and key != "name"}
    jitter = retry.get("jitter")
    if isinstance(jitter, (int, float)):
        document |= {"jitterAdd": [0.0, 0.0], "jitterRatio": jitter}
    elif jitter is not None:
        document |= {"jitterAdd": list(jitter), "jitterRatio": 0.0}
    return document


def policy(document: Mapping[str, Any]) -> RetryPolicy:
    """The policy that `written_out` described."""
    least, most = document["jitterAdd"]
    return RetryPolicy(
        name=document["name"],
        max_attempts=document["maxAttempts"],
        base_seconds=document["baseSeconds"],
        max_seconds=document["maxSeconds"],
        jitter_add=(least, most),
        jitter_ratio=document["jitterRatio"],
    )


def _as_document(policy: RetryPolicy) -> dict[str, Any]:
    return {
        "name": policy.name,
        "maxAttempts": policy.max_attempts,
        "baseSeconds": policy.base_seconds,
        "maxSeconds": policy.max_seconds,
        "jitterAdd": list(policy.jitter_add),
        "jitterRatio": policy.jitter_ratio,
    }
