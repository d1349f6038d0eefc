"""The page in a browser: nothing is asked for, and search, sorting, keys, dark mode, print and narrow screens work."""

from __future__ import annotations

import re

import pytest
from browser import Page
from page_samples import page

COUNT = 60


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    path = folder / "page.html"
    path.write_text(page(folder / "grades", COUNT, hostile=True), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser, file):
    pages = []

    def open_page(**changes):
        pages.append(Page(browser, file, **changes))
        return pages[-1]

    yield open_page
    for one in pages:
        one.close()


def search(view, words):
    view.value("document.getElementById('search').select()")
    view.key("Backspace")
    view.send("Input.insertText", text=words)
    view.value("new Promise(done => setTimeout(done, 400))")


def column(view, number):
    """The shown cells of a column of the table of students."""
    return view.value(
        "Array.from(document.querySelectorAll('#students-table tbody tr'))"
        f".filter(row => !row.hidden).map(row => row.cells[{number}].textContent.trim())"
    )


def press(view, number):
    """Click the heading of a column."""
    view.value(f"document.querySelectorAll('#students-table thead button')[{number}].click()")


def sorting(view):
    return view.value(
        "Array.from(document.querySelectorAll('#students-table thead th'), th => th.getAttribute('aria-sort'))"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_asked_for_and_nothing_complained_about(opened, file, scheme):
    view = opened(scheme=scheme)
    search(view, "ann")
    press(view, 1)
    assert view.requests() == [file.as_uri()]
    assert view.complaints() == []


def test_the_policy_stops_a_script_that_is_not_the_pages_own(opened):
    view = opened()
    view.value(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 1'}))"
    )
    view.value("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked = 1\">')")
    view.value("new Promise(done => setTimeout(done, 300))")
    assert view.value("window.hacked") is None
    assert any("Content Security Policy" in one for one in view.complaints())


def test_search_shows_those_that_fit_and_says_how_many(opened):
    view = opened()
    assert view.value("document.getElementById('count').textContent") == f"{COUNT + 1} shown"
    search(view, "ANN")
    names = column(view, 0)
    assert names
    assert all(name.startswith("Ann") for name in names)
    assert view.value("document.getElementById('count').textContent") == f"{len(names)} of {COUNT + 1} shown"
    shown = "Array.from(document.querySelectorAll('details.part')).filter(one => !one.hidden).length"
    assert view.value(shown) == len(names)
    search(view, "ann failed")
    assert 0 < len(column(view, 0)) < len(names)
    search(view, "no such student")
    assert column(view, 0) == []
    search(view, "")
    assert len(column(view, 0)) == COUNT + 1


def test_search_finds_a_mistake_that_is_not_the_main_one(opened):
    view = opened()
    search(view, "store_without_mask")
    found = column(view, 0)
    assert len(found) == int(
        view.value(
            "Array.from(document.querySelectorAll('#mistakes tbody tr'))"
            ".find(row => row.cells[0].textContent === 'store_without_mask').cells[2].textContent"
        )
    )
    assert len(found) > column(view, 4).count("store_without_mask")


def test_columns_sort_by_number_and_by_text_with_what_is_missing_last(opened):
    view = opened()
    assert sorting(view)[0] == "ascending"
    press(view, 1)
    scores = [float(cell) for cell in column(view, 1) if cell]
    assert scores == sorted(scores)
    assert len(set(scores)) > 3
    assert column(view, 1)[-1] == ""
    assert sorting(view) == [None, "ascending", *[None] * 6]
    press(view, 1)
    scores = [float(cell) for cell in column(view, 1) if cell]
    assert scores == sorted(scores, reverse=True)
    assert column(view, 1)[-1] == ""
    assert sorting(view)[1] == "descending"
    press(view, 2)
    verdicts = column(view, 2)
    assert verdicts == sorted(verdicts)
    press(view, 0)
    names = column(view, 0)[1:]
    assert names == sorted(names)


def test_the_keyboard_reaches_search_headings_and_students(opened):
    view = opened()
    view.value("document.getElementById('search').focus()")
    view.key("Tab")
    assert view.value("document.activeElement.getAttribute('role')") == "group"
    view.key("Tab")
    assert view.value("document.activeElement.textContent") == "Student"
    assert view.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    view.key("Tab")
    view.key("Enter", "\r")
    assert sorting(view)[1] == "ascending"


def test_a_link_opens_the_students_part(opened):
    view = opened()
    search(view, "ann")
    view.value("document.querySelector('#mistakes .who').open = true")
    view.value("document.querySelector('#mistakes .who a').click()")
    view.value("new Promise(done => setTimeout(done, 300))")
    part = "document.getElementById(location.hash.slice(1))"
    assert view.value(f"{part}.open && !{part}.hidden")
    assert view.value(f"document.activeElement === {part}.querySelector('summary')")
    assert view.value(f"Math.abs({part}.getBoundingClientRect().top)") < 900


def test_without_scripts_everything_is_there(opened):
    view = opened()
    view.without_script()
    assert view.value("document.querySelectorAll('#students-table tbody tr').length") == COUNT + 1
    assert view.value("getComputedStyle(document.querySelector('.controls')).display") == "none"
    assert view.value("document.querySelectorAll('#students-table thead button').length") == 0


def brightness(view, selector, what):
    colour = view.value(f"getComputedStyle(document.querySelector('{selector}')).{what}")
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", colour)[:3])
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened, scheme):
    view = opened(scheme=scheme)
    ground = brightness(view, "body", "backgroundColor")
    assert (ground > 0.5) == (scheme == "light")
    for selector in ("body", ".soft", "a", "td.pass", "td.fail", "td.error"):
        text = brightness(view, selector, "color")
        assert (max(ground, text) + 0.05) / (min(ground, text) + 0.05) >= 4.5, selector
    for selector in (".chart text", ".chart .fill-one"):
        shape = brightness(view, selector, "fill")
        assert (max(ground, shape) + 0.05) / (min(ground, shape) + 0.05) >= 3, selector


@pytest.mark.parametrize("width", [320, 600, 1280])
def test_no_screen_is_too_narrow(opened, width):
    view = opened(width=width)
    view.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert view.value("document.documentElement.scrollWidth") <= width


def test_print_shows_every_part_and_no_control(opened):
    view = opened()
    assert view.pdf().startswith(b"%PDF")
    assert view.value("document.querySelectorAll('details.part[open]').length") == 0
    view.emulate("print", "dark")
    for selector in ("nav", ".controls", ".who"):
        assert view.value(f"getComputedStyle(document.querySelector('{selector}')).display") == "none"
    assert view.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    view.value("dispatchEvent(new Event('beforeprint'))")
    assert view.value("document.querySelectorAll('details.part:not([open])').length") == 0


def test_print_without_scripts_shows_what_parts_hold(opened):
    view = opened()
    view.without_script()
    visible = "document.querySelector('details.part:not([open]) dl').checkVisibility()"
    assert not view.value(visible)
    view.emulate("print", "light")
    assert view.value(visible)
