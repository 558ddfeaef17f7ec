"""``anonymize R METHOD IN OUT --param value``: run an anonymizer on a handout."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.cli.common import OUT_PLACE, PATH, chosen_seed, json_option, method_verb, option, seed_option
from kakurenbo.cli.examples import anonymize_example
from kakurenbo.contracts import Anonymizer, AnyRulebook, json_number
from kakurenbo.messages import text, text_or
from kakurenbo.rng import stream
from kakurenbo.tables import Problems, archive_bytes, write_file, write_folder


def _anonymize(
    rulebook: AnyRulebook, method: Anonymizer, given: Path, out: Path, seed: int | None, verbose: bool, as_json: bool
) -> int:
    rules = rulebook.in_folder(given)
    handout = rules.read_handout(given)
    if isinstance(handout, Problems):
        return output.refuse(handout, as_json)
    output.print_notices(handout.notices)
    seed = chosen_seed(seed)
    release = rules.anonymize(handout.value, method, stream(seed, "anonymize"))
    files = rules.release_files(handout.value, release)
    if len(files) == 1:
        write_file(out, next(iter(files.values())))
    elif out.suffix.lower() == ".zip":
        write_file(out, archive_bytes(files))
    else:
        write_folder(out, files)
    claims = {name: json_number(value) for name, value in release.claims.items()}
    rows = [len(table) for table in release.tables]
    report = {"out": str(out), "rows": rows[0] if len(rows) == 1 else rows, "claims": claims, "seed": seed}
    if as_json:
        output.print_json(report)
    else:
        shown = [_made(rows), *(f"{name} {output.short(value)}" for name, value in claims.items())]
        console = output.console_beside(out)
        console.print(text("cli.file", file=str(out), what=shown), markup=False)
        for explained in filter(None, (text_or(f"claim.{name}", "") for name in claims if verbose)):
            console.print(f"[dim]{escape(explained)}[/]")
    return output.DONE


def _made(rows: list[int]) -> str:
    """How much was made, in words."""
    if len(rows) == 1:
        return text("cli.records", count=rows[0])
    if len(set(rows)) == 1:
        return text("cli.files_of_records", files=len(rows), count=rows[0])
    return text("cli.files_with_records", files=len(rows), count=sum(rows))


def _parameters() -> list[click.Parameter]:
    given = click.Argument(["given"], metavar="IN", type=PATH)
    out = click.Argument(["out"], metavar="OUT", type=OUT_PLACE)
    return [given, out, seed_option(), option("--verbose", code="option.explain_claims", is_flag=True), json_option()]


def _example(rulebook: str, method: str) -> str:
    return f"\n\n\b\n{text('help.example', command=anonymize_example(rulebook, method))}" if rulebook else ""


def anonymize() -> click.Group:
    """The verb."""
    return method_verb("anonymize", "anonymizers", _anonymize, _parameters, text("help.anonymize"), _example)
