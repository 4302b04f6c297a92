"""Proved scores: a hand against the computer that is dealt fairly and can be replayed by anyone; pure."""
