"""Verification of contest archives.

Needs no judge, no database and none of their packages; only the contest's rulebook.
"""

from kakurenbo.verification.archive import Archive, opened
from kakurenbo.verification.contest import Report, verify_archive
from kakurenbo.verification.differences import Difference
from kakurenbo.verification.log import check_kept, check_log

__all__ = ["Archive", "Difference", "Report", "check_kept", "check_log", "opened", "verify_archive"]
