"""Options that several commands share, and how their text becomes values."""
