"""Whoever audits a release reads one Japanese word for one thing: in messages, help and report, and on the pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from tests.catalogue import entries
from tests.docs.pages import REPOSITORY

from kakurenbo.audit.limits import DEFAULTS, RECORDS

WORDS = {
    "メンバーシップ推定": r"所属|メンバシップ|メンバーシップ(?!推定)|メンバー(?!シップ)",  # membership, members
    "選び出し": r"特定(?!」)|シングル|シングリング",  # singling out; the page on risks says that 「特定」 is something else
    "連結可能性": r"リンク可能|リンカビリティ|連結性",
    "属性推定": r"推論|属性の推定",
    "公開データ": r"リリース|公開版",
    "元データ": r"元の表|原データ|オリジナル",
    "ホールドアウト": r"取り置き|ホールド・アウト|検証用データ",
    "対照": r"コントロール|対照群",
    "上限": r"限度|許容値",
    "露出": r"露見|暴露|露呈|露出している",
    "漏えい": r"漏洩|漏れ(?![るてたま])|リーク",
    "自己検査": r"自己テスト|自己診断|セルフテスト|自分自身を検査",
    "知人": r"隣人",
    "競争相手": r"ライバル|競合",
    "内部者": r"インサイダー|内部関係者",
    "記録者": r"アーキビスト|保管者",
    "的中": r"命中|ヒット",
    "誤検出": r"誤報|誤警報|偽陽性",
    "無作為": r"くじ|抽選|ランダムに",
    "判定できない": r"結論が出|示せない|不確定",
    "悪化": r"悪くなっ",
    "架空のレコード": r"偽のレコード|ダミー",
    "対応表": r"鍵ファイル|キー表",
    "レポート": r"報告(?!し|値)|リポート",
    "基準": r"ベースライン",
    "種": r"シード",
    "フォルダ": r"フォルダー|ディレクトリ",
    "クラスタ": r"クラスター|スケジューラー",
    "誰": r"だれ",
}
"""Each with what it is not to be called: 特定 is to know who somebody is, which singling out is not."""
PAGES = ("docs/ja/audit.md", "docs/ja/audit-risks.md", "docs/ja/privacy-engineer.md")
_OF_AUDITS = re.compile(r"audit\.|(option|usage|verb|help)\.audit|expects\.")
_QUOTED = ("audit.regulation.",)
"""Words of laws and standards, which are theirs."""


def messages() -> Iterator[tuple[str, str]]:
    """Code and words of every message that belongs to audits."""
    for code, words in entries("ja").items():
        if _OF_AUDITS.match(code) and not code.startswith(_QUOTED):
            yield code, words


def paragraphs() -> Iterator[tuple[str, str]]:
    """Where it stands, and what is said of audits on pages; commands and files are not Japanese."""
    for name in (*PAGES, "README.ja.md", "docs/ja/README.md", "docs/ja/which-command.md"):
        text = re.sub(r"```.*?```", "", (REPOSITORY / name).read_text("utf-8"), flags=re.S)
        for line in text.splitlines():
            if name in PAGES or "監査" in line or "audit" in line:
                yield name, line


def others_in(text: str) -> set[str]:
    return {
        f"{found[0]} → {word}"
        for word, others in WORDS.items()
        for found in re.finditer(others, text)
    }


def test_messages_of_audits_call_each_thing_by_one_word() -> None:
    told = dict(messages())
    assert len(told) > 200
    assert {code: others for code, text in told.items() if (others := others_in(text))} == {}


def test_pages_on_audits_call_each_thing_by_one_word() -> None:
    assert [
        (name, line, others) for name, line in paragraphs() if (others := others_in(line))
    ] == []


@pytest.mark.parametrize("word", WORDS)
def test_the_words_themselves_are_in_use_and_not_forbidden(word: str) -> None:
    assert others_in(word) == set()
    stem = word.removesuffix("できない")
    assert any(stem in text for _, text in (*messages(), *paragraphs()))


def test_the_glossary_explains_the_words_of_risks_and_tables() -> None:
    glossary = (REPOSITORY / "docs" / "ja" / "README.md").read_text("utf-8")
    for code in (
        "risk.membership",
        "risk.singling_out",
        "risk.linkability",
        "risk.inference",
        "risk.records",
        "role.release",
    ):
        assert f"| {dict(messages())[f'audit.report.{code}']} (" in glossary


@pytest.mark.parametrize(
    ("page", "heading", "spoken"),
    [
        ("docs/explanation/audit-risks.md", "## The figures", "en"),
        ("docs/ja/audit-risks.md", "## 数値", "ja"),
    ],
)
def test_naive_guess_and_chance_are_explained_for_every_risk_that_has_a_limit(
    page: str, heading: str, spoken: str
) -> None:
    figures = (
        (REPOSITORY / page).read_text("utf-8").partition(f"{heading}\n")[2].partition("\n## ")[0]
    )
    words = entries(spoken)
    for column in ("baseline", "chance"):
        assert f"**{words[f'audit.report.heading.{column}']}**" in figures
        assert (
            words[f"audit.report.heading.{column}"].casefold()
            in words["audit.report.risks_hint"].casefold()
        )
    rows = {
        row.split(" | ")[0].removeprefix("| ")
        for row in figures.splitlines()
        if row.startswith("| ")
    }
    assert {words[f"audit.report.risk.{risk}"] for risk in DEFAULTS if risk != RECORDS} <= rows
    for name in ("`baseline`", "`p_value`", "`fewest`", "`--baseline`", "1/e", "Holm"):
        assert name in figures
    assert "5 %" in figures
