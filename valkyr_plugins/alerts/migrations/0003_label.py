"""Add the label to which an alert rule is limited."""

from django.db import migrations, models

import executions.public.migrations


class Migration(executions.public.migrations.Migration):

    dependencies = [
        ('valkyr_alerts', '0002_canary_stopped'),
    ]

    operations = [
        migrations.AddField(
            model_name='alertrule',
            name='label',
            field=models.CharField(blank=True, db_default='', default='', max_length=241),
        ),
    ]
