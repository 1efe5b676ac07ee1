"""The tables of the server, and the prose, against the one description of the protocol."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

import protocol_schema
from aiogpu.server import protocol, values

ROOT = Path(__file__).resolve().parents[3]
DEFINITIONS = protocol_schema.SCHEMA["$defs"]


def test_every_request_is_described_and_every_message_is_reachable():
    described = [key.removeprefix("page.") for key in DEFINITIONS if key.startswith("page.")]
    assert described == list(protocol._REQUESTS)
    for side in ("page", "worker"):
        of_side = [key for key in DEFINITIONS if key.startswith(f"{side}.")]
        assert [each["$ref"] for each in DEFINITIONS[side]["oneOf"]] == [
            f"#/$defs/{key}" for key in of_side
        ]


@pytest.mark.parametrize("kind", protocol._REQUESTS)
def test_fields_of_a_request_are_those_described(kind):
    described = protocol_schema.fields(f"page.{kind}")
    assert [field.name for field in dataclasses.fields(protocol._REQUESTS[kind])] == list(described)
    for name, schema in described.items():
        assert protocol._TYPES[name] == _types(schema), name
        assert protocol._CHOICES.get(name) == (tuple(schema["enum"]) if "enum" in schema else None)


def _types(schema):
    """The kind of a field, and of what is in it, as the server writes them."""
    inner = schema.get("items", schema.get("additionalProperties"))
    return _type(schema), object if inner in (None, {"$ref": "#/$defs/value"}) else _type(inner)


def _type(schema):
    if schema.get("$ref") == "#/$defs/integer":
        return int
    return {"string": str, "array": list, "object": dict}[schema["type"]]


def test_errors_and_dtypes_are_those_described():
    assert set(protocol.WireError.__annotations__) == set(protocol_schema.fields("error"))
    assert set(protocol.WireLine.__annotations__) == set(protocol_schema.fields("line"))
    assert set(DEFINITIONS["dtype"]["enum"]) == set(values.FORMATS)


def test_examples_of_values_in_the_prose_are_values():
    prose = (ROOT / "docs/protocol.md").read_text("utf-8").partition("## Values")[2]
    examples = re.findall(r"^\{.*?\}(?=  |$)", prose, re.MULTILINE)
    assert len(examples) == 7
    kinds = {json.loads(example)["$"] for example in examples}
    assert kinds == {key.removeprefix("value.") for key in DEFINITIONS if "value." in key}
    for example in examples:
        protocol_schema.validator("value").validate(json.loads(example))
