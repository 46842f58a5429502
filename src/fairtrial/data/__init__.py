"""Data sets: read from files, found by name, simulated."""

from fairtrial.data.dataset import (
    Dataset as Dataset,
    Summary as Summary,
)
