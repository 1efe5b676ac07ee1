# JavaScript's global scope: which names it has, and of what type, only the browser knows.
from typing import Any

def __getattr__(name: str) -> Any: ...
