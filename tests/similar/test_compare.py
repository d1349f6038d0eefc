"""Copies are found however they are dressed up; kernels written independently, and what everyone was given, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from copying import commented, edited, renamed, reordered, reprinted, with_other_literals

from tritonkata.courses import built_in_root, load_course
from tritonkata.similar.compare import MOST_PAIRS, compare
from tritonkata.similar.types import Candidate

ROOT = built_in_root()
RIGHT = Path(__file__).parents[1] / "right"
KATAS = ("safe_softmax", "masked_softmax", "log_softmax")
DISGUISES = {
    "renamed": renamed,
    "other literals": with_other_literals,
    "commented": commented,
    "reordered": reordered,
    "reprinted": reprinted,
    "edited": edited,
    "renamed and edited": lambda source: renamed(edited(source)),
    "everything": lambda source: renamed(reordered(with_other_literals(edited(source, share=0.1)))),
}
LEAST = 0.5


def right(kata: str) -> list[Candidate]:
    """Kernels that were written independently of each other, by file name."""
    paths = [*sorted((RIGHT / kata).glob("*.py")), ROOT / "reference" / kata / "solution.py"]
    return [Candidate((path.stem,), path.name, path.read_text(encoding="utf-8")) for path in paths]


def wrong(kata: str) -> list[Candidate]:
    paths = sorted((ROOT / "katas" / kata / "wrong").glob("*/*.py"))
    return [
        Candidate((f"{path.parent.name}/{path.stem}",), path.name, path.read_text(encoding="utf-8")) for path in paths
    ]


def skeleton(kata: str) -> str:
    return load_course().kata(kata).skeleton.read_text(encoding="utf-8")


def found(candidates, kata="safe_softmax", least=LEAST):
    return compare(candidates, skeleton(kata), least)


@pytest.mark.parametrize("kata", KATAS)
def test_independent_kernels_are_no_pairs(kata):
    candidates = right(kata)
    comparison = found(candidates, kata)
    assert comparison.pairs == ()
    assert comparison.compared == len(candidates)


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("kata", KATAS)
def test_a_copy_ranks_above_every_independent_kernel(kata, disguise):
    candidates = right(kata)
    for original in candidates[::4]:
        copy = Candidate(("copy",), "copy.py", DISGUISES[disguise](original.source))
        pairs = found([*candidates, copy], kata, 0.01).pairs
        assert {pairs[0].left.students, pairs[0].right.students} == {original.students, ("copy",)}
        assert pairs[0].share >= LEAST
        assert pairs[1].share < pairs[0].share - 0.1


@pytest.mark.parametrize("kata", KATAS)
def test_a_copy_is_found_among_a_class_that_writes_alike(kata):
    original = right(kata)[0]
    everyone = [*right(kata), *wrong(kata)]
    copy = Candidate(("copy",), "copy.py", renamed(edited(original.source)))
    pairs = found([*everyone, copy], kata).pairs
    assert any({one.left.students, one.right.students} == {original.students, ("copy",)} for one in pairs)


def test_renaming_alone_gives_the_full_share_and_the_lines():
    original = Candidate(("ann",), "a.py", right("safe_softmax")[3].source)
    copy = Candidate(("bea",), "b.py", "# one line more\n" + renamed(original.source))
    (pair,) = found([original, copy]).pairs
    assert pair.share == 1
    (first, last) = (pair.left.lines[0][0], pair.left.lines[-1][1])
    assert 1 <= first < last <= len(original.source.splitlines())


def test_the_lines_are_where_the_copied_part_stands():
    own, other = right("safe_softmax")[0].source, right("safe_softmax")[1].source
    kernel = other[other.index("@triton.jit") : other.index("\n\n\n", other.index("@triton.jit"))]
    mixed = f"{own}\n\n{renamed(kernel)}"
    pairs = found([Candidate(("ann",), "a", mixed), Candidate(("bea",), "b", other)], least=0.1).pairs
    begin = len(own.splitlines())
    longest = max(pairs[0].left.lines, key=lambda lines: lines[1] - lines[0])
    assert begin < longest[0]
    assert longest[1] - longest[0] >= len(kernel.splitlines()) // 2


def test_the_skeleton_alone_is_nobodys():
    text = skeleton("safe_softmax")
    comparison = found([Candidate((name,), name, text) for name in ("ann", "bea", "carl")], least=0.01)
    assert comparison.pairs == ()
    assert (comparison.compared, comparison.too_short) == (0, 3)


def test_what_the_skeleton_gives_does_not_count():
    given = right("safe_softmax")[0].source
    two = [Candidate((one.students[0],), "x", f"{given}\n\n{one.source}") for one in right("safe_softmax")[5:7]]
    assert compare(two, given, LEAST).pairs == ()
    assert compare(two, "", 0.3).pairs != ()


def test_what_much_of_the_class_has_does_not_count():
    shared = right("safe_softmax")[0].source
    everyone = [Candidate(one.students, "x", f"{shared}\n\n{one.source}") for one in right("safe_softmax")[1:]]
    comparison = found(everyone)
    assert comparison.pairs == ()
    assert comparison.common > 0


def test_many_copies_of_one_file_stay_in_sight():
    candidates = right("safe_softmax")
    ring = [Candidate((f"ring{place}",), "x", renamed(candidates[0].source, place)) for place in range(30)]
    pairs = found([*candidates[1:], *ring]).pairs
    assert len(pairs) == 30 * 29 // 2
    assert all(one.share == 1 for one in pairs)


def test_attempts_of_one_student_and_members_of_a_group_are_no_pair():
    source = right("safe_softmax")[0].source
    mine = [Candidate(("ann",), "1", source, 1), Candidate(("ann", "bea"), "2", edited(source), 2)]
    assert found(mine).pairs == ()
    assert len(found([*mine, Candidate(("carl",), "3", source)]).pairs) == 2


def test_a_class_of_copies_is_cut_and_said_so():
    source = right("safe_softmax")[0].source
    comparison = found([Candidate((f"s{place}",), "x", source) for place in range(100)])
    assert len(comparison.pairs) == MOST_PAIRS
    assert comparison.cut


def test_the_order_of_submissions_changes_no_share():
    candidates = [*right("safe_softmax"), Candidate(("copy",), "x", edited(right("safe_softmax")[2].source))]
    told = [
        {(frozenset((*one.left.students, *one.right.students)), one.share) for one in found(given, least=0.05).pairs}
        for given in (candidates, candidates[::-1])
    ]
    assert told[0] == told[1]


def test_nobody_is_no_pair():
    comparison = found([])
    assert (comparison.pairs, comparison.compared, comparison.structures) == ((), 0, 0)
