from django.db import migrations

import kakurenbo.judge.ordered_json


class Migration(migrations.Migration):
    dependencies = [
        ("contests", "0001_initial"),
    ]

    operations = [
        migrations.AlterField(
            model_name="contest",
            name="options",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="round",
            name="facts",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
    ]
