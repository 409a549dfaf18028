"""Rules for the targets of steps that match a pattern. This module is pure."""

from runners.targets.rules import BASE, DEFAULTS, TargetLimits, TargetRule, limits_for

__all__ = [
    "BASE",
    "DEFAULTS",
    "TargetLimits",
    "TargetRule",
    "limits_for",
]
