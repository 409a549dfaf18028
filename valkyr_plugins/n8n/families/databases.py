"""Convert Postgres nodes into tasks with SQL statements, whose values become parameters."""

import re
from typing import Any

from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family
from valkyr_plugins.n8n.shape import many
from valkyr_plugins.n8n.texts import is_expression, parts

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_READS = re.compile(
    r"\s*(select|with|values|show|table)\b(?![\s\S]*\b(insert|update|delete)\b)", re.IGNORECASE
)
_COLON = re.compile(r"(?<!:):(?=[A-Za-z_])")
_DOLLAR = re.compile(r"\$(\d{1,3})\b")


@family("postgres")
def postgres(work: NodeWork) -> Made:
    """Make an `sql.query` task for statements that read, otherwise `sql.execute`. Raises Left."""
    operation = work.word("operation", "insert")
    if operation == "executeQuery":
        return _query(work)
    if operation == "insert":
        return _insert(work)
    if operation == "select":
        return _select(work)
    raise Left(f"write the {operation} as a statement of sql.execute, with parameters")


def _query(work: NodeWork) -> Made:
    statement, params = _statement(work, str(work.get("query", "")))
    if not statement.strip():
        raise Left("it has no statement")
    return _made(work, statement, params, reads=_READS.match(statement) is not None)


def _made(work: NodeWork, statement: str, params: dict[str, Any], *, reads: bool) -> Made:
    inputs: dict[str, Any] = {"statement": statement}
    if params:
        inputs["params"] = params
    credential = work.credential("database") or work.secret("database", "database", "Postgres")
    rows = f"{work.output}.rows" if reads else f"{work.output}.results[0].rows"
    use = "sql.query" if reads else "sql.execute"
    return work.made(use, inputs, many(rows), credential=credential)


def _statement(work: NodeWork, raw: str) -> tuple[str, dict[str, Any]]:
    """Return the statement and its parameters, one for each expression and each replacement.

    Raises Left if an expression cannot be a parameter, braces remain, or a replacement is missing.
    """
    params: dict[str, Any] = {}
    pieces = parts(raw.removeprefix("=")) if is_expression(raw) else [(False, raw)]
    text = ""
    for place, (is_one, piece) in enumerate(pieces):
        if not is_one:
            text += _COLON.sub(r"\\:", piece)
            continue
        following = pieces[place + 1][1] if place + 1 < len(pieces) else ""
        if text.count("'") % 2:
            if not (text.endswith("'") and following.startswith("'")):
                raise Left("a string in its statement contains an expression; use a parameter")
            text = text[:-1]
            pieces[place + 1] = (False, following[1:])
        name = f"p{len(params) + 1}"
        params[name] = work.value(f"={{{{ {piece} }}}}")
        text += f":{name}"
    if "{{" in text or "{%" in text:
        raise Left("its statement contains braces, but a statement cannot contain templates")
    return _replaced(work, text, params), params


def _replaced(work: NodeWork, text: str, params: dict[str, Any]) -> str:
    """Replace `$1`, `$2`, … with parameters, and add the node's replacements to `params`.

    Raises Left if a replacement is missing.
    """
    given = work.get("options.queryReplacement", work.get("additionalFields.queryParams"))
    if not given or not _DOLLAR.search(text):
        return text
    values = given if isinstance(given, list) else [one.strip() for one in str(given).split(",")]
    if isinstance(given, str) and "," in given and given.startswith("="):
        values = [one if one.startswith("=") else f"={one}" for one in values]
    for place in sorted({int(number) for number in _DOLLAR.findall(text)}):
        if not 0 < place <= len(values):
            raise Left(f"its statement reads ${place}, which the file does not contain")
        params[f"q{place}"] = work.value(values[place - 1])
    return _DOLLAR.sub(lambda match: f":q{match[1]}", text)


def _table(work: NodeWork) -> str:
    schema, table = work.word("schema", "public"), work.word("table")
    if not (_NAME.fullmatch(schema) and _NAME.fullmatch(table)):
        raise Left("the name of its table cannot be used unchanged; write the statement")
    return table if schema == "public" else f"{schema}.{table}"


def _insert(work: NodeWork) -> Made:
    values = work.get("columns.value")
    if isinstance(values, dict):
        params = {str(name): work.value(raw) for name, raw in values.items()}
    else:
        named = str(work.get("columns", "")) if isinstance(work.get("columns"), str) else ""
        names = [name.strip() for name in named.split(",") if name.strip()]
        params = {
            name: work.value("={{ $json." + name + " }}") for name in names if _NAME.fullmatch(name)
        }
    if not params or not all(map(_NAME.fullmatch, params)):
        raise Left("its columns are not named; write the statement")
    columns = ", ".join(params)
    slots = ", ".join(f":{name}" for name in params)
    # The names match _NAME, and the values are parameters.
    statement = f"INSERT INTO {_table(work)} ({columns}) VALUES ({slots}) RETURNING *"  # noqa: S608
    return _made(work, statement, params, reads=False)


def _select(work: NodeWork) -> Made:
    params: dict[str, Any] = {}
    tests = []
    for place, row in enumerate(work.names("where.values"), 1):
        column, sign = str(row.get("column", "")), str(row.get("condition", "equal"))
        if not _NAME.fullmatch(column) or sign not in ("equal", "=", "!=", ">", "<", ">=", "<="):
            raise Left("its condition cannot be used unchanged; write the statement")
        params[f"p{place}"] = work.value(row.get("value"))
        tests.append(f"{column} {'=' if sign == 'equal' else sign} :p{place}")
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    most = work.get("limit", 50)
    bounded = work.get("returnAll") is not True and isinstance(most, int)
    ending = f" LIMIT {most}" if bounded and 0 < most < 10**6 else ""
    statement = f"SELECT * FROM {_table(work)}{where}{ending}"  # noqa: S608 - as above
    return _made(work, statement, params, reads=True)
