"""Percentiles of a few hundred measurements."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Percentiles in the unit of the values."""

    p50: float
    p95: float
    p99: float


def quantiles(values: Sequence[float]) -> Quantiles:
    """Return nearest-rank percentiles."""
    ordered = sorted(values)

    def rank(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return Quantiles(rank(0.50), rank(0.95), rank(0.99))
