"""Penn Treebank tokens as COCO's caption evaluation makes them: lower case, little punctuation.

The evaluation runs Stanford's PTBTokenizer 3.4.1 (Java, -lowerCase) and then drops `PUNCTUATION`.
These rules give the same tokens for English captions without Java. They differ for emoticons
beyond the common ones, URLs without a scheme, and abbreviations that are not listed here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from caliper.lexical.vocabulary import word_list

PUNCTUATION = frozenset(("''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"))
"""The tokens that COCO's evaluation drops. Its list has brackets too, but in upper case, and tokens
are in lower case: so brackets stay.
"""
_BRACKETS = {
    "(": "-lrb-",
    ")": "-rrb-",
    "[": "-lsb-",
    "]": "-rsb-",
    "{": "-lcb-",
    "}": "-rcb-",
}
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2019\u201b", "'"),
        "\u2018": " ` ",
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", ' " '),
        **dict.fromkeys("\u2013\u2014\u2015", " -- "),
        "\u2026": " ... ",
        "\u00a2": " cents ",
        "\u00a3": " # ",
        "\u20ac": " $ ",
        "\u00bd": " 1/2 ",
        "\u00bc": " 1/4 ",
        "\u00be": " 3/4 ",
        "\u00ad": "",
        "\u200b": "",
        "\ufe0f": "",
    }
)
_ABBREVIATIONS = word_list("""
    Jan Feb Mar Apr Jun Jul Aug Sept? Oct Nov Dec Mon Tues? Wed Thu Thurs Fri Ala Ariz Calif Colo
    Conn Ct Dak Fla Ga Ind Kans? Ky Md Mich Minn Mo Mont Neb Nev Okla Penn Tenn Va Vt Wisc? Wyo Inc
    Cos? Corp Ptys? Ptes? Ltd Plc Rt Bancorp Dept Bhd Assn Univ Intl Sys Invt Elec Natl M[ft]g Jr Sr
    Bros Blvd Rd Esq Mr Mrs Ms Drs? Profs? Sens? Reps? Attys? Lt Col Gen Messrs Govs? Adm Rev Maj
    Sgt Cpl Pvt Mt Capt Ste? Ave Pres Lieut Hon Brig Cmdr Comdr Pfc Spc Supts? Det Ph etc al seq ft
    vs? Bldg cf Cie Eg Est Tel sq p
""")
_CAPITALISED = word_list("Az Ark Del Ill La Mass Miss Ore Pa Tex Wash")
_BEFORE_NUMBERS = word_list("Nos? Prop Figs? ca Art pp")
_LETTER, _WORDY = r"[^\W\d_]", r"[^\W_]"
_END = rf"(?!{_WORDY})"
_WORD = rf"{_LETTER}(?:{_WORDY}|(?<={_WORDY})_(?={_WORDY}))*"
_PART = rf"(?:[dol]'(?={_LETTER}))?{_WORDY}+"
_SIDE = rf"{_WORDY}+(?:-[a-z]+){{0,2}}"
_RULES = re.compile(
    "|".join(
        (
            # Lengths are bounded where a long caption could take quadratic time.
            r"</?[a-z][a-z0-9]*(?:\s(?=[^<>]{0,200}=)[^<>]{1,200}|\s{0,9}/?)>",
            r"https?://[^\s\"<>|()]+[^\s\"<>|().!?,;:'-]",
            rf"{_WORDY}[\w.+-]{{0,64}}@{_WORDY}[\w-]*(?:\.{_WORDY}[\w-]*)+",
            # Words that are split in two, and contractions.
            rf"(?:can(?=not(?!{_WORDY}|-))|(?:gon|wan)(?=na{_END})|got(?=ta{_END})|(?:lem|gim)(?=me{_END}))",
            rf"'?t(?=(?:is|was){_END})(?<='t)",
            rf"{_LETTER}+?(?=n't{_END})",
            rf"n't{_END}",
            rf"'(?:n'|(?:em|s|m|d|re|ve|ll|till?|cause|\d\ds?){_END})|'n(?!{_WORDY}|/)",
            rf"(?:ma'am|ne'er|o'er|e'er){_END}|y'(?=all{_END})",
            r"[@#][a-z]\w*",
            r"(?-i:[A-Z]+(?:[+&][A-Z]+)+)|c\+\+|[cf]#",
            r"[a-z]*\$",
            # Abbreviations.
            rf"ph\.d\.|{_LETTER}(?:\.{_LETTER})+{_END}\.?|{_LETTER}\.(?!{_LETTER})",
            rf"(?:{'|'.join(_ABBREVIATIONS)})\.(?!{_LETTER})",
            rf"(?-i:{'|'.join(_CAPITALISED)})\.(?!{_LETTER})",
            rf"(?:{'|'.join(_BEFORE_NUMBERS)})\.(?=\s*\d)",
            # Numbers and words.
            rf"{_SIDE}(?:/{_SIDE}){{1,2}}",
            rf"{_PART}(?:\.\d+{_WORDY}*)?(?:-{_PART})+",
            r"[-+]?(?:\d+(?:[.:,]\d+)+|\.\d+(?:[.:,]\d+)*)|[-+]\d+",
            rf"[dol]'{_WORD}|{_WORD}(?:[.!?]{_WORD})*",
            rf"\d{_WORDY}*",
            # Emoticons and punctuation.
            r"[<>]?[:;=]['o*-]?[()dpo](?![a-z])",
            r"[!?]{2,}|<<|>>|--+|\*+|_+",
            r"\S",
        )
    ),
    re.IGNORECASE,
)


@lru_cache(maxsize=65536)
def tokenize(text: str) -> tuple[str, ...]:
    """The tokens of a caption, without `PUNCTUATION`."""
    tokens = (_token(match[0]) for match in _RULES.finditer(text.translate(_PLAIN)))
    return tuple(part for token in tokens for part in token.split() if part not in PUNCTUATION)


def _token(text: str) -> str:
    """A token in lower case, as the evaluation writes it; empty if it is not written."""
    if len(text) > 1 and set(text) <= {"-"}:
        return "--"
    if text == '"' or (len(text) == 1 and ord(text) > 0xFFFF):
        return ""
    text = text.lower()
    for bracket, name in _BRACKETS.items():
        text = text.replace(bracket, name)
    return text
