"""All routes of Valkyr, for a project's urlconf: `path("flows/", include("valkyr.urls"))`.

Any prefix works, or none. The API's routes and their names are stable; the project provides the
admin's pages.
"""

import re

from django.urls import URLPattern, URLResolver, include, path, re_path

from executions.addresses import PREFIX
from executions.api.endpoint import Nowhere
from executions.api.openapi import api_patterns
from executions.plugins import plugins

# One view for all unknown addresses, so that a response does not reveal why there is nothing.
nowhere = Nowhere.as_view()
urlpatterns: list[URLPattern | URLResolver] = [
    *(path("", include(plugin.pages)) for plugin in plugins() if plugin.pages),
    path("", include("executions.studio.urls")),
    *api_patterns(),
]


def _resources() -> set[str]:
    """Return the first parts of the API's paths, such as `v1/Workflow` and `api/v1/workflow`."""
    routes = (
        str(one.pattern)
        for each in urlpatterns
        if isinstance(each, URLResolver)
        for one in each.url_patterns
    )
    found = (re.match(r"(?:api/)?v1/[\w-]+", route) for route in routes)
    return {match.group() for match in found if match}


# Unknown addresses below Valkyr's resources get the API's error response. All other addresses
# belong to the project, even if it includes these routes without a prefix.
urlpatterns.append(
    re_path(
        rf"^(?:{'|'.join(sorted(map(re.escape, _resources())))})(?:/.*)?$",
        nowhere,
        name=f"{PREFIX}nowhere",
    )
)
