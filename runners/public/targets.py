"""Rules for steps' targets, each with a pattern of target names. This module is pure."""

from runners.targets.rules import BASE, DEFAULTS, TargetLimits, TargetRule, limits_for

__all__ = [
    "BASE",
    "DEFAULTS",
    "TargetLimits",
    "TargetRule",
    "limits_for",
]
