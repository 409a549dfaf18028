"""Store when a group was resolved, while a redrive changes its status."""

from django.db import migrations, models

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('dlq', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='FailureGroup',
            name='resolved_at',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
