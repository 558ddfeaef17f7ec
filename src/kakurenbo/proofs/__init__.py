"""Log, receipts, verification of archives.

Needs neither a judge nor a database: a receipt or an archive is checked with this package and the contest's rulebook alone. The
names below are the log; `kakurenbo.proofs.verify` checks a whole archive.
"""

from kakurenbo.proofs.log import Checkpoint, ProofError, content_digest, entry_bytes, leaf_of
from kakurenbo.proofs.merkle import Tree, leaf_hash, root_from_path, verify_consistency
from kakurenbo.proofs.receipts import Receipt, read_proof

__all__ = [
    "Checkpoint",
    "ProofError",
    "Receipt",
    "Tree",
    "content_digest",
    "entry_bytes",
    "leaf_hash",
    "leaf_of",
    "read_proof",
    "root_from_path",
    "verify_consistency",
]
