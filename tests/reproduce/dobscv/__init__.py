"""Tests of the experiment on SCV and DOB-SCV."""
