"""`slack.post`: inputs and outputs; slack_exchange.py posts the message."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from runners.public.modules import Bad, Module, ModuleInputs, ModuleOutputs, Result, StepContext


class SlackPostInputs(ModuleInputs):
    """The message to post, and the channel."""

    text: str | None = Field(
        None,
        description="The message, in Slack's mrkdwn; with `blocks`, the text of notifications.",
        examples=["Order *{{ input.orderId }}* is on its way."],
        min_length=1,
        max_length=40_000,
    )
    blocks: list[dict[str, Any]] | None = Field(
        None,
        description="Block Kit blocks (api.slack.com/block-kit).",
        examples=[[{"type": "section", "text": {"type": "mrkdwn", "text": "*Done*"}}]],
        min_length=1,
        max_length=50,
    )
    channel: str | None = Field(
        None,
        description=(
            "The channel's id or name. Required with a bot token; omit it with an incoming "
            "webhook, which has a fixed channel."
        ),
        examples=["C024BE91L", "#orders"],
        min_length=1,
        max_length=200,
    )
    thread_ts: str | None = Field(
        None,
        description="The `ts` of a message, to reply in its thread; only with a bot token.",
        examples=["{{ tasks.announce.output.ts }}"],
        max_length=40,
    )
    unfurl_links: bool = Field(True, description="Show previews of links.")

    @model_validator(mode="after")
    def _says_something(self) -> "SlackPostInputs":
        if self.text is None and self.blocks is None:
            raise ValueError("give text or blocks, or both")
        return self


class SlackPostOutputs(ModuleOutputs):
    """The posted message. An incoming webhook returns neither channel nor ts."""

    channel: str | None = Field(description="The channel's id; null with an incoming webhook.")
    ts: str | None = Field(
        description="The message's timestamp, which identifies it; null with an incoming webhook."
    )


class SlackPost(Module[SlackPostInputs]):
    """Posts a message to Slack.

    A credential of type slack contains an incoming webhook's address. A credential of type bearer
    contains a bot token (`xoxb-…`, scope chat:write) and requires `channel`. If Slack reports
    a rate limit, the next attempt waits as long as Slack requires. After a crash, a message may be
    posted twice, because Slack has no idempotency keys.
    """

    type = "slack.post"
    title = "Slack message"
    category = "messages"
    queue = "io"
    effect = "external"
    timeout_seconds = 30.0
    credential = ("slack", "bearer")
    judges_hosts = "everything"
    circuit_target = "`slack.post:slack`"
    example: ClassVar[Any] = {
        "text": "Order *{{ input.orderId }}* is on its way.",
        "channel": "#orders",
    }
    bad_inputs = (
        Bad("no text or blocks", {"channel": "#orders"}, "give text or blocks"),
        Bad("a text of 50,000 characters", {"text": "a" * 50_000}, "40000 characters"),
        Bad("51 blocks", {"blocks": [{"type": "divider"}] * 51}, "50 items"),
        Bad("a text with a lone surrogate", {"text": "a\ud800"}, "text"),
        Bad("no credential", {"text": "hello"}, "needs a credential"),
    )
    Inputs = SlackPostInputs
    Outputs: ClassVar[Any] = SlackPostOutputs

    def circuit(self, inputs: SlackPostInputs) -> str | None:
        return f"{self.type}:slack"

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.messages.slack_exchange  # noqa: F401 - loads httpx

    def execute(self, inputs: SlackPostInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.messages.slack_exchange import slack_exchange

        return Result(slack_exchange(inputs, ctx))
