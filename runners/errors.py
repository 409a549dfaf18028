"""Errors while a step is processed; none of these is the step's own failure."""


class LeaseLost(Exception):
    """Another worker leases the run, or no execution needs it. Its result must not be recorded."""


class StepFailed(Exception):
    """A step of the segment failed. Flower shows this; the row has the details."""
