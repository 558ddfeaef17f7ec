"""The field that plays darc2019 where nobody is named.

Among the first, whom the demo plays, are the naive defence, one that uses the scoring rule, the honest strong one, an attacker
who looks at nothing, and our best one. Attackers differ; teams beyond the attacks there are only anonymize.
"""

from __future__ import annotations

from kakurenbo.contest import Player

DEFAULT_PLAYERS = (
    Player("monthly pseudonyms", "monthly_pseudonyms", "tfidf"),
    Player("yearly pseudonyms", "monthly_pseudonyms:period=year", "fellegi_sunter"),
    Player("noisy values", "values", "overlap:one_to_one=true"),
    Player("mixed crowds", "mixed_crowds", "blind_shop"),
    Player("small crowds", "crowds:smallest=3", "two_owners"),
    Player("crowds", "crowds", "rhythm"),
    Player("shuffled dates", "dates", "profile"),
    Player("swapped baskets", "swap_baskets:k=10", "fellegi_sunter:fields=price,size"),
    Player("swapped items", "swap_items:share=0.05", "profile:link_months=true"),
    Player("few deleted", "delete:share=0.05", "fellegi_sunter:fields=date,price"),
    Player("rare items deleted", "delete:share=0.1,which=rare_items"),
)
