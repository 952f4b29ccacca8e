"""Tests of the logic, with plain Python: `python3 -m unittest`."""

import unittest
from datetime import date
from types import SimpleNamespace

from follow_ups import due_date, promises

WEDNESDAY = date(2026, 1, 14)


def utterance(text, channel=0, start=10.0):
    words = []
    for index, part in enumerate(text.split()):
        at = start + index
        words.append(SimpleNamespace(text=part if index == 0 else f" {part}", start=at, end=at + 0.5))
    return SimpleNamespace(text=text, words=words, channel=channel, start=start, end=words[-1].end)


class DueDates(unittest.TestCase):
    def test_each_way_to_name_a_day(self):
        for text, expected in [
            ("I will call today", "2026-01-14"),
            ("tomorrow morning", "2026-01-15"),
            ("the day after tomorrow", "2026-01-16"),
            ("by Friday", "2026-01-16"),
            ("next Wednesday", "2026-01-21"),
            ("on Monday", "2026-01-19"),
            ("in two weeks", "2026-01-28"),
            ("within 5 days", "2026-01-19"),
            ("next week", "2026-01-21"),
        ]:
            self.assertEqual(due_date(text, WEDNESDAY).isoformat(), expected, text)

    def test_no_day_named(self):
        self.assertIsNone(due_date("as soon as possible", WEDNESDAY))


class Promises(unittest.TestCase):
    def test_a_promise_has_the_times_of_its_words(self):
        found = promises([utterance("Right. I'll send the form by Friday. Bye.")], WEDNESDAY, 3)
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["text"], "I'll send the form by Friday")
        self.assertEqual((found[0]["start"], found[0]["end"]), (11.0, 16.5))
        self.assertEqual((found[0]["kind"], found[0]["due"]), ("message", "2026-01-16"))
        self.assertTrue(found[0]["due_is_stated"])

    def test_without_a_date_the_default_counts(self):
        found = promises([utterance("We will look into it.")], WEDNESDAY, 3)
        self.assertEqual((found[0]["kind"], found[0]["due"]), ("task", "2026-01-17"))
        self.assertFalse(found[0]["due_is_stated"])

    def test_questions_and_past_calls_are_no_promises(self):
        self.assertEqual(promises([utterance("Will you call me? I called yesterday.")], WEDNESDAY, 3), [])


if __name__ == "__main__":
    unittest.main()
