"""Models with the same names as Valkyr's, in an app with the same label."""

from django.conf import settings
from django.db import models


class Workflow(models.Model):
    name = models.CharField(max_length=10)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)


class Run(models.Model):
    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="runs")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="runs"
    )
