import json
from pathlib import Path

import pytest

from aiogpu.errors import ProtocolError
from aiogpu.server import protocol

ROOT = Path(__file__).resolve().parents[3]
ALL = {"expose": "all"}
VALUE = {"result": "value"}


def test_version_is_that_of_the_npm_package():
    assert json.loads((ROOT / "package.json").read_text("utf-8"))["version"] == protocol.VERSION


@pytest.mark.parametrize(
    ("message", "request_"),
    [
        (
            {"type": "hello", "version": "1", "modules": {"a": "u"}, "canvases": {"c": 0}} | ALL,
            protocol.Hello("1", {"a": "u"}, {"c": 0}, "all"),
        ),
        (
            {"type": "run", "id": 1, "source": "1", "filename": "run", "locals": {"a": None}}
            | VALUE,
            protocol.Run(1, "1", "run", {"a": None}, "value"),
        ),
        (
            {"type": "call", "id": 2, "target": "m:f", "args": [1], "kwargs": {}} | VALUE,
            protocol.Call(2, "m:f", [1], {}, "value"),
        ),
        (
            {"type": "op", "handle": 1, "name": "add", "args": [2], "kwargs": {}},
            protocol.Op(1, "add", [2], {}),
        ),
        ({"type": "read", "id": 4, "handles": [1], "form": "item"}, protocol.Read(4, [1], "item")),
        ({"type": "free", "handles": [1, -2]}, protocol.Free([1, -2])),
        ({"type": "next", "id": 5, "stream": 1}, protocol.Next(5, 1)),
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
        ('{"type": "free", "handles": [true]}', "free: handles: list: must be list of int"),
        ('{"type": "read", "id": 1, "handles": [], "form": "all"}', "form: 'all': must be data or"),
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
