"""Build admin pages that look and work like the engine's own pages."""

from executions.admin import (
    links,
    marks,
)
from executions.admin.actions import (
    OperatingAdmin,
    newest_of,
)
from executions.admin.activity import (
    done_to,
)
from executions.admin.base import (
    FactAdmin,
    ScopedAdmin,
    WritingAdmin,
)
from executions.admin.credentials import (
    CredentialAdmin,
)
from executions.admin.execution import (
    WorkflowExecutionAdmin,
)
from executions.admin.execution import (
    panels as execution_panels,
)
from executions.admin.filters import (
    AgeFilter,
    StateTabFilter,
    TabFilter,
)
from executions.admin.operations import (
    AdminOperation,
    GivenReasonForm,
    JSONTextField,
    ReasonForm,
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
from executions.admin.sites import (
    register_on,
)
from executions.admin.values import (
    as_json,
    masked,
)
from executions.admin.workflow import (
    WorkflowAdmin,
)

__all__ = [
    "AdminOperation",
    "AgeFilter",
    "Cell",
    "CredentialAdmin",
    "FactAdmin",
    "GivenReasonForm",
    "JSONTextField",
    "OperatingAdmin",
    "Page",
    "PageSection",
    "ReasonForm",
    "ScopedAdmin",
    "StateTabFilter",
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
    "register_on",
    "scoped",
    "text_section",
    "user_of",
]
