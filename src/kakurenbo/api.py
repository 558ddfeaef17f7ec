"""Functions of the Python API.

``kb.anonymize``, ``kb.contest`` and ``kb.load``; ``kb.audit`` is in ``kakurenbo.audit``.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kakurenbo.contest import (
    ANONYMIZE,
    AnyRulebook,
    Player,
    Preparation,
    Release,
    Utility,
    engine,
    misfit,
    read_facts,
    read_schedule,
)
from kakurenbo.contest.releases import Attachments
from kakurenbo.contest.rounds import PublishedRound, publish_round, score_round
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.contest.submissions import check_names
from kakurenbo.core import (
    InputError,
    Problems,
    archive_bytes,
    check_free,
    notice,
    sources_of,
    write_file,
    write_folder,
)
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.frames import AnonymizedFrame, frame_like
from kakurenbo.core.messages import Message, text
from kakurenbo.core.rng import fresh_seed, stream
from kakurenbo.methods import registry

if TYPE_CHECKING:
    import polars as pl

    from kakurenbo.reports import Document


def load(group: str, name: str) -> Any:
    """Return the class of a method or a contest.

    Parameters
    ----------
    group : str
        ``"anonymizers"``, ``"attacks"`` or ``"rulebooks"``.
    name : str
        A registered name, or a class in a file, ``"./my_attack.py:Copies"``. The file is run.

    Raises
    ------
    UsageError
        If there is none, with the nearest name.

    Examples
    --------
    >>> import kakurenbo as kb
    >>> kb.load("anonymizers", "rr")(p=0.8)
    RandomizedResponse(p=0.8, columns=None)
    """
    if group not in registry.GROUPS:
        raise ParameterError(
            "group", Message("expects.choices", {"choices": registry.GROUPS}), group
        )
    return registry.find(group, name)


def anonymize(
    data: Any,
    method: str,
    *,
    release: Any = None,
    schema: Any = None,
    seed: int | None = None,
    **parameters: Any,
) -> AnonymizedFrame:
    """Anonymize a data frame.

    Parameters
    ----------
    data : Polars or pandas data frame
    method : str
        A name that ``kakurenbo anonymize table`` knows, or a class in a file, ``FILE.py:CLASS``.
    release : data frame, optional
        What a repairing method brings closer to ``data``.
    schema : TableSchema, optional
        The types of the columns; inferred by default. Columns that it does not name are left out.
    seed : int, optional
        Fixes all randomness; a fresh one by default.
    **parameters
        Parameters of the method, such as ``p=0.8``.

    Returns
    -------
    AnonymizedFrame
        With ``frame``, of the library of ``data``, ``claims``, and ``unchanged``: the columns that
        the method left as they are. A warning names them unless ``columns`` were chosen.

    Raises
    ------
    UsageError, ParameterError
        If there is no such method or parameter, or it does not fit the data.

    Examples
    --------
    >>> import kakurenbo as kb, polars as pl
    >>> table = pl.DataFrame({"age": [31, 42, 53] * 40, "sex": ["F", "M"] * 60})
    >>> release = kb.anonymize(table, "rr", p=0.8, seed=1)
    >>> release.frame.schema == table.schema, sorted(release.claims)
    (True, ['epsilon'])
    """
    from kakurenbo.audit.anonymizing import anonymized, unchanged_columns
    from kakurenbo.audit.frames import frame_of
    from kakurenbo.audit.methods import check_fit, load_table_method
    from kakurenbo.audit.schema import infer_schema

    frame = frame_of("data", data)
    columns = infer_schema(frame) if schema is None else schema
    is_file = registry.is_file(method)
    cls = registry.find("anonymizers", method) if is_file else load_table_method(method)
    lists = {name: tuple(value) for name, value in parameters.items() if isinstance(value, list)}
    made = cls().with_parameters(**{**parameters, **lists})
    check_fit(frame, columns, made)
    seed = fresh_seed() if seed is None else seed
    other = None if release is None else frame_of("release", release)
    cells, result = anonymized(frame, columns, made, stream(seed, "anonymize"), other)
    unchanged = tuple(unchanged_columns(frame, columns, cells))
    if unchanged and getattr(made, "columns", None) is None:  # else they were chosen
        warnings.warn(text("anonymize.unchanged_columns", columns=unchanged), stacklevel=2)
    return AnonymizedFrame(frame_like(cells, data), result.claims, seed, unchanged)


def contest(name: str, **options: Any) -> Contest:
    """Return a contest with its options, such as ``round="main"`` or ``scale="small"``.

    Examples
    --------
    >>> import kakurenbo as kb
    >>> kb.contest("amic2020", scale="small").rules.name
    'amic2020'
    """
    return Contest(registry.load("rulebooks", name)().with_parameters(**options))


@dataclass(frozen=True)
class CheckedRelease:
    """A valid release with the rules and the handout it was checked against.

    Attributes
    ----------
    rules : Rulebook
        Under the settings of the handout's contest.
    handout, submission : object
        As the rules read them.
    refused_attachments : Problems or None
        Why the attachments are refused, which leaves the release valid without them.
    """

    rules: AnyRulebook
    handout: Any
    submission: Any
    refused_attachments: Problems | None


def check_release(rulebook: AnyRulebook, handout: Path, release: Path) -> CheckedRelease:
    """Check a release against a handout, with the names that ``publish`` expects of the team."""
    rules = rulebook.in_folder(handout)
    data = rules.read_handout(handout)
    sources = sources_of(release)
    is_attachment = rules.phase(ANONYMIZE).is_attachment
    attached = [source for source in sources if is_attachment(source.name)]
    files = [source for source in sources if source not in attached]
    facts = read_facts(handout, rules.name)
    team = facts.team if facts else ""
    named = rules.for_round(facts.round) if facts and team else rules
    attachments = Attachments.read(named, team, attached)
    try:
        if team:  # outside a contest any name will do
            check_names(named, team, files)
        submission = rules.read_release(data, files)
    except InputError as error:
        problems = Problems.join([error.problems, attachments.refused or Problems([])])
        raise InputError(problems) from error
    submission = attachments.attach_to(rules, data, submission)
    return CheckedRelease(rules, data, submission, attachments.refused)


@dataclass(frozen=True)
class Contest:
    """The steps of a contest by files; each is a command of the same name, too.

    Attributes
    ----------
    rules : Rulebook

    Examples
    --------
    >>> import tempfile
    >>> import kakurenbo as kb
    >>> folder = tempfile.mkdtemp()
    >>> contest = kb.contest("darc2019", scale="small", data="embedded")
    >>> preparation = contest.prepare(f"{folder}/contest", teams=2, seed=7)
    >>> release = contest.anonymize(f"{folder}/contest/teams/01", "monthly_pseudonyms", f"{folder}/A.csv", seed=1)
    >>> sorted(preparation.folders), len(release.tables)
    (['attackers', 'public', 'secret', 'teams/01', 'teams/02'], 1)
    """

    rules: AnyRulebook

    def prepare(
        self,
        out: str | Path,
        teams: int | Sequence[str],
        *,
        seed: int | None = None,
        unranked: Sequence[str] = (),
        judges: Sequence[str] = (),
        schedule: str | Path | None = None,
    ) -> Preparation:
        """Draw the data of a round and write the organizer's folder.

        Parameters
        ----------
        out : path
            A folder that is not there yet.
        teams : int or sequence of str
            How many, or their numbers.
        seed : int, optional
            Fixes all randomness. One that can be guessed gives the secrets away.
        unranked : sequence of str
            Teams without rank and award.
        judges : sequence of str
            Teams whose members judge; the results disclose them.
        schedule : path, optional
            A TOML file with the times of the phases.
        """
        check_free(Path(out))
        rules = self.rules
        if isinstance(teams, int):
            teams = [f"{number:02d}" for number in range(1, teams + 1)]
        seed = fresh_seed() if seed is None else seed
        dates = NO_SCHEDULE
        if schedule is not None:
            rounds = tuple(dict.fromkeys((*rules.rounds, rules.round_name)))
            dates = read_schedule(Path(schedule), rounds)
        preparation = engine.prepare(
            rules, seed, list(teams), list(unranked), judges=list(judges), schedule=dates
        )
        write_folder(out, preparation.files(), private=("secret", "teams"))
        return preparation

    def anonymize(
        self,
        handout: str | Path,
        method: Any,
        out: str | Path,
        *,
        release: str | Path | None = None,
        seed: int | None = None,
    ) -> Release:
        """Run a method on a team's folder and write the release.

        Parameters
        ----------
        handout : path
        method : Anonymizer or str
            A text is ``NAME:parameter=value,...``.
        out : path
            A file; a folder or zip archive where the contest has several files.
        release : path, optional
            What a repairing method brings closer to the handout.
        seed : int, optional
            Fixes all randomness.
        """
        made = self._method("anonymizers", method)
        rng, repaired = self._stream(seed, "anonymize"), None
        if release is None:
            rules = self.rules.in_folder(Path(handout))
            data = rules.read_handout(Path(handout))
        else:
            checked = check_release(self.rules, Path(handout), Path(release))
            rules = checked.rules
            tables = rules.released(checked.handout, checked.submission)
            if tables is None:
                shown = {"option": "--release", "method": type(made).__name__}
                raise UsageError("usage.takes_release_nobody", **shown)
            data, repaired = tables
        result, files = engine.anonymize(rules, data, made, rng, repaired)
        if rules.is_unchanged(data, result):
            notice("release.unchanged")
        if len(files) == 1:
            write_file(out, next(iter(files.values())))
        elif Path(out).suffix.lower() == ".zip":
            write_file(out, archive_bytes(rules.packed_files(data, files)))
        else:
            write_folder(out, files)
        return result

    def measure(self, handout: str | Path, release: str | Path) -> Utility:
        """Check a release and return its utility.

        Raises
        ------
        InputError
            With all problems, if the release is not well-formed under the rules.
        """
        checked = check_release(self.rules, Path(handout), Path(release))
        return checked.rules.measure(checked.handout, checked.submission)

    def publish(
        self,
        preparation: str | Path,
        submissions: str | Path,
        out: str | Path,
        *,
        with_disqualified: bool = False,
        team: str = "",
    ) -> PublishedRound:
        """Judge the releases of all teams, or of one, and write the phase folder."""
        check_free(Path(out))
        published = publish_round(
            self.rules,
            Path(preparation),
            Path(submissions),
            team=team,
            with_disqualified=with_disqualified,
        )
        write_folder(out, published.files, private=("answers",))
        return published

    def attack(
        self, target: str | Path, method: Any, out: str | Path, *, seed: int | None = None
    ) -> Any:
        """Run an attack on a published target, write the guess and return it.

        ``method`` is an attack, or a text ``NAME:parameter=value,...``.
        """
        rules = self.rules.in_folder(Path(target))
        made = self._method("attacks", method)
        attacked = rules.read_target(Path(target))
        guess, file = engine.attack(rules, attacked, made, self._stream(seed, "attack"))
        engine.check_guess(rules, attacked, Path(out).name, file)
        write_file(out, file)
        return guess

    def score(self, phase: str | Path, guesses: str | Path) -> Results:
        """Score all guesses of a round."""
        from kakurenbo.reports import scored_document

        scored = score_round(self.rules, Path(phase), Path(guesses))
        return Results(scored_document(self.rules.in_folder(Path(phase) / "public"), scored))

    def run(
        self,
        players: Iterable[Player] = (),
        *,
        repeats: int = 1,
        workers: int = 1,
        seed: int | None = None,
    ) -> Results:
        """Play a tournament of every anonymizer against every attack.

        Parameters
        ----------
        players : iterable of Player
            The default players of the contest if there are none.
        repeats : int
            Each with data of its own.
        workers : int
            Processes.
        seed : int, optional
            Fixes all randomness.
        """
        from kakurenbo import arena

        listed = list(players)
        teams = arena.teams_of(listed) if listed else arena.default_teams(self.rules)
        seed = fresh_seed() if seed is None else seed
        plan = arena.make_plan(self.rules, teams.entrants, seed, repeats=repeats)
        with tempfile.TemporaryDirectory(prefix="kakurenbo-") as folder:
            played = arena.play_tournament(
                plan, Path(folder), arena.processes(workers), arena.Settings(), lambda *_: None
            )
        return Results(played.document)

    def _method(self, group: str, method: Any) -> Any:
        made = registry.build(group, method, files=True) if isinstance(method, str) else method
        if reason := misfit(type(self.rules), made):
            raise UsageError("error.method_misfit", method=str(method), reason=reason)
        return made

    def _stream(self, seed: int | None, name: str) -> Any:
        return stream(fresh_seed() if seed is None else seed, name)


@dataclass(frozen=True)
class Results:
    """Results of a round or a tournament.

    Attributes
    ----------
    document : Document
        Everything that was computed.
    """

    document: Document

    @property
    def standings(self) -> dict[str, Any]:
        """Rankings, awards and details, as ``kakurenbo standings --json`` shows them."""
        return dict(self.document.standings())

    def to_frame(self) -> pl.DataFrame:
        """Return a row per attack."""
        import polars as pl

        from kakurenbo.reports import results_csv

        return pl.read_csv(results_csv(self.document).encode())

    def save(self, folder: str | Path) -> None:
        """Write ``results.json``, ``results.csv`` and ``report.html``."""
        from kakurenbo.reports import html_report, results_csv

        files = {
            "results.json": self.document.as_bytes(),
            "results.csv": results_csv(self.document).encode(),
            "report.html": html_report(self.document, {}).encode(),
        }
        for name, data in files.items():
            write_file(Path(folder) / name, data)
