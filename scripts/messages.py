"""Put the message catalogues into alphabetical order, and compile them.

python -m scripts.messages                                  after changes in an editor
python -m scripts.messages CODE ENGLISH JAPANESE            add or replace a message; CODE.fix is what to do about it
python -m scripts.messages --remove CODE...                 remove messages, each with its fix
"""

from __future__ import annotations

import argparse
from pathlib import Path

from kakurenbo.core import messages
from kakurenbo.core.messages.po import Entry, compiled, format_po, parse_po


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--remove", nargs="+", default=[], metavar="CODE")
    parser.add_argument("message", nargs="*", metavar="CODE ENGLISH JAPANESE")
    arguments = parser.parse_args()
    if arguments.message and len(arguments.message) != 1 + len(messages.LANGUAGES):
        parser.error("give the code and its text in each language")
    folder = Path(messages.__file__).parent
    for number, language in enumerate(messages.LANGUAGES, start=1):
        path = folder / f"{language}.po"
        header, *entries = parse_po(path.read_text(encoding="utf-8"))
        gone = {*arguments.remove, *(f"{code}.fix" for code in arguments.remove)}
        if arguments.message:
            code, text = arguments.message[0], arguments.message[number]
            gone.add(code)
        kept = [entry for entry in entries if entry.context or entry.id not in gone]
        if arguments.message:
            kept.append(Entry("", code, "", (text,)))
        path.write_text(format_po(header.forms[0], kept), encoding="utf-8")
        compiled(folder, language)


if __name__ == "__main__":
    main()
