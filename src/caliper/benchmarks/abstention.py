"""Where a reply says in words that a text does not hold the answer (ours)."""

from __future__ import annotations

import re

_SAY = (
    r"(?:answer|tell|determin|say|know|infer|identif|conclud|deduc|ascertain|establish|decid"
    r"|judg|specif|verif|discern|make out|be sure|find out|work out"
    r"|see\s(?:which|what|whether|if|who|where|how))\w{0,8}"
)
_GIVE = (
    r"(?:mention|specif|stat(?:e|ed|ing)\b|provid|describ|indicat|giv(?:e|es|en|ing)\b|includ|say"
    r"|said\b|tell|told\b|contain|reveal|address|disclos|discuss|list|nam(?:e|es|ed|ing)\b|detail"
    r"|explain|clear|known\b|visib|identif|legib|availab|infer|determin|show|refer|cover|note"
    r"|report|record|evident|apparent|possible|see\b|answerable|state\b)\w{0,8}"
)
_FACTS = r"(?:mention|info|indication|detail|description|evidence|reference|clue|way|data|hint)"
_ABSTENTION = re.compile(
    r"(?:"
    rf"\b(?:cannot|can\s?not|can['\u2019]?t|could\snot|couldn['\u2019]t|unable\sto|not\sable\sto"
    rf"|impossible\sto|possible\sto|no\sway\s(?:to|of)|hard\sto|difficult\sto)\s"
    rf"(?:be\s)?(?:\w{{2,12}}ly\s)?{_SAY}"
    rf"|(?:\b(?:not|never)|n['\u2019]t)\s(?:\w{{1,15}}\s){{0,2}}?{_GIVE}"
    rf"|\bno\s(?:\w{{1,15}}\s){{0,3}}?{_FACTS}\w{{0,6}}"
    r"|\bno\s(?:\w{1,15}\s){1,4}?(?:is|are|was|were)\s"
    r"(?:given|mentioned|stated|specified|described|provided|named|shown|listed)"
    rf"|\b(?:neither|nothing|none)\b[^.;\n]{{0,60}}?\s(?:is|are|was|were)\s{_GIVE}"
    r"|\bnothing\s(?:about|on|regarding|concerning|is\ssaid)|\b(?:is|stays|remains)\ssilent"
    r"|\b(?:insufficient|not\senough)\s(?:\w{1,15}\s){0,2}?(?:info|detail|context|data|evidence)\w{0,8}"
    r"|n['\u2019]t\senough\s(?:info|detail|context|data)\w{0,8}"
    r"|\black(?:s|ing)?\s(?:of\s)?(?:\w{1,15}\s){0,3}?(?:info|detail|context|data)\w{0,8}"
    r"|\b(?:unknown|unclear|unspecified|undetermined|indeterminate|indeterminable|undisclosed"
    r"|unstated|unmentioned|unanswerable|omit(?:s|ted)|n/a)\b"
    r"|\bbut\snot\s(?:its|the|their|his|her)\s"
    r"|\bno\sse\s(?:puede|menciona|especifica|indica|sabe|dice)"
    r"|\bno\s(?:especifica|menciona|indica|dice)"
    r"|\bpas\s(?:\u00e9t\u00e9\s)?(?:mentionn|pr\u00e9cis|indiqu|sp\u00e9cifi|possible)"
    r"|\bnicht\s(?:erw\u00e4hnt|angegeben|genannt|beschrieben|bestimm|ersichtlich|hervor|beantwort)"
    r"|\bgeht\b[^.;\n]{0,60}?\bnicht\shervor"
    r"|\bn\u00e3o\s(?:\w{1,8}\s){0,2}?(?:menciona|especifica|poss\u00edvel|indica)"
    r"|\bnon\s(?:\w{1,8}\s){0,2}?(?:menziona|specifica|possibile|indica)"
    r"|\u043d\u0435\s(?:\u0443\u043a\u0430\u0437|\u0443\u043f\u043e\u043c|\u0441\u043a\u0430\u0437"
    r"|\u043e\u043f\u0438\u0441)"
    r"|(?:\u6ca1\u6709|\u672a)(?:\u660e\u786e)?(?:\u63d0|\u8bf4\u660e|\u63cf\u8ff0|\u7ed9\u51fa)"
    r"|\u65e0\u6cd5(?:\u786e\u5b9a|\u5224\u65ad|\u56de\u7b54|\u5f97\u77e5|\u56de\u7b54)"
    r"|\u66f8\u304b\u308c\u3066\u3044(?:\u307e\u305b\u3093|\u306a\u3044)"
    r"|\u8a18\u8f09(?:\u304c|\u3055\u308c\u3066)|\u4e0d\u660e|\u5206\u304b\u308a\u307e\u305b\u3093"
    r"|\u308f\u304b\u308a\u307e\u305b\u3093|\u8a00\u53ca\u3055\u308c\u3066\u3044\u307e\u305b\u3093"
    r"|\uc54c \uc218 \uc5c6|\uc5b8\uae09\ub418\uc9c0"
    r")(?:[^.,;\n]{0,40}?\b(?:whether|if)\b[^.;\n]{0,200})?+",
    re.IGNORECASE,
)


def abstentions(text: str) -> list[tuple[int, int]]:
    """Where the text says that something is not stated or cannot be told, from and to.

    In English, and the usual words in Spanish, French, German, Portuguese, Italian, Russian,
    Chinese, Japanese and Korean. What follows "whether" or "if" belongs to it.
    """
    return [match.span() for match in _ABSTENTION.finditer(text)]
