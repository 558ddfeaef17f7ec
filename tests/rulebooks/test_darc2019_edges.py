"""darc2019: what the other files leave open of figures and credits, each small enough to be checked by hand."""

from __future__ import annotations

from kakurenbo.rulebooks.darc2019 import Darc2019


def test_every_figure_has_the_sentence_of_its_name_and_what_is_ranked_shares_one() -> None:
    for name, figure in Darc2019.figures.items():
        assert figure.code == f"darc2019.figure.{'anonymization' if name in ('overall', 'score') else name}"
        assert len(set(figure.definitions.values())) == 2
