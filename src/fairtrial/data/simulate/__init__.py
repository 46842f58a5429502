"""Populations that can be drawn from at will: the flu domain, and problems whose best possible error is known."""

from fairtrial.data.simulate.flu import (
    Flu as Flu,
    FluPopulation as FluPopulation,
    age_group as age_group,
    flu_environments as flu_environments,
)
from fairtrial.data.simulate.gaussians import GaussianMixture as GaussianMixture, Ringnorm as Ringnorm, Twonorm as Twonorm
from fairtrial.data.simulate.population import BestError as BestError, Population as Population
from fairtrial.data.simulate.ranking import RankedPairs as RankedPairs, RankingPairs as RankingPairs
from fairtrial.data.simulate.waveform import Waveform as Waveform
