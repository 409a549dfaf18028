"""Build admin pages that look and work as the engine's own do."""

from executions.admin import (
    links,
    marks,
)
from executions.admin.done import (
    done_to,
)
from executions.admin.engine import (
    FactAdmin,
    ScopedAdmin,
)
from executions.admin.execution import (
    WorkflowExecutionAdmin,
)
from executions.admin.execution import (
    panels as execution_panels,
)
from executions.admin.filters import (
    AgeFilter,
    TabFilter,
)
from executions.admin.forms import (
    JSONTextField,
    ReasonForm,
)
from executions.admin.operating import (
    OperatingAdmin,
    newest_of,
)
from executions.admin.operations import (
    AdminOperation,
)
from executions.admin.revealing import (
    GivenReasonForm,
)
from executions.admin.scope import (
    holds,
    is_superuser,
    may,
    reach,
    scoped,
    user_of,
)
from executions.admin.sections import (
    Cell,
    Page,
    PageSection,
    facts,
    hidden_section,
    json_section,
    text_section,
)
from executions.admin.values import (
    as_json,
    masked,
)
from executions.admin.workflow import (
    WorkflowAdmin,
)
from executions.admin.writing import (
    WritingAdmin,
)

__all__ = [
    "AdminOperation",
    "AgeFilter",
    "Cell",
    "FactAdmin",
    "GivenReasonForm",
    "JSONTextField",
    "OperatingAdmin",
    "Page",
    "PageSection",
    "ReasonForm",
    "ScopedAdmin",
    "TabFilter",
    "WorkflowAdmin",
    "WorkflowExecutionAdmin",
    "WritingAdmin",
    "as_json",
    "done_to",
    "execution_panels",
    "facts",
    "hidden_section",
    "holds",
    "is_superuser",
    "json_section",
    "links",
    "marks",
    "masked",
    "may",
    "newest_of",
    "reach",
    "scoped",
    "text_section",
    "user_of",
]
