"""Build admin pages that look and work as the engine's own do."""

from executions.admin import links, marks
from executions.admin.engine import FactAdmin
from executions.admin.filters import AgeFilter, TabFilter
from executions.admin.forms import ReasonForm
from executions.admin.operating import OperatingAdmin
from executions.admin.operations import Operation
from executions.admin.scope import is_superuser
from executions.admin.sections import Page, PageSection, facts, json_section
from executions.admin.writing import WritingAdmin

__all__ = [
    "AgeFilter",
    "FactAdmin",
    "OperatingAdmin",
    "Operation",
    "Page",
    "PageSection",
    "ReasonForm",
    "TabFilter",
    "WritingAdmin",
    "facts",
    "is_superuser",
    "json_section",
    "links",
    "marks",
]
