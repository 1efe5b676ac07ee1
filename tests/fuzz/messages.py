"""Messages of any shape from a page, for the server: most are whole, or all but for one field."""

import dataclasses
import json

from hypothesis import strategies as st

from aiogpu.server import protocol
from aiogpu.server.protocol import VERSION

KEYS = st.sampled_from(
    ["$", "value", "handle", "dtype", "shape", "buffer", "offset", "a", "__proto__"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["array", "handle", "bytes", "number", "int", "object", "stream", "float32"])
    | st.text(max_size=5)
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=8,
)
ARRAYS = st.fixed_dictionaries(
    {
        "$": st.just("array"),
        "dtype": st.sampled_from(["float32", "uint8", "bool", "complex64", "float128"]),
        "shape": st.lists(st.integers(-1, 3), max_size=3) | TREES,
        "buffer": st.integers(-1, 1) | TREES,
        "offset": st.integers(-1, 9) | TREES,
    }
)
VALUES = TREES | ARRAYS
OBJECTS = st.dictionaries(st.sampled_from(["a", "axis", "dtype", "b c"]), VALUES, max_size=2)
IDS = st.integers(-2, 9)
# Only harmless sources and targets: the fuzz is of the protocol, not of Python.
FIELDS = {
    "id": IDS,
    "source": st.sampled_from(["1", "1 +", "a", "(k for k in 'ab')", "raise SystemExit", "\0"]),
    "filename": st.text(max_size=3),
    "locals": OBJECTS,
    "target": st.sampled_from(["math:hypot", "math:", ":", "__main__:a", "a:b:c", ".:x", "a..b:c"]),
    "args": st.lists(VALUES, max_size=3),
    "kwargs": OBJECTS,
    "result": st.sampled_from(["value", "handle", "both"]),
    "module": st.sampled_from(["math", "", "..", "no.such", "__main__"]),
    "handles": st.lists(IDS, max_size=3),
    "handle": IDS,
    "form": st.sampled_from(["shape", "item", "all"]),
    "name": st.sampled_from(
        ["asarray", "add", "slice", "reshape", "sum", "transpose", "where", "x"]
    ),
    "stream": IDS,
    "serial": IDS,
    "packages": st.lists(st.text(max_size=3), max_size=2),
    "version": st.just(VERSION),
    "modules": st.just({}),
    "canvases": st.just({"c": 5}),
    "expose": st.just("all"),
}
SHAPES = {
    kind: st.fixed_dictionaries(
        {each.name: FIELDS[each.name] for each in dataclasses.fields(shape)}
    )
    for kind, shape in protocol._REQUESTS.items()
}
#: Those after which the conversation goes on, and that ask nothing of the network.
HARMLESS = tuple(kind for kind in sorted(SHAPES) if kind not in ("install", "close"))


@st.composite
def messages(draw, kinds=HARMLESS):
    """A message as text."""
    kind = draw(st.sampled_from(kinds))
    fields = draw(SHAPES[kind])
    if fields and draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(sorted(fields)))
        fields[name] = draw(TREES)
        if draw(st.integers(0, 3)) == 0:
            del fields[name]
    return json.dumps({"type": kind, **fields})
