"""The index of executions that used a canary version, built while executions are written."""

from django.db import models
from django.db.models import Q

import executions.database.migrations
from executions.database.migrations import AddIndexWhileWritten


class Migration(executions.database.migrations.Migration):

    atomic = False

    dependencies = [
        ('executions', '0007_labels'),
    ]

    operations = [
        AddIndexWhileWritten(
            model_name='workflowexecution',
            index=models.Index(condition=Q(('canary', True)), fields=['version', 'id'], name='execution_canary'),
        ),
    ]
