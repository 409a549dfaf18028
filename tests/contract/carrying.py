"""Execute steps directly, as a worker would."""

from executions.models import WorkflowExecution
from runners.models import Run
from runners.pipeline import receive


def carry(pk: str) -> None:
    """Run everything that is ready, until nothing is left."""
    execution = WorkflowExecution.objects.get(pk=pk)
    while segments := list(
        Run.objects.filter(execution=execution, state="PENDING").values_list("segment", flat=True)
    ):
        for segment in segments:
            receive.run_segment(execution.pk, execution.version_id, segment, header=True)
