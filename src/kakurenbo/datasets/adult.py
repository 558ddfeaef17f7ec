"""Census Income (Adult): the nine columns of amic2020, and the importer of the real files."""

from __future__ import annotations

from kakurenbo.tables import Category, Integer, Schema


def _levels(words: str) -> tuple[str, ...]:
    return tuple(words.split(", "))


SCHEMA = Schema(
    [
        Integer("age", 17, 90),
        Category(
            "workclass",
            _levels("Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked"),
        ),
        Category(
            "education",
            _levels(
                "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, Masters, "
                "1st-4th, 10th, Doctorate, 5th-6th, Preschool"
            ),
        ),
        Category(
            "marital-status",
            _levels(
                "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, Married-AF-spouse"
            ),
        ),
        Category(
            "occupation",
            _levels(
                "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, Handlers-cleaners, "
                "Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, "
                "Armed-Forces"
            ),
        ),
        Category("relationship", _levels("Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried")),
        Category("sex", _levels("Female, Male")),
        Integer("hours-per-week", 1, 99),
        Category("income", _levels(">50K, <=50K")),
    ]
)
"""Table 1 of the rules: names, order and domains of amic2020."""
