"""Errors that workers raise for a segment: a lost lease, or a failed step, which Flower shows."""


class LeaseLost(Exception):
    """The lease was lost or not renewed, or the run is obsolete; the result is rejected."""


class StepFailed(Exception):
    """A step of the segment failed. Flower shows this error; the run's row has the details."""
