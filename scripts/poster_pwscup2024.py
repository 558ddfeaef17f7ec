"""The page docs/replays/pwscup2024.md: the poster of team 09, played again on B files (called by replay_pwscup2024.py)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import numpy as np

from kakurenbo.anonymizers.ratings.crosstab_repair import CrosstabRepair
from kakurenbo.anonymizers.ratings.olh import PseudoOLH
from kakurenbo.attacks.reconstruction.types import Identification
from kakurenbo.core.rng import stream
from kakurenbo.data.ratings import MOVIES, NOT_SEEN
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024 import Handout, rehearse
from replay_pwscup2024 import BOOK, KINDS, Played, interval, play, read_original

Trace = Sequence[tuple[float, ...]]

POSTER = {1: (55.2, 3, 23, 74), 2: (54.57, 1, 12, 87), 3: (55.68, 8, 31, 61)}
TEAM_09 = ("euclidean", "collaborative_filtering:on=b,variant=w50")
SLOW = "posterior"  # drawn less often than the others
SLOW_SHARE = 0.4
PUBLISHED = {"all0": 18.1, "user": 15.5, "item": 15.8, "w": 16.8, "w50": 17.0}
VARIANTS = {"all0": "All0", "user": "User", "item": "Item", "w": "W", "w50": "W+50"}
FILTERED_ON_B, FILTERED_WITH_C = 60, 20  # draws of people for each variant
GRAPH = "pwscup2024-repair"
ROUNDS = (0, 200, 1000, 3000)
POSTER_UTILITY = 72.2  # to which the poster aligned its files
REPAIRED = (
    (1, "all"),
    (1, "scored"),
    (10, "scored"),
    (20, "scored"),
)  # rows a round, compared pairs
REPAIRS = 3  # draws of noise and rows for each
NO_IDENTIFICATION = Identification(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
)  # filtering does not ask for it


READINGS = tuple(
    (votes, completion) for votes in ("c_row", "a_row") for completion in ("mode", "collaborative")
)
READ_AT = (2, 3)  # epsilon

SECTIONS = ("noise", "filtering", "repair", "readings")


def page(
    paths: Sequence[Path], seeds: int, jobs: int, sections: Sequence[str], current: str
) -> str:
    """The page with these sections made anew; the others stay as they are in ``current``."""
    kept = dict(zip(SECTIONS, current.split("\n## ")[1:], strict=False))
    makers = {"noise": _noise, "filtering": _filtering, "repair": _repair, "readings": _readings}
    with ProcessPoolExecutor(jobs) as pool:
        made = {name: makers[name](paths, pool, seeds) for name in sections}
    bodies = [made[name] if name in made else f"## {kept[name].rstrip()}\n" for name in SECTIONS]
    return "\n".join([_introduction(paths, seeds), *bodies])


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz").removesuffix(".csv")


def _slow(seeds: int) -> int:
    return max(2, round(SLOW_SHARE * seeds))


# -- playing -----------------------------------------------------------------------------------------------------------


def _plays(path: Path, epsilon: int, attacks: Sequence[str], seeds: int) -> list[Played]:
    original = read_original(path)
    return [play(original, f"pseudo_olh:epsilon={epsilon}", attacks, seed) for seed in range(seeds)]


def _filtered(path: Path) -> tuple[dict[str, dict[str, list[int]]], list[int]]:
    """Hits of each variant on b alone and with C, and those of the best constant answer, over draws of people."""
    original = read_original(path)
    handout = Handout("01", (original,))
    release = BOOK.anonymize(
        handout,
        registry.build("anonymizers", "pseudo_olh:epsilon=2"),
        stream(0, "replay", "filtering"),
    )
    hits: dict[str, dict[str, list[int]]] = {
        on: {variant: [] for variant in VARIANTS} for on in ("b", "release")
    }
    best = []
    for seed in range(FILTERED_ON_B):
        knowledge, answer = rehearse(original, release.tables, seed)
        best.append(int(np.bincount(answer.values).max()))
        for on in hits if seed < FILTERED_WITH_C else ("b",):
            for variant, found in hits[on].items():
                method = registry.build(
                    "attacks", f"collaborative_filtering:on={on},variant={variant}"
                )
                values = method.reconstruct(
                    knowledge, NO_IDENTIFICATION, stream(seed, "replay", "filtering")
                )
                found.append(int((values == answer.values).sum()))
        assert hits["b"]["all0"][-1] == int((answer.values == NOT_SEEN).sum())
    return hits, best


def _trace(path: Path, rows: int, pairs: str, seed: int) -> Trace:
    original = read_original(path)
    noisy = PseudoOLH(epsilon=2.0)(original, stream(seed, "repair", "noise", 2.0))
    repair = CrosstabRepair(iterations=ROUNDS[-1], rows=rows, pairs=pairs)
    return repair.after(original, noisy, stream(seed, "repair", "rows")).trace


# -- the page ----------------------------------------------------------------------------------------------------------


def _introduction(paths: Sequence[Path], seeds: int) -> str:
    zeros = {
        path: np.mean([read_original(path).codes[movie] == NOT_SEEN for movie in MOVIES])
        for path in paths
    }
    data = " and ".join(
        f"`{_name(path)}` ({share:.0%} of its ratings are 0)" for path, share in zeros.items()
    )
    return f"""# The poster of PWS Cup 2024's best team, played again

Team 09 had the best total of the main round (144.2). Its poster shows `pseudo_olh` at epsilon 1, 2 and 3, collaborative
filtering against 19 teams, and a repair that raises the utility. Its own B is not public; here the same is played on
{data}.

The poster's figures are one random draw each. Every figure of ours is a mean with its 95 % interval (normal approximation)
over the number of draws that is stated with it. An interval is that of the mean; single draws such as the poster's scatter
wider by the square root of the number of draws. "Always 0" is what the answer 0 for every hidden rating earns on the same
draws: a reconstruction that does not beat it has found nothing.

Make this page again, in a clone, from the B files; each section also says how it is made alone. The seed of draw i is i,
counted from 0, so the same B files give the same figures:

<!-- not executed: takes hours -->
```console
$ {_command(paths, seeds)} --jobs 2
```
"""


def _command(paths: Sequence[Path], seeds: int) -> str:
    return f"python scripts/replay_pwscup2024.py poster {' '.join(path.name for path in paths)} --seeds {seeds}"


def _made_by(paths: Sequence[Path], seeds: int, section: str, draws: str) -> list[str]:
    """How a section is made alone."""
    command = f"{_command(paths, seeds)} --sections {section}"
    return [f"Made by `{command}`: {draws}.", ""]


def _noise(paths: Sequence[Path], pool: Executor, seeds: int) -> str:
    usual = (*TEAM_09, "sample")
    counts = {(SLOW,): _slow(seeds), usual: seeds}
    runs = {
        (path, epsilon, attacks): pool.submit(_plays, path, epsilon, attacks, count)
        for path in paths
        for epsilon in POSTER
        for attacks, count in counts.items()
    }
    lines = [
        "## Noise: `pseudo_olh`",
        "",
        "Team 09's attacks are `euclidean` for the person and `collaborative_filtering` (W+50, on b alone) for the rating;",
        "the sample attack is the contest's; `posterior` with `bayes` is ours. The label of the poster's reconstruction row is",
        "the one that the contest's own answer check prints for the sample attack, so its hits may be that attack's; the rows",
        "below show how far they lie from it. Hits are of 50; a draw is one of noise, people and masks.",
        "",
        *_made_by(
            paths,
            seeds,
            "noise",
            f"seeds 0 to {seeds - 1}, for `posterior` 0 to {_slow(seeds) - 1}",
        ),
        "| epsilon | B | attack | draws | utility | identification | reconstruction | always 0 | anonymity |",
        "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for epsilon, (utility, found, rebuilt, anonymity) in POSTER.items():
        lines.append(
            f"| {epsilon} | the poster's | as printed | 1 | {utility} | {found} | {rebuilt} | | {anonymity} |"
        )
        for path in paths:
            for shown, finder, rebuilder, attacks in (
                ("team 09's", *TEAM_09, usual),
                ("sample", "sample", "sample", usual),
                ("`posterior`", SLOW, SLOW, (SLOW,)),
            ):
                played = runs[path, epsilon, attacks].result()
                figures = _figures(played, finder, rebuilder)
                lines.append(f"| {epsilon} | {_name(path)} | {shown} | {len(played)} | {figures} |")
    return "\n".join(lines) + "\n"


def _figures(runs: Sequence[Played], finder: str, rebuilder: str) -> str:
    found = [run.credits[finder].details[KINDS[0]] for run in runs]
    rebuilt = [run.credits[rebuilder].details[KINDS[1]] for run in runs]
    anonymity = [100 - a - b for a, b in zip(found, rebuilt, strict=True)]
    columns = (
        [run.utility for run in runs],
        found,
        rebuilt,
        [run.always_0 for run in runs],
        anonymity,
    )
    return " | ".join(interval(column) for column in columns)


def _filtering(paths: Sequence[Path], pool: Executor, seeds: int) -> str:
    filtered = {path: pool.submit(_filtered, path) for path in paths}
    lines = [
        "## Reconstruction: collaborative filtering",
        "",
        "The poster's filtering works on b alone, 50 people by 46 movies (`on=b`); ours may also compare b with the released",
        f"files (`on=release`; here of `pseudo_olh` at epsilon 2). Hits of 50; {FILTERED_ON_B} draws of people on b alone,",
        f"{FILTERED_WITH_C} with the files; the published row is the poster's average over the B files of 19 teams.",
        "",
        *_made_by(
            paths,
            seeds,
            "filtering",
            f"seeds 0 to {FILTERED_ON_B - 1}, with the files 0 to {FILTERED_WITH_C - 1}",
        ),
        f"| B | on | {' | '.join(VARIANTS.values())} |",
        f"| --- | --- |{' ---: |' * len(VARIANTS)}",
        f"| 19 teams' | b, as published | {' | '.join(str(PUBLISHED[variant]) for variant in VARIANTS)} |",
    ]
    for path in paths:
        for on, hits in filtered[path].result()[0].items():
            lines.append(
                f"| {_name(path)} | {on} | {' | '.join(interval(hits[variant]) for variant in VARIANTS)} |"
            )
    best = ", ".join(f"{interval(filtered[path].result()[1])} on {_name(path)}" for path in paths)
    lines += [
        "",
        f'All0 is "always 0". The best constant answer, chosen with the answers in hand, earns {best}.',
    ]
    return "\n".join(lines) + "\n"


def _repair(paths: Sequence[Path], pool: Executor, seeds: int) -> str:
    started = {
        (path, rows, pairs): [
            pool.submit(_trace, path, rows, pairs, seed) for seed in range(REPAIRS)
        ]
        for path in paths
        for rows, pairs in REPAIRED
    }
    repaired = {key: [trace.result() for trace in traces] for key, traces in started.items()}
    lines = [
        "## Utility: `crosstab_repair`",
        "",
        "The poster repeats: in the two-way table that is farthest off, overwrite a row of the most over-represented cell",
        "with the values of the most under-represented one. It names one row a round, but its graph gains 15 points in 200",
        "rounds, and a row is worth at most 0.01 points: at least eight rows were overwritten in each. How many is not said,",
        "so the table has several numbers of rows. Step 1 of the poster compares all common columns (`pairs=all`); the",
        "contest's utility does not count pairs of two attributes (`pairs=scored` leaves them out). The default of",
        "`crosstab_repair` is the poster as written: `rows=1`, `pairs=all`. Compare both the slope (round 200) and the level",
        "(round 3,000) with the poster's graph, which is of another release of another B.",
        f"Files 1 and 3 have the most columns; the team aligned all files to {POSTER_UTILITY}, as",
        f"`crosstab_repair:utility={POSTER_UTILITY}` does.",
        "",
        *_made_by(paths, seeds, "repair", f"seeds 0 to {REPAIRS - 1}"),
        f"After `pseudo_olh` at epsilon 2, {REPAIRS} draws; utility of the release, which is that of its worst file:",
        "",
        f"| B | rows | pairs | {' | '.join(f'round {n:,}' for n in ROUNDS)} | file 1, round {ROUNDS[-1]:,} | file 3 |",
        f"| --- | ---: | --- |{' ---: |' * (len(ROUNDS) + 2)}",
        "| the poster's | 1 in its text | all in its text | about 55 | about 70 | | about 72 | about 72 | about 72 |",
    ]
    for (path, rows, pairs), traces in repaired.items():
        files = [[trace[min(n, len(trace) - 1)] for trace in traces] for n in ROUNDS]
        cells = [interval([min(utilities) for utilities in draws]) for draws in files]
        cells += [interval([utilities[number] for utilities in files[-1]]) for number in (1, 3)]
        lines.append(f"| {_name(path)} | {rows} | {pairs} | {' | '.join(cells)} |")
    first = paths[0].name
    command = f"kakurenbo anonymize pwscup2024 crosstab_repair {first} repaired --release noisy --rows 10 --pairs scored"
    lines += [
        "",
        "The graph of utility over iterations is drawn by the command itself, with `--trace FILE.csv` for its figures:",
        "",
        "<!-- not executed: needs a download, a B of the contest -->",
        "```console",
        f"$ kakurenbo anonymize pwscup2024 pseudo_olh {first} noisy --epsilon 2 --seed 0",
        f"$ {command} --seed 0 --figure {GRAPH}.svg",
        "```",
        "",
        f"![Utility of each file over the iterations, 10 rows each, {_name(paths[0])}, one draw]({GRAPH}.svg)",
    ]
    return "\n".join(lines) + "\n"


def _readings(paths: Sequence[Path], pool: Executor, seeds: int) -> str:
    attacks = [f"euclidean:votes={votes},completion={completion}" for votes, completion in READINGS]
    runs = {
        (path, epsilon): pool.submit(_plays, path, epsilon, attacks, seeds)
        for path in paths
        for epsilon in READ_AT
    }
    lines = [
        "## Identification: readings of `euclidean`",
        "",
        "The poster takes the most frequent row number of the candidate rows of all files, and does not say whose row it is.",
        "`votes=c_row`, the default, counts rows of C and answers the row of a that agrees best with the elected one;",
        "`votes=a_row` lets each candidate row vote for the row of a that agrees with it best. The poster completes b before",
        "(`BXXb_E.csv`) without saying how: `completion=mode`, the default, is the release's commonest rating,",
        f"`completion=collaborative` the poster's filtering on b. People found of 50 after `pseudo_olh`, {seeds} draws each:",
        "",
        *_made_by(paths, seeds, "readings", f"seeds 0 to {seeds - 1}"),
        f"| B | epsilon | {' | '.join(f'{votes}, {completion}' for votes, completion in READINGS)} |",
        f"| --- | ---: |{' ---: |' * len(READINGS)}",
    ]
    for (path, epsilon), run in runs.items():
        hits = [
            [played.credits[attack].details[KINDS[0]] for played in run.result()]
            for attack in attacks
        ]
        lines.append(f"| {_name(path)} | {epsilon} | {' | '.join(map(interval, hits))} |")
    return "\n".join(lines) + "\n"
