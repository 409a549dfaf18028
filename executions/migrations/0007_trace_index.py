import django.contrib.postgres.indexes
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('executions', '0006_retention'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='workflowexecution',
            index=django.contrib.postgres.indexes.HashIndex(fields=['trace_id'], name='execution_trace'),
        ),
    ]
