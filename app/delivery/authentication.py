"""Authenticating to one relay (NIP-42), without IO: whether its challenge is answered, and how that went.

Time comes in as monotonic seconds.
"""

from collections import deque
from collections.abc import Callable

import orjson

from app.delivery.answer import RETRY_PREFIXES
from app.nostr.message import Ok, auth_message, split_prefix

LIMIT = 10
"""Challenges that are answered within any minute; a relay may send them without end."""

LIMIT_SECONDS = 60.0

SignAuth = Callable[[str, str], str | None]
"""Makes the signed NIP-42 event (JSON text) for a relay URL and a challenge, or None to refuse."""


class NotAuthenticated(Exception):
    """The challenge is not answered; the message is why, worded as a relay's OK would be."""


class Authentication:
    """How far it has come with the relay's newest challenge.

    Attributes:
        done: The relay has taken the answer.
        refused: Why it cannot be done, worded as a relay's OK would be; empty if it is done or was not tried.
    """

    def __init__(self, relay: str, sign_auth: SignAuth) -> None:
        self._relay = relay
        self._sign_auth = sign_auth
        self._signed: deque[float] = deque(maxlen=LIMIT)  # when the last ones were
        self.start_over()

    @property
    def is_due(self) -> bool:
        """Whether there is a challenge that waits for no OK."""
        return self._challenge is not None and self._event_id is None

    def start_over(self, challenge: str | None = None) -> None:
        """There is a new challenge, or a new connection and none."""
        self._challenge = challenge
        self._event_id: str | None = None  # of the AUTH event that waits for its OK
        self.done = False
        self.refused = ""

    def challenged(self, challenge: str) -> None:
        """Take a challenge; it is no new one if it is being answered."""
        if challenge != self._challenge or self._event_id is None:
            self.start_over(challenge)

    def message(self, now: float) -> str:
        """The answer to the challenge, if it is due.

        Raises:
            NotAuthenticated: There are too many of them, or no key for this relay.
        """
        if len(self._signed) == LIMIT and now - self._signed[0] < LIMIT_SECONDS:
            raise NotAuthenticated(f"error: asked to authenticate more than {LIMIT} times a minute")
        self._signed.append(now)
        event = self._sign_auth(self._relay, self._challenge or "")
        if event is None:
            self.refused = "auth-required: no key to authenticate with"
            raise NotAuthenticated(self.refused)
        self._event_id = orjson.loads(event)["id"]
        return auth_message(event)

    def awaits(self, event_id: str) -> bool:
        """Whether this is the AUTH event that waits for its OK."""
        return event_id == self._event_id

    def take(self, ok: Ok) -> str:
        """Take that OK; returns the refusal, empty if the relay has taken the answer."""
        self._event_id = None
        if ok.accepted:
            self.done = True
            return ""
        if split_prefix(ok.message)[0] in RETRY_PREFIXES:
            return ok.message
        self.refused = f"auth-required: authentication refused: {ok.message}"
        return self.refused

    def give_up(self) -> None:
        """Wait for its OK no longer."""
        self._event_id = None
