"""The stored values inside a stored value, and the digest of a stored content."""

import django.contrib.postgres.fields
from django.db import migrations, models

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0009_stored_payloads'),
    ]

    operations = [
        migrations.AddField(
            model_name='storedpayload',
            name='refers_to',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), null=True, size=None),
        ),
        migrations.AddField(
            model_name='storedpayload',
            name='content_digest',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
    ]
