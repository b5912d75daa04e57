//! The expression language where jaq, which runs it, differs from jq or lacks something. The results were checked
//! against jq 1.6 and 1.8; where these differ, they are those of 1.8.

use super::*;

fn holds(expression: &str) {
    assert_eq!(gives(expression, json!(null)), Some(1.0), "{expression}");
}

fn fails(expression: &str, why: &str) {
    let failure = failure(expression, json!(null));
    assert!(failure.contains(why), "{expression}: {failure}");
}

#[test]
fn a_division_by_zero_is_an_error_and_passes_no_gate() {
    let share = ".metadata.c / .metadata.t >= 0.8";
    let of = |c: f64, t: f64| Case::new(json!("")).with_metadata(json!({"c": c, "t": t}));
    let error = |expression: &str, case| scorer(expression).score(&case).unwrap_err().to_string();
    assert_eq!(score_of(share, &of(4.0, 5.0)), Some(1.0));
    assert_eq!(score_of(share, &of(3.0, 5.0)), Some(0.0));
    assert_eq!(
        error(share, of(3.0, 0.0)),
        "`expression`: number (3.0) and number (0.0) cannot be divided because the divisor is zero"
    );
    assert!(error("0 / .metadata.t <= 0.1", of(0.0, 0.0)).contains("the divisor is zero"));
    for expression in [
        "3 / 0",
        "0 / 0",
        "1 / -0",
        "1 / 0.0",
        "1 / 0e5",
        "[1, 0] | map(1 / .)",
        "{a: 3} | .a /= 0",
        "3 % 0",
        "3 % 0.5",
        "{a: 3} | .a %= 0",
    ] {
        fails(expression, "because the divisor is zero");
    }
    holds("(try (1 / 0) catch \"none\") == \"none\"");
    holds("[1, 0, 2 | try (1 / .)] == [1, 0.5]");
}

#[test]
fn other_ways_to_numbers_that_are_not_finite_are_those_of_jq() {
    holds("nan < 1 and (nan == nan | not) and (nan > nan | not)");
    holds("(nan | isnan) and (infinite | isinfinite) and -infinite < 0");
    holds("(0 | log) == -infinite");
    holds("pow(10; 1000) == infinite and 1e1000 == infinite");
}

#[test]
fn a_remainder_is_that_of_integers() {
    holds("7.5 % 2 == 1 and -5 % 3 == -2 and 5 % -3 == 2 and 5.9 % 3.9 == 2");
    holds("5 % infinite == 5 and (nan % 3 | isnan)");
}

#[test]
fn a_whole_number_is_an_integer_whatever_it_was_made_of() {
    holds("(6 / 2 | tostring) == \"3\" and (1.5 + 1.5 | tojson) == \"3\"");
    holds("[1, 2, 3, 4][4 / 2] == 3");
    holds("[1, 2, 3][1.7] == 2 and [1, 2, 3][nan] == null and ([1, 2, 3][0.5:1.5] == [1, 2])");
    // No number is rounded to its neighbour.
    holds("(9007199254740993 + 1 | tostring) == \"9007199254740994\"");
}

#[test]
fn a_deletion_takes_what_was_at_each_path_before() {
    holds("([\"a\", \"b\", \"c\"] | del(.[0, 1])) == [\"c\"]");
    holds("([1, 2, 3] | del(.[] | select(. < 3))) == [3]");
    holds("([1, 2, 3, 4] | del(.[0:1], .[2:3])) == [2, 4]");
    holds("([1, 2] | del(.[-1], .[0])) == [] and ([1, 2] | del(.[5])) == [1, 2]");
    holds("({a: 1, b: 2, c: 3} | del(.a) | keys_unsorted) == [\"b\", \"c\"]");
    holds("({a: 1} | del(.b.c)) == {a: 1} and ({a: {b: 1, c: 2}} | del(.a.b)) == {a: {c: 2}}");
    holds("([1, 2] | delpaths([[0], [0]])) == [2] and (1 | del(.)) == null");
    fails("[1] | del(.a)", "cannot index [1] with \"a\"");
}

#[test]
fn what_is_set_is_made_if_it_is_missing() {
    holds("(null | .a = 1) == {a: 1} and (null | .[2] = 1) == [null, null, 1]");
    holds("(null | .a.b[1].c = 1) == {a: {b: [null, {c: 1}]}}");
    holds("(null | setpath([\"a\", 0]; 1)) == {a: [1]} and ([1] | .[2] = 3) == [1, null, 3]");
    holds("(null | .[1:2] = [9]) == [9] and (null | .[1:2]) == null");
    holds("(null | .a |= empty) == null and ({a: 1} | .a += 1) == {a: 2}");
    holds("([1, 2] | .[1.9] = 5) == [1, 5] and ([1, 2, 3] | .[1:] |= map(. * 2)) == [1, 4, 6]");
    fails("null | .[-1] = 1", "index -1 is before the start of the array");
    fails("[] | .[1e9] = 1", "too large");
    fails("[] | .a = 1", "cannot index [] with \"a\"");
}

#[test]
fn a_key_is_a_text() {
    fails("{(.output // 1): 2}", "cannot use number (1) as object key");
    fails("{a: 1} | .[0]", "cannot index {\"a\":1} with 0");
    fails("{a: 1} | has(0)", "has no keys of type number (0)");
    holds("([1] | has(0)) and ([1] | has(1) | not) and (null | has(\"a\") | not)");
}

#[test]
fn entries_may_have_other_names() {
    holds("([{name: \"a\", value: 1}] | from_entries) == {a: 1}");
    holds("([{k: \"a\", v: 1}, {K: \"b\", V: 2}] | from_entries) == {a: 1, b: 2}");
    holds("([{Name: \"a\", Value: 1}, {Key: \"b\", v: null}] | from_entries) == {a: 1, b: null}");
    holds(
        "([{key: false, value: 1}, {key: 2, value: 2}] | from_entries) == {\"false\": 1, \"2\": 2}",
    );
    holds("({a: 1} | with_entries(.value += 1)) == {a: 2}");
}

#[test]
fn lists_are_joined_and_flattened_as_in_jq() {
    holds("([\"a\", null, 1, true] | join(\",\")) == \"a,,1,true\" and ([] | join(\",\")) == \"\"");
    fails("[[]] | join(\",\")", "cannot calculate \"\" + []");
    holds("([] | flatten(1)) == [] and ([1, [2, [3]]] | flatten(1)) == [1, 2, [3]]");
    holds("([[1, 2], [3]] | transpose) == [[1, 3], [2, null]] and ([] | transpose) == []");
    holds("[[[1, 2], [3, 4]] | combinations] == [[1, 3], [1, 4], [2, 3], [2, 4]]");
    holds("([3, 1, 2] | pick(.[1])) == [null, 1]");
    holds("(null | reverse) == [] and (\"\" | reverse) == \"\" and (\"añ\" | reverse) == \"ña\"");
    holds("(\"ab\" * 0) == \"\" and (\"ab\" * 1.5) == \"ab\" and (\"ab\" * -1) == null");
}

#[test]
fn what_is_looked_for_may_be_missing() {
    holds("(null | index(\"x\")) == null and (null | indices(1)) == null");
    holds("(\"aaañ\" | indices(\"aa\")) == [0, 1] and (\"aña\" | index(\"ña\")) == 1");
    holds("(\"ñb\" | index(\"b\")) == 1 and ([1, 2, 1, 2] | rindex([1, 2])) == 2");
    holds("(5 | ltrimstr(1)) == 5 and (\"ab\" | ltrimstr(\"a\")) == \"b\"");
    holds("[\"ab\" | rtrimstr(\"b\", \"\", 1)] == [\"a\", \"ab\", \"ab\"]");
    holds("(\"aba\" | trimstr(\"a\")) == \"b\"");
    holds("(\"foobar\" | contains(\"bar\")) and ([1] | contains([\"a\"]) | not)");
    fails("1 | contains(\"a\")", "cannot have their containment checked");
    holds("([1, 3] | bsearch(3)) == 1 and ([1, 3] | bsearch(2)) == -2");
}

#[test]
fn a_group_that_took_no_part_is_null() {
    holds("[\"ll lo\" | scan(\"(l)(o)?\")] == [[\"l\", null], [\"l\", null], [\"l\", \"o\"]]");
    holds("(\"test\" | capture(\"(?<a>t)(?<b>x)?\")) == {a: \"t\", b: null}");
    let captures = "{offset: 0, length: 1, string: \"a\", name: null}, \
                    {offset: -1, length: 0, string: null, name: \"x\"}";
    holds(&format!("(\"ab\" | match(\"(a)(?<x>z)?\").captures) == [{captures}]"));
    holds("(\"a-b\" | sub(\"(?<x>z)?-\"; .x // \"+\")) == \"a+b\"");
    holds("[\"abc\" | sub(\"b\"; \"1\", \"2\")] == [\"a1c\", \"a2c\"]");
}

#[test]
fn a_text_may_be_long() {
    // With as much stack as a component has.
    let run = || {
        holds("(\"a \" * 20000 | gsub(\" \"; \"--\") | length) == 60000");
        holds("([range(20000) | \"a\"] | join(\", \") | length) == 59998");
        holds("([range(20000)] | del(.[range(0; 20000; 2)]) | length) == 10000");
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn flags_of_regular_expressions_are_those_of_jq() {
    holds("(\"a\\nb\" | test(\"a.b\"; \"s\") | not) and (\"a\\nb\" | test(\"a.b\"; \"p\"))");
    holds("(\"a\" | test(\"A\"; null) | not) and (\"a\" | test([\"A\", \"i\"]))");
    holds("\"wörld É\" | test(\"WÖRLD [é]\"; \"i\")");
    fails("\"a\" | test(\"a\"; \"l\")", "invalid regex flag: l");
}

#[test]
fn a_text_is_a_number_or_a_truth_value_as_a_whole() {
    holds(
        "([\".5\", \"5.\", \"-1.5e2\", \"+7\", \"007\"] | map(tonumber)) == [0.5, 5, -150, 7, 7]",
    );
    for text in ["", " 5", "0x10", "nan", "infinity", "1 2", "-", "[1]"] {
        fails(&format!("\"{text}\" | tonumber"), "cannot be parsed as a number");
    }
    fails("[1] | tonumber", "array ([1]) cannot be parsed as a number");
    holds("(\"true\" | toboolean) and (\"false\" | toboolean | not)");
    fails("\" true\" | toboolean", "cannot be parsed as a boolean");
}

#[test]
fn streams_and_tables_are_there() {
    holds("[[1, [2]] | tostream] == [[[0], 1], [[1, 0], 2], [[1, 0]], [[1]]]");
    holds("[{a: [], b: null} | tostream] == [[[\"a\"], []], [[\"b\"], null], [[\"b\"]]]");
    holds("fromstream([1, {a: null, b: [{}]}] | tostream) == [1, {a: null, b: [{}]}]");
    holds("[1 | truncate_stream([[0], 1], [[1, 0], 2], [[1, 0]], [[1]])] == [[[0], 2], [[0]]]");
    holds("([{a: [1]}] | [leaf_paths]) == [[0, \"a\", 0]]");
    holds("2 | IN(1, 2) and (IN(3) | not) and IN([1, 2][]; 2, 3)");
    holds("([{i: 1, n: \"a\"}] | INDEX(.i)) == {\"1\": {i: 1, n: \"a\"}}");
    holds("([1] | JOIN({\"1\": \"a\"}; tostring)) == [[1, \"a\"]]");
    holds(r#"([1.5, "a\"b", null, true] | @csv) == "1.5,\"a\"\"b\",,true""#);
    holds(r#"(["a\tb\\", 1] | @tsv) == "a\\tb\\\\\t1""#);
    fails("[[1]] | @csv", "is not valid in a row");
    fails("1 | @csv", "number (1) is not a row");
}

#[test]
fn where_the_language_still_differs_is_documented() {
    holds("[(1, 2) * (3, 4)] == [3, 4, 6, 8]");
    holds("[reduce (1, 2) as $x (0; empty)] == [] and [reduce 1 as $x (0; 1, 2)] == [1, 2]");
    holds("([1, 2, 3] | .[0, 1] |= empty) == [2] and [limit(-1; 1, 2)] == []");
    holds("([nan, infinite] | tojson) == \"[NaN,Infinity]\"");
    holds("(\"b\\n\" | test(\"b$\") | not) and (\"é\" | test(\"\\\\w\") | not)");
    for missing in ["sin", "cbrt", "gamma", "@base64", "@base32", "@html", "@uri", "todate"] {
        assert!(refusal(missing).contains(&format!("no filter `{missing}` is known")));
    }
    assert!(refusal(". as [$x] ?// $x | $x").contains("is not a valid jq expression"));
    assert!(refusal("$__loc__").contains("no variable `$__loc__` is known"));
}

#[test]
fn functions_on_numbers_are_exact() {
    holds("[8, 0.1, 0 | significand] == [1, 1.6, 0] and [8, 0.1 | logb] == [3, -4]");
    holds("(0 | logb) == -infinite and (5e-324 | frexp) == [0.5, -1073]");
    holds("(8 | frexp) == [0.5, 4] and (0 | frexp) == [0, 0] and (-1.5 | modf) == [-0.5, -1]");
    holds("drem(5; 3) == -1 and drem(-7; 4) == 1 and drem(6; 4) == -2 and drem(2; 4) == 2");
    holds(
        "ldexp(3; 2) == 12 and scalb(3; -1) == 1.5 and (-3.7 | trunc) == -3 and (-2 | fabs) == 2",
    );
    holds("(2 | exp10) == 100 and ([2.5, 3.5 | nearbyint] == [2, 4]) and (-2 | abs) == 2");
    fails("\"a\" | abs", "has no absolute value");
    holds("([-9007199254740993, 1.5, -1.5 | length] == [9007199254740993, 1.5, 1.5])");
}
