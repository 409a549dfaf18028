"""Sub-workflows that are named outright have a name that a workflow can have."""

import re
from collections.abc import Iterator

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading
from executions.definition.graph.schema_building import SLUG
from executions.definition.graph.schema_settings import MAX_WORKFLOW_SLUG
from executions.definition.graph.shape import shown
from executions.definition.templates import has_template

SUBWORKFLOW = "flow.subworkflow"
KEY = "workflow"


def subworkflow_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Slugs that no workflow can have; whether one has it is known when the step runs."""
    for module in (module for task in body.tasks for module in task.modules):
        if module.type != SUBWORKFLOW or module.spec is None or not module.sound:
            continue
        slug = (module.config or {}).get(KEY)
        if not isinstance(slug, str) or has_template(slug):
            continue
        if len(slug) > MAX_WORKFLOW_SLUG or re.fullmatch(SLUG, slug) is None:
            message = (
                f"expected the slug of a workflow (letters, digits, _ and -, at most "
                f"{MAX_WORKFLOW_SLUG}), found {shown(slug)}"
            )
            yield problem((*module.pointer, "with", KEY), "bad_slug", message)
