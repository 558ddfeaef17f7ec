"""Causes of jobs are stored with their messages."""

from django.db import migrations

import kakurenbo.judge.scoring.texts


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0008_published"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="cause",
            field=kakurenbo.judge.scoring.texts.StoredTextField(blank=True),
        ),
    ]
