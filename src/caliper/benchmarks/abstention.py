"""Find statements in a reply that the text does not contain the answer (ours)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SAY = (
    r"(?:answer|tell|determin|say|know|infer|identif|conclud|deduc|ascertain|establish|decid"
    r"|judg|specif|verif|discern|make out|be sure|found\b|find\b|find out|work(?:ed)?\sout|choos"
    r"|pick\b|select|confirm|guess|pin\sdown|learn|recogni[sz]|estimat|count\b"
    r"|see\s(?:which|what|whether|if|who|where|how))\w{0,8}"
)
_GIVE = (
    r"(?:mention|specif|stat(?:e|ed|ing)\b|provid|describ|indicat|giv(?:e|es|en|ing)\b|includ|say"
    r"|said\b|tell|told\b|contain|reveal|address|disclos|discuss|list|nam(?:e|es|ed|ing)\b|detail"
    r"|explain|clear|known\b|visib|identif|legib|availab|infer|determin|show|refer|cover|note"
    r"|report|record|evident|apparent|possible|see\b|answer|state\b|print|written\b|spelt\b|spell"
    r"|compar|learn|confirm|clarif|elaborat|touch\son|comment|convey|imply|implied|(?:go|get)\sinto|help\b)\w{0,8}"
)
_FACTS = (
    r"(?:mention|info|indication|detail|description|evidence|reference|clue|way|data|hint|answer"
    r"|word\s(?:on|about|of)\b|telling|specifics)"
)
_CAPTION = r"(?:caption|description|text|wording|passage)"
_ATTRIBUTE = (
    r"(?:colou?r|number|count|amount|quantity|year|date|time|name|size|age|price|brand|type|kind"
    r"|location|place|position|direction|reason|material|species)s?\b"
)
_OPEN_QUESTION = r"(?>(?:[^.,;\n]{0,40}?\b(?:whether|if|between|among)\b[^.;\n]{0,200})?)"
_CANNOT_TELL = (
    rf"\b(?=[cuinphd])(?:cannot|can\s?not|can['\u2019]?t|could\snot|couldn['\u2019]t"
    r"|unable\sto|not\sable\sto"
    rf"|impossible\sto|possible\sto|no\sway\s(?:to|of)|hard\sto|difficult\sto)\s"
    rf"(?:be\s)?(?:\w{{2,12}}ly\s)?{_SAY}"
    r"|\bd(?:o|oes|id)(?:n['\u2019]t|\snot)\s(?:\w{2,12}ly\s)?know\b"
    r"|\bno\s(?:idea\s(?:wh|how)|telling\b)|\bnot\s(?:\w{2,12}ly\s)?(?:sure|certain)\s(?:\w{1,8}\s)?"
    r"(?:wh\w{2,4}|how|if)\b"
)
# "It does not mention another" is no abstention: the option it does mention is the answer.
_NOT_MORE = (
    r"(?!\s(?:an|any\s)?(?:other|further|additional|more)\b|\s(?:any|some)(?:thing|one)\selse\b)"
)
_NOT_GIVEN = (
    rf"(?=[n'\u2019])(?:\b(?:not|never)|(?<=n)['\u2019]t)\s(?:(?!but\b|as\b)\w{{1,15}}\s){{0,3}}?{_GIVE}\b{_NOT_MORE}"
    rf"|\b(?:neither|nothing(?!\selse)|none)\b[^.;\n]{{0,60}}?\s(?:is|are|was|were|(?:can|could)\sbe)\s(?!print|writ|spel){_GIVE}"
)
_NO_FACTS = (
    rf"\bno\s(?!other\b)(?:\w{{1,15}}\s){{0,3}}?(?:{_FACTS}\w{{0,8}}|(?:is|are|was|were)\s"
    r"(?:given|mentioned|stated|specified|described|provided|named|shown|listed))"
)
_SILENT = (
    r"\b(?=[nislr])(?:nothing\s(?:about|on|of|as\sto|in\s(?:it|(?:the|this)\s(?:caption|text|description))|regarding|concerning|is\ssaid)"
    r"|(?:is|stays|remains)\ssilent"
    r"|(?:insufficient|not\senough)\s(?:\w{1,15}\s){0,2}?"
    r"(?:info|detail|context|data|evidence)\w{0,8}"
    r"|lack(?:s|ing)?\s(?:of\s)?(?:\w{1,15}\s){0,3}?(?:info|detail|context|data)\w{0,8})"
    r"|\b(?:insufficient|not\s(?:\w{4,12}\s)?enough)\sto\b"
    rf"|\bthere\s(?:is|are)\sno\s(?:\w{{1,15}}\s){{1,5}}?in\s(?:the|this)\s{_CAPTION}"
    r"|n['\u2019]t\s(?:have\s)?enough\s(?:info|detail|context|data)\w{0,8}"
)
_STATES_NO = (
    r"\b(?=[gsmpcn])(?:gives?|states?|mentions?|provides?|contains?|specifies|names?)\sno\b"
)
_LACKING = (
    r"\b(?=[amoelfnsu])(?:(?:absent|missing|omitted|left\sout|excluded)\s(?:from|in|of)\s(?:the|this|its)"
    rf"\s{_CAPTION}"
    rf"|(?:fail(?:s|ed)?|neglects?|neglected)\sto\s(?:{_SAY}|{_GIVE})|stops?\sshort\sof\b"
    r"|(?:nobody|no\sone)\s(?:says|tells|mentions|states)\b"
    r"|(?:left|remains)\s(?:unsaid|unanswered|undefined)\b|left\sopen\b"
    r"|leaves\s(?:\w{1,15}\s){1,6}?(?:open|out)\b"
    r"|any(?:one|body)['\u2019]s\sguess\b|up\sin\sthe\sair\b)"
)
_FACTS_MISSING = (
    rf"\b(?:(?:{_FACTS}\w{{0,8}}|{_ATTRIBUTE})\s(?:is|are)\s(?:absent|missing|lacking|left\sout)"
    rf"|{_CAPTION}\s(?:\w{{1,12}}\s)?(?:lacks?|omits?|skips?))\b"
)
_REMAINS_OPEN = r"\b(?:which|what|where|who|how|whether)\b[^.,;\n]{0,40}\s(?:remains|stays)\sopen\b"
_WITHOUT = (
    rf"\bwithout\s(?:\w{{1,12}}\s){{0,2}}?(?:saying|telling|stating|naming|giving|specifying|revealing"
    rf"|indicating|describing|showing|{_FACTS})"
    rf"|(?=[n'\u2019])(?:\bnot|(?<=n)['\u2019]t)\s(?:in|part\sof|found\sin|covered\sby)\sthe\s{_CAPTION}"
)
_VAGUE = (
    r"\btoo\s(?:vague|general|generic|unspecific|imprecise|ambiguous|short|brief)\sto\b"
    rf"|\b{_CAPTION}\s(?:is|remains|stays|seems)\s(?:\w{{1,12}}\s)?"
    r"(?:vague|ambiguous|inconclusive|imprecise|unspecific|generic)\b"
)
_BUT_NOT = (
    r"(?:\b(?:but|yet|though|although)|,)\s(?:not|never)\s(?:(?:at|in|on|of|to|with|by|for)\s)?"
    r"(?:how|what|which|where|who|whose|whom|when|why|whether)\b"
    r"|\bbut\snot\sabout\b"
)
# Follows a statement about the caption: "mentions a stone, but no year", "many, without a number".
_BUT_NO = (
    r"(?:\b(?:but|yet|though|although)\s(?:gives?\s|there\sis\s)?no|\bwithout"
    r"|,\snot)\s"
    rf"(?:\w{{1,12}}\s){{0,2}}?{_ATTRIBUTE}|\bbut\snothing\b(?!\selse)"
)
_UNKNOWN = (
    r"\b(?=[uionb])(?:unknown|unclear|unspecified|undetermined|indeterminate|indeterminable"
    r"|undisclosed|unstated|unmentioned|unanswerable|omit(?:s|ted)|n/a"
    r"|but\snot\s(?:its|the|their|his|her))\b"
)
_EUROPEAN_WORDS = (
    r"\b(?=[iudsnak])(?:impossible\s(?:\u00e0|de)\s|imposible\s\w|unm\u00f6glich\b|imposs\u00edvel\b|impossibile\b"
    r"|unklar\b|unbekannt\b|desconocid|inconnue?\b|sconosciut|desconhecid"
    r"|(?:sin|no\shay|aucune?|nessuna?|nenhuma?|keine?)\s"
    r"(?:menci\u00f3n|informaci|mention|info|indication|indica|pr\u00e9cision|angabe|erw\u00e4hnung|men\u00e7))"
)
_EUROPEAN = (
    r"\b(?=[npgl])(?:no\s(?:(?:se|lo|la|nos)\s)?(?:puede|menciona|especifica|indica|sabe|dice|aclara|describe|precisa)"
    r"|no\ses\sposible|l\u00e4sst\ssich\b[^.;\n]{0,60}?\snicht"
    r"|pas\s(?:\u00e9t\u00e9\s)?(?:mentionn|pr\u00e9cis|indiqu|sp\u00e9cifi|possible)"
    r"|nicht\s(?:erw\u00e4hnt|angegeben|genannt|beschrieben|bestimm|ersichtlich|hervor|beantwort|klar"
    r"|sagen|erkenn|feststell|ermittel)"
    r"|ne\s(?:l[ea]\s)?(?:dit|mentionne|pr\u00e9cise|indique|sait|permet|d\u00e9crit|peut)\spas"
    r"|geht\b[^.;\n]{0,60}?\bnicht\shervor"
    r"|n\u00e3o\s(?:\w{1,8}\s){0,2}?(?:menciona|especifica|poss\u00edvel|indica|informa|diz|descre|d\u00e1\s)"
    r"|non\s(?:\w{1,8}\s){0,2}?(?:menziona|pr\u00e9cis|mentionn|indiqu|sp\u00e9cifi|specifica|possibile|indica"
    r"|dice|descri|informazion|pu\u00f2))"
)
_OTHERS = (
    r"\u043d\u0435\s(?:\u0443\u043a\u0430\u0437|\u0443\u043f\u043e\u043c|\u0441\u043a\u0430\u0437"
    r"|\u043e\u043f\u0438\u0441|\u0433\u043e\u0432\u043e\u0440|\u0441\u043e\u043e\u0431\u0449)"
    r"|\u043d\u0435\u0438\u0437\u0432\u0435\u0441\u0442|\u043d\u0435\u0432\u043e\u0437\u043c\u043e\u0436\u043d"
    r"|\u043d\u0435\u0442\s(?:\u0438\u043d\u0444\u043e\u0440\u043c|\u0434\u0430\u043d\u043d|\u0443\u043f\u043e\u043c)"
    r"|\u4e0d\u6e05\u695a|\uc815\ubcf4\uac00 \uc5c6"
    r"|(?:\u6ca1\u6709|\u672a|\u6ca1)(?:\u660e\u786e|\u5177\u4f53)?(?:\u63d0|\u8bf4|\u63cf\u8ff0|\u7ed9\u51fa|\u6307\u51fa|\u8db3\u591f|\u4fe1\u606f|\u76f8\u5173)"
    r"|(?:\u65e0\u6cd5|\u4e0d\u80fd)[^\u3002\uff0c\uff1b.,\n]{0,16}?(?:\u786e\u5b9a|\u5224\u65ad|\u56de\u7b54|\u5f97\u77e5|\u77e5\u9053|\u770b\u51fa|\u63a8\u65ad|\u9009\u62e9)"
    r"|\u4e0d(?:\u77e5\u9053|\u786e\u5b9a|\u660e\u786e)"
    r"|\u66f8\u304b\u308c\u3066\u3044(?:\u307e\u305b\u3093|\u306a\u3044)"
    r"|(?:\u8a18\u8f09|\u8a18\u8ff0|\u60c5\u5831|\u8a00\u53ca|\u8aac\u660e)(?:\u304c|\u306f)(?:\u3042\u308a\u307e\u305b\u3093|\u306a\u3044|\u306a\u304f)|\u4e0d\u660e"
    r"|(?:\u8a18\u8f09|\u8a00\u53ca|\u660e\u8a18|\u8aac\u660e)\u3055\u308c\u3066(?:\u3044\u307e\u305b\u3093|\u3044\u306a\u3044|\u304a\u3089\u305a)"
    r"|(?:\u5206\u304b|\u308f\u304b)(?:\u308a\u307e\u305b\u3093|\u3089\u306a\u3044)"
    r"|(?:\u5224\u65ad|\u7279\u5b9a|\u56de\u7b54)(?:\u306f)?\u3067\u304d(?:\u307e\u305b\u3093|\u306a\u3044)"
    r"|\uc54c \uc218 \uc5c6"
    r"|(?:\uc5b8\uae09|\uba85\uc2dc|\uc124\uba85)\ub418(?:\uc9c0|\uc5b4 \uc788\uc9c0)"
    r"|\uc5b8\uae09\uc774 \uc5c6"
)
_EXPRESSIONS = (
    _CANNOT_TELL,
    _NOT_GIVEN,
    _NO_FACTS,
    _SILENT,
    _STATES_NO,
    _LACKING,
    _FACTS_MISSING,
    _REMAINS_OPEN,
    _WITHOUT,
    _VAGUE,
    _BUT_NOT,
    _BUT_NO,
    _UNKNOWN,
    _EUROPEAN_WORDS,
    _EUROPEAN,
    _OTHERS,
)
_ABSTENTIONS = tuple(
    re.compile(f"(?:{expression}){_OPEN_QUESTION}", re.IGNORECASE) for expression in _EXPRESSIONS
)
_NOT_STATED = _ABSTENTIONS[_EXPRESSIONS.index(_NOT_GIVEN)]
_BUT_NOTHING_STATED = _ABSTENTIONS[_EXPRESSIONS.index(_BUT_NO)]
_TELLING = re.compile(
    rf"\b(?:{_CAPTION}|mention|says?\b|said\b|given\b|describ|states?\b|notes?\b|tells?\b|speaks?\b|lists?\b)"
    r"[^.;\n]*$",
    re.IGNORECASE,
)
# "I would rather not say" is the writer's refusal; "I don't see which" speaks of the text.
_REFUSAL = re.compile(
    r"(?:not|never|['\u2019]t)\s(?!(?:\w{1,15}\s){0,2}?(?:see|told|given|shown|learn|know)\b)",
    re.IGNORECASE,
)
_WRITER = re.compile(r"\b(?:I|we)(?:['\u2019](?:d|ll|m))?\s(?:\w{1,8}\s?){0,2}$", re.IGNORECASE)


def _is_refusal(text: str, match: re.Match[str]) -> bool:
    before = _WRITER.search(text, max(0, match.start() - 24), match.start())
    return before is not None and _REFUSAL.match(match[0]) is not None


def _abstains(text: str, match: re.Match[str]) -> bool:
    if match.re is _BUT_NOTHING_STATED:
        return _TELLING.search(text, max(0, match.start() - 120), match.start()) is not None
    return match.re is not _NOT_STATED or not _is_refusal(text, match)


_TELLS = re.compile(
    rf"\b(?:{_CAPTION}|mention|describ|stat(?:es|ed)\b|says\b|said\b|talks?\b|given\b"
    r"|there\s(?:is|are)\b|shows\b|lists?\b)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\b(?:but|yet|however|(?P<opens>although|though|while|whereas))\b", re.IGNORECASE
)
# "The position of the lamp beside the sofa is not described" names no place.
_ATTRIBUTE_OF = re.compile(
    rf"\b(?:{_ATTRIBUTE}|pose\b|shape\b|state\b|activity\b|placement\b)(?:\s(?!(?:is|are|was|were|and)\b)[^\s.,;:]{{1,30}}){{1,16}}"
    r"\s(?:is|are|was|were)n?\s?\Z",
    re.IGNORECASE,
)
# "..., it only mentions the sails": the caption states nothing else.
_ONLY = re.compile(
    r"[^.,;\n]{0,80}[.,;]\s(?P<told>(?:it\s|the\scaption\s|but\s)?only\b[^.;\n]{0,200})",
    re.IGNORECASE,
)
_LONGEST_CONCESSION = 200
_LONGEST_CONTRAST = 8


def concession_spans(text: str, gaps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans of concessions: what the caption does state, next to what it lacks.

    "The caption mentions a red van, but its colour is not given" names no colour. Nor does
    "Although a red van is mentioned, ...".
    """
    spans: list[tuple[int, int]] = []
    for end, close in gaps:
        begin = max(0, end - _LONGEST_CONCESSION)
        # The gap itself may begin with the contrast: "but no colour".
        for contrast in _CONTRAST.finditer(text, begin, end + _LONGEST_CONTRAST):
            # ". However" refers to the previous sentence.
            clause_start = (
                max(text.rfind(mark, begin, max(0, contrast.start() - 2)) for mark in ".;\n") + 1
            )
            clause = clause_start, contrast.start()
            if contrast["opens"] and not text[clause_start : contrast.start()].strip(" .;\n"):
                clause = contrast.end(), text.find(",", contrast.end(), end)
            if _TELLS.search(text, *clause) and (not spans or spans[-1][1] <= clause_start):
                spans.append((max(clause_start, begin), end))
        subject = _ATTRIBUTE_OF.search(text, begin, end)
        if subject and (not spans or spans[-1][1] <= subject.start()):
            spans.append((subject.start(), end))
        only = _ONLY.match(text, close)
        if only and _TELLS.search(only["told"]):
            spans.append(only.span("told"))
    return spans


def abstentions(text: str) -> list[tuple[int, int]]:
    """Return the spans in which the text says that something is not stated or cannot be told.

    Spans do not overlap. Covers English, and common phrases in Spanish, French, German,
    Portuguese, Italian, Russian, Chinese, Japanese and Korean. A clause after "whether" or "if"
    is part of the span.
    """
    spans = [
        match.span()
        for pattern in _ABSTENTIONS
        for match in pattern.finditer(text)
        if _abstains(text, match)
    ]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
