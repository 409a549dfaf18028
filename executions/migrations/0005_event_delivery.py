"""How far the delivery of an event came, so that it goes on there with another message."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("executions", "0004_ending_sessions")]

    operations = [
        migrations.AddField("event", "delivered_to", models.UUIDField(editable=False, null=True)),
        migrations.AddField("event", "looked_at", models.DateTimeField(editable=False, null=True)),
    ]
