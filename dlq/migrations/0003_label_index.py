"""The index of dead letters by label, built while dead letters are written."""

import django.contrib.postgres.indexes
from django.db import models

import executions.database.migrations
from executions.database.migrations import AddIndexWhileWritten


class Migration(executions.database.migrations.Migration):

    atomic = False

    dependencies = [
        ('dlq', '0002_labels'),
    ]

    operations = [
        AddIndexWhileWritten(
            model_name='deadletterentry',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('labels__isnull', False)), fields=['labels'], name='dlq_labels', opclasses=['jsonb_path_ops']),
        ),
    ]
