"""The GitHub Action: its steps run as shell scripts with the environment that GitHub would give them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.predictions.test_gate import make_frame

ACTION = yaml.safe_load((Path(__file__).parents[1] / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


def run_gate(folder, **inputs):
    """Run the step that compares the models; inputs are named as in the workflow."""
    step = STEPS["Compare the models"]
    given = {name: options.get("default", "") for name, options in ACTION["inputs"].items()} | inputs
    values = {f"${{{{ inputs.{name} }}}}": value for name, value in given.items()}
    environment = {name: values[expression] for name, expression in step["env"].items()}
    environment |= {"GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_OUTPUT": str(folder / "output")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # GitHub runs bash steps with these options.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **environment, "PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.fixture
def folder(tmp_path):
    make_frame(8000).to_csv(tmp_path / "predictions.csv", index=False)
    return tmp_path


def test_a_model_that_passes(folder):
    ran = run_gate(folder, predictions="predictions.csv", candidate="new", baseline="old", measure="auc", margin="0.02")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (folder / "output").read_text() == "decision=non-inferior\npassed=true\n"
    assert "PASS" in (folder / "summary").read_text()
    assert {"fairtrial-gate.json", "fairtrial-gate.xml", "fairtrial-gate.html"} <= {path.name for path in folder.iterdir()}


def test_several_measures_and_options(folder):
    margin = "auc=0.02 accuracy=0.000001"
    ran = run_gate(
        folder, predictions="predictions.csv", candidate="new", baseline="old", margin=margin, options="--alpha 0.1", report=""
    )
    assert ran.returncode == 1
    assert "90 % CI" in ran.stdout
    assert "passed=false" in (folder / "output").read_text()


def test_bad_input_fails_the_build(folder):
    ran = run_gate(folder, predictions="predictions.csv", candidate="unknown", baseline="old", margin="0.02")
    assert ran.returncode == 2
    assert "unknown" in ran.stdout
    assert not (folder / "output").exists()


def test_the_first_step_installs_the_action(tmp_path):
    """pip is replaced by a program that records its arguments, because the test must not change the environment."""
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n')
    fake.chmod(0o755)
    step = STEPS["Install fairtrial"]
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "ACTION_PATH": "/actions/fairtrial"}
    subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], env={**os.environ, **environment}, check=True)
    assert (tmp_path / "arguments").read_text() == "-m pip install --quiet /actions/fairtrial\n"
