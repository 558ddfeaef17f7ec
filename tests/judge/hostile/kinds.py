"""The list of hostile things, each with what the judge answers: this table, and nothing else, says what is refused and how."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

from tests.judge.hostile import files as f
from tests.judge.hostile import talks
from tests.judge.hostile.field import TABLES, ZIPS, Answer, Player

TABLE, FORM, _ZIP = "pre_anonymizeddata_NN.csv", "questionnaire_NN.json", "CNN.zip"
_MB = 1 << 20


class Content(NamedTuple):
    """A file that has a good name: it is taken, and refused by the check, which names it with this code.

    The form comes beside a good table, everything else alone.
    """

    id: str
    make: f.Maker
    code: str
    name: str = TABLE

    @property
    def contest(self) -> str:
        return ZIPS if self.name == _ZIP else TABLES


class Name(NamedTuple):
    """A file that has a name which is not asked for: no byte of it is kept. In an address it stands as it is here."""

    id: str
    name: str
    code: str
    status: int = 422


class Talk(NamedTuple):
    """A way to send: what is answered to it. ``code`` is empty where the judge speaks no JSON yet, or the sender is gone."""

    id: str
    act: Callable[[Player, str], Answer]
    status: int
    code: str
    contest: str = TABLES


TABLE_KINDS = (
    Content("empty file", f.instead(b""), "text.empty"),
    Content("one line end", f.instead(b"\n"), "text.empty"),
    Content("NUL bytes", f.cell(b"2\x007"), "text.nul"),
    Content("zeros alone", f.repeated(b"\0", _MB), "text.nul"),
    Content("formula", f.cell(b"=cmd|' /C calc'!A0"), "cell.not_in_domain"),
    Content(
        "formula that fetches",
        f.cell(b'"=HYPERLINK(""http://example.com"")"'),
        "cell.not_in_domain",
    ),
    Content("script in a cell", f.cell(b"<script>alert(1)</script>"), "cell.not_in_domain"),
    Content("SQL in a cell", f.cell(b"1'); DROP TABLE teams;--"), "cell.not_in_domain"),
    Content("escape codes", f.cell(b"\x1b[2J27"), "cell.not_in_domain"),
    Content("right-to-left override", f.cell("\u202e72".encode()), "cell.not_in_domain"),
    Content("Arabic digits", f.cell("٢٧".encode()), "cell.not_in_domain"),
    Content("full-width digits", f.cell("２７".encode()), "cell.not_in_domain"),
    Content("1e999", f.cell(b"1e999"), "cell.not_in_domain"),
    Content("nan", f.cell(b"nan"), "cell.not_in_domain"),
    Content("inf", f.cell(b"inf"), "cell.not_in_domain"),
    Content("minus zero", f.cell(b"-0"), "cell.not_in_domain"),
    Content("hexadecimal", f.cell(b"0x1b"), "cell.not_in_domain"),
    Content("integer of a million digits", f.cell(b"9" * 10**6), "line.too_long"),
    Content("a million columns", f.instead(b"1," * 10**6 + b"1\n"), "line.too_long"),
    Content("one line without end", f.repeated(b"a", 8 * _MB), "line.too_long"),
    Content("ten million empty lines", f.repeated(b"\n", 10**7), "text.empty"),
    Content("far too many rows", f.rows_repeated(40), "table.row_count"),
    Content("quote that never ends", f.cell(b'"27'), "line.open_quote"),
    Content("lines in quotes", f.cell(b'"27\n28"'), "line.open_quote"),
    Content("UTF-16", f.encoded("utf-16"), "text.utf16"),
    Content("UTF-32", f.encoded("utf-32"), "text.nul"),
    Content("Latin-1", f.encoded("latin-1"), "text.not_utf8"),
    Content("overlong UTF-8", f.cell(b"\xc0\xb27"), "text.not_utf8"),
    Content("half a character", f.cell(b"\xed\xa0\x807"), "text.not_utf8"),
    Content("PDF", f.instead(f.PDF), "line.wrong_width"),
    Content("PNG", f.instead(f.PNG), "text.nul"),
    Content("HTML", f.instead(f.HTML), "line.wrong_width"),
    Content("program", f.instead(f.ELF), "text.nul"),
    Content("JSON", f.instead(b'{"rows": [[1, 2]]}\n'), "line.wrong_width"),
    Content("pickle", f.of_pickle, "text.nul"),
    Content("npz", f.of_numpy, "text.zip"),
    Content("Parquet", f.of_parquet, "text.nul"),
    Content("zip called csv", f.zip_of("a.csv"), "text.zip"),
    Content("gzip called csv", f.packed(1), "text.gzip"),
    Content("gzip in gzip", f.packed(2), "text.gzip", f"{TABLE}.gz"),
    Content("gzip in gzip in gzip", f.packed(3), "text.gzip", f"{TABLE}.gz"),
    Content("gzip bomb", f.packed(1, 101 * _MB), "source.too_large", f"{TABLE}.gz"),
    Content("gzip bomb in gzip", f.packed(2, 101 * _MB), "text.gzip", f"{TABLE}.gz"),
    Content(
        "gzip cut off", lambda table: f.packed(1)(table)[:-200], "source.unreadable", f"{TABLE}.gz"
    ),
    Content("csv called gzip", lambda table: table, "source.unreadable", f"{TABLE}.gz"),
    Content("deep JSON", f.instead(b"[" * 9000), "json.too_deep", FORM),
    Content(
        "JSON number of thousands of digits", f.instead(b"9" * 9000), "json.number_too_long", FORM
    ),
    Content(
        "JSON of other things",
        f.instead(b'{"a": NaN, "a": 1e999, "__proto__": {}}'),
        "json.not_finite",
        FORM,
    ),
)
ZIP_KINDS = (
    Content("zip bomb", f.zip_bomb(5 * _MB), "archive.bomb", _ZIP),
    Content("zip bomb beyond the limit", f.zip_bomb(101 * _MB), "archive.too_large", _ZIP),
    Content("zip in a zip", f.zip_of("inner.zip"), "entry.archive", _ZIP),
    Content(
        "zip in a zip, called csv", f.zip_with(f.zipped([("a.csv", b"1\n")])), "entry.archive", _ZIP
    ),
    Content("zip that holds itself", f.instead(f.QUINE_LIKE), "entry.archive", _ZIP),
    Content("entries that overlap", f.zip_of_overlaps, "archive.unreadable", _ZIP),
    Content("entry that climbs out", f.zip_of("../../etc/cron.d/x"), "entry.leads_out", _ZIP),
    Content("entry with an absolute path", f.zip_of("/etc/passwd"), "entry.absolute", _ZIP),
    Content("entry with a drive letter", f.zip_of("C:/Windows/x.csv"), "entry.absolute", _ZIP),
    Content("entry with backslashes", f.zip_of("a\\b.csv"), "entry.backslash", _ZIP),
    Content("entry that climbs by backslashes", f.zip_of("..\\..\\x.csv"), "entry.leads_out", _ZIP),
    Content("symbolic link", f.zip_of_kind(f.LINK), "entry.link", _ZIP),
    Content("character device", f.zip_of_kind(f.DEVICE), "entry.special", _ZIP),
    Content("block device", f.zip_of_kind(f.BLOCK), "entry.special", _ZIP),
    Content("pipe", f.zip_of_kind(f.PIPE), "entry.special", _ZIP),
    Content("socket", f.zip_of_kind(f.SOCKET), "entry.special", _ZIP),
    Content("NUL in an entry's name", f.zip_with_nul, "entry.no_name", _ZIP),
    Content("encrypted entry", f.zip_lying(f.FLAGS, "<H", 1), "entry.encrypted", _ZIP),
    Content(
        "bzip2 entry",
        f.zip_of(f.RELEASE_IN_ZIP, method=zipfile.ZIP_BZIP2),
        "entry.unusual_method",
        _ZIP,
    ),
    Content(
        "LZMA entry",
        f.zip_of(f.RELEASE_IN_ZIP, method=zipfile.ZIP_LZMA),
        "entry.unusual_method",
        _ZIP,
    ),
    Content(
        "entry of a method that nobody knows",
        f.zip_lying(f.METHOD, "<H", 99),
        "entry.unusual_method",
        _ZIP,
    ),
    Content("entry larger than it says", f.zip_lying(f.SIZE, "<L", 3), "archive.unreadable", _ZIP),
    Content(
        "entry smaller than it says",
        f.zip_lying(f.SIZE, "<L", 4000),
        "entry.larger_than_said",
        _ZIP,
    ),
    Content("entry with a wrong checksum", f.zip_lying(f.CRC, "<L", 1), "archive.unreadable", _ZIP),
    Content(
        "directory that contradicts the entry",
        f.zip_lying(f.METHOD, "<H", 8, local=False),
        "archive.unreadable",
        _ZIP,
    ),
    Content("zip64 entry of an exabyte", f.zip_of_giant(f.ZIP64_GIANT), "archive.too_large", _ZIP),
    Content("broken zip64 field", f.zip_of_giant(f.ZIP64_BROKEN), "archive.unreadable", _ZIP),
    Content(
        "thousands of entries",
        f.zip_of(*(f"{n}.csv" for n in range(3000))),
        "archive.too_many_entries",
        _ZIP,
    ),
    Content(
        "more files than are asked for",
        f.zip_of(*(f"{n}.csv" for n in range(30))),
        "archive.too_many_files",
        _ZIP,
    ),
    Content("names that differ in case", f.zip_of("C01_0.csv", "c01_0.CSV"), "entry.twice", _ZIP),
    Content("folders in folders", f.zip_of("a/b/c/d/C01_0.csv"), "archive.several_folders", _ZIP),
    Content("zip cut off", f.zip_cut, "archive.unreadable", _ZIP),
    Content("zip of nothing", f.zip_of(), "pwscup2024.files_missing", _ZIP),
    Content("PDF called zip", f.instead(f.PDF), "archive.unreadable", _ZIP),
    Content(
        "homoglyph in an entry's name", f.zip_of("\u042101_0.csv"), "pwscup2024.strange_file", _ZIP
    ),
    Content(
        "right-to-left override in an entry's name",
        f.zip_of("C01_0\u202evsc.csv"),
        "pwscup2024.strange_file",
        _ZIP,
    ),
    Content(
        "line end in an entry's name", f.zip_of("C01\n_0.csv"), "pwscup2024.strange_file", _ZIP
    ),
    Content("reserved name of an entry", f.zip_of("NUL.csv"), "pwscup2024.strange_file", _ZIP),
    Content(
        "name of an entry without end",
        f.zip_of("a" * 60_000 + ".csv"),
        "pwscup2024.strange_file",
        _ZIP,
    ),
    Content("entry of zeros and NUL", f.zip_with(bytes(1000)), "pwscup2024.files_missing", _ZIP),
)
NAME_KINDS = (
    Name("climbs out", quote("../../../etc/passwd", safe=""), "release.bad_name"),
    Name("absolute", quote("/etc/passwd", safe=""), "release.bad_name"),
    Name("drive letter", quote("C:\\x.csv", safe=""), "release.bad_name"),
    Name("backslashes", quote("..\\..\\x.csv", safe=""), "release.bad_name"),
    Name("encoded twice", "%252e%252e%252fpasswd", "submissions.no_such_file"),
    Name("right-to-left override", quote("pre_anonymizeddata_01\u202evsc.exe"), "release.bad_name"),
    Name("homoglyph", quote("рre_anonymizeddata_01.csv"), "submissions.no_such_file"),
    Name("full-width digits", quote("pre_anonymizeddata_０１.csv"), "submissions.no_such_file"),
    Name("too long", "a" * 4000 + ".csv", "release.bad_name"),
    Name("line end", quote("pre_anonymizeddata_01.csv\nSet-Cookie: a=b"), "missing", 404),
    Name("carriage return", quote("pre_anonymizeddata_01.csv\r"), "release.bad_name"),
    Name("escape code", quote("\x1b[2J.csv"), "release.bad_name"),
    Name("NUL", quote("pre_anonymizeddata_01.csv\0.exe"), "missing", 404),
    Name("half a character", "pre_%ED%A0%80.csv", "release.unsafe_name"),
    Name("device", "NUL.csv", "release.unsafe_name"),
    Name("option", "-rf", "release.unsafe_name"),
    Name("hidden", ".htaccess", "release.bad_name"),
    Name("space at the end", quote("pre_anonymizeddata_01.csv "), "release.unsafe_name"),
    Name("dot at the end", "pre_anonymizeddata_01.csv.", "release.unsafe_name"),
    Name("other case", "PRE_ANONYMIZEDDATA_01.CSV", "submissions.no_such_file"),
    Name("script", quote("<script>alert(1)</script>", safe=""), "release.bad_name"),
    Name("markup", quote("<img src=x onerror=alert(1)>"), "release.unsafe_name"),
    Name("alternate stream", quote("pre_anonymizeddata_01.csv:hidden"), "release.unsafe_name"),
    Name("program", "pre_anonymizeddata_01.exe", "submissions.no_such_file"),
    Name("no name", "", "missing", 404),
)
_NO_FILE, _NO_SUCH_FILE, _UNREADABLE = (
    "submissions.no_file",
    "submissions.no_such_file",
    "page.error_400",
)
_THREE = ("pre_anonymizeddata_01.csv", "questionnaire_01.json", "pre_anonymizeddata_02.csv")
FORMS: tuple[tuple[str, int, str, tuple[str, ...], dict[str, str]], ...] = (
    ("form without a file", 302, _NO_FILE, (), {}),
    ("form with a file without a name", 302, _NO_FILE, ("",), {}),
    ("form with a file that climbs out", 302, _NO_SUCH_FILE, ("../../etc/passwd",), {}),
    ("form with a path of Windows", 302, _NO_SUCH_FILE, ("C:\\\\x\\\\autorun.inf",), {}),
    ("form with more files than an entry has", 302, "release.too_many_files", _THREE, {}),
    ("form with a thousand files", 400, _UNREADABLE, ("a.csv",) * 1000, {}),
    ("form that is cut off", 302, _NO_FILE, ("a.csv",), {"end": ""}),
    ("form without a boundary", 400, _UNREADABLE, ("a.csv",), {"kind": "multipart/form-data"}),
)
"""What a browser sends from the page without a script."""
TALK_KINDS = (
    Talk("announces a terabyte", talks.announcing(10**12), 413, "too_large"),
    Talk(
        "announces nothing and streams beyond the limit",
        talks.streaming("questionnaire_NN.json", 2 * _MB),
        413,
        "too_large",
    ),
    Talk("announces a size below zero", talks.head_line("Content-Length: -5"), 400, ""),
    Talk("announces no number", talks.head_line("Content-Length: 0x10"), 400, ""),
    Talk(
        "announces two sizes", talks.head_line("Content-Length: 3", "Content-Length: 30"), 400, ""
    ),
    Talk("sends less than announced", talks.half_sent, 400, "cut_off"),
    Talk("sends more than announced", talks.more_than_announced, 201, ""),
    Talk("sends chunks without end", talks.chunks_without_end, 400, "cut_off"),
    Talk(
        "sends a chunk of more bytes than there are numbers",
        talks.chunk(b"F" * 20 + b"\r\n"),
        400,
        "cut_off",
    ),
    Talk("sends a chunk of no size", talks.chunk(b"zz\r\n"), 400, "cut_off"),
    Talk("hides a request behind two lengths", talks.smuggled, 201, ""),
    Talk("sends requests without waiting", talks.pipelined, 422, "submissions.no_file"),
    Talk("sends a thousand headers", talks.head_line(*(f"X-{n}: 1" for n in range(1000))), 431, ""),
    Talk("sends a header of a megabyte", talks.giant_header, 431, ""),
    Talk("names another host", talks.other_host, 400, ""),
    Talk("shows no token", talks.with_token(""), 401, "anonymous"),
    Talk("shows a wrong token", talks.with_token("Bearer kakurenbo_" + "x" * 43), 401, "token"),
    Talk(
        "shows a token of a megabyte less", talks.with_token("Bearer " + "x" * 60_000), 401, "token"
    ),
    Talk("shows a token of signs", talks.with_token("Bearer \xff\xfe' OR 1=1 --"), 401, "token"),
    Talk("shows a name and a password", talks.with_token("Basic YTpi"), 401, "token"),
    Talk("sends for another team", talks.for_another_team, 404, "missing"),
    Talk("sends for a submission that nobody began", talks.to_nobody, 404, "missing"),
    Talk(
        "begins in a phase that is not open",
        talks.begin_in("attack"),
        422,
        "submissions.not_open_yet",
    ),
    Talk("begins in a phase that there is not", talks.begin_in("x"), 404, "missing"),
    Talk("finishes without a file", talks.finish_empty, 422, "submissions.no_file"),
    Talk("sends when it has finished", talks.after_finish, 422, "submissions.finished"),
    Talk("sends when it was taken back", talks.after_withdrawal, 422, "submissions.finished"),
    Talk("sends ten thousand files", talks.many_files, 422, "release.too_many_files", ZIPS),
    Talk("overrides the method", talks.method_override, 201, ""),
    Talk("posts a file as a form", talks.as_form, 405, "method"),
    Talk("posts a deep JSON", talks.posted(b"[" * 100_000), 201, ""),
    Talk(
        "posts ten megabytes where nothing is read",
        talks.posted(b"[" * 10 * _MB),
        413,
        "request_too_large",
    ),
    Talk(
        "posts without end where nothing is read",
        talks.posted_without_end,
        413,
        "request_too_large",
    ),
    *(
        Talk(what, talks.form(code, *names, **more), status, code)
        for what, status, code, names, more in FORMS
    ),
    Talk("packs the body in another gzip by a header", talks.content_encoding, 201, ""),
)
LARGE_CONTENTS = (
    Content("gigabyte of zeros in gzip", f.zeros_in_gzip(10**9), "source.too_large", f"{TABLE}.gz"),
    Content("gigabyte of zeros in a zip", f.zip_bomb(1000 * _MB), "archive.too_large", _ZIP),
    Content("zip of noise", f.zip_of_noise(90 * _MB), "pwscup2024.files_missing", _ZIP),
    Content("one line of 95 MB", f.repeated(b"a", 95 * 10**6), "line.too_long"),
    Content("95 million empty lines", f.repeated(b"\n", 95 * 10**6), "text.empty"),
    Content("47 million lines of one cell", f.repeated(b"1\n", 47 * 10**6), "table.row_count"),
    Content("95 MB of good rows", f.rows_repeated(1250), "table.row_count"),
    Content("95 MB of quotes", f.repeated(b'"', 95 * 10**6), "line.too_long"),
    Content("95 MB of commas", f.repeated(b",", 95 * 10**6), "line.too_long"),
    Content("noise of 95 MB", f.noise(95 * 10**6), "text.nul"),
)
LARGE_TALKS = (
    Talk(
        "announces a gigabyte and sends it",
        talks.sending("pre_anonymizeddata_NN.csv", 10**9, "announced"),
        413,
        "too_large",
    ),
    Talk(
        "streams a gigabyte",
        talks.sending("pre_anonymizeddata_NN.csv", 10**9, "streamed"),
        413,
        "too_large",
    ),
    Talk("posts a gigabyte where nothing is read", talks.posting(10**9), 413, "request_too_large"),
    Talk("drips a byte every second", talks.dripping, 408, "too_slow"),
    Talk("falls silent", talks.falling_silent, 408, "too_slow"),
    Talk("drips its headers", talks.dripping_headers, 0, ""),
)
"""What needs its size or its time: for a soak test."""
CONTENTS = (*TABLE_KINDS, *ZIP_KINDS)
KINDS = (*CONTENTS, *NAME_KINDS, *TALK_KINDS)
