"""Usernames that may be published, and why another may not (NFKC of UAX #15, single scripts of UTS #39).

Only the publisher asks here: the verifier takes a name as the event gives it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import regex

MAX_LENGTH = 32

# UAX #31: recommended and limited-use scripts; what belongs to none of them is historic and counts as one.
_NAMES = (
    "Adlm Arab Armn Bali Bamu Batk Beng Bopo Cakm Cans Cham Cher Cyrl Deva Ethi Geor Grek Gujr Guru Hang "
    "Hani Hebr Hira Hmnp Java Kali Kana Khmr Knda Lana Laoo Latn Lepc Limb Lisu Mand Miao Mlym Mong Mtei "
    "Mymr Newa Nkoo Olck Orya Osge Rohg Saur Sinh Sund Sylo Syrc Tale Talu Taml Tavt Telu Tfng Thaa Thai "
    "Tibt Vaii Wcho Yiii"
)
_SCRIPTS = tuple(_NAMES.split())
# Writing systems that use several scripts together (UTS #39, augmented script sets).
_TOGETHER = (("Hani", "Hira", "Kana"), ("Hani", "Hang"), ("Hani", "Bopo"))

_PLAIN = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.\-]{1,32}")
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]")
_SHARED = r"\p{scx=Common}\p{scx=Inherited}"


def _scripts(*names: str) -> str:
    return "".join(rf"\p{{scx={name}}}" for name in names)


@lru_cache(maxsize=1)
def _single_script() -> tuple[regex.Pattern[str], ...]:
    alone = (_scripts(name) for name in _SCRIPTS)
    together = (_scripts(*names) for names in _TOGETHER)
    historic = f"[^{_scripts(*_SCRIPTS)}]"
    return tuple(regex.compile(f"[{_SHARED}{s}]+", regex.V1) for s in (*alone, *together, historic))


def _allowed(char: str) -> bool:
    # The table that also lower-cases and normalises decides, so that all three know the same Unicode.
    category = unicodedata.category(char)
    return char in "_-." or ((category[0] in "LM" or category == "Nd") and not _INVISIBLE.fullmatch(char))


class InvalidUsername(ValueError):
    """A name that is not published; the message says what is wrong with it."""


def check_username(name: str) -> str:
    """Return `name` if it may be published.

    A name has 1 to 32 characters, each a letter, mark or decimal digit of Unicode or one of `_`, `-`, `.`.
    It is neither `.` nor `..`: browsers take these out of addresses, as `%2E` too (RFC 3986, section 5.2.4).
    It is its own NFKC form, so that two names that look alike by compatibility cannot both exist, and its
    letters are of one script.

    Raises:
        InvalidUsername: with the first rule that the name breaks.
    """
    if _PLAIN.fullmatch(name):
        return name
    if not name:
        raise InvalidUsername("is empty: give 1 to 32 characters")
    if name in {".", ".."}:
        raise InvalidUsername("is '.' or '..', which no address can hold: add a letter or a digit")
    if len(name) > MAX_LENGTH:
        raise InvalidUsername(f"has {len(name)} characters: at most {MAX_LENGTH} are allowed")
    for char in name:
        if not _allowed(char):
            raise InvalidUsername(
                f"contains U+{ord(char):04X}: only letters, marks, digits, '_', '-' and '.' are allowed"
            )
    if unicodedata.normalize("NFKC", name) != name:
        raise InvalidUsername("is not in Unicode's NFKC form: send its NFKC form instead")
    if unicodedata.category(name[0]).startswith("M"):
        raise InvalidUsername("begins with a combining mark: begin with a letter, a digit, '_', '-' or '.'")
    if not any(pattern.fullmatch(name) for pattern in _single_script()):
        raise InvalidUsername("mixes letters of several scripts: use one script")
    return name
