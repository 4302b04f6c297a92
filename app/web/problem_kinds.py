"""Every kind of problem by its slug: its status, and what its page says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of problem: what its page says, and the headers that may come with it."""

    status: int
    title: str
    advice: str
    headers: tuple[str, ...] = ()


KINDS: dict[str, Kind] = {
    "malformed-body": Kind(
        400, "The body cannot be read", "Send one JSON object in UTF-8, each of its keys once."
    ),
    "malformed-request": Kind(
        400, "The request cannot be read", "Send well-formed HTTP/1.1 (RFC 9112) with a Host header."
    ),
    "malformed-header": Kind(
        400, "A header cannot be read", "Correct the header that the detail names, or leave it out."
    ),
    "unauthenticated": Kind(
        401,
        "No valid credentials",
        "Send `Authorization: Bearer KEY` with an API key or a token, or sign the call yourself (NIP-98).",
        ("WWW-Authenticate",),
    ),
    "origin-not-allowed": Kind(
        403,
        "This site may not make such calls",
        "The operator names the sites whose pages may sign in, in BRISCOLA_CORS_ORIGINS.",
    ),
    "forbidden": Kind(
        403, "You may not do that", "The detail says who may; ask the operator for a key with other rights."
    ),
    "name-taken": Kind(
        403,
        "The name belongs to another player",
        "Choose another name; every spelling of one is the same name.",
    ),
    "name-banned": Kind(
        403, "The name is banned", "Choose another name; every spelling of one is the same name."
    ),
    "proof-required": Kind(
        403,
        "Only proved scores are published here",
        "Play a match, POST /v1/matches: its score is published by itself when the hand ends.",
    ),
    "not-your-match": Kind(
        403,
        "The match is another player's",
        "Send its own token as `Authorization: Bearer TOKEN`, or sign in as whoever opened it.",
    ),
    "statement-refused": Kind(
        403,
        "The player's key has not signed for this deal",
        "Sign an event of kind 78 with the match's `player`, with exactly the tags that the README names.",
    ),
    "not-found": Kind(
        404, "Nothing is here", "Check the address; GET /v1/protocol tells what this service is."
    ),
    "score-deleted": Kind(
        404, "The score was deleted", "It was deleted at `deleted_at`; a score posted later shows again."
    ),
    "method-not-allowed": Kind(
        405,
        "The method is not allowed here",
        "Use one of the methods that the Allow header names.",
        ("Allow",),
    ),
    "request-timeout": Kind(
        408, "The request came too slowly", "Send the whole request at once, over a new connection."
    ),
    "match-unfinished": Kind(
        409,
        "A match of this name at this level is not finished",
        "`match` names it: play on, or resign it, before you open another.",
    ),
    "not-dealt": Kind(409, "Nothing is dealt yet", "Send your seed first: POST /v1/matches/{match_id}/deal."),
    "already-dealt": Kind(
        409,
        "The match was dealt with another seed",
        "Play on with the cards that you have: GET /v1/matches/{match_id} shows them.",
    ),
    "wrong-ply": Kind(
        409,
        "That ply is not to be played now",
        "Look at the match again: `next_ply` is the one that is yours to play.",
    ),
    "match-over": Kind(
        409, "The match is over", "GET /v1/matches/{match_id} tells how it ended; open another to play on."
    ),
    "no-transcript": Kind(
        409,
        "There is no transcript yet",
        "It is made when the hand ends, and never for a match that was not dealt.",
    ),
    "body-too-large": Kind(
        413, "The body is too large", "Send at most the number of bytes that the detail names."
    ),
    "address-too-long": Kind(
        414, "The address is too long", "Keep path and query short; what is long goes into the body."
    ),
    "unsupported-media-type": Kind(
        415, "The body is of another type", "Send the header `Content-Type: application/json`."
    ),
    "invalid-score": Kind(422, "The score cannot be published", "Correct the fields that `errors` names."),
    "invalid-match": Kind(
        422, "No match can be played on these terms", "Correct the fields that `errors` names."
    ),
    "invalid-deal": Kind(
        422, "The match cannot be dealt with this", "Correct the fields that `errors` names."
    ),
    "invalid-play": Kind(
        422, "That is no play", "Correct the fields that `errors` names: a play has a card and its ply."
    ),
    "card-not-in-hand": Kind(
        422, "You do not hold that card", "Play one of those in `observation.hand` of the match."
    ),
    "invalid-query": Kind(
        422, "The query cannot be answered", "Correct the parameters that `errors` names, or leave them out."
    ),
    "idempotency-key-reused": Kind(
        422,
        "The Idempotency-Key came before with another body",
        "Make a new key for every new score, and repeat a key only with the same body, byte for byte.",
    ),
    "too-fast": Kind(
        429,
        "Too many scores for one name",
        "Wait as many seconds as the Retry-After header says, then post again.",
        ("Retry-After",),
    ),
    "matches-abandoned": Kind(
        429,
        "Too many matches were not played to their end",
        "Finish one that is open, or wait as many seconds as the Retry-After header says.",
        ("Retry-After",),
    ),
    "rate-limited": Kind(
        429,
        "Too many calls",
        "Wait as many seconds as the Retry-After header says, then call again.",
        ("Retry-After",),
    ),
    "header-too-large": Kind(431, "The header fields are too large", "Send fewer and shorter header fields."),
    "identity-provider-unavailable": Kind(
        503,
        "The token cannot be checked now",
        "The identity provider does not answer; try again after Retry-After seconds.",
        ("Retry-After",),
    ),
    "internal": Kind(
        500, "The service failed", "Nothing is known to be wrong with the call; try again later."
    ),
    "overloaded": Kind(
        503,
        "Too many connections",
        "Use fewer connections at once; try again after Retry-After seconds.",
        ("Retry-After",),
    ),
    "clock-behind": Kind(
        503,
        "The service's clock is behind",
        "Try again later; the operator must set the machine's clock.",
        ("Retry-After",),
    ),
    "stopping": Kind(
        503,
        "The service is stopping",
        "The call came to no end in time; send it again, with the same Idempotency-Key if it had one.",
    ),
    "store-unavailable": Kind(
        503,
        "The service cannot write now",
        "Nothing was signed; try again after Retry-After seconds.",
        ("Retry-After",),
    ),
    "outcome-unknown": Kind(
        503,
        "It is not known whether the call was carried out",
        "The database was lost as it was told to keep it; send the call again, with the same Idempotency-Key "
        "if it had one.",
        ("Retry-After",),
    ),
}
