"""The report as Markdown, for a repository or a mail: the same figures, without the charts."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~])")


def markdown_report(results: Mapping[str, Any], times: Mapping[str, Any]) -> str:
    """Standings, the matrix, every measure, failures and the manifest."""
    names = {player["team"]: player["name"] for player in results["players"]}
    lines = [f"# {safe(results['rulebook']['name'])}: {safe(results['rulebook']['title'])}", ""]
    for title, key in (("Anonymization", "anonymization"), ("Attack", "attack"), ("Overall", "overall")):
        if results["standings"].get(key):
            lines += [f"## {title}", "", *_standings(results["standings"][key], names), ""]
    for round_ in results["rounds"]:
        lines += _round(results, round_)
    lines += _failures(results)
    lines += _manifest(results, times)
    return "\n".join(lines).rstrip() + "\n"


def _standings(ranking: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[str]:
    return table(
        ("rank", "team", "name", "score", "note"),
        (
            (
                line["rank"] or "–",
                line["team"],
                names.get(line["team"], ""),
                "–" if line["score"] is None else line.get("shown") or _with_interval(line),
                line.get("note", ""),
            )
            for line in ranking
        ),
    )


def _with_interval(line: Mapping[str, Any]) -> str:
    if "interval" not in line:
        return f"{line['score']:.4g}"
    return f"{line['score']:.4g} ({line['interval'][0]:.4g} to {line['interval'][1]:.4g})"


def _round(results: Mapping[str, Any], round_: Mapping[str, Any]) -> list[str]:
    chance = round_["chance"]
    lines = [f"## Round {safe(round_['name'])}", "", "### Right guesses in percent", ""]
    if chance:
        level = f"{100 * chance['mean']:.3g} % (95 % band {100 * chance['low']:.3g} to {100 * chance['high']:.3g})"
        lines += [f"Blind guessing gets {level}. Organizers' own: {safe(', '.join(results['sample_attacks']))}.", ""]
    targets = list(round_["accuracy"])
    lines += table(
        ("attacker", *targets),
        (
            (attacker, *(_percent(round_["accuracy"][target].get(attacker)) for target in targets))
            for attacker in round_["repeats"][0]["attackers"]
        ),
    )
    lines += ["", "### Releases", ""]
    for player in results["players"]:
        release = round_["releases"].get(player["team"])
        if release is not None:
            lines += _release(player, release)
    return lines


def _percent(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "–"
    half = f" ± {100 * (cell['high'] - cell['mean']):.2g}" if "high" in cell else ""
    return f"{100 * cell['mean']:.3g}{half}"


def _release(player: Mapping[str, Any], release: Mapping[str, Any]) -> list[str]:
    method = player.get("anonymizer") or player.get("release", "")
    lines = [f"#### {player['team']} {safe(player['name'])}", "", f"Method: {safe(method)}. State: {release['state']}.", ""]
    if release["cause"]:
        lines += [safe(release["cause"]), ""]
    utility = release.get("utility")
    if utility is None:
        return lines
    rows = []
    for name, value in utility["scores"].items():
        threshold = "".join(
            f"{'≥' if kind == 'minimum' else '≤'} {limit:g}" for kind, limit in utility["thresholds"].get(name, {}).items()
        )
        limits = ", ".join(f"{key} {_short(part)}" for key, part in utility["limits"].get(name, {}).items())
        rows.append((name, _short(value), threshold, limits))
    return [*lines, *table(("measure", "value", "threshold", "what limits it"), rows), ""]


def _failures(results: Mapping[str, Any]) -> list[str]:
    if not results["failures"]:
        return []
    rows = [(failure["job"], failure["state"], failure["cause"]) for failure in results["failures"]]
    return ["## Jobs that did not succeed", "", *table(("job", "state", "cause"), rows), ""]


def _manifest(results: Mapping[str, Any], times: Mapping[str, Any]) -> list[str]:
    manifest = results["manifest"]
    rows: list[tuple[str, object]] = [("seed", manifest["plan"]["seed"])]
    rows += [(f"version of {name}", text) for name, text in manifest["versions"].items()]
    rows += [(f"code of {name}", f"{code['package']}, sha256 {code['sha256']}") for name, code in manifest["code"].items()]
    rows.append(("seconds of work", f"{sum(job['seconds'] for job in times.get('jobs', ())):.1f}"))
    return ["## Manifest", "", *table(("what", "value"), rows), ""]


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A Markdown table whose cells are text, whatever they hold."""
    lines = [f"| {' | '.join(safe(heading) for heading in headings)} |", "|" + " --- |" * len(headings)]
    return lines + [f"| {' | '.join(safe(cell) for cell in row)} |" for row in rows]


def safe(text: object) -> str:
    """Text without effect as Markdown or HTML.

    Examples
    --------
    >>> print(safe("<b>|x|"))
    &lt;b&gt;\\|x\\|
    """
    return _MARKUP.sub(r"\\\1", html.escape(" ".join(str(text).split()), quote=False))


def _short(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return " × ".join(map(str, value)) if isinstance(value, list) else str(value)
