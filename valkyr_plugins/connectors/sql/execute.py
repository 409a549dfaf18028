"""`sql.execute`: statements that change a PostgreSQL database, in one transaction."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from executions.public.definitions import ConfigProblem
from runners.public.modules import Bad, Module, ModuleInputs, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.sql.database import CIRCUIT_TARGET, circuit_of
from valkyr_plugins.connectors.sql.query import MAX_STATEMENT, template_problems

MAX_STATEMENTS = 50
MAX_SETS = 10_000

Params = dict[str, Any] | Annotated[list[dict[str, Any]], Field(max_length=MAX_SETS)]


class SqlStatement(ModuleInputs):
    """One of the statements of a step, and its parameters."""

    statement: str = Field(
        description="With parameters as :name; templates are not allowed.",
        examples=["INSERT INTO orders (id, total) VALUES (:id, :total)"],
        min_length=1,
        max_length=MAX_STATEMENT,
    )
    params: Params = Field(
        default_factory=dict,
        description="The parameters' values. With a list of objects, the statement runs once for "
        "each object.",
        examples=[{"id": "{{ input.id }}"}],
    )


class SqlExecuteInputs(ModuleInputs):
    """The statements: either `statement`, or `statements`."""

    statement: str | None = Field(
        None,
        description="One statement, with parameters as :name; it cannot contain templates. "
        "`results` contains the rows of a RETURNING clause.",
        examples=["UPDATE stock SET left_over = left_over - :n WHERE sku = :sku RETURNING sku"],
        min_length=1,
        max_length=MAX_STATEMENT,
    )
    params: Params = Field(
        default_factory=dict,
        description=(
            "The values of the statement's parameters, as for sql.query. With a list of up to "
            "10,000 objects, the statement runs once for each object; with two objects or more, "
            "RETURNING returns no rows."
        ),
        examples=[{"sku": "{{ input.sku }}", "n": 2}],
    )
    statements: list[SqlStatement] | None = Field(
        None,
        min_length=1,
        max_length=MAX_STATEMENTS,
        description="Several statements, run in order in one transaction.",
    )
    once: bool = Field(
        False,
        description=(
            "Run exactly once, even if the step is repeated after a crash: the step's key and "
            "result are stored in the database's table valkyr_effects, in the same transaction. "
            "The step creates the table if it is missing; you may delete old rows."
        ),
    )
    max_rows: int = Field(
        1_000,
        ge=1,
        le=10_000,
        description="If a statement's RETURNING clause yields more rows than this, the step fails.",
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> "SqlExecuteInputs":
        if (self.statement is None) == (self.statements is None):
            raise ValueError("set either statement or statements")
        if self.statements is not None and self.params:
            raise ValueError("params needs statement: give each of statements its own params")
        return self


class SqlDone(ModuleOutputs):
    """The result of one statement."""

    row_count: int | None = Field(
        description="How many rows the statement affected; null for a statement such as CREATE "
        "TABLE."
    )
    rows: list[dict[str, Any]] = Field(
        description="The rows of a RETURNING clause, as in sql.query."
    )


class SqlExecuteOutputs(ModuleOutputs):
    """The results of the statements."""

    row_count: int = Field(description="The total number of rows that the statements affected.")
    results: list[SqlDone] = Field(description="The results of the statements, in order.")
    repeated: bool = Field(
        description=(
            "With `once`: whether an earlier attempt made the change. If so, the step returns the "
            "result of that attempt."
        )
    )


class SqlExecute(Module[SqlExecuteInputs]):
    """Runs one or more statements that change a PostgreSQL database, in one transaction.

    After a crash, the statements may run twice, unless `once` is set. Private addresses are
    rejected unless an administrator allows the host (VALKYR_SQL_ALLOWED_HOSTS) or its network
    (VALKYR_HTTP_ALLOWED_NETWORKS).
    """

    type = "sql.execute"
    title = "Execute SQL"
    category = "databases"
    queue = "io"
    effect = "external"
    credential = ("database",)
    judges_hosts = "everything"
    circuit_target = CIRCUIT_TARGET
    Inputs = SqlExecuteInputs
    Outputs = SqlExecuteOutputs
    example: ClassVar = {
        "statement": "INSERT INTO orders (id, total) VALUES (:id, :total) RETURNING id",
        "params": {"id": "{{ input.id }}", "total": "{{ input.total }}"},
        "once": True,
    }
    bad_inputs = (
        Bad("no credential", {"statement": "SELECT 1"}, "needs a credential of type database"),
        Bad("nothing to do", {}, "either statement or statements"),
        Bad(
            "too many statements",
            {"statements": [{"statement": "SELECT 1"}] * 51},
            "at most 50",
        ),
        Bad(
            "a COMMIT",
            {"statement": "/* so? */ COMMIT"},
            "COMMIT is not allowed",
            needs="sql",
        ),
        Bad(
            "two statements in one",
            {"statement": "DELETE FROM sold; DELETE FROM sold"},
            "cannot insert multiple commands",
            needs="sql",
        ),
        Bad(
            "a duplicate row",
            {"statement": "INSERT INTO sold (id) VALUES (:id)", "params": {"id": 1}},
            "23505",
            needs="sql",
        ),
        Bad(
            "a value that does not fit",
            {"statement": "INSERT INTO sold (id) VALUES (:id)", "params": {"id": "many"}},
            "invalid input syntax",
            needs="sql",
        ),
        Bad(
            "a parameter without a value",
            {"statement": "INSERT INTO sold (id) VALUES (:id)", "params": [{"id": 7}, {}]},
            "names :id",
            needs="sql",
        ),
        Bad(
            "a program on the database server",
            {"statement": "COPY sold TO PROGRAM 'sh'"},
            "COPY is not allowed",
            needs="sql",
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return list(template_problems(config))

    def circuit_with(
        self, inputs: SqlExecuteInputs, credential: Mapping[str, str] | None
    ) -> str | None:
        return circuit_of(credential)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.sql.transactions  # noqa: F401 - loads SQLAlchemy

    def execute(self, inputs: SqlExecuteInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.sql.transactions import write

        if inputs.statements is not None:
            work = [(one.statement, one.params) for one in inputs.statements]
        else:
            work = [(inputs.statement or "", inputs.params)]
        return Result(write(work, ctx, once=inputs.once, most=inputs.max_rows))
