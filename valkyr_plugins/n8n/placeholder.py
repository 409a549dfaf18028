"""The task for a node without an equivalent, and its module `n8n.placeholder`."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from executions.public.definitions import ConfigProblem
from runners.public.modules import Bad, Module, ModuleInputs, Result, StepContext, StepError
from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.secrecy import scrubbed, without_secrets

PLACEHOLDER = "n8n.placeholder"
MAX_PARAMETERS = 30_000
MAX_TEXT = 20_000


def inputs_of(node: Node, reason: str) -> dict[str, Any]:
    """Return the `with` of a node's placeholder: the node's data, and the reason."""
    given = bare(scrubbed(dict(node.parameters)))
    if len(json.dumps(given)) > MAX_PARAMETERS:
        given = {"leftOut": "The parameters are too long to store; see the export."}
    found: dict[str, Any] = {
        "nodeType": bare(node.type),
        "node": bare(node.name),
        "reason": bare(reason),
        "parameters": given,
    }
    if node.credentials:
        found["credentials"] = [bare(f"{kind}: {name}") for kind, name in node.credentials.items()]
    return found


def plain_inputs(what: str, reason: str) -> dict[str, Any]:
    """Return the `with` of a placeholder that belongs to no node, with `what` as its type."""
    return {"nodeType": what, "reason": bare(reason)}


def bare(value: Any) -> Any:
    """Return a value without secrets and templates: {{ }} become [[ ]], which are not rendered."""
    if isinstance(value, str):
        text = without_secrets(value[:MAX_TEXT])
        return text.replace("{{", "[[").replace("}}", "]]").replace("{%", "[%")
    if isinstance(value, dict):
        return {bare(key): bare(item) for key, item in value.items()}
    if isinstance(value, list):
        return [bare(item) for item in value]
    return value


# `n8n.placeholder`: the module that keeps a node of n8n without an equivalent.


CODE = "placeholder"


class PlaceholderInputs(ModuleInputs):
    """The n8n node that the placeholder replaces."""

    node_type: str = Field(
        max_length=200,
        description="The node's type in n8n.",
        examples=["n8n-nodes-base.telegram"],
    )
    node: str = Field(
        "", max_length=300, description="The node's name in n8n.", examples=["Tell Ann"]
    )
    reason: str = Field(
        max_length=2_000,
        description="The reason why there is no equivalent module, and what to do.",
        examples=["there is no module for it; use http.request"],
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict,
        description="The node's parameters in n8n, with expressions in [[ ]] and without secrets.",
        examples=[{"chatId": "=[[ $json.chat ]]", "text": "Done"}],
    )
    credentials: list[str] = Field(
        default_factory=list,
        max_length=20,
        description="The types and names of the credentials that the node used in n8n.",
        examples=[["telegramApi: our bot"]],
    )


class Placeholder(Module[PlaceholderInputs]):
    """A placeholder for an n8n node that an import could not map; it keeps the node's data.

    A workflow with a placeholder can be saved and edited but not published. Replace the placeholder
    with a module that does the node's work, or remove the task.
    """

    type = "n8n.placeholder"
    title = "n8n placeholder"
    category: ClassVar[str] = "import"
    Inputs = PlaceholderInputs
    inline: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0
    example = {
        "nodeType": "n8n-nodes-base.telegram",
        "reason": "there is no module for it; see whether http.request does its work",
        "parameters": {"chatId": "=[[ $json.chat ]]", "text": "Done"},
    }
    bad_inputs = (
        Bad(
            "every input",
            {"nodeType": "n8n-nodes-base.telegram", "reason": "use http.request"},
            "n8n-nodes-base.telegram was not imported: use http.request",
        ),
        Bad("a missing node type", {"reason": "unknown"}, "nodeType"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return [ConfigProblem((), CODE, said(config))]

    def execute(self, inputs: PlaceholderInputs, ctx: StepContext) -> Result:
        raise StepError(said(inputs.model_dump(by_alias=True)))


def said(config: Mapping[str, Any]) -> str:
    """Return the error message of a placeholder: the node, the reason, and what to do."""
    return (
        f"{config.get('nodeType', 'a node')} was not imported: {config.get('reason', '')}; "
        "replace it with an equivalent module, or remove the task"
    )
