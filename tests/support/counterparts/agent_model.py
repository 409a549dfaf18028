"""A server of OpenAI's protocol whose answers a test scripts, and which counts each request.

As with a real model, an answer depends only on the conversation: a repeated request gets the same
answer, and is counted twice.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from valkyr_project.demo.llm_server import Body, LlmHandler, LlmServer, usage

# A text, or the tools to call: (name, arguments); arguments as text are sent as they are.
Answer = str | list[tuple[str, Any]]
Script = Callable[[list[dict[str, Any]]], Answer]


def results(messages: list[dict[str, Any]]) -> list[str]:
    """Return the tool results of a conversation."""
    return [message["content"] for message in messages if message["role"] == "tool"]


def calls(*names: str) -> Script:
    """Return a script that calls these tools one after another, with the numbers 1, 2 …, then
    answers.
    """

    def script(messages: list[dict[str, Any]]) -> Answer:
        done = len(results(messages))
        return [(names[done], {"number": done + 1})] if done < len(names) else "All done."

    return script


class _Handler(LlmHandler):
    def chat(self, body: Body) -> None:
        server = cast("AgentModel", self.server)
        answer = server.answer_to(body)
        if isinstance(answer, str):
            return self.say(body, answer)
        number = len(results(body["messages"]))
        calls = [
            {"index": index, "id": f"call_{number + index}", "type": "function",
             "function": {"name": name, "arguments": given if isinstance(given, str)
                          else json.dumps(given)}}
            for index, (name, given) in enumerate(answer)
        ]  # fmt: skip
        frame = self.frame(body, "chat.completion.chunk")
        delta = {"role": "assistant", "tool_calls": calls}
        return self.send_stream(
            iter([
                {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
                 "usage": usage(body, "x" * 40)},
            ])
        )  # fmt: skip


class AgentModel(LlmServer):
    """A model server: `asked` counts requests by their conversation, and `requests` has their
    bodies.
    """

    def __init__(self, script: Script) -> None:
        super().__init__(handler=_Handler)
        self.requests: list[Body] = []
        self.asked: Counter[str] = Counter()
        self._script = script
        self._lock = threading.Lock()
        self.start()

    def answer_to(self, body: Body) -> Answer:
        """Count the request, and return its answer."""
        with self._lock:
            self.requests.append(body)
            self.asked[json.dumps(body["messages"], sort_keys=True)] += 1
        return self._script(body["messages"])
