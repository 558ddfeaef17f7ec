"""The field that plays darc2019 where nobody is named: attackers differ; teams beyond the attacks there are only anonymize."""

from __future__ import annotations

from kakurenbo.contracts import Player

DEFAULT_PLAYERS = (
    Player("monthly pseudonyms", "monthly_pseudonyms", "tfidf"),
    Player("yearly pseudonyms", "monthly_pseudonyms:period=year", "fellegi_sunter"),
    Player("noisy values", "values", "rhythm"),
    Player("shared baskets", "share_baskets:k=2", "profile"),
    Player("small crowds", "crowds:smallest=3", "fellegi_sunter:fields=date,price"),
    Player("crowds", "crowds", "profile:link_months=true"),
    Player("swapped baskets", "swap_baskets:k=10", "fellegi_sunter:fields=price,size"),
    Player("swapped items", "swap_items:share=0.05"),
    Player("few deleted", "delete:share=0.05"),
    Player("rare items deleted", "delete:share=0.1,which=rare_items"),
)
