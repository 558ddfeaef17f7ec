"""What a planned release gives away: every attack of kakurenbo on any table, without a contest."""
