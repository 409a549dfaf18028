"""Errors while a step is processed; none of these is the step's own failure."""


class LeaseLost(Exception):
    """Another worker leases the run, or it is no longer needed: nothing may be recorded."""


class StepFailed(Exception):
    """Shown in Flower for a segment whose step failed; the row has the details."""
