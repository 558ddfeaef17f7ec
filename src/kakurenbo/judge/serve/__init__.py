"""How the judge runs: one command that starts and watches over the database, the web, the workers and the sweep."""
