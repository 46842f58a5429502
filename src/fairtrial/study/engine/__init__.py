"""Engines that run trials, and the coordinator that keeps what they leave."""
