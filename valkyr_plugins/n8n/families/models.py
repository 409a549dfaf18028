"""Convert language models into `llm.chat`: OpenAI, chains and agents without tools."""

from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, below, credential_name, family
from valkyr_plugins.n8n.shape import Keys, Shape
from valkyr_plugins.n8n.texts import is_expression

ANSWERS: tuple[Keys, ...] = (
    ("message", "content"), ("text",), ("output",), ("content",), ("response",),
)  # fmt: skip
# The endpoints that speak OpenAI's protocol, by the model nodes of n8n.
ENDPOINTS = {
    "lmChatOpenAi": "", "lmOpenAi": "", "lmChatDeepSeek": "https://api.deepseek.com/v1",
    "lmChatMistralCloud": "https://api.mistral.ai/v1",
    "lmChatOpenRouter": "https://openrouter.ai/api/v1",
    "lmChatGroq": "https://api.groq.com/openai/v1",
    "lmChatGoogleGemini": "https://generativelanguage.googleapis.com/v1beta/openai",
}  # fmt: skip
MODEL, MEMORY, TOOL, PARSER = "ai_languageModel", "ai_memory", "ai_tool", "ai_outputParser"


@family("openAi")
def openai(work: NodeWork) -> Made:
    """Convert a message to a model, of the old and the new node."""
    resource = work.word("resource", "text")
    if resource not in ("text", "chat") or work.word("operation", "message") not in (
        "message", "complete", "create",
    ):  # fmt: skip
        raise Left(f"it processes {resource}, which llm.chat does not support; use http.request")
    rows = work.names("messages.values") or work.names("prompt.messages")
    rows = rows or work.names("responses.values")
    if not rows and work.get("prompt"):
        rows = [{"content": work.get("prompt")}]
    system = [row for row in rows if row.get("role") == "system"]
    others = [row for row in rows if row.get("role") != "system"]
    inputs = _asked(work, work.node, "", system=_joined(work, system), others=others)
    if work.get("jsonOutput") is True:
        inputs["responseFormat"] = "json"
    return _made(work, inputs, work.node)


@family("chainLlm", "agent", "conversationalAgent")
def chain(work: NodeWork) -> Made:
    """Convert a prompt to the model that is attached to the node."""
    kinds = {kind for kind, _ in work.helpers}
    if TOOL in kinds:
        raise Left(
            "an agent with tools decides what to run; draw it with llm.chat, whose `tools` "
            "the model can call, and a flow.loop"
        )
    model = next((node for kind, node in work.helpers if kind == MODEL), None)
    if model is None or model.kind not in ENDPOINTS:
        what = model.type if model else "no model"
        raise Left(
            f"it calls {what}; use llm.chat with an endpoint that supports OpenAI's protocol"
        )
    if MEMORY in kinds:
        work.remark("It remembered the conversation; pass earlier messages in `messages`.")
    if PARSER in kinds:
        work.remark("It parsed the answer; llm.extract returns data that fits a schema.")
    system = work.get("options.systemMessage") or _chain_system(work)
    prompt = work.get("text") or work.get("prompt")
    inputs = _asked(work, model, ENDPOINTS[model.kind], system=work.text(system or ""), others=[])
    inputs["messages"] = work.text(prompt) if prompt else _chat_input(work)
    return _made(work, inputs, model)


def _chain_system(work: NodeWork) -> Any:
    rows = work.names("messages.messageValues")
    return next((row.get("message") for row in rows), None)


def _chat_input(work: NodeWork) -> str:
    found = work.shape.read(("chatInput",))
    return "{{ " + found + " }}" if found else todo("the message: $json.chatInput")


def _asked(
    work: NodeWork, node: Node, endpoint: str, *, system: str, others: list[dict[str, Any]]
) -> dict[str, Any]:
    inputs: dict[str, Any] = {"model": _model(work, node)}
    address = below(node.parameters, "options.baseURL")
    if isinstance(address, str) and address and not is_expression(address):
        inputs["baseUrl"] = address
    elif endpoint:
        inputs["baseUrl"] = endpoint
    if system:
        inputs["system"] = system
    roles = [str(row.get("role", "user")) for row in others]
    texts = [work.text(row.get("content", "")) for row in others]
    if len(others) == 1 and roles == ["user"]:
        inputs["messages"] = texts[0] or todo("the message")
    else:
        known = [role if role in ("user", "assistant") else "user" for role in roles]
        pairs = zip(known, texts, strict=True)
        inputs["messages"] = [{"role": role, "content": text} for role, text in pairs]
        if not others:
            inputs["messages"] = todo("the message")
    return inputs | _numbers(node)


def _model(work: NodeWork, node: Node) -> str:
    for key in ("modelId", "model", "chatModel", "modelName"):
        given = node.parameters.get(key)
        name = given.get("value") if isinstance(given, dict) else given
        if isinstance(name, str) and name:
            return work.text(name.removeprefix("models/"))
    work.texts.unfinished += 1
    return todo("the model's name")


def _numbers(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {}
    temperature = below(node.parameters, "options.temperature")
    most = below(node.parameters, "options.maxTokens")
    if isinstance(temperature, (int, float)) and 0 <= temperature <= 2:
        found["temperature"] = float(temperature)
    if isinstance(most, int) and not isinstance(most, bool) and 0 < most < 10**6:
        found["maxTokens"] = most
    return found


def _joined(work: NodeWork, rows: list[dict[str, Any]]) -> str:
    return "\n\n".join(work.text(row.get("content", "")) for row in rows)


def _made(work: NodeWork, inputs: dict[str, Any], node: Node) -> Made:
    answer = f"{work.output}.text"
    named: dict[Keys, str] = dict.fromkeys(ANSWERS, answer)
    shape = Shape(named=named, why="only the text of a model's answer is passed on")
    credential = ""
    for was, name in list(node.credentials.items())[:1]:
        credential = work.secret(credential_name(name, was), "bearer", f"{was} {name}".strip())
    return work.made("llm.chat", inputs, shape, credential=credential)
