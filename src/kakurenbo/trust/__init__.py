"""What a judge's log is made of, and what proves things about it: tree, entries, signed checkpoints, receipts.

Needs no judge and no database: whoever has a receipt, or an archive, checks it with this alone.
"""

from kakurenbo.trust.checkpoints import Checkpoint, NotWhatItSays
from kakurenbo.trust.entries import content_digest, entry_bytes, leaf_of
from kakurenbo.trust.receipts import Receipt, read_kept
from kakurenbo.trust.tree import Tree, grew, leaf_hash, root_from_path

__all__ = [
    "Checkpoint",
    "NotWhatItSays",
    "Receipt",
    "Tree",
    "content_digest",
    "entry_bytes",
    "grew",
    "leaf_hash",
    "leaf_of",
    "read_kept",
    "root_from_path",
]
