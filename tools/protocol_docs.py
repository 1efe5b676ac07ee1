"""Writes the tables of docs/protocol.md out of docs/protocol.schema.json; `--check` compares.

A table stands between `<!-- name -->` and `<!-- end -->`. A field is described by its schema's
`description` or `enum`, and the last column is the `$comment` of a message.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "protocol.md"
SCHEMA = ROOT / "docs" / "protocol.schema.json"
BLOCK = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def field(name: str, described: dict[str, Any]) -> str:
    """A field's name and what is in it."""
    choices = [f'"{choice}"' for choice in described.get("enum", ())]
    what = described.get("description") or ", ".join(choices)
    return f"`{name}` ({what})" if what else f"`{name}`"


def row(kind: str, message: dict[str, Any]) -> str:
    """One message."""
    fields = (field(*item) for item in message["properties"].items() if item[0] != "type")
    return f"| `{kind}` | {', '.join(fields)} | {message['$comment']} |"


def table(definitions: dict[str, Any], name: str) -> str:
    """The messages of one side, or the fields of an object."""
    if name not in ("page", "worker"):
        rows = [f"- {field(*item)}" for item in definitions[name]["properties"].items()]
        return "\n".join(rows) + "\n"
    rows = [
        f"| type | fields | {'answer' if name == 'page' else 'from'} |",
        "| --- | --- | --- |",
        *(
            row(key.partition(".")[2], message)
            for key, message in definitions.items()
            if key.startswith(f"{name}.")
        ),
    ]
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    """The page with every table as the schema has it."""
    definitions = json.loads(SCHEMA.read_text("utf-8"))["$defs"]
    return BLOCK.sub(lambda found: found[1] + table(definitions, found[2]) + found[3], text)


def main() -> None:
    """Write the tables, or with ``--check`` fail when they are not up to date."""
    text = TARGET.read_text("utf-8")
    if "--check" not in sys.argv:
        TARGET.write_text(page(text), encoding="utf-8")
    elif page(text) != text:
        raise SystemExit("docs/protocol.md is not up to date: run tools/protocol_docs.py")


if __name__ == "__main__":
    main()
