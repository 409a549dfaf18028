"""The engine's behaviour is tried with the same fleet of real workers as its faults."""

from tests.faults.conftest import engine, fleet, redis, whole_fleet

__all__ = ["engine", "fleet", "redis", "whole_fleet"]
