"""Pages of the company's own runs."""

from company.runners.models import Run, Workflow
from django.contrib import admin

admin.site.register([Run, Workflow])
