"""What inputs and metadata of frameworks become on their way to JSON: they may be anything, and nothing is lost without a word."""

from __future__ import annotations

import datetime
import decimal
import math

import pytest
from test_scorer import refused

from scorebox.integrations import jsonable


class Plain:
    """An object without a text of its own."""


def test_what_is_no_value_is_null():
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    nothing = [None, math.nan, math.inf, decimal.Decimal("NaN"), pandas.NaT, pandas.NA, numpy.datetime64("NaT")]
    assert jsonable(nothing) == [None] * 7


def test_dates_and_decimals_are_texts():
    assert jsonable([datetime.date(2020, 1, 2), decimal.Decimal("1.50")]) == ["2020-01-02", "1.50"]


def test_a_text_is_the_same_in_each_process():
    assert jsonable(Plain()) == "<test_jsonable.Plain object>"
    assert jsonable(test_dates_and_decimals_are_texts) == "<function test_dates_and_decimals_are_texts>"
    assert jsonable({Plain: {3, 1}}) == {"<class 'test_jsonable.Plain'>": [1, 3]}
    assert jsonable("the code at 0x7f00") == "the code at 0x7f00"


def test_two_keys_of_one_text_are_refused():
    error = refused(jsonable, {"of": {1: 2, "1": 3}})
    assert error.kind == "invalid-case" and "two keys of a dictionary are `1`" in error.message
