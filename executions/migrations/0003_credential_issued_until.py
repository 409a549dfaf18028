from django.db import migrations, models

import executions.database.migrations


class Migration(executions.database.migrations.Migration):

    dependencies = [
        ('executions', '0002_credential_use'),
    ]

    operations = [
        migrations.AddField(
            model_name='Credential',
            name='issued_until',
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
