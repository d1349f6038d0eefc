"""The page as a file: well formed, self-contained, escaped, small, and what `kata report` makes of it."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import click
import pytest
from export_samples import make_record
from page_samples import SEED, SLUG, a_class, graded, kata, page, student

from tritonkata.cli.common import Problem
from tritonkata.cli.report import report
from tritonkata.gradebook.opening import open_gradebook
from tritonkata.gradebook.types import Submitted
from tritonkata.model.record import Student
from tritonkata.page.gather import gather
from tritonkata.page.people import Named
from tritonkata.page.render import to_html

VOID = {"meta", "br", "hr", "img", "link", "input"}
# Shapes are closed where they begin.
EMPTY = {"rect", "line", "circle", "polygon", "polyline"}
MOST_BYTES = 30_000_000


class Reader(HTMLParser):
    """Tags, attributes and text; fails where tags are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.parts: list[str] = []
        self.open: list[str] = []
        self.raw: dict[str, str] = {}
        self.feed(html)
        self.close()
        self.text = "".join(self.parts)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.open[-1]] = data
        else:
            self.parts.append(data)

    def all(self, name):
        return [value for key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return Reader(page(tmp_path_factory.mktemp("grades"), 25, hostile=True))


def test_the_page_asks_for_nothing(hostile):
    assert hostile.open == []
    assert set(hostile.tags) <= {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "script",
            "body",
            "header",
            "nav",
            "main",
            "section",
            "h1",
            "h2",
            "h3",
        ),
        *("p", "a", "ul", "li", "dl", "dt", "dd", "div", "span", "figure", "figcaption", "details", "summary", "label"),
        *("input", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "desc", "text", *EMPTY),
    }
    names = {name for name, _ in hostile.attributes}
    assert not names & {"src", "srcset", "style", "action", "formaction", "xlink:href", "ping", "data"}
    assert not [name for name in names if name.startswith("on")]
    assert all(re.fullmatch(r"#[a-z0-9-]+", link) for link in hostile.all("href"))
    assert hostile.tags.count("script") == 1
    assert not re.search(r"url\(|@import|https?:", hostile.raw["style"] + hostile.raw["script"])


def test_the_policy_allows_this_style_and_script_alone(hostile):
    policy = next(value for value in hostile.all("content") if "default-src" in value)
    digests = {
        kind: base64.b64encode(hashlib.sha256(hostile.raw[kind].encode()).digest()).decode() for kind in hostile.raw
    }
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digests['style']}'",
        f"script-src 'sha256-{digests['script']}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_every_link_has_its_place_and_every_id_is_there_once(hostile):
    ids = hostile.all("id")
    assert len(ids) == len(set(ids))
    referred = [link[1:] for link in hostile.all("href")]
    referred += [
        one
        for name in ("aria-labelledby", "for", "aria-controls", "aria-describedby")
        for value in hostile.all(name)
        for one in value.split()
    ]
    assert set(referred) <= set(ids)


def test_hostile_text_shows_as_it_is(hostile):
    assert "<script>x</script>" in hostile.text
    assert "{{ 7 * 7 }}" in hostile.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", hostile.text)
    assert str(SEED) not in hostile.text


def test_headings_and_tables_are_named(hostile):
    tables, captions = hostile.tags.count("table"), hostile.tags.count("caption")
    assert tables == captions
    assert hostile.tags.count("th") == len(hostile.all("scope"))
    assert set(hostile.all("scope")) == {"col", "row"}
    assert hostile.tags.count("h1") == hostile.tags.count("main") == hostile.tags.count("header") == 1
    assert "ascending" in hostile.all("aria-sort")
    assert "polite" in hostile.all("aria-live")


def test_what_was_left_out_is_told_with_its_reason(hostile):
    for words in ("bea7/old/safe_softmax.py", "is an earlier attempt", "s99999", "handed nothing in"):
        assert words in hostile.text


def test_a_class_of_five_thousand_is_no_large_file():
    records = (make_record(graded(place), student(place)) for place in range(5000))
    text = to_html(gather(records, kata(), Named()), kata(), ())
    assert len(text.encode()) < MOST_BYTES
    assert text.count('<details class="part"') == 5000
    assert text.rstrip().endswith("</html>")


def shown(path):
    from tritonkata.cli.common import shown

    return shown(path)


def run(*arguments):
    """What the command prints."""
    from click.testing import CliRunner

    result = CliRunner().invoke(report, arguments, catch_exceptions=False, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.fixture
def grades(tmp_path):
    folder = tmp_path / "grades"
    with a_class(folder, 12):
        pass
    return folder


def test_the_page_lies_in_the_gradebooks_folder(grades):
    told = run("--out", str(grades))
    path = grades / f"report-{SLUG}.html"
    assert shown(path) in told
    assert student(3).name in path.read_text(encoding="utf-8")


def test_a_link_at_the_target_is_replaced_and_not_followed(grades, tmp_path):
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    (tmp_path / "page.html").symlink_to(kept)
    run("--out", str(grades), "--to", str(tmp_path / "page.html"))
    assert kept.read_text() == "kept"
    assert not (tmp_path / "page.html").is_symlink()


def test_anonymous_gives_no_name_id_or_file_away(grades, tmp_path):
    path = tmp_path / "page.html"
    run("--out", str(grades), "--to", str(path), "--anonymous")
    text = path.read_text(encoding="utf-8").lower()
    with open_gradebook(grades) as book:
        for record in book.records(SLUG):
            one = record.student
            for word in (one.id, one.email, one.name, *one.name.split(), record.file):
                assert not re.search(rf"\b{re.escape(word.lower())}\b", text), word
    assert "student 12" in text
    assert "bea7" not in text
    assert "prof. tan" not in text


@pytest.mark.parametrize("target", ["missing/page.html", "folder"])
def test_a_target_that_is_no_file_is_refused(grades, tmp_path, target):
    (tmp_path / "folder").mkdir()
    with pytest.raises(Problem, match=r"--to: .*(create it first|choose another name)"):
        run("--out", str(grades), "--to", str(tmp_path / target))


def test_a_gradebook_without_reports_is_refused(tmp_path):
    with a_class(tmp_path / "grades", 2) as book:
        book.take_in(SLUG, [Submitted((Student("new"),), f"new/{SLUG}.py", b"pass\n")], [])
    with pytest.raises(Problem, match="nothing of safe_softmax was graded yet; begin with `kata grade`"):
        run("--out", str(tmp_path / "grades"))


@pytest.mark.parametrize(("count", "told"), [(1, "1 submission to"), (2, "2 submissions to")])
def test_how_many_are_on_the_page_is_told(tmp_path, count, told):
    with a_class(tmp_path / "grades", count):
        pass
    assert run("--out", str(tmp_path / "grades")).startswith(told)


def test_a_folder_without_a_gradebook_is_refused(tmp_path):
    with pytest.raises(click.ClickException, match="there is no gradebook"):
        run("--out", str(tmp_path))
