# Types of the built-in modules, written by `manage.py describe_python_api`.

# fmt: off
# ruff: noqa: A002, N803, N815 - inputs and outputs have the names that workflows know
from collections.abc import Mapping
from typing import Any, Generic, Literal, Self, TypeVar

_R_co = TypeVar("_R_co", covariant=True)
_V = TypeVar("_V")

# A module whose inputs are not known before.
class BuiltIn(Generic[_R_co]):
    def options(self, **options: Any) -> Self: ...
    def __call__(self, *, with_: Mapping[str, Any] | None = ..., **inputs: Any) -> _R_co: ...

# A family of modules that another package or the project declares.
class OtherModules:
    def __getattr__(self, name: str) -> Any: ...

# What a module gives.
class Outputs(dict[str, Any]): ...

# An object whose keys are not known before.
class Values(dict[str, _V]):
    def __getattr__(self, name: str) -> _V: ...

class ArchiveUnzipOutputs(Outputs):
    entries: list[ArchiveUnzipEntry]
    count: int

class ArchiveUnzipEntry(Outputs):
    name: str
    bytes: int
    path: str
    content: str

class ArchiveZipOutputs(Outputs):
    path: str
    content: str
    bytes: int
    names: list[str]

class CeleryTaskOutputs(Outputs):
    result: Any

class AggregateOutputs(Outputs):
    groups: list[Values[Any]]
    count: int

class CsvParseOutputs(Outputs):
    rows: Any
    batches: list[Values[Any]]
    columns: list[str]
    count: int

class CsvWriteOutputs(Outputs):
    text: str
    path: str
    bytes: int
    columns: list[str]
    count: int

class DeduplicateOutputs(Outputs):
    rows: list[Any]
    count: int
    dropped: int

class HtmlExtractOutputs(Outputs):
    data: Values[Any]

class JmespathOutputs(Outputs):
    result: Any

class JsonParseOutputs(Outputs):
    data: Any

class SortOutputs(Outputs):
    rows: list[Any]
    count: int

class TemplateOutputs(Outputs):
    text: str

class ValidateOutputs(Outputs):
    data: Any

class XmlParseOutputs(Outputs):
    data: Any

class DjangoTaskOutputs(Outputs):
    result: Any

class EmailSendOutputs(Outputs):
    messageId: str
    accepted: list[str]
    refused: Values[str]

class EventPublishOutputs(Outputs):
    eventId: str
    executions: list[str]
    refused: list[Values[Any]]
    created: bool

class FileDeleteOutputs(Outputs):
    path: str
    deleted: bool

class FileListOutputs(Outputs):
    path: str
    entries: list[FileListEntry]
    count: int

class FileListEntry(Outputs):
    path: str
    kind: Literal['file', 'folder']
    bytes: int
    modified: str
    etag: str

class FileReadOutputs(Outputs):
    path: str
    content: Any
    bytes: int
    size: int
    modified: str
    etag: str
    version: str
    contentType: str

class StoredContent(Outputs):
    type: Literal['bytes']

class FileWriteOutputs(Outputs):
    path: str
    bytes: int
    etag: str
    version: str

class ApprovalOutputs(Outputs):
    decision: Literal['approved', 'rejected', 'expired']
    comment: str
    by: str
    at: str

class CallbackOutputs(Outputs):
    payload: Any
    receivedAt: str

class DelayOutputs(Outputs):
    waitedSeconds: float

class SubworkflowOutputs(Outputs):
    executionId: str
    output: Any

class WaitForEventOutputs(Outputs):
    event: Any
    eventId: str
    name: str

class GraphqlQueryOutputs(Outputs):
    data: Any
    errors: list[Any]
    extensions: Any
    durationMs: float

class HttpPaginateOutputs(Outputs):
    items: list[Any]  # type: ignore[assignment]
    count: int
    pages: int
    truncated: bool
    next: Any
    durationMs: float

class HttpRequestOutputs(Outputs):
    status: int
    headers: Values[str]
    body: Any
    bodyEncoding: Literal['json', 'text', 'base64', 'none', 'file', 'stored']
    file: SavedFile
    url: str
    durationMs: float

class SavedFile(Outputs):
    path: str
    bytes: int
    sha256: str

class JavascriptCodeOutputs(Outputs):
    result: Any

class AgentOutputs(Outputs):
    text: str
    output: Any
    turns: int
    toolCalls: int
    usage: UsedTokens
    cost: float
    messages: list[Any]

class UsedTokens(Outputs):
    inputTokens: int
    outputTokens: int
    cachedTokens: int
    estimated: bool

class AgentTurnOutputs(Outputs):
    done: bool
    text: str
    output: Any
    messages: list[Any]
    turns: int
    toolCalls: int
    corrections: int
    maxTurns: int
    maxCost: float
    usage: UsedTokens
    cost: float

class ChatOutputs(Outputs):
    text: str
    reasoning: str
    refusal: str
    finishReason: str
    toolCalls: list[AskedTool]
    model: str
    id: str
    usage: UsedTokens2

class AskedTool(Outputs):
    id: str
    name: str
    arguments: Any
    argumentsText: str

class UsedTokens2(Outputs):
    inputTokens: int
    outputTokens: int
    cachedTokens: int
    estimated: bool

class EmbedOutputs(Outputs):
    vectors: list[list[float]]
    dimensions: int
    model: str
    usage: UsedTokens

class ExtractOutputs(Outputs):
    data: Any
    repaired: bool
    model: str
    id: str
    usage: UsedTokens

class ToolCallOutputs(Outputs):
    name: str
    arguments: Any
    error: str
    summary: str

class ToolResultOutputs(Outputs):
    role: str
    toolCallId: str
    content: str

class McpCallOutputs(Outputs):
    text: str
    structured: Any
    content: list[Any]
    isError: bool

class McpToolsOutputs(Outputs):
    tools: list[McpTool]

class McpTool(Outputs):
    name: str
    description: str
    parameters: Values[Any]

class PythonCodeOutputs(Outputs):
    result: Any

class AssessOutputs(Outputs):
    score: float
    passed: bool
    threshold: float
    words: int
    paragraphs: int
    dimensions: Values[Judged]

class Judged(Outputs):
    score: float
    reason: str

class QueuePublishOutputs(Outputs):
    messageId: str
    bytes: int
    length: int
    entryId: str

class RssReadOutputs(Outputs):
    changed: bool
    feed: FeedSaid
    entries: list[FeedEntry]
    count: int
    total: int
    etag: str
    modified: str
    url: str
    damaged: bool

class FeedSaid(Outputs):
    title: str
    link: str
    description: str
    language: str
    updated: str

class FeedEntry(Outputs):
    id: str
    title: str
    link: str
    author: str
    summary: str
    content: str
    published: str
    updated: str
    categories: list[str]
    enclosures: list[Enclosure]

class Enclosure(Outputs):
    url: str
    type: str
    length: str

class SlackPostOutputs(Outputs):
    channel: str
    ts: str

class SqlExecuteOutputs(Outputs):
    rowCount: int
    results: list[SqlDone]
    repeated: bool

class SqlDone(Outputs):
    rowCount: int
    rows: list[Values[Any]]

class SqlQueryOutputs(Outputs):
    rows: list[Values[Any]]
    columns: list[str]
    count: int

class CustomerOutputs(Outputs):
    id: str
    email: str
    name: str
    phone: str
    description: str
    metadata: Values[str]
    deleted: bool
    live: bool

class PaymentIntentOutputs(Outputs):
    id: str
    status: str
    amount: int
    amountReceived: int
    currency: str
    customer: str
    paymentMethod: str
    charge: str
    action: str
    actionUrl: str
    declineCode: str
    live: bool

class RefundOutputs(Outputs):
    id: str
    status: str
    amount: int
    currency: str
    paymentIntent: str
    charge: str
    failureReason: str

class WebhookPostOutputs(Outputs):
    id: str
    status: int
    signed: bool
    answer: str
    durationMs: float

class ArchiveUnzip:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        endpoint: Any = ...,
        region: Any = ...,
        path: Any = ...,
        content: Any = ...,
        to: Any = ...,
        pattern: Any = ...,
        encoding: Any = ...,
        charset: Any = ...,
        nameCharset: Any = ...,
        maxEntries: Any = ...,
        maxBytes: Any = ...,
        maxRatio: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ArchiveUnzipOutputs: ...

class ArchiveZip:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        endpoint: Any = ...,
        region: Any = ...,
        paths: Any = ...,
        contents: Any = ...,
        encoding: Any = ...,
        folders: Any = ...,
        to: Any = ...,
        maxBytes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ArchiveZipOutputs: ...

class CeleryTask:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        task: Any = ...,
        args: Any = ...,
        kwargs: Any = ...,
        id: Any = ...,
        expires: Any = ...,
        softTimeLimit: Any = ...,
        errbacks: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> CeleryTaskOutputs: ...

class DataAggregate:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        rows: Any = ...,
        groupBy: Any = ...,
        compute: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> AggregateOutputs: ...

class DataCsvParse:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        delimiter: Any = ...,
        quote: Any = ...,
        encoding: Any = ...,
        text: Any = ...,
        path: Any = ...,
        stored: Any = ...,
        batch: Any = ...,
        batchSize: Any = ...,
        header: Any = ...,
        maxRows: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> CsvParseOutputs: ...

class DataCsvWrite:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        delimiter: Any = ...,
        quote: Any = ...,
        encoding: Any = ...,
        rows: Any = ...,
        columns: Any = ...,
        header: Any = ...,
        formulas: Any = ...,
        quoteAll: Any = ...,
        lineEnd: Any = ...,
        byteOrderMark: Any = ...,
        path: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> CsvWriteOutputs: ...

class DataDeduplicate:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        rows: Any = ...,
        by: Any = ...,
        keep: Any = ...,
        ignoreCase: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> DeduplicateOutputs: ...

class DataHtmlExtract:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        html: Any = ...,
        fields: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> HtmlExtractOutputs: ...

class DataJmespath:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        expression: Any = ...,
        data: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> JmespathOutputs: ...

class DataJsonParse:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        text: Any = ...,
        lines: Any = ...,
        repeatedKeys: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> JsonParseOutputs: ...

class DataSet:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        values: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class DataSort:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        rows: Any = ...,
        by: Any = ...,
        limit: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> SortOutputs: ...

class DataTemplate:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        text: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> TemplateOutputs: ...

class DataValidate:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        data: Any = ...,
        schema: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ValidateOutputs: ...

class DataXmlParse:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        text: Any = ...,
        lists: Any = ...,
        attributePrefix: Any = ...,
        textKey: Any = ...,
        namespaces: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> XmlParseOutputs: ...

class DjangoTask:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        path: Any = ...,
        args: Any = ...,
        kwargs: Any = ...,
        retryOn: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> DjangoTaskOutputs: ...

class EmailSend:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        from_: Any = ...,
        to: Any = ...,
        cc: Any = ...,
        bcc: Any = ...,
        replyTo: Any = ...,
        subject: Any = ...,
        text: Any = ...,
        html: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> EmailSendOutputs: ...

class EventPublish:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        event: Any = ...,
        payload: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> EventPublishOutputs: ...

class FileDelete:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        endpoint: Any = ...,
        region: Any = ...,
        path: Any = ...,
        missingOk: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> FileDeleteOutputs: ...

class FileList:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        endpoint: Any = ...,
        region: Any = ...,
        path: Any = ...,
        pattern: Any = ...,
        recursive: Any = ...,
        maxEntries: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> FileListOutputs: ...

class FileRead:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        endpoint: Any = ...,
        region: Any = ...,
        path: Any = ...,
        encoding: Any = ...,
        charset: Any = ...,
        start: Any = ...,
        length: Any = ...,
        store: Any = ...,
        maxBytes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> FileReadOutputs: ...

class FileWrite:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        endpoint: Any = ...,
        region: Any = ...,
        path: Any = ...,
        content: Any = ...,
        encoding: Any = ...,
        charset: Any = ...,
        mode: Any = ...,
        contentType: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> FileWriteOutputs: ...

class FlowApproval:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        title: Any = ...,
        description: Any = ...,
        approvers: Any = ...,
        expiresSeconds: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ApprovalOutputs: ...

class FlowCallback:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        title: Any = ...,
        timeoutSeconds: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> CallbackOutputs: ...

class FlowDelay:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        seconds: Any = ...,
        until: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> DelayOutputs: ...

class FlowFail:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        message: Any = ...,
        errorType: Any = ...,
        details: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowIf:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        condition: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowLoop:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        count: Any = ...,
        while_: Any = ...,
        until: Any = ...,
        maxIterations: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowMap:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        items: Any = ...,
        maxConcurrency: Any = ...,
        onItemError: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowNoop:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        value: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowPinned:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        output: Any = ...,
        json: Any = ...,
        outcome: Any = ...,
        outcomes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowSetVariables:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        values: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowSubworkflow:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        workflow: Any = ...,
        input: Any = ...,
        version: Any = ...,
        wait: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> SubworkflowOutputs: ...

class FlowSwitch:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        value: Any = ...,
        cases: Any = ...,
        default: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class FlowWaitForEvent:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        event: Any = ...,
        filter: Any = ...,
        timeoutSeconds: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> WaitForEventOutputs: ...

class GraphqlQuery:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        query: Any = ...,
        variables: Any = ...,
        operationName: Any = ...,
        onErrors: Any = ...,
        maxBytes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> GraphqlQueryOutputs: ...

class HttpPaginate:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        query: Any = ...,
        method: Any = ...,
        json: Any = ...,
        strategy: Any = ...,
        items: Any = ...,
        next: Any = ...,
        more: Any = ...,
        parameter: Any = ...,
        parameterIn: Any = ...,
        pageSize: Any = ...,
        start: Any = ...,
        maxPages: Any = ...,
        maxItems: Any = ...,
        maxBytes: Any = ...,
        atLimit: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> HttpPaginateOutputs: ...

class HttpRequest:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        query: Any = ...,
        method: Any = ...,
        json: Any = ...,
        body: Any = ...,
        bodyBase64: Any = ...,
        form: Any = ...,
        multipart: Any = ...,
        authentication: Any = ...,
        acceptStatus: Any = ...,
        followRedirects: Any = ...,
        saveTo: Any = ...,
        store: Any = ...,
        maxBytes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> HttpRequestOutputs: ...

class JavascriptCode:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        code: Any = ...,
        inputs: Any = ...,
        seconds: Any = ...,
        memoryMb: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> JavascriptCodeOutputs: ...

class LlmAgent:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        model: Any = ...,
        baseUrl: Any = ...,
        timeoutSeconds: Any = ...,
        prompt: Any = ...,
        system: Any = ...,
        tools: Any = ...,
        toolsets: Any = ...,
        approve: Any = ...,
        approvers: Any = ...,
        approvalSeconds: Any = ...,
        onToolError: Any = ...,
        outputSchema: Any = ...,
        maxTurns: Any = ...,
        maxCost: Any = ...,
        maxResultCharacters: Any = ...,
        maxConcurrency: Any = ...,
        temperature: Any = ...,
        maxTokens: Any = ...,
        seed: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> AgentOutputs: ...

class LlmAgentTurn:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        answer: Any = ...,
        results: Any = ...,
        previous: Any = ...,
        turn: Any = ...,
        model: Any = ...,
        maxTurns: Any = ...,
        maxCost: Any = ...,
        outputSchema: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> AgentTurnOutputs: ...

class LlmChat:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        model: Any = ...,
        baseUrl: Any = ...,
        timeoutSeconds: Any = ...,
        system: Any = ...,
        messages: Any = ...,
        temperature: Any = ...,
        maxTokens: Any = ...,
        seed: Any = ...,
        tools: Any = ...,
        toolLists: Any = ...,
        history: Any = ...,
        toolChoice: Any = ...,
        stop: Any = ...,
        responseFormat: Any = ...,
        stream: Any = ...,
        failOnTruncation: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ChatOutputs: ...

class LlmEmbed:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        model: Any = ...,
        baseUrl: Any = ...,
        timeoutSeconds: Any = ...,
        texts: Any = ...,
        dimensions: Any = ...,
        batchSize: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> EmbedOutputs: ...

class LlmExtract:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        model: Any = ...,
        baseUrl: Any = ...,
        timeoutSeconds: Any = ...,
        system: Any = ...,
        messages: Any = ...,
        temperature: Any = ...,
        maxTokens: Any = ...,
        seed: Any = ...,
        schema: Any = ...,
        strict: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ExtractOutputs: ...

class LlmToolCall:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        call: Any = ...,
        tools: Any = ...,
        toolsets: Any = ...,
        routes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ToolCallOutputs: ...

class LlmToolResult:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        call: Any = ...,
        error: Any = ...,
        results: Any = ...,
        approvals: Any = ...,
        maxCharacters: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> ToolResultOutputs: ...

class McpCall:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        maxBytes: Any = ...,
        tool: Any = ...,
        arguments: Any = ...,
        onToolError: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> McpCallOutputs: ...

class McpTools:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        maxBytes: Any = ...,
        only: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> McpToolsOutputs: ...

class N8NPlaceholder:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        nodeType: Any = ...,
        node: Any = ...,
        reason: Any = ...,
        parameters: Any = ...,
        credentials: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> Any: ...

class PythonCode:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        code: Any = ...,
        inputs: Any = ...,
        seconds: Any = ...,
        memoryMb: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> PythonCodeOutputs: ...

class QualityAssess:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        text: Any = ...,
        keywords: Any = ...,
        targetWords: Any = ...,
        completeWords: Any = ...,
        threshold: Any = ...,
        weights: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> AssessOutputs: ...

class QueuePublish:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        queue: Any = ...,
        stream: Any = ...,
        exchange: Any = ...,
        routingKey: Any = ...,
        json: Any = ...,
        text: Any = ...,
        base64: Any = ...,
        headers: Any = ...,
        persistent: Any = ...,
        maxLength: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> QueuePublishOutputs: ...

class RssRead:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        limit: Any = ...,
        etag: Any = ...,
        modified: Any = ...,
        maxBytes: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> RssReadOutputs: ...

class SlackPost:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        text: Any = ...,
        blocks: Any = ...,
        channel: Any = ...,
        threadTs: Any = ...,
        unfurlLinks: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> SlackPostOutputs: ...

class SqlExecute:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        statement: Any = ...,
        params: Any = ...,
        statements: Any = ...,
        once: Any = ...,
        maxRows: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> SqlExecuteOutputs: ...

class SqlQuery:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        statement: Any = ...,
        params: Any = ...,
        maxRows: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> SqlQueryOutputs: ...

class StripeCustomer:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        stripeAccount: Any = ...,
        operation: Any = ...,
        customer: Any = ...,
        email: Any = ...,
        name: Any = ...,
        phone: Any = ...,
        description: Any = ...,
        paymentMethod: Any = ...,
        metadata: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> CustomerOutputs: ...

class StripePaymentIntent:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        stripeAccount: Any = ...,
        operation: Any = ...,
        paymentIntent: Any = ...,
        amount: Any = ...,
        currency: Any = ...,
        customer: Any = ...,
        paymentMethod: Any = ...,
        confirm: Any = ...,
        offSession: Any = ...,
        returnUrl: Any = ...,
        captureMethod: Any = ...,
        description: Any = ...,
        metadata: Any = ...,
        cancellationReason: Any = ...,
        onDecline: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> PaymentIntentOutputs: ...

class StripeRefund:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        stripeAccount: Any = ...,
        paymentIntent: Any = ...,
        charge: Any = ...,
        amount: Any = ...,
        reason: Any = ...,
        metadata: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> RefundOutputs: ...

class WebhookPost:
    def options(self, **options: Any) -> Self: ...
    def __call__(
        self, *,
        url: Any = ...,
        headers: Any = ...,
        timeoutSeconds: Any = ...,
        payload: Any = ...,
        with_: Mapping[str, Any] | None = ...,
    ) -> WebhookPostOutputs: ...

class ArchiveModules:
    unzip: ArchiveUnzip
    zip: ArchiveZip

class CeleryModules:
    task: CeleryTask

class DataModules:
    aggregate: DataAggregate
    csv_parse: DataCsvParse
    csv_write: DataCsvWrite
    deduplicate: DataDeduplicate
    html_extract: DataHtmlExtract
    jmespath: DataJmespath
    json_parse: DataJsonParse
    set: DataSet
    sort: DataSort
    template: DataTemplate
    validate: DataValidate
    xml_parse: DataXmlParse

class DjangoModules:
    task: DjangoTask

class EmailModules:
    send: EmailSend

class EventModules:
    publish: EventPublish

class FileModules:
    delete: FileDelete
    list: FileList
    read: FileRead
    write: FileWrite

class FlowModules:
    approval: FlowApproval
    callback: FlowCallback
    delay: FlowDelay
    fail: FlowFail
    if_: FlowIf
    loop: FlowLoop
    map: FlowMap
    noop: FlowNoop
    pinned: FlowPinned
    set_variables: FlowSetVariables
    subworkflow: FlowSubworkflow
    switch: FlowSwitch
    wait_for_event: FlowWaitForEvent

class GraphqlModules:
    query: GraphqlQuery

class HttpModules:
    paginate: HttpPaginate
    request: HttpRequest

class JavascriptModules:
    code: JavascriptCode

class LlmModules:
    agent: LlmAgent
    agent_turn: LlmAgentTurn
    chat: LlmChat
    embed: LlmEmbed
    extract: LlmExtract
    tool_call: LlmToolCall
    tool_result: LlmToolResult

class McpModules:
    call: McpCall
    tools: McpTools

class N8NModules:
    placeholder: N8NPlaceholder

class PythonModules:
    code: PythonCode

class QualityModules:
    assess: QualityAssess

class QueueModules:
    publish: QueuePublish

class RemoteModules:
    step: BuiltIn[Any]

class RssModules:
    read: RssRead

class SlackModules:
    post: SlackPost

class SqlModules:
    execute: SqlExecute
    query: SqlQuery

class StripeModules:
    customer: StripeCustomer
    payment_intent: StripePaymentIntent
    refund: StripeRefund

class WebhookModules:
    post: WebhookPost

class Modules:
    archive: ArchiveModules
    celery: CeleryModules
    data: DataModules
    django: DjangoModules
    email: EmailModules
    event: EventModules
    file: FileModules
    flow: FlowModules
    graphql: GraphqlModules
    http: HttpModules
    javascript: JavascriptModules
    llm: LlmModules
    mcp: McpModules
    n8n: N8NModules
    python: PythonModules
    quality: QualityModules
    queue: QueueModules
    remote: RemoteModules
    rss: RssModules
    slack: SlackModules
    sql: SqlModules
    stripe: StripeModules
    webhook: WebhookModules
    def __getattr__(self, name: str) -> OtherModules: ...

modules: Modules
