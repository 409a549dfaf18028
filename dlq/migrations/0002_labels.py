"""The labels of dead letters, which equal the labels of their executions."""

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
    ]
