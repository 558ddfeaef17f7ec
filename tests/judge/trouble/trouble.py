"""Hide-and-seek whose judge gets into trouble over certain files: it hogs memory, never ends, dies, or looks around."""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from hide_and_seek import HideAndSeek

import kakurenbo as kb


@dataclass(frozen=True)
class Trouble(HideAndSeek):
    """Hide people in a table, or do something else."""

    name: ClassVar[str] = "trouble"

    def check_release(self, handout: kb.Table, sources: Sequence[kb.Source]) -> kb.Reading[kb.Table]:
        word, _, rest = bytes(sources[0].read()[:200]).decode("ascii", "replace").strip().partition(" ")
        if word == "hog":
            hoarded = [np.empty(10_000_000) for _ in range(200)]
            return kb.Read(kb.Table(self.schema, dict.fromkeys(self.schema.names, hoarded[0])))
        if word == "loop":
            while True:
                time.sleep(0.01)
        if word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "wait":  # for the file that is named; then go on as if nothing had been
            while not Path(rest).exists():
                time.sleep(0.02)
            return super().check_release(handout, [kb.Source("hidden.csv", kb.table_bytes(handout))])
        return super().check_release(handout, sources)
