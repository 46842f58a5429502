"""The experiments of five papers, each with its published table beside ours."""

from fairtrial.reproduce.experiments import EXPERIMENTS as EXPERIMENTS, reproduce as reproduce
from fairtrial.reproduce.reproduction import Claim as Claim, Reproduction as Reproduction, Table as Table
