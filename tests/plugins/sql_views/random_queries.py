"""Random statements of a client that wants rows of another workspace, from a seed.

PostgreSQL may run or reject each of them. Some have functions that reveal values (`leak` raises a
notice, a cast or a division an error), to be evaluated before the view's condition.
"""

from collections.abc import Iterator
from random import Random

from valkyr_plugins.sql_views.catalogue import SqlView, views

# What a session makes for itself: a cheap function, so that the planner wants it evaluated first.
LEAK = (
    "SET default_transaction_read_only = off",
    (
        "CREATE OR REPLACE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql "
        "COST 0.0000001 AS 'BEGIN RAISE NOTICE ''leaked %'', $1; RETURN true; END'"
    ),
)
TRICKS = (
    "SET ROLE valkyr_views_reader",
    "SET ROLE reads_rival",
    "SET ROLE none",
    "RESET ROLE",
    "SET SESSION AUTHORIZATION reads_rival",
    "RESET SESSION AUTHORIZATION",
    "SET valkyr.sql_workspaces = '*'",
    "SET valkyr.sql_workspaces = '{{{there}}}'",
    "SELECT set_config('valkyr.sql_workspaces', '{{{there}}}', false)",
    "SELECT set_config('valkyr.workspaces', '{{{there}}}', false)",
    "SELECT set_config('role', 'valkyr_views_reader', false)",
    "SELECT set_config('session_authorization', 'reads_rival', false)",
    "UPDATE pg_settings SET setting = 'reads_rival' WHERE name = 'role'",
    "SET row_security = off",
    "SET search_path = pg_temp, valkyr_views, public",
    "SET search_path = valkyr_views",
    "RESET ALL",
    "DISCARD ALL",
    "SET default_transaction_read_only = off",
    "SET statement_timeout = 0",
    "SET enable_seqscan = off",
    "SET enable_indexscan = off",
    "SET enable_nestloop = off",
    "SET enable_hashjoin = off",
    "SET enable_material = off",
    "SET plan_cache_mode = force_generic_plan",
    "SET from_collapse_limit = 1",
    "CREATE TEMP TABLE allowed_workspaces AS SELECT '{there}'::uuid AS workspace_id",
    (
        "CREATE TEMP VIEW valkyr_sql_views_sqlgrant AS SELECT 'reads_here' AS role,"
        " '{there}'::uuid AS workspace_id"
    ),
    "CREATE TEMP VIEW executions AS SELECT * FROM public.executions_workflowexecution",
    (
        "CREATE FUNCTION pg_temp.current_setting(text, boolean) RETURNS text LANGUAGE sql AS"
        " 'SELECT ''*'''"
    ),
    (
        "CREATE OR REPLACE VIEW valkyr_views.allowed_workspaces AS SELECT '{there}'::uuid"
        " AS workspace_id"
    ),
    "ALTER VIEW valkyr_views.executions SET (security_barrier = false)",
    "ALTER VIEW valkyr_views.executions OWNER TO reads_here",
    "ALTER ROLE reads_here RENAME TO reads_rival",
    "ALTER ROLE reads_here SET valkyr.sql_workspaces = '{{{there}}}'",
    "GRANT valkyr_views_reader TO reads_here",
    "GRANT reads_rival TO reads_here",
    "GRANT SELECT ON valkyr_views.allowed_workspaces TO reads_here",
    (
        "INSERT INTO public.valkyr_sql_views_sqlgrant (id, role, workspace_id, created_by_name)"
        " VALUES (gen_random_uuid(), 'reads_here', '{there}', '')"
    ),
    (
        "CREATE FUNCTION pg_temp.as_owner() RETURNS SETOF public.executions_workflowexecution"
        " LANGUAGE sql SECURITY DEFINER AS 'SELECT * FROM public.executions_workflowexecution'"
    ),
    "LOCK valkyr_views.executions IN ACCESS SHARE MODE",
    "ANALYZE public.executions_workflowexecution",
)


class RandomQueries:
    """The statements of one seed; `there` is the key of the workspace that is not granted."""

    def __init__(self, seed: int, there: str) -> None:
        self._random = Random(seed)
        self._there = there
        self._names = 0

    def tricks(self) -> Iterator[str]:
        """Yield zero or more attempts to widen the scope."""
        for _ in range(self._random.choice((0, 0, 1, 2))):
            yield self._random.choice(TRICKS).format(there=self._there)

    def statements(self) -> list[str]:
        """Return a query, in one of the ways in which a client can send it."""
        query = self.query()
        self._names += 1
        name = f"q{self._names}"
        quoted = query.replace("'", "''")
        return self._random.choice(
            (
                [query],
                [query],
                [query],
                [f"PREPARE {name} AS {query}", f"EXECUTE {name}", f"EXECUTE {name}"],
                ["BEGIN", f"DECLARE {name} CURSOR FOR {query}", f"FETCH ALL FROM {name}", "COMMIT"],
                [f"CREATE TEMP TABLE {name} AS {query}", f"TABLE {name}"],
                [f"SELECT query_to_xml('{quoted}', true, true, '')"],
                [(f"DO $$ DECLARE r record; BEGIN FOR r IN {query} LOOP RAISE NOTICE '%', r;"
                 " END LOOP; END $$")],
                ["BEGIN", "SAVEPOINT s", query, "ROLLBACK TO s", query, "COMMIT"],
                [f"WITH x AS MATERIALIZED ({query}) SELECT * FROM x"],
                [f"WITH x AS NOT MATERIALIZED ({query}) SELECT x::text FROM x"],
            )
        )  # fmt: skip

    def query(self) -> str:
        """Return a SELECT over one or two views, or over the tables below them."""
        pick = self._random.random()
        if pick < 0.06:
            return self._below()
        if pick < 0.5:
            return self._of_one()
        if pick < 0.75:
            return self._of_two()
        if pick < 0.9:
            return self._grouped()
        return f"{self._of_one()} {self._random.choice(('UNION ALL', 'UNION'))} {self._of_one()}"

    def _below(self) -> str:
        return self._random.choice(
            (
                "SELECT * FROM public.executions_workflowexecution",
                "SELECT * FROM public.runners_run",
                "SELECT slug::text FROM public.executions_workspace",
                "SELECT * FROM valkyr_views.allowed_workspaces",
                "SELECT * FROM run_statement('SELECT slug FROM workspaces', 9) AS t(slug text)",
                "SELECT * FROM public.valkyr_sql_views_sqlgrant",
                "SELECT pg_temp.as_owner()::text",
                "SELECT most_common_vals::text FROM pg_stats WHERE schemaname = 'public'",
                "SELECT query FROM pg_stat_activity",
                "SELECT table_to_xml('public.executions_workflow', true, true, '')::text",
                "SELECT schema_to_xml('valkyr_views', true, true, '')::text",
            )
        )

    def _view(self) -> SqlView:
        return self._random.choice(views())

    def _column(self, view: SqlView) -> str:
        names = [column.name for column in view.columns]
        # Mostly those that name a workspace or its rows.
        telling = [n for n in names if n in {"id", "slug", "workspace", "workflow", "workspace_id"}]
        return self._random.choice(telling if self._random.random() < 0.7 else names)

    def _condition(self, of: str, view: SqlView) -> str:
        value = f"{of}.{self._column(view)}::text"
        return self._random.choice(
            (
                "true",
                f"pg_temp.leak({value})",
                f"pg_temp.leak({value})",
                f"CAST({value} AS integer) > 0",
                f"1 / (CASE WHEN {value} LIKE '%rival%' THEN 0 ELSE 1 END) = 1",
                f"1 / (CASE WHEN {value} = '{self._there}' THEN 0 ELSE 1 END) = 1",
                f"{value} LIKE '%rival%'",
                f"{value} ~ 'rival'",
                f"{value} IS NOT NULL OR pg_temp.leak({value})",
                f"NOT pg_temp.leak({value})",
                f"{of} IS NOT DISTINCT FROM {of}",
                f"{of}::text LIKE '%rival%'",
                f"{value} IN (SELECT {self._column(view)}::text FROM {view.name})",
                f"EXISTS (SELECT 1 FROM workspaces z WHERE pg_temp.leak(z.slug) OR {value} = slug)",
                f"{of}.{view.columns[0].name} = '{self._there}'",
            )
        )

    def _source(self, view: SqlView) -> str:
        return self._random.choice(
            (
                view.name,
                view.name,
                f"valkyr_views.{view.name}",
                f"(SELECT * FROM {view.name})",
                f"(SELECT * FROM {view.name} OFFSET 0)",
                f"(SELECT * FROM {view.name} v WHERE {self._condition('v', view)})",
                f"(SELECT DISTINCT * FROM {view.name})",
            )
        )

    def _of_one(self) -> str:
        view = self._view()
        shown = self._random.choice(
            (
                "a::text",
                f"a.{self._column(view)}::text",
                "row_to_json(a)::text",
                "to_jsonb(a)::text",
            )
        )
        order = self._random.choice(
            ("", "", f" ORDER BY pg_temp.leak(a.{self._column(view)}::text)", " LIMIT 5")
        )
        return (
            f"(SELECT {shown} FROM {self._source(view)} a WHERE {self._condition('a', view)} "
            f"{self._random.choice(('AND', 'OR'))} {self._condition('a', view)}{order})"
        )

    def _of_two(self) -> str:
        one, other = self._view(), self._view()
        kind = self._random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        on = self._random.choice(
            (
                "true",
                "a.id::text = b.id::text",
                f"a.{self._column(one)}::text = b.{self._column(other)}::text",
            )
        )
        if self._random.random() < 0.3:
            kind, on = "CROSS JOIN LATERAL", ""
            inner = f"(SELECT * FROM {other.name} i WHERE i.id::text <> a.id::text) b"
        else:
            inner, on = f"{self._source(other)} b", f"ON {on}"
        return (
            f"(SELECT a.{self._column(one)}::text AS one, b::text AS other "
            f"FROM {self._source(one)} a {kind} {inner} {on} "
            f"WHERE {self._condition('a', one)} AND {self._condition('b', other)} LIMIT 100)"
        )

    def _grouped(self) -> str:
        view = self._view()
        column = self._column(view)
        return self._random.choice(
            (
                (
                    f"(SELECT string_agg(DISTINCT a.{column}::text, ',') FROM {view.name} a "
                    f"WHERE {self._condition('a', view)})"
                ),
                (
                    f"(SELECT a.{column}::text FROM {view.name} a GROUP BY 1 "
                    f"HAVING bool_or(pg_temp.leak(a.{column}::text)))"
                ),
                (
                    f"(SELECT first_value(a.{column}::text) OVER (ORDER BY a.{column}::text DESC) "
                    f"FROM {view.name} a WHERE {self._condition('a', view)})"
                ),
                f"(SELECT json_agg(a)::text FROM {view.name} a WHERE {self._condition('a', view)})",
                (
                    f"(SELECT (SELECT max(z.{column}::text) FROM {view.name} z "
                    f"WHERE {self._condition('z', view)}) FROM workspaces a)"
                ),
            )
        )
