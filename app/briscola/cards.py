"""The forty cards: suits, ranks, points, and their names.

A card's text is its suit letter and number: B bastoni, C coppe, D denari, S spade; 1 asso, 2-7, 8 fante,
9 cavallo, 10 re. English names are those of the French pack, suit for suit (seed 002).
"""

from __future__ import annotations

from enum import IntEnum

from app.briscola.errors import MalformedCard, shown


class Suit(IntEnum):
    """The four suits; the value indexes tables, `letter` is the text form."""

    letter: str
    italian: str
    english: str

    def __new__(cls, index: int, letter: str, italian: str, english: str) -> Suit:
        """Attach the names to the number."""
        suit = int.__new__(cls, index)
        suit._value_ = index
        suit.letter, suit.italian, suit.english = letter, italian, english
        return suit

    BASTONI = 0, "B", "bastoni", "clubs"
    COPPE = 1, "C", "coppe", "hearts"
    DENARI = 2, "D", "denari", "diamonds"
    SPADE = 3, "S", "spade", "spades"


class Rank(IntEnum):
    """The ten ranks from weakest to strongest: the value is the strength, 0 for a two up to 9 for an ace.

    `number` is the one in the card's text, `letter` the one in the text of a bid.
    """

    number: int
    points: int
    letter: str
    italian: str
    english: str

    def __new__(
        cls, strength: int, number: int, points: int, letter: str, italian: str, english: str
    ) -> Rank:
        """Attach number, points and names to the strength."""
        rank = int.__new__(cls, strength)
        rank._value_ = strength
        rank.number, rank.points, rank.letter = number, points, letter
        rank.italian, rank.english = italian, english
        return rank

    TWO = 0, 2, 0, "2", "due", "two"
    FOUR = 1, 4, 0, "4", "quattro", "four"
    FIVE = 2, 5, 0, "5", "cinque", "five"
    SIX = 3, 6, 0, "6", "sei", "six"
    SEVEN = 4, 7, 0, "7", "sette", "seven"
    JACK = 5, 8, 2, "J", "fante", "jack"
    HORSE = 6, 9, 3, "H", "cavallo", "queen"
    KING = 7, 10, 4, "K", "re", "king"
    THREE = 8, 3, 10, "3", "tre", "three"
    ACE = 9, 1, 11, "A", "asso", "ace"


_SUITS = tuple(Suit)
_BY_NUMBER = {rank.number: rank for rank in Rank}


class Card(IntEnum):
    """One of the forty cards, made once: compare with `is`, use as an index into tables of 40."""

    suit: Suit
    rank: Rank
    points: int

    def __init__(self, index: int) -> None:
        self.suit = _SUITS[index // 10]
        self.rank = _BY_NUMBER[index % 10 + 1]
        self.points = self.rank.points

    B1, B2, B3, B4, B5, B6, B7, B8, B9, B10 = range(10)
    C1, C2, C3, C4, C5, C6, C7, C8, C9, C10 = range(10, 20)
    D1, D2, D3, D4, D5, D6, D7, D8, D9, D10 = range(20, 30)
    S1, S2, S3, S4, S5, S6, S7, S8, S9, S10 = range(30, 40)

    def __str__(self) -> str:
        return self._name_  # a quarter of the time of `name`

    def __format__(self, spec: str) -> str:
        return format(self._name_, spec)

    @property
    def italian(self) -> str:
        """`re di coppe`."""
        return f"{self.rank.italian} di {self.suit.italian}"

    @property
    def english(self) -> str:
        """`king of hearts`."""
        return f"{self.rank.english} of {self.suit.english}"


DECK: tuple[Card, ...] = tuple(Card)
"""The forty cards in their fixed order, B1 … B10, C1 … S10: what a shuffle starts from."""

_BY_TEXT = {str(card): card for card in DECK}


def parse_card(text: object) -> Card:
    """The card that `text` names, exactly as `str(card)` writes it.

    Raises:
        MalformedCard: anything else; other case, stray spaces and what is no text included.
    """
    card = _BY_TEXT.get(text) if isinstance(text, str) else None
    if card is None:
        raise MalformedCard(f"no such card: {shown(text)}; a card is B, C, D or S and a number from 1 to 10")
    return card


def card_of(suit: Suit, rank: Rank) -> Card:
    """The card of this suit and rank."""
    return DECK[suit * 10 + rank.number - 1]
