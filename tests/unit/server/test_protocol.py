import json
from pathlib import Path

import pytest

from aiogpu.errors import ProtocolError
from aiogpu.server import protocol

ROOT = Path(__file__).resolve().parents[3]


def test_version_is_that_of_the_npm_package():
    assert json.loads((ROOT / "package.json").read_text("utf-8"))["version"] == protocol.VERSION


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        (
            {"type": "hello", "version": "1", "modules": {"a": "u"}, "canvases": {"c": 0}},
            protocol.Hello("1", {"a": "u"}, {"c": 0}),
        ),
        (
            {"type": "run", "id": 1, "source": "1", "filename": "run", "locals": {"a": None}},
            protocol.Run(1, "1", "run", {"a": None}),
        ),
        (
            {"type": "call", "id": 2, "target": "m:f", "args": [1], "kwargs": {}},
            protocol.Call(2, "m:f", [1], {}),
        ),
        ({"type": "cancel", "id": 3}, protocol.Cancel(3)),
        ({"type": "close", "extra": "ignored"}, protocol.Close()),
    ],
)
def test_each_message_has_its_request(message, request_):
    assert protocol.parse(json.dumps(message)) == request_


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "list: must be an object"),
        ("{}", "type None"),
        ('{"type": ["run"]}', "type ['run']"),
        ('{"type": "eval"}', "type 'eval'"),
        ('{"type": "cancel"}', "cancel: id: NoneType: must be int"),
        ('{"type": "cancel", "id": true}', "cancel: id: bool: must be int"),
        (
            '{"type": "hello", "version": "1", "modules": {"a": 1}, "canvases": {}}',
            "hello: modules: dict: must be dict of str",
        ),
        (
            '{"type": "call", "id": 1, "target": "m:f", "args": {}, "kwargs": {}}',
            "call: args: dict: must be list",
        ),
    ],
)
def test_what_is_no_message_is_refused_with_the_field(text, says):
    with pytest.raises(ProtocolError) as caught:
        protocol.parse(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "identity"),
    [('{"type": "run", "id": 7}', 7), ('{"id": "7"}', None), ("[]", None), ("{", None), (1, None)],
)
def test_identity_is_found_where_there_is_one(text, identity):
    assert protocol.identity(text) == identity
