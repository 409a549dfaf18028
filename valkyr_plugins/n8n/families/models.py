"""Convert nodes of language models (OpenAI, Gemini, Anthropic and others), chains, and agents."""

from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.families.agents import TOOL, agent_tasks
from valkyr_plugins.n8n.families.schemas import PARSER, parsed
from valkyr_plugins.n8n.mapping import (
    Helped,
    Left,
    Made,
    NodeWork,
    below,
    credential_name,
    family,
)
from valkyr_plugins.n8n.shape import Keys, Shape, one
from valkyr_plugins.n8n.texts import is_expression

ANSWERS: tuple[Keys, ...] = (
    ("message", "content"), ("text",), ("output",), ("content",), ("response",),
    ("content", "parts", 0, "text"), ("content", 0, "text"), ("message",),
    ("choices", 0, "message", "content"), ("output", 0, "content", 0, "text"),
)  # fmt: skip
# For each model node of n8n: the endpoint with OpenAI's protocol, or None if there is no public
# one.
ENDPOINTS: dict[str, str | None] = {
    "lmChatOpenAi": "", "lmOpenAi": "", "lmChatDeepSeek": "https://api.deepseek.com/v1",
    "lmChatMistralCloud": "https://api.mistral.ai/v1",
    "lmChatOpenRouter": "https://openrouter.ai/api/v1",
    "lmChatGroq": "https://api.groq.com/openai/v1",
    "lmChatGoogleGemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "lmChatAnthropic": "https://api.anthropic.com/v1",
    "lmChatXAiGrok": "https://api.x.ai/v1",
    "lmChatCohere": "https://api.cohere.ai/compatibility/v1",
    "lmChatAlibabaCloud": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "lmChatMoonshot": "https://api.moonshot.ai/v1",
    "lmOpenHuggingFaceInference": "https://router.huggingface.co/v1",
    "lmChatVercelAiGateway": "https://ai-gateway.vercel.sh/v1",
    "lmChatNvidia": "https://integrate.api.nvidia.com/v1",
    "lmChatOllama": None, "lmOllama": None, "lmChatAzureOpenAi": None,
}  # fmt: skip
MODEL, MEMORY = "ai_languageModel", "ai_memory"
_MESSAGES = ("message", "complete", "create", "response", "")


@family("openAi")
def openai(work: NodeWork) -> Made:
    """Convert an OpenAI node that sends a message, or analyses or creates an image. Raises Left."""
    resource, operation = work.word("resource", "text"), work.word("operation")
    if resource == "image" and operation in ("", "generate", "create"):
        return _image(work)
    if resource == "image" and operation == "analyze":
        return _seen(work)
    if resource not in ("text", "chat") or operation not in _MESSAGES:
        raise Left(
            f"it works on {resource} ({operation or 'its default operation'}), which llm.chat does "
            "not; use http.request"
        )
    return _conversation(work, "")


@family("googleGemini", "anthropic", "perplexity", "deepSeek", "mistralAi")
def other_model(work: NodeWork) -> Made:
    """Convert a node that sends a message to another provider's model. Raises Left."""
    resource, operation = work.word("resource", "text"), work.word("operation", "message")
    if resource not in ("text", "chat", "completion") or operation not in (
        "message", "complete", "create",
    ):  # fmt: skip
        raise Left(f"it works on {resource} ({operation}), which llm.chat does not")
    return _conversation(work, SERVERS[work.node.kind])


SERVERS = {
    "googleGemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "anthropic": "https://api.anthropic.com/v1",
    "perplexity": "https://api.perplexity.ai",
    "deepSeek": "https://api.deepseek.com/v1",
    "mistralAi": "https://api.mistral.ai/v1",
}


def _conversation(work: NodeWork, endpoint: str) -> Made:
    rows = work.names("messages.values") or work.names("prompt.messages")
    rows = rows or work.names("responses.values") or work.names("messages.message")
    if not rows and work.get("prompt"):
        rows = [{"content": work.get("prompt")}]
    system = [row for row in rows if row.get("role") == "system"]
    others = [row for row in rows if row.get("role") != "system"]
    prompt = _joined(work, system) or work.text(work.get("options.system") or "")
    inputs = _asked(work, work.node, endpoint, system=prompt, others=others)
    if work.get("jsonOutput") is True:
        inputs["responseFormat"] = "json"
    if any(kind == TOOL for kind, _ in work.helpers):
        return _agent(work, inputs, work.node)
    if work.get("builtInTools"):
        work.remark("It had tools of the provider, such as a web search, which were left out.")
    return _made(work, inputs, work.node)


def _image(work: NodeWork) -> Made:
    work.remark(
        "It is a request to OpenAI's API: the image is in output.body.data[0], as Base64 or as an "
        "address, not a file of n8n's."
    )
    size = work.get("options.size")
    sent = {
        "model": _model(work, work.node, "dall-e-2"),
        "prompt": work.text(work.get("prompt") or "") or todo("what the image shows"),
    }
    sent |= {"size": work.value(size)} if size else {}
    own = _signed(work, work.node)
    inputs = {
        "method": "POST", "url": "https://api.openai.com/v1/images/generations", "json": sent,
    }  # fmt: skip
    shape = one(f"{work.output}.body.data[0]")
    return work.made("http.request", inputs, shape, credential=own)


def _seen(work: NodeWork) -> Made:
    """Convert a question about an image at a URL. Raises Left for an image in a file."""
    address = work.get("imageUrls")
    if work.word("inputType", "url") != "url" or not address:
        raise Left("it looks at a file of n8n's; hand llm.chat the image as imageBase64")
    inputs = _asked(work, work.node, "", system="", others=[])
    question = work.text(work.get("text") or "What is in this image?")
    inputs["messages"] = [
        {"role": "user", "content": [{"text": question}, {"imageUrl": work.text(address)}]}
    ]
    return _made(work, inputs, work.node)


@family("chainLlm", "agent", "conversationalAgent", "agentTool", "chainSummarization")
def chain(work: NodeWork) -> Made:
    """Convert a node that prompts a model, with its tools and output parser. Raises Left."""
    kinds = {kind for kind, _ in work.helpers}
    if work.word("agent") == "sqlAgent":
        raise Left("an agent for a database reads its tables by itself; use sql.query as a tool")
    models = [node for kind, node in work.helpers if kind == MODEL]
    if not models or models[0].kind not in ENDPOINTS:
        what = models[0].type if models else "no model"
        raise Left(f"it asks {what}; use llm.chat with an endpoint that speaks OpenAI's protocol")
    model = models[0]
    if MEMORY in kinds:
        work.remark("It remembered the conversation; hand earlier messages on in `messages`.")
    system = work.get("options.systemMessage") or _chain_system(work)
    inputs = _asked(work, model, ENDPOINTS[model.kind], system=work.text(system or ""), others=[])
    inputs["messages"] = _prompt(work)
    work.parts[model.name] = Helped(work.id, "llm.chat")
    for spare in models[1:]:
        remark = "It stood in for the first model, which here is retried instead."
        work.parts[spare.name] = Helped(work.id, "llm.chat", [remark])
    if TOOL in kinds:
        return _agent(work, inputs, model)
    schema = parsed(work) if PARSER in kinds else None
    if schema is None:
        return _made(work, inputs, model)
    return _extracted(work, inputs, schema, model)


def _prompt(work: NodeWork) -> str:
    if work.node.kind == "chainSummarization":
        work.remark(
            "It cut a long text into pieces and summed them up one by one; here the model gets the "
            "text as a whole, and the prompt is a new one."
        )
        text = work.shape.read(("text",)) or work.shape.whole
        held = "{{ " + text + " }}" if text else todo("the text")
        return f"Write a concise summary of the following text:\n\n{held}"
    prompt = work.get("text") or work.get("prompt")
    if work.node.kind == "agentTool" and not prompt:
        return todo("what the agent is asked")
    return work.text(prompt) if prompt else _chat_input(work)


def _agent(work: NodeWork, inputs: dict[str, Any], model: Node) -> Made:
    """Make a `flow.loop` that ends when the model requests no tools.

    If the node has a parser, an `llm.extract` task follows the loop.
    """
    schema = parsed(work) if any(kind == PARSER for kind, _ in work.helpers) else None
    own = _signed(work, model)
    first, loop, answer = agent_tasks(work, inputs, own, f"{work.id}_turns" if schema else work.id)
    if schema is None:
        named: dict[Keys, str] = dict.fromkeys(ANSWERS, answer)
        shape = Shape(named=named, why="of a model's answer only the text is handed on")
        return work.made("flow.loop", loop["with"], shape, before=[first], whole=loop)
    work.remark("A second request to the model puts the agent's answer into the parser's form.")
    told = {key: inputs[key] for key in ("model", "baseUrl") if key in inputs}
    made = _extracted(work, told | {"messages": "{{ " + answer + " }}"}, schema, model)
    made.before = [first, loop]
    return made


def _extracted(work: NodeWork, inputs: dict[str, Any], schema: dict[str, Any], model: Node) -> Made:
    data = f"{work.output}.data"
    given = {key: one for key, one in inputs.items() if key != "responseFormat"}
    return work.made(
        "llm.extract", given | {"schema": schema},
        Shape(base=data, named={("output",): data}, why="the answer is in `output`"),
        credential=_signed(work, model),
    )  # fmt: skip


def _chain_system(work: NodeWork) -> Any:
    rows = work.names("messages.messageValues")
    return next((row.get("message") for row in rows), None)


def _chat_input(work: NodeWork) -> str:
    found = work.shape.read(("chatInput",))
    return "{{ " + found + " }}" if found else todo("the message: $json.chatInput")


# Nodes that request data from a model.


def _attached(work: NodeWork) -> Node:
    model = next((node for kind, node in work.helpers if kind == MODEL), None)
    if model is None or model.kind not in ENDPOINTS:
        what = model.type if model else "no model"
        raise Left(f"it asks {what}; use llm.extract with an endpoint of OpenAI's protocol")
    work.parts[model.name] = Helped(work.id, "llm.extract")
    return model


@family("informationExtractor")
def information(work: NodeWork) -> Made:
    """Make an `llm.extract` task with the node's schema. Raises Left if the model is unknown."""
    model = _attached(work)
    schema = parsed(work)
    system = work.text(work.get("options.systemPromptTemplate") or "")
    inputs = _asked(work, model, ENDPOINTS[model.kind], system=system, others=[])
    text = work.text(work.get("text") or "")
    inputs["messages"] = text or todo("the text")
    assert schema is not None
    return _extracted(work, inputs, schema, model)


@family("textClassifier", "sentimentAnalysis")
def classifier(work: NodeWork) -> Made:
    """Make an `llm.extract` task that chooses a category, and a `flow.switch` task for it.

    Raises Left if the node chooses several categories, or if the model or categories are unknown.
    """
    model = _attached(work)
    names, about = _categories(work)
    if work.get("options.multiClass") is True:
        raise Left("it chooses several categories at once; use llm.extract, and a flow.if for each")
    inputs = _asked(work, model, ENDPOINTS[model.kind], system="", others=[])
    text = work.text(work.get("inputText") or "") or todo("the text")
    inputs["system"] = (
        work.text(work.get("options.systemPromptTemplate") or "").replace("{categories}", about)
        or f"Put the text into one of these categories: {about}"
    )
    fallback = work.word("options.fallback", "discard") == "other"
    words = [*names, *(["other"] if fallback and "other" not in names else [])]
    inputs["messages"] = text
    schema = {
        "type": "object", "required": ["category"], "additionalProperties": False,
        "properties": {"category": {"type": "string", "enum": words}},
    }  # fmt: skip
    ask = work.also("category")
    first = {
        "id": ask, "name": f"{work.node.name}: category"[:200], "use": "llm.extract",
        "with": inputs | {"schema": schema}, "ui": {"x": work.node.x, "y": work.node.y - 120},
    }  # fmt: skip
    if own := _signed(work, model):
        first["credential"] = own
    outcomes = dict(enumerate(words))
    config = {
        "value": "{{ tasks." + ask + ".output.data.category }}",
        "cases": {name: name for name in words}, "default": "unknown",
    }  # fmt: skip
    chosen: dict[Keys, str] = {
        ("sentimentAnalysis", "category"): f"tasks.{ask}.output.data.category"
    }
    shape = Shape(
        work.shape.whole, work.shape.base, {**work.shape.named, **chosen},
        why=work.shape.why,
    )  # fmt: skip
    work.remark("The prompt is a new one; see whether the model still chooses as it did.")
    return work.made("flow.switch", config, shape, outcomes=outcomes, before=[first])


def _categories(work: NodeWork) -> tuple[list[str], str]:
    """Return the names of the categories, and text that describes them. Raises Left."""
    if work.node.kind == "sentimentAnalysis":
        given = work.word("options.categories", "Positive, Neutral, Negative")
        rows = [{"category": name.strip()} for name in given.split(",")]
    else:
        rows = work.names("categories.categories")
    names = [str(row.get("category") or "").strip() for row in rows]
    sound = all(0 < len(name) <= 100 and "{{" not in name and name != "error" for name in names)
    if not names or len(set(names)) < len(names) or not sound:
        raise Left("its categories cannot be read; use llm.extract and a flow.switch")
    told = [
        f"{name} ({str(row['description']).strip()})" if row.get("description") else name
        for name, row in zip(names, rows, strict=True)
    ]
    return names, work.text("; ".join(told))


def _asked(
    work: NodeWork, node: Node, endpoint: str | None, *, system: str, others: list[dict[str, Any]]
) -> dict[str, Any]:
    inputs: dict[str, Any] = {"model": _model(work, node)}
    address = below(node.parameters, "options.baseURL")
    if isinstance(address, str) and address and not is_expression(address):
        inputs["baseUrl"] = address
    elif endpoint is None:
        inputs["baseUrl"] = todo("the base address, such as https://llm.example.com/v1")
        work.texts.unfinished += 1
        work.remark(f"{node.kind} has a server of its own: give its address in `baseUrl`.")
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
        pairs = [(role, text) for role, text in zip(known, texts, strict=True) if text]
        inputs["messages"] = [{"role": role, "content": text} for role, text in pairs]
        if not pairs:
            inputs["messages"] = todo("the message")
    return inputs | _numbers(node)


def _model(work: NodeWork, node: Node, otherwise: str = "") -> str:
    for key in ("modelId", "model", "chatModel", "modelName"):
        given = node.parameters.get(key)
        name = given.get("value") if isinstance(given, dict) else given
        text = work.text(name.removeprefix("models/")) if isinstance(name, str) else ""
        if text:
            return text
    if otherwise:
        return otherwise
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


def _signed(work: NodeWork, node: Node) -> str:
    """Return the name of the credential for the model's provider; "" if there is none."""
    for was, name in list(node.credentials.items())[:1]:
        return work.secret(credential_name(name, was), "bearer", f"{was} {name}".strip())
    return ""


def _made(work: NodeWork, inputs: dict[str, Any], node: Node) -> Made:
    answer = f"{work.output}.text"
    named: dict[Keys, str] = dict.fromkeys(ANSWERS, answer)
    shape = Shape(named=named, why="of a model's answer only the text is handed on")
    return work.made("llm.chat", inputs, shape, credential=_signed(work, node))
