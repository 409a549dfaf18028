"""The labels of dead letters: those of their executions."""

import django.contrib.postgres.indexes
from django.db import migrations, models

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('dlq', '0001_initial'),
        ('executions', '0007_labels'),
    ]

    operations = [
        migrations.AddField(
            model_name='deadletterentry',
            name='labels',
            field=models.JSONField(blank=True, help_text='The labels of the execution: text by name.', null=True),
        ),
        migrations.AddIndex(
            model_name='deadletterentry',
            index=django.contrib.postgres.indexes.GinIndex(condition=models.Q(('labels__isnull', False)), fields=['labels'], name='dlq_labels', opclasses=['jsonb_path_ops']),
        ),
    ]
