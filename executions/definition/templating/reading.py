"""The paths that an expression reads for certain, in full: more than its references name.

A path whose absence the expression provides for (`default`, `is defined`, a choice) is none of
them, nor is a method that it calls.
"""

from jinja2 import nodes

from executions.definition.templating.errors import ExpressionSyntaxError
from executions.definition.templating.expression import parse
from executions.definition.templating.paths import Keys, plain_path
from executions.definition.templating.syntax import check_syntax

PROVIDES = frozenset({"default", "d", "defined", "undefined", "none"})
CHOICES = (nodes.CondExpr, nodes.And, nodes.Or, nodes.Call, nodes.Not)


def certain_paths(source: str) -> list[Keys]:
    """The paths read by an expression's text, without those of a method or a choice."""
    keys = plain_path(source)
    if keys is not None:
        return [keys]
    try:
        tree = parse(source)
        found = check_syntax(tree)
    except ExpressionSyntaxError:
        return []
    everything = [tree, *tree.find_all(nodes.Node)]
    return [] if any(_unsure(node) for node in everything) else found


def _unsure(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter | nodes.Test):
        return node.name in PROVIDES
    return isinstance(node, CHOICES)
