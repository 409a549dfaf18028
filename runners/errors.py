"""What can go wrong while a step is carried; none of these is the step's own failure."""


class LeaseLost(Exception):
    """The run is held by somebody else, or no more wanted: nothing of ours may be recorded."""


class StepFailed(Exception):
    """Shown in Flower for a segment whose step failed; the row says everything else."""
