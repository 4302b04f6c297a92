"""Measurements, one command each: `python -m tests.benchmarks.NAME`. Ratios travel, absolutes do not."""
