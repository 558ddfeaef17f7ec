"""The log of everything that happens, as a tree of hashes that anybody can check."""
