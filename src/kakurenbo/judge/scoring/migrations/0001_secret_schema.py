"""The schema of secrets, before any table is made in it; the web process gets a role without rights on it."""

from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [migrations.RunSQL("CREATE SCHEMA IF NOT EXISTS secret", "DROP SCHEMA secret")]
