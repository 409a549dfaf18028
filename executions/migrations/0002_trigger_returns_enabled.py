"""Store whether a retired trigger is enabled if it returns."""

from django.db import migrations, models

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='Trigger',
            name='returns_enabled',
            field=models.BooleanField(db_default=True, default=True, editable=False),
        ),
    ]
