"""Side-by-side timings: each ratio compares us with something in the same run. ``make bench`` runs them all."""
