"""The whole table: each module fills its rows into it."""

import of_creation  # noqa: F401
import of_draws  # noqa: F401
import of_elements  # noqa: F401
import of_factors  # noqa: F401
import of_folds  # noqa: F401
import of_indices  # noqa: F401
import of_networks  # noqa: F401
import of_orders  # noqa: F401
import of_places  # noqa: F401
import of_products  # noqa: F401
import of_spectra  # noqa: F401
import of_types  # noqa: F401
from rows import TABLE

__all__ = ["TABLE"]
