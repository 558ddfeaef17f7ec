"""What an attacker knows of one release: B and D_i, and by the questionnaire beside D_i how its cells were randomized."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kakurenbo.attacks.membership import MembershipKnowledge
from kakurenbo.contest import Anonymizer, AnyRulebook, read_facts
from kakurenbo.contest.facts import TARGET
from kakurenbo.core import Layout, Source, gather, read_table, sources_of
from kakurenbo.core.errors import UsageError
from kakurenbo.data.adult import SCHEMA
from kakurenbo.rulebooks.amic2020 import files
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire, read_questionnaire


def knowledge_of(
    rulebook: type[AnyRulebook], sources: Sequence[Source], declared: Anonymizer | None
) -> MembershipKnowledge:
    """Knowledge from the files of ``targets/NN`` and ``attackers``, or from single files B and D, in this order.

    Parameters
    ----------
    rulebook : type of Rulebook
    sources : sequence of Source
    declared : Anonymizer or None
        The method that the attacker assumes, in place of the one in the questionnaire.
    """
    population_file, release_file, form_file = _told_apart(sources)
    layout, form = Layout(min_rows=1), Questionnaire()
    with gather() as problems:
        population = problems.of(read_table, population_file, SCHEMA, layout)
        release = problems.of(read_table, release_file, SCHEMA, layout)
        if form_file is not None:
            form = problems.of(read_questionnaire, form_file, rulebook, published=True)
    if len(population) < files.GUESSES:
        raise UsageError("error.amic2020_rows", at=population_file.name, rows=files.GUESSES)
    method = declared or form.method()
    mechanism = method.mechanism(release) if method is not None else None
    return MembershipKnowledge(population, release, files.GUESSES, mechanism, method)


def _told_apart(sources: Sequence[Source]) -> tuple[Source, Source, Source | None]:
    """B, D and the questionnaire: by their names where these tell, else B first."""
    forms = [source for source in sources if files.QUESTIONNAIRE_NAME.fullmatch(source.name)]
    tables = [source for source in sources if source not in forms]
    if len(tables) != 2 or len(forms) > 1:
        raise UsageError("error.amic2020_files")
    population, release = tables
    if files.RELEASE_NAME.fullmatch(population.name) and files.POPULATION_NAME.fullmatch(
        release.name
    ):
        population, release = release, population
    return population, release, forms[0] if forms else _form_beside(release)


def _form_beside(release: Source) -> Source | None:
    """The questionnaire beside a release that is named by its file, where this lies in a published target."""
    folder = release.origin.parent if isinstance(release.origin, Path) else None
    facts = read_facts(folder) if folder is not None else None
    if folder is None or facts is None or facts.folder != TARGET:
        return None
    named = (source for source in sources_of(folder) if source.name.startswith("questionnaire"))
    return next(named, None)
