"""character_identification: does the caption name the annotated character or person?

protocols.md 1: 1 the name in any letter case, -1 another name, 0 no name at all. There is no table
of aliases.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rapidfuzz import fuzz

from caliper.lexical.judgements import RIGHT, SILENT, WRONG, Judgement
from caliper.lexical.text import CaptionText, cache_recent
from caliper.lexical.vocabulary import word_set
from caliper.lexical.words import STOPWORDS

_WORK = re.compile(
    r"[,(]|\b(?:from|in|of) (?:the |a )?(?:\w+ ){0,3}?(?:game|anime|series|movie|film|show|manga|"
    r"franchise|novel|cartoon|comic|comics|animation|tv|drama|book)\b|\bfrom\b|\bplayed by\b",
    re.IGNORECASE,
)
_TITLES = word_set("""
    mr mrs ms dr sir lady lord king queen prince princess president captain the of de von van la
    le el al bin da di and jr sr saint st
""")
# All repetitions are bounded and begin at the start of a word: linear time for any text.
_PART = r"[A-Z][\w'\u2019-]{0,30}+(?:\.(?=\s))?"
_NAME = rf"{_PART}(?: (?:(?:of|the|de|von|van|la|le|el|al|bin|da|di|no) )?{_PART}){{0,4}}"
_QUOTED_NAME = rf"(?<![\w'\u2019-])[\"“'\u2018]?(?P<name>{_NAME})"
_INTRODUCED = re.compile(
    r"(?:\b(?:[Cc]haracter|[Ii]dentified as|[Kk]nown as|[Nn]amed|[Cc]alled|[Rr]esembl(?:es|ing)|"
    r"[Rr]ecogni[sz](?:ed|able) as|[Aa]ctor|[Aa]ctress|[Ss]inger|[Ff]igure|[Hh]ero|[Hh]eroine|"
    r"[Pp]rotagonist|[Ff]eatur(?:es|ing)|[Pp]ortrait of|[Dd]epict(?:s|ing)|"
    r"[Aa]ppears to be|[Ll]ikely|[Pp]ossibly|[Pp]robably|[Ii]s|[Pp]resident|[Pp]layer|"
    r"[Ll]ooks like|[Ss]imilar to|[Bb]elieved to be|[Mm]an|[Ww]oman|[Ii]mage of|"
    r"[Pp]hotograph of|[Pp]icture of|[Ii]llustration of|[Aa]s|[Dd]uo|[Ss]uperhero|[Vv]illain|"
    r"[Ss]pecifically|[Gg]irl|[Bb]oy|[Ss]hows?|[Ss]howcas(?:es|ing)|[Pp]resents|[Cc]aptures)"
    r"(?:,| as| is| named| called| the| character| characters| anime| animated| cartoon| popular|"
    r" iconic| famous| beloved| well-known| fictional| a| of| be| named,){0,4} )" + _QUOTED_NAME
)
_FROM_WORK = re.compile(
    _QUOTED_NAME + r"[\"”'\u2019]?,? (?:a character |the character |as seen |as depicted )?"
    r"(?:from|in) (?:the )?(?:\w+ ){0,3}?(?:game|anime|series|movie|film|show|manga|franchise|"
    r"cartoon|comics?|novel|universe)\b"
)
_MULTI = re.compile(
    r"(?<=[a-z,] )(?P<name>[A-Z][A-Za-zà-ÿ'\u2019-]{1,30}+(?: (?:[A-Z]\.|de|von|van|la|al|bin))?"
    r"(?: [A-Z][A-Za-zà-ÿ'\u2019-]{1,30}+){1,2})"
)
# Capitalised names of places, days, brands, styles and peoples, not of characters.
_NO_NAMES = word_set("""
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday american chinese japanese european english
    french german italian spanish asian african indian british korean russian western eastern
    northern southern north south east west christmas halloween new york london paris tokyo
    beijing china japan usa us uk united states kingdom street avenue road city park museum
    university hotel restaurant airport bridge tower building center centre company inc ltd corp
    magazine logo times world cup league nba nfl fifa olympic olympics team club dutch angle
    gothic renaissance victorian baroque art deco nouveau latin arabic roman greek disney marvel
    dc pixar nintendo netflix studio ghibli warner bros sony youtube instagram facebook twitter
    tiktok getty images shutterstock lego nike adidas coca cola pepsi apple samsung google
    microsoft the a an this that it its there in on at english bmw toyota ford mercedes audi pop
    figure anime manga game cgi led tv hd vip ai 3d 2d x ok i he she they his her their overall
    additionally however while with and or for as from to of by no not both each mount square lake
    river island beach bay hall palace cathedral church temple castle wall gate house valley
    canyon garden gardens plaza market statue liberty eiffel colosseum louis vuitton gucci chanel
    dior prada hermes rolex ferrari porsche tesla honda volkswagen harley davidson adobe intel day
    night morning god bible christian catholic buddhist islamic hindu muslim jewish middle state
    national international force army navy police
""")
_PLACE_ENDINGS = word_set("""
    street avenue road city park museum university hotel restaurant airport bridge tower building
    center centre company magazine club square lake river island beach bay hall palace cathedral
    church temple castle wall gate house valley canyon garden gardens plaza market statue stadium
    arena airlines records studios pictures brothers festival awards news year flag mountain
    mountains station school college hospital store shop cafe bar theatre theater district desert
    forest ocean sea tree day art style sign logo effect angle sultan mosque mall pier harbor
""")
# A name after these is a place, a maker or a style, not a person in the picture.
_NOT_SHOWN = re.compile(
    r"\b(?:in|at|near|from|on|to|into|by|of the|style of|works? of|art of|painter|photographer|"
    r"brand|logo|studio|directed by|inspired by|reminiscent of|artist|signed|reads|word|words|"
    r"text|titled|title|(?:logos?|brands?|sponsors?|signs?) (?:such as|like|including)|"
    r"(?:location|place|city|landmark|venue)(?: \w+){0,3} (?:be|is|as))[ ,:]*[\"“'\u2018]?$"
)
_PEOPLE_TALK = re.compile(
    r"\b(?:character|person|man|woman|actor|actress|singer|celebrity|figure|portrait|boy|girl|"
    r"individual|player|politician|hero|heroine|protagonist|he|she|named|identified|star|lady|"
    r"men|women|people|gentleman|sits|stands|holds|wears|smiles|poses|performs|sitting|standing|"
    r"holding|wearing|smiling|posing|performing)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s)[^.!?\n]*)*")
_DENIAL = re.compile(
    r"\b(?:no|not|cannot|can't|unable|isn't|without|don't|doesn't)\b[^.,;]{0,60}$", re.IGNORECASE
)


def _fold(text: str) -> str:
    if text.isascii():
        return text.casefold()
    plain = unicodedata.normalize("NFKD", text)
    return "".join(char for char in plain if not unicodedata.combining(char)).casefold()


@cache_recent
def _words(text: str) -> tuple[str, ...]:
    return tuple(
        word.removesuffix("'s")
        for word in re.findall(r"\w+(?:'s)?", _fold(text.replace("\u2019", "'")))
    )


@lru_cache(maxsize=2048)
def name_words(annotation: str) -> tuple[str, ...]:
    """The words of the name in an annotation, without the work that it comes from."""
    name = _WORK.split(annotation, maxsplit=1)[0].strip() or annotation
    words = [word for word in _words(name) if word not in _TITLES]
    return tuple(words) or _words(annotation)


def introduced(text: str) -> tuple[str, ...]:
    """The names that a caption gives to people and characters, in order.

    They follow an introduction ("the character", "identified as"), come with a work ("X from
    the anime"), or are capitalised names of several words in a sentence about people.
    """
    names: dict[str, None] = {}
    for sentence in _SENTENCE.findall(text):
        people = _PEOPLE_TALK.search(sentence)
        for pattern in (_INTRODUCED, _FROM_WORK, _MULTI):
            if pattern is _MULTI and not people:
                continue
            for match in pattern.finditer(sentence):
                name = match.group("name")
                before = sentence[max(0, match.start("name") - 80) : match.start("name")]
                if _DENIAL.search(before) or _NOT_SHOWN.search(before):
                    continue
                if _is_name(name):
                    names[name] = None
    return tuple(names)


def _is_name(name: str) -> bool:
    """Whether capitalised words name a person, not a place, brand, day or people."""
    words = _words(name)
    if not words or name.isupper() or not _TITLES.isdisjoint(words[-1:]):
        return False
    if words[0] in _NO_NAMES or words[-1] in _NO_NAMES or words[-1] in _PLACE_ENDINGS:
        return False
    return STOPWORDS.isdisjoint(set(words) - _TITLES)


def _is_capitalised(text: str, word: str) -> bool:
    """Whether a one-word name is capitalised in the caption: "Bean", not a coffee bean."""
    if not word.isascii() or text.islower():
        return True
    return any(
        match[:1].isupper() for match in re.findall(rf"(?i)\b{re.escape(word[:4])}\w*", text)
    )


def _contains_name(text: str, name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether the caption's words contain the name; of three or more words, one may be missing."""
    present = set(words)
    if len(name) == 1 and not _is_capitalised(text, name[0]):
        return False
    matches = [word for word in name if word in present]
    if len(matches) == len(name) or "".join(name) in present:
        return True
    if len(name) == 1 and len(name[0]) >= 5:
        return any(fuzz.ratio(name[0], word) >= 88 for word in present if word[:1] == name[0][:1])
    if not name[0].isascii() and "".join(name) in "".join(words):
        return True
    close = sum(
        word in present
        or (
            len(word) >= 5
            and any(fuzz.ratio(word, other) >= 85 for other in present if other[:1] == word[:1])
        )
        for word in name
    )
    return close == len(name) or (len(name) > 2 and close >= len(name) - 1)


def judge_name(caption: CaptionText, element: str) -> Judgement:
    """Score a character's name: its words are right, another name wrong, no name silence."""
    annotated = name_words(element)
    words = _words(caption.text)
    if not annotated:
        return Judgement(SILENT, "The annotation has no name.")
    if _contains_name(caption.text, annotated, words):
        return Judgement(RIGHT, "The caption gives the name.")
    names = introduced(caption.text)
    pairs = zip(caption.words, caption.quoted, strict=True)
    unquoted = {_fold(word).removesuffix("'s") for word, quoted in pairs if not quoted}
    partial = [
        word
        for word in annotated
        if len(word) >= 3 and word in unquoted and _is_capitalised(caption.text, word)
    ]
    others = [name for name in names if not set(_words(name)) & set(partial)]
    if partial and _occurs_alone(caption.text, partial, annotated):
        return Judgement(RIGHT, "The caption gives a part of the name.")
    work = set(_words(element)) - set(annotated)
    others = [name for name in others if not set(_words(name)) <= work]
    if partial or others:
        return Judgement(WRONG, f"The caption names {others[0] if others else partial[0]}.")
    return Judgement(SILENT, "The caption names nobody.")


def _occurs_alone(text: str, partial: list[str], full_name: tuple[str, ...]) -> bool:
    """Whether part of the name appears capitalised, and not within another name."""
    for match in re.finditer(r"[A-Z][\w'\u2019-]*(?: [A-Z][\w'\u2019-]*)*", text):
        words = [word for word in _words(match.group()) if word not in _TITLES]
        own = [word for word in words if word in full_name]
        if own and own[0] in partial:
            strangers = [word for word in words if word not in full_name and word not in STOPWORDS]
            if not strangers:
                return True
    return False
