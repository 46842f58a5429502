"""What `make calibration` simulates: each experiment draws data whose truth is known and asks every procedure about it."""

from experiments import (
    bootstrap as bootstrap,
    families as families,
    gates as gates,
    generalisation as generalisation,
    intervals as intervals,
    margins as margins,
    pairwise as pairwise,
    peer_measures as peer_measures,
    peers as peers,
    probabilities as probabilities,
    small_samples as small_samples,
    subgroups as subgroups,
    thresholds as thresholds,
)
from experiments.registry import EXPERIMENTS as EXPERIMENTS, Experiment as Experiment
