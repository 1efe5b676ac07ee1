"""What a WGSL function of the library is, and how a module's text is cut into functions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_COMMENT = re.compile(r"\s*//.*")
_HEAD = re.compile(r"^fn (ag_\w+)", re.MULTILINE)
_NAME = re.compile(r"\bag_\w+")


@dataclass(frozen=True, slots=True)
class Function:
    """One WGSL function.

    Attributes:
        name: The WGSL name; begins with ``ag_``.
        source: The WGSL text of this function alone, without comments.
        needs: The names of the functions that the text calls.
    """

    name: str
    source: str
    needs: tuple[str, ...] = ()


def parse(text: str) -> Mapping[str, Function]:
    """Cuts a WGSL text into its functions, which begin with ``fn`` in the first column.

    The comments stay behind: they are for whoever reads the Python file, and shader text is hashed,
    sent and compiled at run time.

    Args:
        text: WGSL functions with names that begin with ``ag_``, and nothing else.

    Returns:
        The functions by name, in the order of the text.
    """
    lines = [_COMMENT.sub("", line).rstrip() for line in text.splitlines()]
    bare = "\n".join(line for line in lines if line)
    heads = list(_HEAD.finditer(bare))
    ends = [head.start() for head in heads[1:]] + [len(bare)]
    functions = {}
    for head, end in zip(heads, ends, strict=True):
        name = head[1]
        source = bare[head.start() : end].strip() + "\n"
        needs = tuple(sorted(set(_NAME.findall(source)) - {name}))
        functions[name] = Function(name, source, needs)
    return MappingProxyType(functions)
