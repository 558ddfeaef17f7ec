"""Work on what was handed in: jobs with leases, judgings, what is published, credits and standings."""
