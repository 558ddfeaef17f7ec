"""One module for each thing that people come for."""
