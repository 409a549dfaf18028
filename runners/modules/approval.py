"""`flow.approval`: a person decides how the workflow continues."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from runners.modules.base import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, Wait
from runners.modules.waits import MAX_DAYS, Patience, WaitingModule
from runners.states import WaitKind

MAX_APPROVERS = 100

Name = Annotated[str, StringConstraints(min_length=1, max_length=150)]


class ApprovalInputs(ModuleInputs):
    """The question, the approvers, and the deadline."""

    title: str = Field(
        min_length=1,
        max_length=200,
        description="The question, on a single line.",
        examples=["Refund {{ input.amount }} € to {{ input.customer }}?"],
    )
    description: str = Field(
        "",
        max_length=10_000,
        description="Information for the decision.",
        examples=["Order {{ input.orderId }}, paid on {{ input.paidAt }}."],
    )
    approvers: list[Name] = Field(
        [],
        max_length=MAX_APPROVERS,
        description=(
            "The members of the workspace who can decide: user names or roles (ADMIN, WORKFLOW, "
            "SYSTEM, USER), checked when the decision is made. If the list is empty, users with "
            "the permission to operate executions can decide."
        ),
        examples=[["maria", "ADMIN"]],
    )
    expires_seconds: Patience | None = Field(
        None,
        description=(
            f"Seconds after which the outcome is `expired`; at most {MAX_DAYS} days. "
            "Without this input, the step waits indefinitely."
        ),
        examples=[86_400],
    )


class ApprovalOutputs(ModuleOutputs):
    """The decision and the user who made it."""

    decision: Literal["approved", "rejected", "expired"] = Field(
        description="The same as the outcome."
    )
    comment: str = Field("", description="The approver's comment.")
    by: str | None = Field(None, description="The user who decided; null if the approval expired.")
    at: str | None = Field(
        None, description="The time of the decision; null if the approval expired."
    )


class ApprovalModule(WaitingModule):
    """Waits for a decision that a person makes in the admin or with `decideRun` in the API."""

    type = "flow.approval"
    title = "Approval"
    Inputs = ApprovalInputs
    Outputs = ApprovalOutputs
    outcomes = ("approved", "rejected", "expired")
    example = {
        "title": "Refund {{ input.amount }} € to {{ input.customer }}?",
        "approvers": ["maria", "ADMIN"],
        "expiresSeconds": 86_400,
    }
    bad_inputs = (
        Bad("nothing to decide", {"title": ""}, "title"),
        Bad("a title that is too long", {"title": "x" * 10_000}, "title"),
        Bad(
            "a timeout that is too long", {"title": "t", "expiresSeconds": 10**12}, "expiresSeconds"
        ),
        Bad("too many approvers", {"title": "t", "approvers": ["a"] * 10_000}, "approvers"),
    )

    def execute(self, inputs: ApprovalInputs, ctx: StepContext) -> Wait:
        facts = {
            "title": inputs.title,
            "description": inputs.description,
            "approvers": inputs.approvers,
        }
        return Wait(WaitKind.APPROVAL, seconds=inputs.expires_seconds, facts=facts)

    def woken(self, inputs: ApprovalInputs, wake: Mapping[str, Any], ctx: StepContext) -> Result:
        if wake["by"] == "timer":
            return _result(ApprovalOutputs(decision="expired"))
        return _result(
            ApprovalOutputs(
                decision=wake["decision"],
                comment=wake["comment"],
                by=wake["actor"],
                at=wake["at"],
            )
        )


def _result(outputs: ApprovalOutputs) -> Result:
    return Result(outputs.model_dump(mode="json", by_alias=True), outputs.decision)
