"""Tables in, tables out."""

from __future__ import annotations

import json

import pytest
from conftest import misbehaving
from test_scorer import refused

import scorebox

pyarrow = pytest.importorskip("pyarrow")
ROWS = {"id": ["a", "b", "c"], "answer": ["Paris", "Rome", None], "expected": ["Paris", "Oslo", "x"]}


def scores(table):
    return pyarrow.table(table)["score"].to_pylist()


def test_a_table_is_scored_in_its_order(same):
    scored = same.score_table(pyarrow.table(ROWS), columns={"output": "answer"})
    assert isinstance(scored, pyarrow.Table)
    assert scored.column_names == [
        "id", "status", "score", "label", "reason", "meta", "assertions", "error_kind", "error_message",
        "error_advice", "fuel", "memory_bytes", "duration_ms", "log",
    ]  # fmt: skip
    assert scored["id"].to_pylist() == ["a", "b", "c"]
    assert scores(scored) == [1.0, 0.0, 0.0]
    assert scored.schema.field("score").type == pyarrow.float64()


def test_a_row_is_what_the_scorer_says_of_that_case_alone(same):
    many = pyarrow.table({"output": [number % 7 for number in range(10_000)], "expected": [3] * 10_000})
    scored = same.score_table(many)
    assert scores(scored) == [float(number % 7 == 3) for number in range(10_000)]
    alone = same.score(3, 3)
    assert scored.slice(3, 1)["fuel"].to_pylist() == [alone.fuel]
    assert scored["id"].to_pylist()[-1] == "case-10000"


def test_pandas_gets_a_frame_with_the_same_index(same):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=[7, 5, 3])
    scored = same.score_table(frame, columns={"output": "answer"})
    assert isinstance(scored, pandas.DataFrame) and list(scored.index) == [7, 5, 3]
    assert list(frame.assign(same=scored["score"])["same"]) == [1.0, 0.0, 0.0]


def test_a_programs_own_kind_of_frame_gets_a_frame(same):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

    class Frame(pandas.DataFrame):
        pass

    class PolarsFrame(polars.DataFrame):
        pass

    scored = same.score_table(Frame(ROWS, index=[7, 5, 3]), columns={"output": "answer"})
    assert isinstance(scored, pandas.DataFrame) and list(scored.index) == [7, 5, 3]
    assert isinstance(same.score_table(PolarsFrame(ROWS), columns={"output": "answer"}), polars.DataFrame)


def test_scores_are_put_beside_a_frame_whose_labels_repeat(same):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=[7, 7, 3])
    scored = same.score_table(frame, columns={"output": "answer"})
    assert list(frame.assign(same=scored["score"])["same"]) == [1.0, 0.0, 0.0]
    assert list(pandas.concat([frame, scored[["score"]]], axis=1)["score"]) == [1.0, 0.0, 0.0]


def test_columns_that_are_not_read_may_have_anything_in_pandas(same):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        [["a", 1, "a", 1, object()], [2, "b", "x", 2, object()]],
        columns=["notes", "notes", "output", "input", 5],
        index=pandas.Index(["x", 3], dtype=object),
    )
    frame["expected"] = ["a", "y"]
    frame["sparse"] = pandas.arrays.SparseArray([1, 0])
    assert list(same.score_table(frame, columns={"input": "notes"})["score"]) == [1.0, 0.0]
    suite = scorebox.Suite(text="[scorers.exact-match]")
    assert list(suite.score_table(frame.assign(id=["p", "q"]))["id"]) == ["p", "q"]
    error = refused(same.score_table, frame, columns={"expected": "notes"})
    assert error.message == "the table has the column `notes` twice"
    error = refused(same.score_table, frame, columns={"expected": "gold"})
    assert error.advice == "its columns are `notes`, `notes`, `output`, `input`, `5`, `expected`, `sparse`, `__index_level_0__`"


def test_the_index_of_a_frame_may_be_a_part_of_a_case(same):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"output": ["a", "b"], "expected": ["a", "x"]}, index=pandas.Index(["p", "q"], name="id"))
    scored = same.score_table(frame)
    assert list(scored["id"]) == ["p", "q"] and list(scored.index) == ["p", "q"]
    assert list(same.score_table(frame.reset_index(drop=True))["id"]) == ["case-1", "case-2"]


def test_columns_that_are_not_read_may_have_anything_in_polars(same):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"output": ["a", "b"], "expected": ["a", "x"], "things": [object(), object()]})
    frame = frame.with_columns(large=polars.lit(1).cast(polars.Int128))
    assert same.score_table(frame)["score"].to_list() == [1.0, 0.0]


def test_columns_of_nothing_but_null_are_read(same):
    polars = pytest.importorskip("polars")
    nothing, cases = [None, None], {"id": ["p", "q"], "output": ["a", "b"]}
    suite = scorebox.Suite(text="[scorers.exact-match]")
    columns = [
        polars.Series("input", nothing, dtype=polars.Null),
        polars.Series("input", [[], [None]], dtype=polars.List(polars.Null)),
        polars.Series("input", [{"a": None}, None], dtype=polars.Struct({"a": polars.Null})),
        polars.Series("input", [[{"a": None}], []], dtype=polars.List(polars.Struct({"a": polars.Null}))),
    ]
    inputs = [nothing, [[], [None]], [{"a": None}, None], [[{"a": None}], []]]
    for column, values in zip(columns, inputs):
        frame = polars.DataFrame(cases).with_columns(column, expected=polars.lit("a"))
        assert same.score_table(frame)["score"].to_list() == [1.0, 0.0]
        scored = [json.loads(case).get("input") for case in suite.score_table(frame)["case"]]
        assert scored == values
        # Of a library that nobody knows, all columns come.
        assert scores(same.score_table(Stream(frame))) == [1.0, 0.0]
        assert len(same.score_table(frame.clear())) == 0 and len(suite.score_table(frame.clear())) == 0
    expected = polars.DataFrame(cases).with_columns(expected=polars.lit(None))
    assert same.score_table(expected)["error_kind"].to_list() == ["invalid-input"] * 2


def test_a_batch_by_the_interface_of_arrays_is_a_table(same):
    class Batch:
        def __arrow_c_array__(self, requested_schema=None):
            return pyarrow.record_batch({"output": ["a", "b"], "expected": ["a", "x"]}).__arrow_c_array__()

    assert scores(same.score_table(Batch())) == [1.0, 0.0]
    used = Batch().__arrow_c_array__()

    class Used:
        def __arrow_c_array__(self, requested_schema=None):
            return used

    assert scores(same.score_table(Used())) == [1.0, 0.0]
    assert "its array was read already" in refused(same.score_table, Used()).message


def test_what_a_stream_raises_is_said(same):
    def batches():
        yield pyarrow.record_batch({"output": ["a"]})
        raise RuntimeError("the disk is gone")

    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("output", pyarrow.string())]), batches())
    error = refused(same.score_table, Stream(reader))
    assert error.kind == "unreadable" and "the disk is gone" in error.message
    used = pyarrow.table(ROWS).__arrow_c_stream__()

    class Used:
        def __arrow_c_stream__(self, requested_schema=None):
            return used

    same.score_table(Used(), columns={"output": "answer"})
    assert "was read already" in refused(same.score_table, Used()).message


def test_polars_gets_a_frame(same):
    polars = pytest.importorskip("polars")
    scored = same.score_table(polars.DataFrame(ROWS), columns={"output": "answer"})
    assert isinstance(scored, polars.DataFrame) and scored["score"].to_list() == [1.0, 0.0, 0.0]


def test_batches_and_streams_are_tables_too(same):
    batch = pyarrow.record_batch(ROWS)
    reader = pyarrow.RecordBatchReader.from_batches(batch.schema, iter([batch, batch]))
    assert scores(same.score_table(batch, columns={"output": "answer"})) == [1.0, 0.0, 0.0]
    assert scores(same.score_table(reader, columns={"output": "answer"})) == [1.0, 0.0, 0.0] * 2


class Stream:
    """A table of a library that nobody knows."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_any_library_that_speaks_arrow_is_understood(same):
    scored = same.score_table(Stream(pyarrow.table(ROWS)), columns={"output": "answer"})
    assert len(scored) == 3 and scores(scored) == [1.0, 0.0, 0.0]
    # A table can be read more than once.
    assert scores(scored) == [1.0, 0.0, 0.0]


def test_a_row_whose_task_failed_has_an_error(same):
    table = pyarrow.table({**ROWS, "error": [None, "Timeout", ""]})
    scored = same.score_table(table, columns={"output": "answer"})
    assert scores(scored) == [1.0, None, 0.0]
    assert scored["error_kind"].to_pylist() == [None, "task-failed", None]
    renamed = table.rename_columns(["id", "answer", "expected", "why"])
    assert scores(same.score_table(renamed, columns={"output": "answer", "error": "why"})) == scores(scored)


def test_columns_of_all_types_that_json_has_are_cases(same):
    string = pyarrow.string()
    columns = [
        pyarrow.array(["a"], pyarrow.large_string()),
        pyarrow.array(["a"], pyarrow.string_view()),
        pyarrow.array(["a"]).dictionary_encode(),
        pyarrow.array([1], pyarrow.int8()),
        pyarrow.array([2**64 - 1], pyarrow.uint64()),
        pyarrow.array([0.1], pyarrow.float32()),
        pyarrow.array([0.5], pyarrow.float16()),
        pyarrow.array([True]),
        pyarrow.array([[1, None]]),
        pyarrow.array([[1, 2]], pyarrow.list_(pyarrow.int64(), 2)),
        pyarrow.array([{"a": {"b": [1.5]}}]),
        pyarrow.array([[("a", 1)]], pyarrow.map_(string, pyarrow.int64())),
    ]
    outputs = ["a", "a", "a", 1, 2**64 - 1, 0.1, 0.5, True, [1, None], [1, 2], {"a": {"b": [1.5]}}, {"a": 1}]
    for column, output in zip(columns, outputs):
        scored = same.score_table(pyarrow.table([column, column], ["output", "expected"]))
        assert scored["reason"].to_pylist() == [same.score(output, output).reason]


def test_a_number_has_one_text_in_a_column_and_alone():
    text = misbehaving("tell")
    for number in [1e20, 1e16, 1e15, 1e10, 1234567890123.0, 123456789012345680.0, 1e-5, 1e-7, 0.1, 5e-324]:
        in_a_column = text.score_table(pyarrow.table({"output": [1], "input": [number]}))["reason"].to_pylist()
        assert in_a_column == [text.score(1, input=number).reason]
    numpy = pytest.importorskip("numpy")
    for number in [numpy.float32(1e20), numpy.float32(1e15), numpy.float32(1e-7), numpy.float16(0.1)]:
        in_a_column = text.score_table(pyarrow.table({"output": [1], "input": pyarrow.array([number])}))
        assert in_a_column["reason"].to_pylist() == [text.score(1, input=number).reason]


def test_texts_of_parts_that_are_documents_are_json():
    tell = misbehaving("tell")
    table = pyarrow.table({"output": [1, 1], "metadata": ['{"a": 1}', None], "input": ['{"a": 1}', "x"]})
    assert tell.score_table(table)["reason"].to_pylist() == [
        r'Some("\"{\\\"a\\\": 1}\"") Some("{\"a\": 1}")',
        r'Some("\"x\"") None',
    ]


def test_a_row_that_is_no_case_is_an_error_and_no_other(same):
    too_long = "b" * 1000
    table = pyarrow.table({"output": [1, 2, 3], "expected": [1, 2, 3], "id": ["a", too_long, None]})
    scored = same.score_table(table)
    assert scored["status"].to_pylist() == ["scored", "error", "scored"]
    assert scored["error_kind"].to_pylist() == [None, "invalid-case", None]
    assert "`id`" in scored["error_message"].to_pylist()[1]
    assert scores(scored) == [1.0, None, 1.0]


def test_numbers_that_are_not_finite_are_null():
    tell = misbehaving("tell")
    table = pyarrow.table({"output": [float("nan"), 1.0], "input": [float("inf"), 2.5]})
    # An input that is null is none.
    assert tell.score_table(table)["reason"].to_pylist() == ["None None", 'Some("2.5") None']


def test_a_scorer_that_fails_is_an_error_of_its_row():
    scored = misbehaving("panic").score_table(pyarrow.table({"output": [1, 2]}))
    assert scored["status"].to_pylist() == ["error", "error"]
    assert scored["error_kind"].to_pylist() == ["trap", "trap"]
    slow = misbehaving("spin", fuel=1_000_000).score_table(pyarrow.table({"output": [1]}))
    assert "fuel=…" in slow["error_advice"].to_pylist()[0]
    none = misbehaving("not-applicable").score_table(pyarrow.table({"output": [1]}))
    assert (none["status"].to_pylist(), scores(none)) == (["not-applicable"], [None])


def test_columns_that_are_missing_or_not_json_are_refused_before_anything_is_scored(same):
    error = refused(same.score_table, pyarrow.table({"answer": [1]}))
    assert error.message == "the table has no column `output`"
    assert error.advice == 'say which it is: columns={"output": …}; its columns are `answer`'
    table = pyarrow.table({"output": [1]})
    error = refused(same.score_table, table, columns={"expected": "gold"})
    assert error.message == "the table has no column `gold`, which `columns` names for `expected`"
    error = refused(same.score_table, table, columns={"truth": "output"})
    assert error.message == "`columns` names `truth`, which is not a key of a case"
    by_number = pyarrow.array([[(1, "a")]], pyarrow.map_(pyarrow.int64(), pyarrow.string()))
    error = refused(same.score_table, pyarrow.table({"output": by_number}))
    assert error.message == "the column `output` is not JSON: it has a map with keys of type Int64"
    error = refused(same.score_table, 5)
    assert error.message == "`int` is not a table"
    error = refused(same.score_table, pyarrow.table({}))
    assert (error.message, error.advice) == ("the table has no column `output`", "it has no columns")


def test_a_column_alone_is_no_table(same):
    error = refused(same.score_table, pyarrow.chunked_array([["a"]]))
    assert error.message == "`pyarrow.lib.ChunkedArray` is not a table: it is a single column, not a table with named columns"
    assert 'series.to_frame("output")' in error.advice
    assert "is not a table" in refused(same.score_table, pyarrow.array(["a"])).message
    for library in ("pandas", "polars"):
        series = pytest.importorskip(library).Series(["a"])
        assert "Series` is not a table" in refused(same.score_table, series).message


def test_a_column_of_texts_and_numbers_is_refused_with_what_to_do(same):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"output": ["a", 1], "expected": ["a", 1]})
    error = refused(same.score_table, frame)
    assert error.kind == "invalid-argument" and error.message.startswith("the table cannot be read: Arrow")
    assert "`Suite.iter`" in error.advice and isinstance(error.__cause__, pyarrow.ArrowException)
    assert scores(same.score_table(frame.astype(str))) == [1.0, 1.0]


def test_columns_that_cannot_be_are_refused(same):
    pandas = pytest.importorskip("pandas")
    table = pyarrow.table({"output": [1], "expected": [1]})
    error = refused(same.score_table, table, columns=["output"])
    assert error.message == "`columns` is a dictionary of keys of a case and names of columns, not `list`"
    # A frame without a header.
    frame = pandas.DataFrame([["a", "a"]])
    assert scores(same.score_table(frame, columns={"output": 0, "expected": 1})) == [1.0]


def test_periods_are_refused_for_what_they_are(same):
    pandas = pytest.importorskip("pandas")
    periods = pandas.Series(pandas.period_range("2020-01", periods=2, freq="M"))
    error = refused(same.score_table, pandas.DataFrame({"output": periods, "expected": ["a", "b"]}))
    assert error.message == "the column `output` is not JSON: it has periods of pandas, which Arrow has as numbers"
    frame = pandas.DataFrame({"output": periods.astype(str), "expected": ["2020-01", "2020-01"]})
    assert scores(same.score_table(frame)) == [1.0, 0.0]


def test_bytes_are_texts_and_other_bytes_an_error_of_their_row(same):
    table = pyarrow.table({"output": [b"x", b"\xff"], "expected": ["x", "x"]})
    scored = same.score_table(table)
    assert scored["status"].to_pylist() == ["scored", "error"]
    assert "bytes that are not UTF-8 text" in scored["error_message"].to_pylist()[1]


def test_a_table_without_rows_has_scores_without_rows(same):
    empty = pyarrow.table({"output": pyarrow.array([], pyarrow.string())})
    assert same.score_table(empty).num_rows == 0


def test_what_goes_wrong_in_a_table_of_the_caller_is_the_callers():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise KeyError("gold")

    class Unready:
        @property
        def __arrow_c_stream__(self):
            raise OSError("not connected")

    suite = scorebox.Suite(text="[scorers.exact-match]")
    for score in (scorebox.Scorer("exact-match").score_table, suite.score_table):
        with pytest.raises(KeyError, match="gold"):
            score(Broken())
        with pytest.raises(OSError, match="not connected"):
            score(Unready())


def test_a_column_of_polars_that_is_not_json_is_named_with_what_to_do():
    polars = pytest.importorskip("polars")
    same = scorebox.Scorer("exact-match")
    objects = polars.DataFrame({"output": polars.Series([{1}, object()], dtype=polars.Object), "expected": ["a", "b"]})
    error = refused(same.score_table, objects)
    assert error.kind == "invalid-argument" and "`output` is not JSON" in error.message and "cast" in error.advice
    wide = polars.DataFrame({"output": polars.Series([1], dtype=polars.Int128), "expected": ["a"]})
    error = refused(same.score_table, wide)
    assert "the column `output`" in error.message and "cast" in error.advice
    # What is not read may be anything.
    other = polars.DataFrame({"output": ["a"], "expected": ["a"], "other": polars.Series([{1}], dtype=polars.Object)})
    assert same.score_table(other)["score"].to_list() == [1.0]


def test_a_lazy_frame_is_to_be_collected_first():
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"id": ["a"], "output": ["a"], "expected": ["a"]})
    suite = scorebox.Suite(text="[scorers.exact-match]")
    for score in (scorebox.Scorer("exact-match").score_table, suite.score_table, suite.iter):
        error = refused(score, lazy)
        assert error.kind == "invalid-argument" and "collect()" in error.advice
