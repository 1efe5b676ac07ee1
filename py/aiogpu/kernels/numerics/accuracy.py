"""How exact each function is; the tests of accuracy and the table in the documentation read this."""

from collections.abc import Mapping
from types import MappingProxyType

# name: (lowest argument, highest argument, most units in the last place from the right value)
ACCURACY: Mapping[str, tuple[float, float, float]] = MappingProxyType({})
