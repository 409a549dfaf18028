"""The workflow of each archived execution, by which permissions on one workflow are checked."""

import django.db.models.deletion
import executions.public.migrations
from django.db import migrations, models


class Migration(executions.public.migrations.Migration):

    dependencies = [
        ('executions', '0009_stored_payloads'),
        ('valkyr_archive', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='archivedexecution',
            name='workflow',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workflow'),
        ),
    ]
