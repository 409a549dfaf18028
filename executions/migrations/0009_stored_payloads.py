"""Values in object storage, and the executions that need them."""

import django.db.models.deletion
import executions.database.ids
from django.db import migrations, models

import executions.database.clock
import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0008_canary_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='StoredPayload',
            fields=[
                ('id', models.UUIDField(default=executions.database.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64)),
                ('sealing_key', models.BigIntegerField(default=0)),
                ('size', models.BigIntegerField()),
                ('stored_at', models.DateTimeField(null=True)),
                ('checked_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('deleting_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=executions.database.clock.ClockTimestamp(), editable=False)),
                ('workspace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='executions.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='StoredPayloadUse',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('execution_id', models.UUIDField()),
                ('payload', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='executions.storedpayload')),
            ],
        ),
        migrations.AddIndex(
            model_name='storedpayload',
            index=models.Index(fields=['checked_at', 'id'], name='stored_payload_check'),
        ),
        migrations.AddConstraint(
            model_name='storedpayload',
            constraint=models.UniqueConstraint(condition=models.Q(('deleting_at', None)), fields=('workspace', 'digest', 'sealing_key'), name='stored_payload_once'),
        ),
        migrations.AddIndex(
            model_name='storedpayloaduse',
            index=models.Index(fields=['execution_id'], name='stored_payload_use_of'),
        ),
        migrations.AddConstraint(
            model_name='storedpayloaduse',
            constraint=models.UniqueConstraint(fields=('payload', 'execution_id'), name='stored_payload_use_once'),
        ),
    ]
