"""The one description of the protocol, for tests to hold messages to."""

import functools
import json
from pathlib import Path

import jsonschema

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[1] / "docs" / "protocol.schema.json").read_text("utf-8")
)

# JSON Schema takes 1.0 for an integer; the server, whose JSON has two kinds of numbers, does not.
Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def validator(name, **replaced):
    """What checks one of the schema's definitions; others may be replaced."""
    definitions = {**SCHEMA["$defs"], **replaced}
    whole = {"$schema": SCHEMA["$schema"], "$defs": definitions, "$ref": f"#/$defs/{name}"}
    Validator.check_schema(whole)
    return Validator(whole)


def fields(name):
    """The fields of a definition, by name, without its type."""
    described = SCHEMA["$defs"][name]
    assert described["required"] == list(described["properties"])
    return {key: value for key, value in described["properties"].items() if key != "type"}


def check(side, message):
    """Fails the test when a message is none of that side's."""
    kind = f"{side}.{message.get('type')}"
    assert kind in SCHEMA["$defs"], message
    _of_type(kind).validate(message)


@functools.cache
def _of_type(kind):
    return validator(kind)
