"""Finds promises in a call ("I will call you back tomorrow") and the date by which each is due.

Knows nothing of add-ons: takes utterances, returns plain data.
"""

import re
from datetime import date, timedelta

WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}

PROMISE = re.compile(
    r"\b(?:i|we)(?:['’]ll| will| shall| am going to| are going to)\s+"
    r"(?:\w+\s+)?(?P<verb>call|phone|ring|e-?mail|send|write|get back|check|look into|refund|ship|follow up|arrange)\b"
    r"[^.?!]*",
    re.IGNORECASE,
)

KINDS = {
    "call": "callback", "phone": "callback", "ring": "callback", "get back": "callback",
    "email": "message", "e-mail": "message", "send": "message", "write": "message",
    "refund": "refund", "ship": "shipment",
}  # fmt: skip

IN_SOME_TIME = re.compile(r"\b(?:in|within) (\w+) (day|week)s?\b", re.IGNORECASE)
ON_A_WEEKDAY = re.compile(rf"\b(?:on|by|until|next|this)?\s*({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)


def due_date(text, today):
    """The date that a promise names, counted from the day of the call; None when it names none."""
    lowered = text.lower()
    if "day after tomorrow" in lowered:
        return today + timedelta(days=2)
    if "tomorrow" in lowered:
        return today + timedelta(days=1)
    if "today" in lowered or "this afternoon" in lowered or "tonight" in lowered:
        return today
    if some_time := IN_SOME_TIME.search(lowered):
        count = NUMBERS.get(some_time[1]) or (int(some_time[1]) if some_time[1].isdecimal() else None)
        if count:
            return today + timedelta(days=count * (7 if some_time[2] == "week" else 1))
    if weekday := ON_A_WEEKDAY.search(lowered):
        ahead = (WEEKDAYS.index(weekday[1]) - today.weekday()) % 7
        return today + timedelta(days=ahead or 7)
    if "next week" in lowered:
        return today + timedelta(days=7)
    return None


def words_between(utterance, begin, end):
    """The words that cover these characters of the utterance's text."""
    covered, position = [], 0
    for word in utterance.words:
        next_position = position + len(word.text)
        if position < end and next_position > begin:
            covered.append(word)
        position = next_position
    return covered


def promises(utterances, today: date, default_days):
    """One dict per promise, in the order of the call."""
    found = []
    for utterance in utterances:
        for match in PROMISE.finditer(utterance.text):
            words = words_between(utterance, *match.span())
            due = due_date(match[0], today)
            found.append(
                {
                    "kind": KINDS.get(match["verb"].lower(), "task"),
                    "text": match[0].strip(),
                    "start": words[0].start if words else utterance.start,
                    "end": words[-1].end if words else utterance.end,
                    "channel": utterance.channel,
                    "due": (due or today + timedelta(days=default_days)).isoformat(),
                    "due_is_stated": due is not None,
                }
            )
    return found
