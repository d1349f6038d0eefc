"""Feedback pages: what they say, that they ask for nothing, and where their files go."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from export_samples import (
    ADA,
    BOB,
    NASTY,
    SEED,
    each_kind,
    failed_report,
    grader_fault_report,
    hostile_record,
    make_record,
    make_report,
    overridden,
)
from feedback_samples import SOURCE, fault, make_kata, passed
from feedback_samples import check as make_check
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonkata.exports import markup, pages
from tritonkata.exports.filenames import stem
from tritonkata.model.record import Student

KINDS = each_kind()
VOID = {"meta", "br", "hr", "img", "link", "input"}
EXPECTED_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "dl", "dt", "dd", "div", "table"),
    *("thead", "tbody", "tr", "th", "td", "section", "ul", "ol", "li", "pre", "code", "strong", "span"),
}
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}


class Reader(HTMLParser):
    """Tags, attributes and text of a page; fails where tags are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def html_of(record, folder, source=SOURCE):
    html = pages.to_html(record, make_kata(folder), source)
    reader = Reader(html)
    assert reader.open == []
    return html, reader


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole_and_asks_for_nothing(kind, tmp_path):
    html, reader = html_of(KINDS[kind], tmp_path)
    assert set(reader.tags) <= EXPECTED_TAGS
    assert not {"src", "href", "onload", "onerror", "srcset", "action"} & {name for name, _ in reader.attributes}
    style = html.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style


@pytest.mark.parametrize("kind", KINDS)
def test_both_pages_say_the_same_and_never_the_seed(kind, tmp_path):
    record = KINDS[kind]
    markdown = pages.to_markdown(record, make_kata(tmp_path), SOURCE)
    html, reader = html_of(record, tmp_path)
    page = pages.page_of(record, make_kata(tmp_path), SOURCE)
    for text in (markdown, html):
        assert str(SEED) not in text
        assert "seed" not in text.lower().replace("exceed", "")
    words = [page.outcome, page.score, page.override, *(row.result for row in page.rows)]
    flat = re.sub(r"\s+", " ", reader.text)
    unescaped = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)
    for line in words:
        assert re.sub(r"\s+", " ", line) in flat
        assert line in unescaped


def test_partial_credit_and_the_explanation_stand_together(tmp_path):
    record = make_record(failed_report())
    markdown = pages.to_markdown(record, make_kata(tmp_path), SOURCE)
    _, reader = html_of(record, tmp_path)
    for text in (markdown, reader.text):
        assert "Score 1 of 6" in text
        assert "0.73106" in text
        assert "Full size: needs the engine gpu" in text
        assert "Requested: 3 traversals" in text
    assert "Ada Lovelace" in reader.text


def test_a_score_by_hand_is_shown_with_its_reason(tmp_path):
    _, reader = html_of(overridden(score=7.5), tmp_path)
    assert "Score 7.5 of 6, set by hand, no medal yet" in reader.text
    assert "set to 7.5 by Prof. Tan" in reader.text
    assert "Regraded after appeal. The grader gave 1." in reader.text
    _, reader = html_of(overridden(grader_fault_report()), tmp_path)
    assert "The grader gave no score." in reader.text


def test_a_fault_of_the_grader_gives_no_score_and_nothing_to_do(tmp_path):
    _, reader = html_of(make_record(grader_fault_report()), tmp_path)
    assert "The grader failed" in reader.text
    assert "No score" in reader.text
    assert "Score 0" not in reader.text
    assert "Tell your instructor" in reader.text


def test_a_late_mark_and_the_time_are_passed_through(tmp_path):
    _, reader = html_of(make_record(late=True, attempt=3), tmp_path)
    assert "2025-03-01T23:59:59+00:00 (late)" in reader.text
    _, reader = html_of(make_record(late=None), tmp_path)
    assert "late" not in reader.text


def test_the_learners_own_line_is_shown(tmp_path):
    report = make_report(passed(), make_check("forbidden_host_op", fault=fault("forbidden_host_op", "host")))
    markdown = pages.to_markdown(make_record(report), make_kata(tmp_path), SOURCE)
    assert "    5 |" in markdown
    html, reader = html_of(make_record(report), tmp_path)
    assert "torch.softmax(x, -1)" in reader.text
    assert '<span class="marker">' in html


def test_hostile_text_shows_and_does_nothing(tmp_path):
    _, reader = html_of(hostile_record(), tmp_path)
    assert "<script>" in reader.text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", reader.text)
    assert "{{ 7 * 7 }}" in reader.text
    markdown = pages.to_markdown(hostile_record(), make_kata(tmp_path), SOURCE)
    assert not re.search(r"^# head", markdown, re.MULTILINE)
    assert not re.search(r"(?<!\\)\]\(javascript", markdown)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_markdown_becomes_closed_harmless_tags(text):
    reader = Reader(markup.to_html(text))
    assert reader.open == []
    assert set(reader.tags) <= EXPECTED_TAGS
    assert reader.attributes in ([], *([[("scope", "col")] * count for count in range(1, 40)]))


def test_light_markdown_becomes_the_tags_that_it_means():
    text = (
        "A **bold** `code` word.\n\n- one\n- two\n\n| a | b |\n|---|---:|\n| 1 | \\|x |\n\n```\nx < y\n```\n\nNext: go."
    )
    html = markup.to_html(text)
    assert "<p>A <strong>bold</strong> <code>code</code> word.</p>" in html
    assert "<ul><li>one</li><li>two</li></ul>" in html
    assert '<tr><th scope="col">a</th><th scope="col">b</th></tr>' in html
    assert "<tr><td>1</td><td>|x</td></tr>" in html
    assert "<pre>x &lt; y</pre>" in html
    assert html.endswith("<p>Next: go.</p>")


def test_files_are_written_for_every_student_of_a_group(tmp_path):
    kata = make_kata(tmp_path)
    written = pages.write([make_record(failed_report(), ADA, BOB)], kata, tmp_path)
    assert [path.name for path in written] == ["ada.md", "ada.html", "bob.md", "bob.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada.html", "ada.md", "bob.html", "bob.md"]
    assert (tmp_path / "ada.html").stat().st_mode & 0o777 == 0o644


def test_a_second_record_of_a_student_does_not_replace_the_first(tmp_path):
    records = [make_record(attempt=1), make_record(attempt=2), make_record(attempt=2)]
    written = pages.write(records, make_kata(tmp_path), tmp_path)
    names = [path.stem for path in written if path.suffix == ".html"]
    assert names == ["ada", "ada.attempt-2", "ada.attempt-2.2"]


def test_writing_again_gives_the_same_names_and_follows_no_link(tmp_path):
    (tmp_path / "out").mkdir()
    secret = tmp_path / "elsewhere.txt"
    secret.write_text("untouched")
    (tmp_path / "out" / "ada.md").symlink_to(secret)
    first = pages.write([make_record()], make_kata(tmp_path), tmp_path / "out")
    again = pages.write([make_record()], make_kata(tmp_path), tmp_path / "out")
    assert first == again
    assert secret.read_text() == "untouched"
    assert "Safe softmax" in (tmp_path / "out" / "ada.md").read_text()


@pytest.mark.parametrize(
    "student_id",
    [
        *("../../x", "/x/y", "..", ".", "", "a/b", "a\\b", "CON", "nul", "com1.txt", "con.x", "a\nb", "x" * 500, "-rf"),
        *(".hidden", "a.", "a ", "名前", "é", "e\u0301", "\x00", NASTY, "C:x", "a:b", "lpt\u00b9", "<b>", "*?"),
    ],
)
def test_any_id_gives_one_safe_name_in_the_folder(student_id, tmp_path):
    (tmp_path / "out").mkdir()
    student = Student(student_id)
    paths = pages.write([make_record(None, student)], make_kata(tmp_path), tmp_path / "out")
    assert all(path.parent == tmp_path / "out" and path.is_file() for path in paths)
    assert len(list((tmp_path / "out").iterdir())) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


@pytest.mark.parametrize("student_id", ["ada", "s1234567", "ada.lovelace", "a-b_c", "0x"])
def test_a_plain_id_is_its_own_name(student_id):
    assert stem(student_id) == student_id


@settings(deadline=None)
@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9.-]{1,20}", fullmatch=True))
def test_names_hold_what_every_file_system_asks_for(student_id):
    name = f"{stem(student_id)}.html"
    assert Path(name).name == name
    assert len(name.encode()) < 200
    assert not name.startswith((".", "-"))
    assert not set(name) & set('<>:"/\\|?*\x00\n\r\t ')
    assert name.partition(".")[0] not in RESERVED
    assert name == name.casefold() or not name.isascii()


@settings(deadline=None)
@given(st.lists(st.text(max_size=12), unique=True, max_size=20))
def test_no_two_ids_share_a_name_on_a_disk_that_folds_case(ids):
    found = {stem(student_id).casefold() for student_id in ids}
    assert len(found) == len(ids)


@pytest.mark.parametrize("student_id", ["con", "prn", "aux", "nul", "com1", "lpt9", "con.x", "nul.tar.gz"])
def test_names_of_devices_are_no_file_names(student_id):
    assert stem(student_id).partition(".")[0] not in RESERVED


def test_not_even_a_template_can_tell_the_seed(tmp_path):
    kata = make_kata(tmp_path)
    kata.feedback.mkdir()
    (kata.feedback / "wrong_output.md.j2").write_text("# Wrong\n\nWith {{ report.seed }}.")
    record = make_record(make_report(make_check("wrong_output")))
    for text in (pages.to_markdown(record, kata), pages.to_html(record, kata)):
        assert "Wrong" in text
        assert str(SEED) not in text


def test_ids_that_look_alike_keep_apart():
    ids = ["Ada", "ada", "ADA", "a/da", "a_da", "\u00e9", "e\u0301", "ada ", stem("Ada")]
    assert len({stem(one) for one in ids}) == len(ids)


def advised(advice, verdict="runtime_error", phase="load"):
    return make_record(make_report(verdict="error", fault=fault(verdict, phase=phase, message="bad", advice=advice)))


@pytest.mark.parametrize("verdict", ["runtime_error", "compile_error", "forbidden_host_op", "invalid_output"])
@pytest.mark.parametrize("phase", ["load", "compile", "host", "kernel"])
def test_code_in_an_advice_is_code_wherever_an_advice_is_shown(verdict, phase, tmp_path):
    record = advised("`kata reset` brings *it* back.", verdict, phase)
    html, _ = html_of(record, tmp_path)
    markdown = pages.to_markdown(record, make_kata(tmp_path), SOURCE)
    if "brings" in markdown:
        assert r"`kata reset` brings \*it\* back." in markdown
        assert "<code>kata reset</code> brings *it* back." in html


def test_the_advice_for_an_empty_file_has_its_command_as_code(tmp_path):
    html, _ = html_of(advised("`kata reset` brings the skeleton back."), tmp_path)
    assert "<p>Next: <code>kata reset</code> brings the skeleton back.</p>" in html


@pytest.mark.parametrize(
    "advice",
    [
        "``",
        "````",
        "one ` alone",
        "` ` blank",
        "```\n# head\n```",
        "`<b>x</b>` <b>y</b>",
        "`a` [b](http://x.org) `c",
        "a\\`b` ",
        "`a\\`b`",
        "`a|b` |c|",
        "\ue000`a`\ue001",
    ],
)
def test_no_advice_can_be_other_markup(advice, tmp_path):
    html, reader = html_of(advised(advice), tmp_path)
    _, plain_reader = html_of(advised("words"), tmp_path)
    assert set(reader.tags) - set(plain_reader.tags) <= {"code"}
    assert len(reader.attributes) == len(plain_reader.attributes)
    assert "<b>" not in html
