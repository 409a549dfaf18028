"""No view can omit the scope of its rows.

Each query for a model's rows in the API's views and the admin's pages begins as an argument of a
function of `executions.access` (or of the admin's wrapper), directly or through a small function
that returns the rows. The exceptions are listed here with their reasons.
"""

import ast
from collections.abc import Iterator
from functools import cache

from tests.support.stack import PROJECT

# The functions that limit rows to the caller's.
SCOPING = {"visible", "obtain", "perform", "each", "scoped", "scope"}
MANAGERS = {"objects", "_default_manager"}
# The rooms that answer people and programs; a small plugin has one file of each.
ANSWERING = ("api", "admin", "studio", "api.py", "admin.py")
FOLDERS = [
    folder
    for app in ("executions", "runners", "dlq", "valkyr_plugins/*")
    for room in ANSWERING
    for folder in PROJECT.glob(f"{app}/{room}")
]

BELOW = "rows of an object that the caller obtained before"
ASKED = "one row that the dialog asked the caller's powers about before it acts"
ASKER = "scoped by who asks; those of no workspace are a superuser's"
PERSON = "accounts belong to the installation; who names one administers a workspace"
# "file:function" -> why its rows need no scope of their own.
OPEN: dict[str, str] = {
    "valkyr_plugins/backtest/api.py:BacktestResults.get": BELOW,
    "valkyr_plugins/canary/admin/workflows.py:_has_canary": BELOW,
    "valkyr_plugins/canary/admin/buttons.py:_withdraw": ASKED,
    "valkyr_plugins/canary/admin/forms.py:_values": ASKED,
    "valkyr_plugins/figures/admin/workflow.py:gather": BELOW,
    "valkyr_plugins/backtest/api.py:backtests": BELOW,
    "valkyr_plugins/canary/api.py:canaries": BELOW,
    "executions/studio/pages.py:_canary_number": BELOW,
    "executions/admin/search.py:visible": "the model's admin page scopes the rows",
    "valkyr_plugins/alerts/admin/alert_rules.py:AlertRuleForm._workflow": (
        "slugs of the workspace the person chose"
    ),
    "dlq/admin/groups_filters.py:_waiting": BELOW,
    "dlq/admin/groups_filters.py:figures": BELOW,
    "dlq/admin/groups_filters.py:status_counts": BELOW,
    "dlq/admin/groups_filters.py:with_growth": BELOW,
    "dlq/admin/groups_page.py:_similar": "`scoped` right there, before anything is read",
    "valkyr_plugins/redrive/admin/many_groups.py:_entries": "`may_go` scopes it before it is read",
    "valkyr_plugins/redrive/admin/pages.py:_sending.moved": ASKED,
    "dlq/admin/triage_list.py:SavedViews._keep": "the caller's own",
    "dlq/admin/triage_list.py:SavedViews._problem": "the caller's own",
    "valkyr_plugins/alerts/api/views.py:rules": ASKER,
    "valkyr_plugins/alerts/api/views.py:deliveries": ASKER,
    "valkyr_plugins/alerts/admin/alert_rules.py:_test": ASKED,
    "dlq/admin/dashboard/facts.py:_oldest_letter": "by a Scope, made of the caller's reach",
    "dlq/admin/dashboard/facts.py:_first_waiting": "by ids of rows that were scoped before",
    "dlq/admin/panels.py:dead_letters": BELOW,
    "dlq/admin/dashboard/facts.py:of_workflow": BELOW,
    "runners/admin/blocked.py:_executions": "by ids of rows that were scoped before",
    "runners/admin/blocked.py:_waiting": "by ids of rows that were scoped before",
    "runners/admin/blocked.py:_workers": "workers of no workspace, and those of the caller's",
    "valkyr_plugins/mfa/admin.py:SecondFactorAdmin.scope": BELOW,
    "valkyr_plugins/mfa/admin.py:_reset_from.reset": ASKED,
    "dlq/admin/dashboard/cells.py:_counts": "counts of whole cells, which superusers alone see",
    "dlq/admin/entry_page.py:_outputs": BELOW,
    "dlq/admin/similar.py:published": BELOW,
    "dlq/admin/attempts.py:attempts_section": BELOW,
    "executions/admin/workflow.py:DraftForm._check_slug": "slugs of the workspace the person chose",
    "executions/admin/workflow.py:DraftForm.clean": BELOW,
    "executions/admin/grants.py:_share": ASKED,
    "executions/admin/grants.py:_take_back.apply": ASKED,
    "executions/admin/members.py:ServiceAccountForm.__init__": BELOW,
    "executions/admin/service_accounts.py:_new_token": ASKED,
    "executions/admin/scope.py:user_of": "the account of the caller alone",
    "executions/api/starting.py:Starting.check_version": "the workflow was obtained before",
    "executions/admin/tokens.py:OwnTokenForm": "no row; the caller's own are put in later",
    "executions/admin/workflow.py:_run": ASKED,
    "executions/api/executions.py:tests": "of all test versions the oldest's time; no row is told",
    "executions/api/hooks.py:_wait": "the execution that this webhook has just started",
    "executions/api/idempotency.py:_known": "answers kept for the caller alone",
    "executions/api/memberships.py:_user": PERSON,
    "executions/api/tiers.py:seen_tiers": "tiers of workspaces that were scoped, or a superuser",
    "executions/api/workflows.py:workflows": "importing asks for a slug of one obtained workspace",
    "executions/api/workspaces.py:_tier": "tiers are named by superusers alone",
    "runners/admin/approvals.py:_applying.apply": "the account of the caller alone",
    "valkyr_plugins/circuits/admin.py:CircuitBreakerAdmin.get_queryset": BELOW,
    "runners/admin/panels.py:family": BELOW,
    "runners/admin/steps.py:_within": BELOW,
    "valkyr_plugins/limits/api/costs.py:nameable": "compared with the caller's reach right there",
    "valkyr_plugins/remote/api.py:_answer": BELOW,
    "valkyr_plugins/timetravel/admin/history.py:checkpoints": BELOW,
    "valkyr_plugins/timetravel/admin/history.py:_points": BELOW,
    "valkyr_plugins/timetravel/api/checkpoints.py:OneCheckpoint.get": BELOW,
    "valkyr_plugins/timetravel/api/history.py:OneVerification.get": (
        "its execution is obtained right there"
    ),
    "runners/api/runners.py:runners": "compared with the caller's reach right there",
}


@cache
def trees() -> list[tuple[str, ast.Module]]:
    return list(_parsed())


def _parsed() -> Iterator[tuple[str, ast.Module]]:
    for folder in FOLDERS:
        for path in [folder] if folder.is_file() else sorted(folder.rglob("*.py")):
            yield str(path.relative_to(PROJECT)), ast.parse(path.read_text())


@cache
def parents_of(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def chain(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parents:
        node = parents[node]
        yield node


def is_scoped(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether the expression is an argument of a scoping function, directly or with
    filters.
    """
    below = node
    for above in chain(node, parents):
        if called(above) in SCOPING and below is not getattr(above, "func", None):
            return True
        if isinstance(above, ast.stmt):
            return False
        below = above
    return False


def function_around(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    names = [
        above.name
        for above in chain(node, parents)
        if isinstance(above, ast.FunctionDef | ast.ClassDef)
    ]
    return ".".join(reversed(names)) or "module"


def reads(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every expression that reads a model's rows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in MANAGERS:
            yield node


def names_scoped(tree: ast.AST, parents: dict[ast.AST, ast.AST]) -> set[str]:
    """Return the names whose value is used only in a scoping function, in a file or function."""
    uses: dict[str, list[bool]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id, []).append(is_scoped(node, parents))
    return {name for name, all_scoped in uses.items() if all(all_scoped)}


def function_of(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> ast.AST:
    """Return the function around an expression, or the file if there is none."""
    above = node
    for above in chain(node, parents):
        if isinstance(above, ast.FunctionDef):
            return above
    return above


def assigned_to(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str:
    """Return the name to which an expression is assigned, or the function that returns it; "" if
    there is none.
    """
    for above in chain(node, parents):
        if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
            return above.targets[0].id
        if isinstance(above, ast.Return):
            return function_around(above, parents).rpartition(".")[2]
        if isinstance(above, ast.stmt):
            return ""
    return ""


def passed_on(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether the expression is passed to a scoping function, directly or by a name."""
    if is_scoped(node, parents):
        return True
    name = assigned_to(node, parents)
    return bool(name) and name in names_scoped(function_of(node, parents), parents)


def calls_scoped(trees_of: list[tuple[str, ast.Module]]) -> dict[str, bool]:
    """Return the functions that are called by name, and whether all their results are scoped."""
    found: dict[str, bool] = {}
    for _, tree in trees_of:
        parents = parents_of(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                found[name] = found.get(name, True) and passed_on(node, parents)
    return found


@cache
def unscoped() -> dict[str, list[int]]:
    """Return the files that read rows without a scoping function, with the lines."""
    all_trees = trees()
    functions = calls_scoped(all_trees)
    found: dict[str, list[int]] = {}
    for path, tree in all_trees:
        parents = parents_of(tree)
        for node in reads(tree):
            if passed_on(node, parents) or functions.get(assigned_to(node, parents), False):
                continue
            place = f"{path}:{function_around(node, parents)}"
            found.setdefault(place, []).append(node.lineno)
    return found


def test_every_queryset_is_scoped_or_says_why_not() -> None:
    assert {place: lines for place, lines in unscoped().items() if place not in OPEN} == {}


def test_no_reason_outlives_its_queryset() -> None:
    assert sorted(set(OPEN) - set(unscoped())) == []


def test_the_check_sees_what_it_should() -> None:
    good = ast.parse("def get(self):\n    return obtain(self.user, A.objects.filter(b=1), id, V)")
    bad = ast.parse("def get(self):\n    return A.objects.filter(b=1)")

    verdicts = [is_scoped(next(reads(tree)), parents_of(tree)) for tree in (good, bad)]

    assert verdicts == [True, False]
