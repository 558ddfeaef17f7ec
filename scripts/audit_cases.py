"""What the audit finds in releases of the Census whose faults are known, and how often it accuses harmless ones.

python -m scripts.audit_cases [FOLDER] [--rows 10000] [--seeds 5] [--cases a,b] [-o table.md]
python -m scripts.audit_cases [FOLDER] --false-alarms 100 [--rows 400] [-o table.md]

FOLDER holds adult.data and adult.test, plain or .gz; where it does not, a line says so and nothing is measured. Every figure is
a mean over draws of people and releases, with its 95 % interval (Student's over draws; Clopper and Pearson's for counts of
alarms). Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from kakurenbo.anonymizers.tables.synthetic import Synthetic
from kakurenbo.audit import statistics
from kakurenbo.audit.api import audit
from kakurenbo.audit.encoding import Coded, encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.linking import attack_linkability
from kakurenbo.audit.mechanism import coarsening, with_retention
from kakurenbo.audit.membership import Noise, attack_membership, likelihood_scores
from kakurenbo.audit.recoding import undo_recoding
from kakurenbo.audit.result import ABOVE
from kakurenbo.audit.schema import infer_schema
from kakurenbo.core import InputError, Source, Table, gather
from kakurenbo.core.rng import stream
from kakurenbo.data.adult import SCHEMA, read_uci

FOLDER = (
    Path(os.environ.get("KAKURENBO_DATA", Path(__file__).parents[2] / "shared" / "data")) / "adult"
)
FIRST_SEED = 1  # of the draws that are reported; what the attacks were made better by has others
PLANTED = 100
EPSILON = 1.0
TITLES = {
    "a": "a identity",
    "b": "b cells swapped 20 %",
    "b2": "b2 swapped 50 %",
    "c": "c `synthetic`",
    "d": f"d c + the {PLANTED} rarest originals",
    "e": "e synthetic without originals",
    "f": "f values relabelled by a secret bijection",
    "g": "g ten-year bands",
    "z": "z fresh sample (control)",
}
HEADINGS = {
    "tpr": "members found at 0.1 % false alarms",
    "told": "the same by who is told how many cells were kept",
    "top": "members in top 100",
    "absent": "members in the 100 most released",
    "linked": "linked, 4 + 5 columns",
    "control": "control",
    "flagged": "exposed records",
    "planted": f"of them among the {PLANTED} rarest",
    "seconds": "CPU s of these",
}
KEPT = {"a": 1.0, "b": 0.8, "b2": 0.5, "g": 1.0}
"""The share of cells that were not swapped, of releases that are nothing else."""
SPLIT = ((0, 1, 2, 3), (4, 5, 6, 7, 8))
RISKS = ("membership", "singling_out", "linkability", "inference", "records", "verdict")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=FOLDER,
        help="holds adult.data and adult.test, plain or .gz",
    )
    parser.add_argument(
        "--rows", type=int, help="of original, holdout and release; 10000, or 400 for false alarms"
    )
    parser.add_argument("--seeds", type=int, default=5, help="draws of each case")
    parser.add_argument("--cases", default=",".join(TITLES), help="which releases")
    parser.add_argument(
        "--false-alarms", type=int, metavar="DRAWS", help="audit so many harmless releases instead"
    )
    parser.add_argument(
        "-o", "--out", type=Path, help="the file to write; standard output by default"
    )
    given = parser.parse_args()
    files = [_file(given.folder, name) for name in ("adult.data", "adult.test")]
    if not all(path.exists() for path in files):
        sys.exit(f"nothing measured: there are no adult.data and adult.test in {given.folder}")
    people = census(files)
    if given.false_alarms:
        lines = alarm_table(people, given.rows or 400, given.false_alarms)
    else:
        lines = case_table(people, given.rows or 10_000, given.seeds, given.cases.split(","))
    written = "\n".join(lines) + "\n"
    if given.out:
        given.out.write_text(written, encoding="utf-8")
    else:
        print(written, end="")


def _file(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).exists() else folder / f"{name}.gz"


def census(files: Sequence[Path]) -> Table:
    """All complete records."""
    try:
        with gather() as problems:
            tables = [problems.of(read_uci, Source.of(path)) for path in files]
    except InputError as error:
        sys.exit("\n".join(map(str, error.problems)))
    return Table.stack(tables)


# -- releases ------------------------------------------------------------------------------------------------------------

Made = tuple[pl.DataFrame, dict[str, pl.DataFrame], pl.DataFrame]


def made_cases(
    people: Table, rows: int, seed: int = FIRST_SEED, cases: Sequence[str] = tuple(TITLES)
) -> Made:
    """Original, releases by case, and holdout: disjoint random rows of the complete records."""
    original, holdout, fresh = _drawn(people, rows, seed)
    makers: dict[str, Callable[[], Table]] = {
        "a": lambda: original,
        "b": lambda: _swapped(original, 0.2, seed),
        "b2": lambda: _swapped(original, 0.5, seed),
        "c": lambda: _synthetic(original, seed),
        "d": lambda: _with_rarest(original, _synthetic(original, seed)),
        "e": lambda: _without_originals(original, rows, seed),
        "f": lambda: _relabelled(original, seed),
        "g": lambda: original,
        "z": lambda: fresh,
    }
    frames = {}
    for case in cases:
        table = makers[case]()
        # Ten-year bands are of the same rows, in the same order, as the identity.
        order = stream(seed, "order", "a" if case == "g" else case).permutation(len(table))
        frames[case] = frame(table.take(order))
    if "g" in frames:
        low = pl.col("age").cast(pl.Int64) // 10 * 10
        frames["g"] = frames["g"].with_columns(
            pl.concat_str([low, low + 9], separator="-").alias("age")
        )
    return frame(original), frames, frame(holdout)


def _drawn(people: Table, rows: int, seed: int) -> tuple[Table, Table, Table]:
    order = stream(seed, "people").permutation(len(people))
    if 3 * rows > len(people):
        sys.exit(
            f"--rows {rows}: there are {len(people)} records, which must be enough for three tables"
        )
    original, holdout, fresh = (
        people.take(order[start : start + rows]) for start in (0, rows, 2 * rows)
    )
    return original, holdout, fresh


def _others(people: Table, start: int, rows: int, seed: int) -> Table:
    """People behind so many others of the same draw."""
    return people.take(stream(seed, "people").permutation(len(people))[start : start + rows])


def frame(table: Table) -> pl.DataFrame:
    return pl.DataFrame([table.texts(name) for name in SCHEMA.names])


def _synthetic(original: Table, seed: int) -> Table:
    return Synthetic()(original, stream(seed, "synthetic")).table


def _swapped(table: Table, share: float, seed: int) -> Table:
    """A share of the cells of each column, permuted among themselves."""
    rng, changed = stream(seed, "swap", str(share)), {}
    for name in SCHEMA.names:
        codes = table.codes[name].copy()
        places = np.flatnonzero(rng.random(len(codes)) < share)
        codes[places] = codes[rng.permutation(places)]
        changed[name] = codes
    return table.with_codes(changed)


def rarest(table: Table) -> Table:
    """The records whose values are the least frequent, columns taken for independent."""
    surprise = sum(
        -np.log(table.frequencies(name)[table.codes[name]] / len(table)) for name in SCHEMA.names
    )
    return table.take(np.argsort(-np.asarray(surprise), kind="stable")[:PLANTED])


def _with_rarest(original: Table, synthetic: Table) -> Table:
    return Table.stack([rarest(original), synthetic.take(np.arange(len(synthetic) - PLANTED))])


def _without_originals(original: Table, rows: int, seed: int) -> Table:
    """Synthetic records, none of which is an original."""
    drawn = Synthetic(rows=4 * rows)(original, stream(seed, "near")).table
    strangers = np.flatnonzero(~np.isin(drawn.keys(), original.keys()))
    return drawn.take(strangers[:rows])


def _relabelled(table: Table, seed: int) -> Table:
    rng = stream(seed, "relabel")
    return table.with_codes(
        {
            name: rng.permutation(table.schema[name].size or 1)[table.codes[name]]
            for name in SCHEMA.names
        }
    )


def private(original: Table, rng: np.random.Generator) -> Table:
    """A differentially private synthesis: histograms with noise of Laplace, their epsilons ``EPSILON`` together."""
    codes = {}
    for column in SCHEMA:
        counts = original.frequencies(column.name) + rng.laplace(
            0, len(SCHEMA.names) / EPSILON, column.size or 1
        )
        shares = np.maximum(counts, 0) + 1e-9
        codes[column.name] = rng.choice(len(shares), len(original), p=shares / shares.sum())
    return original.with_codes(codes)


# -- what the audit finds ------------------------------------------------------------------------------------------------


def case_table(people: Table, rows: int, seeds: int, cases: Sequence[str]) -> list[str]:
    """The lines of a Markdown table, a line for each case."""
    found: dict[str, list[dict[str, float]]] = {case: [] for case in cases}
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        original, releases, holdout = made_cases(people, rows, seed, cases)
        for case in cases:
            found[case].append(figures(original, releases[case], holdout, seed, KEPT.get(case)))
            print(f"{case}, draw {seed}: {found[case][-1]}", file=sys.stderr, flush=True)
    lines = [f"| release | {' | '.join(HEADINGS.values())} |", "|" + " --- |" * (1 + len(HEADINGS))]
    for case in cases:
        told = [_with_interval([draw[name] for draw in found[case]], name) for name in HEADINGS]
        lines.append(f"| {TITLES[case]} | {' | '.join(told)} |")
    return [
        *lines,
        "",
        f"{rows} records each of original, holdout and release; {seeds} draws; 50 of 100 are members by chance.",
    ]


def figures(
    original: pl.DataFrame,
    release: pl.DataFrame,
    holdout: pl.DataFrame,
    seed: int,
    kept: float | None = None,
) -> dict[str, float]:
    """What the attacks on membership and links find in one release, and the seconds that these take.

    Beside them, where it is known how many cells were kept, what an attacker finds who knows that: nobody knows more.
    """
    began = time.process_time()
    frames = [
        frame_of(name, table)
        for name, table in (("original", original), ("release", release), ("holdout", holdout))
    ]
    coded = encode(infer_schema(frames[0], frames[2]), original.columns, *frames)
    coded, _ = undo_recoding(coded, np.concatenate([coded.original, coded.holdout]))
    found = attack_membership(coded, coded.original, coded.holdout, stream(seed, "membership"))
    exposed = [place for place, _, _ in found.exposed(len(original))]
    links, _ = attack_linkability(coded, coded.holdout, stream(seed, "links"), [SPLIT])
    seconds = time.process_time() - began
    return {
        "tpr": found.risk.figures.get("tpr_at_0.001", math.nan),
        "told": np.nan if kept is None else _told(coded, kept),
        "top": found.risk.figures["top100"],
        "absent": found.risk.figures["top100_in_release"],
        "linked": links.rate.value if links.rate else 0.0,
        "control": links.control.value if links.control else 0.0,
        "flagged": len(exposed),
        "planted": _planted(original, exposed),
        "seconds": seconds,
    }


def _told(coded: Coded, kept: float) -> float:
    """Members found at 0.1 % false alarms by the likelihood of somebody who knows the exact share of cells that were kept."""
    pool = np.concatenate([coded.original, coded.holdout])
    maps = [
        coarsening(column, coded.release[:, place]) for place, column in enumerate(coded.columns)
    ]
    shares = np.full(len(maps), min(kept, 0.999))
    noise = replace(Noise.of(coded, pool), transitions=with_retention(coded, pool, maps, shares))
    scores = np.round(likelihood_scores(coded, pool, noise=noise), 9)
    return statistics.found_beyond(
        scores[: len(coded.original)], scores[len(coded.original) :], 0.001
    )


def _planted(original: pl.DataFrame, exposed: Sequence[int]) -> int:
    """How many exposed records are among the rarest originals, whether these were planted or not."""
    table = Table.from_texts(SCHEMA, {name: original[name] for name in SCHEMA.names})
    keys = set(frame(rarest(table)).rows())
    return sum(row in keys for row in original[list(exposed)].rows())


def _with_interval(values: Sequence[float], name: str) -> str:
    from scipy.stats import t

    if np.isnan(values).any():
        return "–"
    digits = 4 if name in ("tpr", "told") else 3 if name in ("linked", "control") else 0
    mean = float(np.mean(values))
    if len(values) < 2 or name == "seconds":
        return f"{mean:.{digits}f}"
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return f"{mean:.{digits}f} ± {half:.{digits}f}"


# -- false alarms --------------------------------------------------------------------------------------------------------


def alarm_table(people: Table, rows: int, draws: int) -> list[str]:
    """How often harmless releases are called exposed, risk by risk."""
    counts = alarms(people, rows, draws)
    lines = [f"| harmless release | {' | '.join(RISKS)} |", "|" + " --- |" * (1 + len(RISKS))]
    for name, found in counts.items():
        told = [statistics.rate(found[risk], draws) for risk in RISKS]
        lines.append(
            f"| {name} | "
            + " | ".join(f"{one.hits} of {one.of} (to {one.high:.3f})" for one in told)
            + " |"
        )
    return [
        *lines,
        "",
        f"{rows} records each; called exposed: above its limit; of records: any flagged; verdict: exit code 1.",
    ]


LARGER = 2.5
LARGE, ALONE = f"z, with a holdout {LARGER:g} times as large", "z, without a holdout"
HARMLESS: Mapping[str, Callable[[Table, Table, int], Table]] = {
    "z fresh sample": lambda _, fresh, __: fresh,
    LARGE: lambda _, fresh, __: fresh,
    ALONE: lambda _, fresh, __: fresh,
    f"private synthesis, epsilon {EPSILON:g}": lambda original, _, seed: private(
        original, stream(seed, "private")
    ),
}


def alarms(people: Table, rows: int, draws: int) -> dict[str, dict[str, int]]:
    """In how many draws each risk of each harmless release is called exposed."""
    found = {name: dict.fromkeys(RISKS, 0) for name in HARMLESS}
    for seed in range(FIRST_SEED, FIRST_SEED + draws):
        original, holdout, fresh = _drawn(people, rows, seed)
        more = frame(_others(people, 3 * rows, int(LARGER * rows), seed))
        for name, make in HARMLESS.items():
            held = {LARGE: more, ALONE: None}.get(name, frame(holdout))
            result = audit(
                frame(original), frame(make(original, fresh, seed)), holdout=held, seed=seed
            )
            for risk in RISKS[:-2]:
                found[name][risk] += result.risks[risk].standing == ABOVE
            found[name]["records"] += bool(result.records.flagged)
            found[name]["verdict"] += result.verdict.exit_code == 1
        print(f"after draw {seed}: {found}", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    main()
