"""Orders and the filter on them, shared by every part that uses orders."""

from __future__ import annotations

ORDER = (
    "order bigint, customer string, item string, quantity int, price double, country string, express boolean"
)
PROJECTED = "order bigint, customer string, total double"
LEAST_QUANTITY = 5
"""Orders of fewer pieces are removed by the filter."""
