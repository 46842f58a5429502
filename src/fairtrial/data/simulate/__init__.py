"""Simulated populations with a known Bayes error: the flu domain, Gaussian mixtures, and the waveform problem."""

from fairtrial.data.simulate.flu import Flu, FluPopulation, age_group, flu_environments
from fairtrial.data.simulate.gaussians import GaussianMixture, Ringnorm, Twonorm
from fairtrial.data.simulate.population import BestError, Population
from fairtrial.data.simulate.ranking import RankedPairs, RankingPairs
from fairtrial.data.simulate.waveform import Waveform

__all__ = [
    "BestError",
    "Flu",
    "FluPopulation",
    "GaussianMixture",
    "Population",
    "RankedPairs",
    "RankingPairs",
    "Ringnorm",
    "Twonorm",
    "Waveform",
    "age_group",
    "flu_environments",
]
