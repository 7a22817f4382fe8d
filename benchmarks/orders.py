"""What an order is, and what becomes of it: known to every part that works on orders."""

from __future__ import annotations

ORDER = (
    "order bigint, customer string, item string, quantity int, price double, country string, express boolean"
)
PROJECTED = "order bigint, customer string, total double"
LEAST_QUANTITY = 5
"""Orders of fewer pieces are left out by the filter."""
