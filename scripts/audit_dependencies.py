"""Asks the database of Open Source Vulnerabilities (OSV) about every version in ``constraints.txt``.

Run as ``python -m scripts.audit_dependencies``.
A known vulnerability fails the check. On a network from which the database cannot be reached nothing can be said, which one
line tells; the check passes then, because whoever builds there cannot change it.
"""

from __future__ import annotations

import argparse
import json
import sys
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SERVICE = "https://api.osv.dev/v1/querybatch"
_SECONDS = 10.0


def main(arguments: list[str]) -> int:
    """Name every vulnerable version; 1 where there is any."""
    parser = argparse.ArgumentParser(prog="audit_dependencies")
    parser.add_argument("--constraints", type=Path, default=REPOSITORY / "constraints.txt")
    parser.add_argument("--service", default=SERVICE)
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        help="a vulnerability that does not concern kakurenbo",
    )
    asked = parser.parse_args(arguments)
    versions = pinned(asked.constraints.read_text(encoding="utf-8"))
    try:
        answers = _answers(asked.service, versions)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
    ) as error:  # no network, or something that stands in its way
        print(f"dependencies were not audited, {asked.service} cannot be asked: {error}")
        return 0
    found = [
        f"{name} {version}: {known['id']}"
        for (name, version), answer in zip(versions, answers, strict=True)
        for known in answer.get("vulns", [])
        if known["id"] not in asked.ignore
    ]
    print(
        *found,
        f"{len(versions)} dependencies audited, {len(found)} known vulnerabilities",
        sep="\n",
    )
    return 1 if found else 0


def pinned(constraints: str) -> list[tuple[str, str]]:
    """Names and versions.

    Examples
    --------
    >>> pinned("# exact versions\\nclick==8.2.1\\n")
    [('click', '8.2.1')]
    """
    lines = (line.strip() for line in constraints.splitlines())
    return [
        (name, version)
        for name, _, version in (line.partition("==") for line in lines if line and line[0] != "#")
    ]


def _answers(
    service: str, versions: list[tuple[str, str]]
) -> list[dict[str, list[dict[str, str]]]]:
    """What is known of each version, in order."""
    queries = [
        {"package": {"name": name, "ecosystem": "PyPI"}, "version": version}
        for name, version in versions
    ]
    body = json.dumps({"queries": queries}).encode()
    request = urllib.request.Request(service, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        results: list[dict[str, list[dict[str, str]]]] = json.load(answer)["results"]
    if len(results) != len(versions):
        raise ValueError(f"{len(results)} answers to {len(versions)} questions")
    return results


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
