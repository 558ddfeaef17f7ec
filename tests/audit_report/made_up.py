"""Results of audits that nobody made, with every part filled in, and with nothing in them."""

from __future__ import annotations

from kakurenbo.audit.result import (
    ABOVE,
    INCONCLUSIVE,
    NOT_ASSESSED,
    RISKS,
    WITHIN,
    AuditResult,
    Candidate,
    DrivingColumn,
    Excess,
    ExposedRecord,
    ExposedRecords,
    Method,
    Rate,
    RecodedColumn,
    RegulationRow,
    Risk,
    SelfTest,
    ThreatRow,
    TrainedModel,
    Utility,
    Verdict,
)

HOSTILE = "<img src=x onerror=alert(1)>"
_FIGURES = {"tpr_at_0.001": 0.856, "tpr_at_0.01": 0.871, "top100": 100.0, "top100_by_chance": 80.0}
_COLUMNS = (
    "age",
    "sex",
    "prefecture",
    "ward",
    "diagnosis",
    "admitted",
    "days",
    "insurance",
    "hba1c",
)
_WITHOUT = {"ward": -0.004, "admitted": 0.3, "hba1c": 0.7, "sex": 0.83}


def full() -> AuditResult:
    """A release that is not fit to go out, compared with others."""
    membership = ThreatRow(
        "data_holder", _COLUMNS, (), "likelihood", Rate(428, 500, 0.856, 0.822, 0.885), Rate(1, 500, 0.002, 0.0, 0.011),
        Excess(0.854, 0.82, 0.883), chance=0.001, reported=True,
    )  # fmt: skip
    weaker = ThreatRow(
        "stranger",
        (),
        (),
        "marginals",
        Rate(9, 500, 0.018, 0.008, 0.034),
        Rate(2, 500, 0.004, 0.0, 0.014),
    )
    inference = ThreatRow(
        "neighbour", ("age", "sex", "prefecture", "ward", "days"), ("diagnosis",), "posterior",
        Rate(230, 500, 0.46, 0.416, 0.505),
        Rate(205, 500, 0.41, 0.367, 0.454), Excess(0.05, -0.01, 0.11), baseline=0.38, chance=0.095, reported=True,
    )  # fmt: skip
    linked = ThreatRow(
        "two_sources", ("age", "sex"), ("days",), "assignment", Rate(7, 500, 0.014, 0.006, 0.029),
        Rate(7, 500, 0.014, 0.006, 0.029),
        Excess(0.0, -0.015, 0.015), reported=True,
    )  # fmt: skip
    risks = {
        "membership": _of("membership", membership, ABOVE, (membership, weaker), _FIGURES),
        "singling_out": Risk("singling_out", False, why="no_predicates"),
        "linkability": _of("linkability", linked, WITHIN, (linked,)),
        "inference": _of("inference", inference, INCONCLUSIVE, (inference,)),
        "recoding": Risk("recoding", False),
        "pseudonyms": Risk("pseudonyms", False, why="no_person"),
    }
    flagged = tuple(
        ExposedRecord(f"{number:016x}", 12.5 - number / 10, 0.0002) for number in range(25)
    )
    shown = ExposedRecord(
        "00ff00ff00ff00ff", 13.0, 0.0001, row=7, values={"age": "71", "note": HOSTILE}
    )
    return AuditResult(
        verdict=Verdict("above", 1, {"risks": ["membership"], "rate": 0.854}),
        risks=risks,
        records=ExposedRecords(True, 0.05, 5000, (shown, *flagged)),
        driving=tuple(DrivingColumn("membership", column, 0.8, without) for column, without in _WITHOUT.items()),
        utility=Utility(0.97, 0.91, {name: 0.9 + 0.01 * place for place, name in enumerate(_COLUMNS)},
                        (TrainedModel("diagnosis", 0.41, 0.44, 0.095),), 5000, 9),
        recoded=(RecodedColumn("ward", 14, 13),),
        self_tests=(SelfTest("fresh", "likelihood", 0.001, 0.0, True), SelfTest("planted", "likelihood", 0.4, 1.0, False)),
        candidates=(
            Candidate("rr p=0.9", 0.854, 0.91, 1, True),
            Candidate("rr p=0.5", 0.22, 0.84, 1, True),
            Candidate("synthetic", 0.004, 0.79, 0, True),
            Candidate(HOSTILE, 0.3, 0.6, 3, False),
        ),
        regulation=(RegulationRow("gdpr", "singling_out", ("singling_out", "membership")),),
        method=Method("1.0", 1, {"know": "age,sex", "secret": None}, {
            role: {"name": f"{role}.csv", "rows": 5000, "columns": list(_COLUMNS), "sha256": "ab" * 32}
            for role in ("original", "release", "holdout")
        }, 500),
        not_proved=("other_attacks", HOSTILE),
        regressions=("membership",),
        notices=("a byte-order mark was left out",),
    )  # fmt: skip


def _of(
    name: str,
    row: ThreatRow,
    standing: str,
    rows: tuple[ThreatRow, ...],
    figures: dict[str, float] | None = None,
) -> Risk:
    return Risk(
        name, True, attack=row.attack, rate=row.rate, control=row.control, excess=row.excess, baseline=row.baseline,
        chance=row.chance, p_value=0.0004, limit=0.05, standing=standing, rows=rows, figures=figures or {},
    )  # fmt: skip


def bare() -> AuditResult:
    """Nothing could be assessed."""
    return AuditResult(
        verdict=Verdict("nothing", 3),
        risks={name: Risk(name, False, why="no_holdout", standing=NOT_ASSESSED) for name in RISKS},
        records=ExposedRecords(False, 0.05, 0),
        driving=(),
        utility=Utility(1.0, 1.0, {}),
        recoded=(),
        self_tests=(),
        candidates=(),
        regulation=(),
        method=Method("1.0", 1, {}, {}, 0),
        not_proved=(),
    )
