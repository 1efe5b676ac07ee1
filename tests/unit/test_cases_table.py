"""docs/cases.md names conformance cases and browser tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in (ROOT / "docs" / "cases.md").read_text("utf-8").splitlines()
    if line.startswith("| ")
][2:]


def found(folder, pattern):
    texts = [path.read_text("utf-8") for path in (ROOT / "tests" / folder).glob("*.py")]
    return {name for text in texts for name in re.findall(pattern, text)}


def test_every_name_is_that_of_a_case_or_a_test():
    cases = found("conformance", r'@case\("(\w+)"')
    tests = found("browser", r"def (test_\w+)\(")
    named_cases = {name for row in ROWS for name in re.findall(r"\w+", row[2])}
    named_tests = {name for row in ROWS for name in re.findall(r"`(\w+)`", row[3])}
    assert named_cases - cases == set()
    assert named_tests - tests == set()
    assert all(row[2] or row[3] for row in ROWS)
    assert len(ROWS) > 25
