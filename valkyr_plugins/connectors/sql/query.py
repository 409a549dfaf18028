"""`sql.query`: read rows from a PostgreSQL database, in a read-only transaction."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from pydantic import Field

from executions.public.definitions import ConfigProblem
from runners.public.modules import Bad, Module, ModuleInputs, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.sql.database import CIRCUIT_TARGET, circuit_of

# Reject templates in the text of a statement when a workflow is published.


MARKS = ("{{", "{%")
SENTENCE = (
    "a statement cannot contain templates, because data could become SQL: write :name in it, "
    "and the template under params"
)


def template_problems(config: Mapping[str, Any]) -> Iterator[ConfigProblem]:
    """Yield a problem for each statement that contains a template; `config` is a task's `with`."""
    if _has_template(config.get("statement")):
        yield ConfigProblem(("statement",), "template_not_allowed", SENTENCE)
    statements = config.get("statements")
    if _has_template(statements):
        yield ConfigProblem(("statements",), "template_not_allowed", SENTENCE)
    for number, item in enumerate(statements if isinstance(statements, list) else ()):
        pointer = ("statements", number)
        if _has_template(item):
            yield ConfigProblem(pointer, "template_not_allowed", SENTENCE)
        elif isinstance(item, Mapping) and _has_template(item.get("statement")):
            yield ConfigProblem((*pointer, "statement"), "template_not_allowed", SENTENCE)


def _has_template(value: Any) -> bool:
    return isinstance(value, str) and any(mark in value for mark in MARKS)


MAX_ROWS = 100_000
MAX_STATEMENT = 100_000


class SqlQueryInputs(ModuleInputs):
    """The SQL statement, and its parameters."""

    statement: str = Field(
        description=(
            "One statement that reads, with parameters as :name; it cannot contain templates. "
            "Write a colon that does not begin a parameter as `\\:`, and a cast as `::type`."
        ),
        examples=["SELECT id, total FROM orders WHERE day = :day ORDER BY id"],
        min_length=1,
        max_length=MAX_STATEMENT,
    )
    params: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "The parameters' values. Text takes the type that the statement expects; an object "
            "becomes jsonb; a list becomes an array, as for = ANY(:ids), or jsonb if it contains "
            "objects or lists."
        ),
        examples=[{"day": "{{ input.day }}"}],
    )
    max_rows: int = Field(
        1_000, ge=1, le=MAX_ROWS, description="If there are more rows than this, the step fails."
    )


class SqlQueryOutputs(ModuleOutputs):
    """The rows that the query returned."""

    rows: list[dict[str, Any]] = Field(
        description=(
            "One object per row. Dates and times are ISO 8601, and bytea is Base64. Numeric, "
            "uuid and all types that JSON does not have become text."
        )
    )
    columns: list[str] = Field(description="The columns' names, in order.")
    count: int = Field(description="The number of rows.")


class SqlQuery(Module[SqlQueryInputs]):
    """Reads rows from a PostgreSQL database.

    The statement runs in a read-only transaction. The database cancels the statement at the step's
    timeout. Private addresses are rejected unless an administrator allows the host
    (VALKYR_SQL_ALLOWED_HOSTS) or its network (VALKYR_HTTP_ALLOWED_NETWORKS).
    """

    type = "sql.query"
    title = "Query SQL"
    category = "databases"
    queue = "io"
    credential = ("database",)
    judges_hosts = "everything"
    circuit_target = CIRCUIT_TARGET
    Inputs = SqlQueryInputs
    Outputs = SqlQueryOutputs
    example: ClassVar = {
        "statement": "SELECT id, total FROM orders WHERE day = :day ORDER BY id",
        "params": {"day": "{{ input.day }}"},
    }
    bad_inputs = (
        Bad("no credential", {"statement": "SELECT 1"}, "needs a credential of type database"),
        Bad("a statement that writes", {"statement": "DELETE FROM t"}, "only reads", needs="sql"),
        Bad(
            "a statement that writes after a keyword that reads",
            {"statement": "WITH gone AS (DELETE FROM sold RETURNING id) SELECT * FROM gone"},
            "must not contain data-modifying",
            needs="sql",
        ),
        Bad(
            "two statements in one",
            {"statement": "SELECT 1; DROP TABLE sold"},
            "cannot insert multiple commands",
            needs="sql",
        ),
        Bad("no SQL", {"statement": "SELECT FROM WHERE"}, "syntax error", needs="sql"),
        Bad("no such table", {"statement": "SELECT * FROM nothing"}, "42P01", needs="sql"),
        Bad("a missing parameter", {"statement": "SELECT :a"}, "names :a", needs="sql"),
        Bad(
            "an unknown parameter",
            {"statement": "SELECT 1", "params": {"a": 1}},
            "params holds a",
            needs="sql",
        ),
        Bad(
            "SQL as a value, which stays a value",
            {"statement": "SELECT CAST(:id AS int)", "params": {"id": "1; DROP TABLE sold"}},
            "invalid input syntax",
            needs="sql",
        ),
        Bad(
            "a NUL in a value",
            {"statement": "SELECT CAST(:a AS text)", "params": {"a": "x\x00"}},
            "NUL",
            needs="sql",
        ),
        Bad(
            "too many rows",
            {"statement": "SELECT generate_series(1, 1000000000000) AS n"},
            "maxRows",
            needs="sql",
        ),
        Bad(
            "rows too large for an output",
            {"statement": "SELECT repeat('x', 2000000) AS x, generate_series(1, 9)"},
            "more than 5 MiB",
            needs="sql",
        ),
        Bad(
            "duplicate column names",
            {"statement": "SELECT 1 AS a, 2 AS a"},
            "twice",
            needs="sql",
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return list(template_problems(config))

    def circuit_with(
        self, inputs: SqlQueryInputs, credential: Mapping[str, str] | None
    ) -> str | None:
        return circuit_of(credential)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.sql.transactions  # noqa: F401 - loads SQLAlchemy

    def execute(self, inputs: SqlQueryInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.sql.transactions import read

        found = read(inputs.statement, inputs.params, inputs.max_rows, ctx)
        return Result({"rows": found.rows, "columns": found.columns, "count": len(found.rows)})
