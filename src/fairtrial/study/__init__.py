"""Whole studies: declared, run, kept."""

from fairtrial.study.environment_matrix import EnvironmentMatrix as EnvironmentMatrix
from fairtrial.study.environments import run_environments as run_environments
