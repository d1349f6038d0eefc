"""Tables, pictures and pages of results with everything in them, and of results with little."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from rich.console import Console

from tritonkata.labs import words
from tritonkata.labs.model import CeilingResult, LabResult, LabRow, Options, rows_of
from tritonkata.labs.page import to_html, to_svg
from tritonkata.labs.running import run_lab
from tritonkata.labs.tables import tables_of
from tritonkata.labs.terminal import WIDTH, print_result
from tritonkata.model.faults import Fault
from tritonkata.model.observation import Level

SVG = "{http://www.w3.org/2000/svg}"


def printed(result: LabResult | CeilingResult) -> str:
    stream = io.StringIO()
    print_result(result, Console(file=stream, width=WIDTH, highlight=False))
    return stream.getvalue()


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()) for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture(params=["softmax_result", "fusion_result", "sweep"])
def result(request: pytest.FixtureRequest) -> Any:
    """Every kind of result of a GPU."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", params=["softmax", "fusion"])
def without_gpu(request: pytest.FixtureRequest) -> LabResult:
    """Each lab from the interpreter."""
    return run_lab(request.param, Options(2048, 131_072, "bfloat16", 0, 10), "interpreter", lambda _: None)


def largest(result: Any) -> Any:
    """The same result with the widest numbers that its columns can hold."""
    options = msgspec.structs.replace(result.options, rows=2**31 - 1, cols=131_072)

    def widened(row: LabRow) -> LabRow:
        total = 3 * options.unit_bytes
        changes: dict[str, Any] = {"predicted": Level(total, options.unit_bytes), "lower_bound_us": 9.9e9}
        if row.speed is not None:
            changes["speed"] = msgspec.structs.replace(row.speed, kernel_us=123_456.0)
        return msgspec.structs.replace(row, **changes)

    if isinstance(result, LabResult):
        return msgspec.structs.replace(result, options=options, rows=tuple(map(widened, result.rows)))
    last = msgspec.structs.replace(result.points[-1], cols=131_072, unit_bytes=options.unit_bytes)
    last = msgspec.structs.replace(last, rows=tuple(map(widened, last.rows)))
    return msgspec.structs.replace(result, options=options, points=(*result.points, last))


def test_a_table_fits_100_columns_and_cuts_nothing(result: Any) -> None:
    for one in (result, largest(result)):
        text = printed(one)
        assert max(map(len, text.splitlines())) <= 100
        assert "\u2026" not in text


def test_a_table_of_the_interpreter_does_so_too(without_gpu: LabResult) -> None:
    for one in (without_gpu, largest(without_gpu)):
        text = printed(one)
        assert max(map(len, text.splitlines())) <= 100
        assert "\u2026" not in text


def test_the_terminal_needs_no_more_than_ascii(result: Any, without_gpu: LabResult) -> None:
    assert printed(result).isascii()
    assert printed(without_gpu).isascii()


def test_the_softmax_lab_prints_times_levels_the_poisoned_row_and_ratios(softmax_result: LabResult) -> None:
    text = printed(softmax_result)
    (naive,) = re.findall(r"^naive, unsafe +FAILED .*$", text, re.MULTILINE)
    assert naive.split()[2:] == ["FAILED", "86.1", "4,677", "117", "%", "nan", "3.000", "3.000", "3.00", "2.60"]
    (torch,) = re.findall(r"^torch.softmax +PASSED .*$", text, re.MULTILINE)
    assert torch.split()[1] == "PASSED"
    assert torch.split()[-4:] == ["-", "2.000", "2.00", "2.00"]
    assert re.search(r"Row 0 of naive, unsafe\s+column +score +right +got\s+0 +100 +1 +nan", text)
    assert re.search(r"safe, 3 passes / online, 1 pass +2\.00 +2\.00 +1\.57", text)
    assert "A copy of x, two traversals, takes 66.9 us here: 4,012 GB/s." in text
    for fact in ("NVIDIA H200", "driver 580.1", "CUDA 13.0", "triton 3.6.0", "2026-01-31", "seed 0"):
        assert fact in " ".join(text.split())
    assert "to the byte, in all 4 variants" in text


def test_the_fusion_lab_puts_the_time_ratio_beside_three_and_a_half(fusion_result: LabResult) -> None:
    assert re.search(r"three kernels / one kernel +3\.50 +3\.50 +2\.74", printed(fusion_result))


def test_a_bound_is_said_to_be_one(without_gpu: LabResult) -> None:
    text = " ".join(printed(without_gpu).split())
    assert '"At least" is no measurement' in text
    assert "4200 GB/s (what a copy moves on an H200; --bandwidth takes another)" in text
    assert "Not measured: speed: needs a GPU" in text
    assert "spilled to memory" in text


def test_bytes_that_are_not_the_predicted_ones_are_told(softmax_result: LabResult) -> None:
    row = softmax_result.rows[1]
    assert row.traffic is not None
    off = msgspec.structs.replace(row, traffic=msgspec.structs.replace(row.traffic, loaded=row.traffic.loaded + 4))
    changed = msgspec.structs.replace(softmax_result, rows=(softmax_result.rows[0], off))
    assert off.as_predicted is False
    assert "safe, 3 passes 536,870,916 and not 536,870,912" in " ".join(words.findings(changed))


def test_a_row_without_a_result_says_why(softmax_result: LabResult) -> None:
    lost = LabRow("x", "a kernel", fault=Fault("timeout", "kernel", "it never ended"), absent={"traffic": "no CUPTI"})
    changed = msgspec.structs.replace(softmax_result, rows=(lost,), ratios=(), missing={"torch.softmax": "no torch"})
    text = printed(changed)
    assert "NO RESULT" in text
    assert "a kernel: timeout: it never ended" in text
    assert "Not measured: traffic: no CUPTI" in text
    assert "Not measured: torch.softmax: no torch" in text
    assert "not measured" in to_svg(changed)
    ElementTree.fromstring(to_svg(changed))


def test_the_sweep_names_the_row_length_from_which_passes_decide(sweep: CeilingResult) -> None:
    text = " ".join(printed(sweep).split())
    assert "From 32,768 columns (131,072 bytes a row) on, the number of passes decides" in text
    assert "From 1921 columns on, 8192 rows are more than the L2 holds." in text
    assert "From 65,536 columns on, a row does not fit in the registers" in text
    never = msgspec.structs.replace(sweep, decided_from=None)
    assert "Within this sweep the extra passes" in " ".join(printed(never).split())


def test_many_notes_are_cut_short(softmax_result: LabResult) -> None:
    noisy = msgspec.structs.replace(softmax_result, notes=tuple(f"round {number}" for number in range(9)))
    remarks = words.remarks(noisy)
    assert [one for one in remarks if one.startswith("Note: round")] == [f"Note: round {place}" for place in range(5)]
    assert remarks[-1] == "Note: 4 more; --json has them"


def test_a_picture_is_xml_with_a_title_real_text_and_nothing_from_outside(result: Any, without_gpu: LabResult) -> None:
    for one in (result, without_gpu):
        svg = to_svg(one)
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert root.find(f"{SVG}title").text == words.title(one)  # type: ignore[union-attr]
        assert root.find(f"{SVG}desc").text  # type: ignore[union-attr]
        assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
        assert not re.search(r"<script|<image|href|url\(|@import|<foreignObject", svg)
        assert "prefers-color-scheme: dark" in svg
        assert "nan" not in "".join(part for part in re.findall(r'(?:x|y|width|height|points)="([^"]*)"', svg))


def test_a_picture_keeps_its_text_and_lines_inside(result: Any, without_gpu: LabResult) -> None:
    for one in (result, without_gpu):
        root = ElementTree.fromstring(to_svg(one))
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for text in root.iter(f"{SVG}text"):
            room = 0.62 * float(text.attrib["font-size"]) * len("".join(text.itertext()))
            start = {"start": 0.0, "middle": room / 2, "end": room}[text.get("text-anchor", "start")]
            left = float(text.attrib["x"]) - start
            assert left >= 0
            assert left + room <= width, "".join(text.itertext())
            assert 0 < float(text.attrib["y"]) < height
        for line in root.iter(f"{SVG}line"):
            for axis, most in (("x", width), ("y", height)):
                assert all(0 <= float(line.attrib[f"{axis}{end}"]) <= most for end in "12")


def test_a_picture_shows_every_variant_and_its_numbers(softmax_result: LabResult, sweep: CeilingResult) -> None:
    shown = texts(to_svg(softmax_result))
    for row in softmax_result.rows:
        assert row.title in shown
    assert {"86.1", "105.3", "66.9", "3.2", "FAILED", "a copy of x", "L2", "DRAM"} <= set(shown)
    swept = texts(to_svg(sweep))
    for one in sweep.points:
        assert any(text.replace(",", "") == str(one.cols) for text in swept)
    assert {"3 passes", "2 passes", "1 pass", "passes decide", "more than the L2", "1 pass spills"} <= set(swept)


def test_without_a_gpu_the_picture_says_bound_and_counted(without_gpu: LabResult) -> None:
    shown = " ".join(texts(to_svg(without_gpu)))
    assert "a lower bound" in shown
    assert "counted on" in shown
    assert "DRAM" not in shown


def test_a_page_has_the_picture_and_every_cell_and_asks_for_nothing(result: Any, without_gpu: LabResult) -> None:
    for one in (result, without_gpu):
        html = to_html(one)
        assert to_svg(one) in html
        for grid in tables_of(one):
            for row in grid.rows:
                for cell in row:
                    assert f">{escape(cell.text)}</td>" in html
        assert set(re.findall(r"https?://[^\"]*", html)) == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"<script|<link|<img|src=|url\(|@import", html)
        assert html.count("prefers-color-scheme: dark") == 2


def test_what_comes_from_the_machine_is_text_on_the_page(softmax_result: LabResult) -> None:
    engine = msgspec.structs.replace(softmax_result.engine, device="<script>alert(1)</script>\x1b[31m & co")
    changed = msgspec.structs.replace(softmax_result, engine=engine)
    for text in (to_html(changed), to_svg(changed), printed(changed)):
        assert "\x1b[31m" not in text
    assert "<script" not in to_html(changed)
    assert "&lt;script&gt;" in to_html(changed)
    ElementTree.fromstring(to_svg(changed))


RECORDED = sorted((Path(__file__).resolve().parents[2] / "benchmarks" / "results").glob("lab_*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_run_of_a_gpu_is_drawn_by_the_same_code(path: Path) -> None:
    kind: Any = CeilingResult if "ceiling" in path.stem else LabResult
    recorded = msgspec.json.decode(path.read_bytes(), type=kind)
    assert recorded.engine.name == "gpu"
    assert recorded.environment.card
    assert recorded.environment.driver
    assert all(row.as_predicted is not False for row in rows_of(recorded))
    assert max(map(len, printed(recorded).splitlines())) <= 100
    ElementTree.fromstring(to_svg(recorded))
    assert words.title(recorded) in to_html(recorded)
