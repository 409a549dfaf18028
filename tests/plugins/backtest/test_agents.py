"""A backtest computes a recorded agent again without a call of its model."""

from typing import Any

import pytest

from executions.definition.graph.document import load_text
from runners.testing.harness import Valkyr
from tests.support.counterparts.agent_model import AgentModel, results

from .comparing import compared, texts

AGENT = """
schema: valkyr/1
name: clerk
tasks:
  - id: clerk
    use: llm.agent
    credential: llm
    with: {{model: agent, baseUrl: "{url}", prompt: "Work hard", tools: [{{name: double}}]}}
    body:
      tasks: [{{id: double, use: flow.noop, with: {{value: "{{{{ item.arguments.n * 2 }}}}"}}}}]
output: "{{{{ tasks.clerk.output.text }}}}"
"""


def script(messages: list[dict[str, Any]]) -> Any:
    return "All done." if results(messages) else [("double", {"n": 4})]


def test_an_agent_is_the_same_and_its_model_hears_nothing(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    model, valkyr = AgentModel(script), Valkyr()
    try:
        valkyr.credential("llm", "bearer", token="sk-test")
        run = valkyr.start(AGENT.format(url=model.url))
        run.assert_state("SUCCESS")
        heard = len(model.requests)

        made = compared(run)

        assert made.counts == {"SAME": 1}, texts(made)
        assert made.by_step["clerk.main"] == {"SAME": 1}
        draft = load_text(AGENT.format(url=model.url), content_type="yaml")
        draft["tasks"][0]["with"]["prompt"] = "Work harder"
        assert compared(run, draft).counts == {"WOULD_CALL": 1}
        assert len(model.requests) == heard
    finally:
        model.stop()
