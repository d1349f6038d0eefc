"""A GitHub Actions workflow that grades every push of a repository, and what it runs."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

from tritonkata.exports import jsonl, junit, pages
from tritonkata.exports.filenames import write_whole
from tritonkata.exports.words import ExportProblem, outcome, score_line
from tritonkata.exports.wrappers.checking import find_file, load_kata, now, run_check, source_of
from tritonkata.exports.wrappers.settings import REQUIREMENT, EngineName, Settings, course_root
from tritonkata.feedback.clean import one_line
from tritonkata.files import replace_file
from tritonkata.model.course import Kata
from tritonkata.model.record import Record, Student

EXIT_CODES = {"pass": 0, "fail": 1, "error": 1, "grader_error": 3}
_WORKFLOW = Path(__file__).parent / "files" / "workflow.yml.in"


def workflow(kata: Kata, *, requirement: str = REQUIREMENT, engine: EngineName = "interpreter") -> str:
    """The text of `.github/workflows/kata.yml`.

    Args:
        kata: what it grades, of the built-in course.
        requirement: what pip installs, on one line without quotes.
        engine: GitHub's own runners have no GPU.

    Raises:
        ExportProblem: the kata is of another course, which a runner would not have, or the requirement is odd.
    """
    if course_root(kata) is not None:
        raise ExportProblem(
            f"{kata.slug}: is no kata of the built-in course, and a workflow brings no course along; "
            "use the autograder for Classroom 50, or run kata check --course in a workflow of your own"
        )
    if not requirement.isprintable() or any(mark in requirement for mark in "'\"\\$`"):
        raise ExportProblem(f"the requirement {requirement!r} cannot stand in a workflow; give it without quotes")
    values = {"@KATA@": kata.slug, "@REQUIREMENT@": requirement, "@ENGINE@": engine}
    text = _WORKFLOW.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def main() -> int:
    """Grade the checkout in the working directory, by the variables KATA_SLUG, KATA_ENGINE and KATA_OUT.

    Returns:
        0 if every check passed, 1 if one failed, 3 where the grading could not run.
    """
    out = Path(os.environ.get("KATA_OUT", "kata-results"))
    settings = Settings(os.environ.get("KATA_SLUG", ""), _engine(os.environ.get("KATA_ENGINE", "")))
    try:
        kata = load_kata(settings, Path.cwd())
        file = find_file(Path.cwd(), kata.slug)
        report = run_check(settings, Path.cwd(), kata, file)
    except ExportProblem as problem:
        words = one_line(f"The check could not be run: {problem}. This is no fault of the submission.")
        print(f"::error::{words}")
        _summarise(f"**{words}**\n")
        return EXIT_CODES["grader_error"]
    record = Record((Student(os.environ.get("GITHUB_ACTOR") or "unknown"),), file.name, report, now())
    out.mkdir(parents=True, exist_ok=True)
    page = pages.to_markdown(record, kata, source_of(file))
    write_whole(out / "feedback.md", page)
    write_whole(out / "feedback.html", pages.to_html(record, kata, source_of(file)))
    write_whole(out / "record.jsonl", jsonl.to_line(record) + "\n")
    suites = io.BytesIO()
    junit.write([record], suites)
    replace_file(out / "junit.xml", suites.getvalue())
    _summarise(page)
    print(one_line(f"{score_line(record)}. {outcome(record)}"))
    return EXIT_CODES[report.verdict]


def _engine(name: str) -> EngineName:
    return "gpu" if name == "gpu" else "auto" if name == "auto" else "interpreter"


def _summarise(text: str) -> None:
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if target:
        with Path(target).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
