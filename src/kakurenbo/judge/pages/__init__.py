"""The pages people see: forms, templates, and nothing that decides."""
