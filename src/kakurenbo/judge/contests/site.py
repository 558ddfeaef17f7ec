"""The results of a contest as a site of plain files: the report with its charts, and the same in JSON and CSV.

Everything in it is public: what releases were measured as, what attackers found, who ranks where. It needs no server and no
network, so that it can be read years later.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from kakurenbo.judge.contests.archive import Part, zipped
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.scoring.models import StandingSnapshot
from kakurenbo.judge.scoring.queries import made_anew
from kakurenbo.reports import Document, figures, html_report, results_csv
from kakurenbo.reports.document import FORMAT


def site(contest: Contest) -> Iterator[bytes] | None:
    """The site as a zip, piece by piece; None where there are no results yet.

    Its pages are made at once, in the language of who asks: when the pieces are sent, nobody is spoken to any more.
    """
    document = results_document(contest)
    return None if document is None else zipped(list(pages(contest, document)))


def pages(contest: Contest, document: Document) -> Iterator[Part]:
    """Every file of the site."""
    folder = f"{contest.slug}-results"
    yield f"{folder}/index.html", html_report(document, {}).encode()
    yield f"{folder}/results.json", document.as_bytes()
    yield f"{folder}/results.csv", results_csv(document).encode()
    for name, picture in figures(document).items():
        yield f"{folder}/figures/{name}", picture.encode()


def results_document(contest: Contest) -> Document | None:
    """What the last standings of the whole contest show; where rounds cannot be weighed yet, those of the last round.

    Those that an older version of the software wrote are passed over, and asked for anew.
    """
    taken = StandingSnapshot.objects.filter(contest=contest, format=FORMAT).exclude(document={})
    snapshot = (
        taken.filter(round=None).first()
        or taken.order_by("-round__position", "-taken_at", "-pk").first()
    )
    if snapshot is None:
        made_anew(contest)
        return None
    document = msgspec.convert(snapshot.document, Document).with_messages()
    last = contest.rounds.exclude(facts={}).last()
    settings = {} if last is None else last.facts.get("settings", {})
    return replace(document, manifest={"contest": {"title": contest.title, "settings": settings}})
