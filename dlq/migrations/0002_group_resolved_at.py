"""Store the time of a group's resolution separately, because a redrive changes `status_at`."""

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
