"""Execute Workflow, and what holds code."""

from typing import Any

from valkyr_plugins.n8n.naming import workflow_slug
from valkyr_plugins.n8n.shape import one
from valkyr_plugins.n8n.texts import is_expression
from valkyr_plugins.n8n.work import Left, Made, NodeWork, family


@family("executeWorkflow")
def execute_workflow(work: NodeWork) -> Made:
    """`flow.subworkflow`, with what reaches it as the payload."""
    given = work.get("workflowId")
    name = given.get("cachedResultName") if isinstance(given, dict) else None
    pk = given.get("value") if isinstance(given, dict) else given
    if work.word("source", "database") not in ("database", "parameter") or not pk:
        raise Left("it runs a workflow of a file or an address; import that, and name it here")
    if is_expression(pk):
        raise Left("which workflow it runs is worked out; use a flow.switch over flow.subworkflow")
    slug = workflow_slug(str(name or f"workflow-{pk}"))[:80].strip("-") or "workflow"
    work.report.workflow(slug, f"{name or ''} ({pk})".strip(), work.node.name)
    inputs: dict[str, Any] = {"workflow": slug, "input": _payload(work)}
    if work.get("options.waitForSubWorkflow") is False:
        inputs["wait"] = False
    return work.made("flow.subworkflow", inputs, one(f"{work.output}.output"))


def _payload(work: NodeWork) -> Any:
    values = work.get("workflowInputs.value")
    if isinstance(values, dict) and values:
        return work.value(values)
    if work.shape.whole is not None:
        return "{{ " + work.shape.whole + " }}"
    work.remark("What it hands to the workflow could not be told; its payload is empty.")
    return {}


@family("code", "function", "functionItem")
def code(work: NodeWork) -> Made:
    """Left: nobody translates programs."""
    raise Left(
        "it is a program in JavaScript or n8n's Python. Write it anew: as templates of a data.set, "
        "as data.jmespath, or as python.code"
    )
