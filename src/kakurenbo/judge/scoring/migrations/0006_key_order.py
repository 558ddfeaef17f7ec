from django.db import migrations

import kakurenbo.judge.ordered_json


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0005_formats"),
    ]

    operations = [
        migrations.AlterField(
            model_name="earned",
            name="credit",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(),
        ),
        migrations.AlterField(
            model_name="judging",
            name="result",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="standingsnapshot",
            name="document",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="standingsnapshot",
            name="results",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="standingsnapshot",
            name="standings",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
        migrations.AlterField(
            model_name="target",
            name="record",
            field=kakurenbo.judge.ordered_json.OrderedJSONField(default=dict),
        ),
    ]
