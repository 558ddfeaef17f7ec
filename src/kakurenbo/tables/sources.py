"""`Source`: the bytes of one input file, wherever they lie, read with a limit because every byte is hostile."""

from __future__ import annotations

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

from kakurenbo.tables.problems import Problem, Problems, Severity

DEFAULT_LIMIT = 100 * 1000 * 1000  # bytes after unpacking


@dataclass(frozen=True)
class Source:
    """One input file.

    Attributes
    ----------
    name : str
        The name that messages show.
    origin : Path or bytes
        Where the bytes are. A name that ends in ``.gz`` is unpacked while reading.
    """

    name: str
    origin: Path | bytes

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """The source of a path, under the path's own name."""
        return cls(Path(path).name, Path(path))

    def read(self, limit: int = DEFAULT_LIMIT) -> bytes | Problems:
        """All bytes, or why they cannot be had; never holds more than ``limit`` + 1 bytes."""
        try:
            with io.BytesIO(self.origin) if isinstance(self.origin, bytes) else self.origin.open("rb") as raw:
                if self.name.endswith(".gz"):
                    with gzip.GzipFile(fileobj=raw) as unpacked:
                        data = unpacked.read(limit + 1)
                else:
                    data = raw.read(limit + 1)
        except FileNotFoundError:
            return self._refused("there is no such file", "check the path")
        except IsADirectoryError:
            return self._refused("this is a folder, not a file", "name the file in it")
        except PermissionError:
            return self._refused("the file may not be read", "check its permissions")
        except (OSError, EOFError, zlib.error) as error:
            reason = type(error).__name__ if isinstance(error, zlib.error) else str(error).split("[")[0].strip()
            return self._refused(f"the file cannot be read ({reason})", "save it again")
        if len(data) > limit:
            return self._refused(f"the file is larger than {limit:,} bytes", "a table of this contest is far smaller")
        return data

    def _refused(self, message: str, fix: str) -> Problems:
        return Problems([Problem(message, fix, self.name, severity=Severity.MALFORMED)])


def sources_of(path: str | Path) -> list[Source]:
    """The files that a path stands for: itself, or what lies in the folder (hidden files aside), by name."""
    path = Path(path)
    if path.is_dir():
        return [Source.of(file) for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith(".")]
    return [Source.of(path)]
