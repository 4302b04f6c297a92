"""Scores: what may be claimed, how a claim becomes an event, how events become a ranking; pure."""
