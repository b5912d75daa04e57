//! Finds the output that a promptfoo test expects, and its variables, as promptfoo compared them. Reads no file.

use serde_json::{Map, Value};

/// Types of assertions whose value is the expected output.
const EXPECTS_OUTPUT: [&str; 8] =
    ["equals", "similar", "levenshtein", "rouge-n", "bleu", "gleu", "meteor", "factuality"];

/// Values that promptfoo replaces by the content of a file or a package.
const ELSEWHERE: [&str; 2] = ["file://", "package:"];

/// The beginnings of an expression, a statement and a comment of a template.
const TEMPLATE_MARKS: [&str; 3] = ["{{", "{%", "{#"];

/// The value of the first assertion that compares with an expected output.
///
/// The results contain an assertion as it is in the configuration, so its value may be a template or the name of a
/// file. `checked` contains the value that promptfoo rendered, unless the assertions were not run; in that case this
/// function inserts variables. Returns `None` if part of a template or the name of a file remains.
pub(crate) fn expected_output(
    assertions: &[Value],
    checked: &[Value],
    vars: &Map<String, Value>,
) -> Option<Value> {
    let expects = |assertion: &&Value| {
        let kind = assertion.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| EXPECTS_OUTPUT.contains(&kind))
            && assertion.get("value").is_some_and(|value| !value.is_null())
    };
    let assertion = assertions.iter().find(expects)?;
    rendered_by_promptfoo(assertion, checked)
        .cloned()
        .or_else(|| rendered(assertion.get("value")?, vars))
}

/// The value that promptfoo rendered for this assertion; results contain it only if the text differs.
fn rendered_by_promptfoo<'a>(assertion: &Value, checked: &'a [Value]) -> Option<&'a Value> {
    let is_of_it = |component: &&Value| {
        let of = component.get("assertion");
        ["type", "value"].iter().all(|key| of.and_then(|of| of.get(key)) == assertion.get(key))
    };
    checked.iter().find(is_of_it)?.pointer("/metadata/renderedAssertionValue")
}

/// Replaces variables by what promptfoo rendered. Results contain a variable as it was written, or JSON with different
/// spacing, or the name of a file; the compared value is in an assertion whose value is this variable alone.
pub(crate) fn put_rendered_variables(vars: &mut Map<String, Value>, checked: &[Value]) {
    for value in vars.values_mut() {
        // promptfoo removes one line end before it renders anything, but not from everything that it writes into
        // results.
        if let Value::String(text) = value
            && text.ends_with('\n')
        {
            text.pop();
        }
    }
    for component in checked {
        let rendered = component.pointer("/metadata/renderedAssertionValue");
        let written = component.pointer("/assertion/value").and_then(Value::as_str);
        if let (Some(Value::String(rendered)), Some(name)) =
            (rendered, written.and_then(variable_alone))
        {
            vars.insert(name.to_owned(), rendered.clone().into());
        }
    }
}

/// The variable that is the whole text: `name` of `{{ name }}`.
fn variable_alone(text: &str) -> Option<&str> {
    let name = text.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    let begins_with_digit = name.starts_with(|it: char| it.is_numeric());
    (!name.is_empty() && !begins_with_digit && name.chars().all(is_name)).then_some(name)
}

/// The value with variables in place of `{{name}}`; `None` if it needs more than that. Like promptfoo, this renders a
/// text, and the texts of a list.
fn rendered(value: &Value, vars: &Map<String, Value>) -> Option<Value> {
    let of_text = |value: &Value| match value {
        Value::String(text) => rendered_text(text, vars).map(Value::from),
        other => Some(other.clone()),
    };
    match value {
        Value::Array(items) => items.iter().map(of_text).collect(),
        other => of_text(other),
    }
}

fn rendered_text(template: &str, vars: &Map<String, Value>) -> Option<String> {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, (name, after))) =
        rest.split_once("{{").and_then(|(before, it)| Some((before, it.split_once("}}")?)))
    {
        text.push_str(before);
        match vars.get(name.trim())? {
            Value::String(value) => text.push_str(value),
            Value::Bool(value) => text.push_str(&value.to_string()),
            // Other numbers follow the rules of JavaScript.
            Value::Number(value) if value.is_i64() => text.push_str(&value.to_string()),
            _ => return None,
        }
        rest = after;
    }
    text.push_str(rest);
    let is_a_template = TEMPLATE_MARKS.iter().any(|mark| text.contains(mark));
    let is_elsewhere = ELSEWHERE.iter().any(|scheme| text.starts_with(scheme));
    (!is_a_template && !is_elsewhere).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The expected output if the assertions were not run.
    fn unchecked(value: Value) -> Option<Value> {
        let Value::Object(vars) = json!({"city": "Lima", "n": 5, "x": 2.5, "file": "file://a.txt"})
        else {
            panic!()
        };
        expected_output(&[json!({"type": "equals", "value": value})], &[], &vars)
    }

    #[test]
    fn what_promptfoo_made_of_a_value_is_taken() {
        let assertions = [
            json!({"type": "contains", "value": "{{city}}"}),
            json!({"type": "equals", "value": "{{city | upper}}"}),
        ];
        let of = |assertion: &Value, rendered: &str| json!({"assertion": assertion, "metadata": {"renderedAssertionValue": rendered}});
        let checked = [of(&assertions[0], "Lima"), of(&assertions[1], "LIMA {{}}")];
        assert_eq!(
            expected_output(&assertions, &checked, &Map::new()),
            Some("LIMA {{}}".into()),
            "a text that looks like a template is what was compared"
        );
        let file = json!({"type": "equals", "value": "file://x.txt"});
        let checked = [of(&file, "what is in it")];
        assert_eq!(expected_output(&[file], &checked, &Map::new()), Some("what is in it".into()));
    }

    #[test]
    fn variables_are_what_promptfoo_compared() {
        let Value::Object(mut vars) = json!({
            "json": "{\"a\":1}", "file": "file://a.txt", "list": ["a", "b"], "block": "Lima\n\n", "n": 5, "other": "{{n}}",
        }) else {
            panic!()
        };
        let of = |value: Value, rendered: Value| json!({"assertion": {"type": "equals", "value": value}, "metadata": {"renderedAssertionValue": rendered}});
        let checked = [
            of("{{json}}".into(), "{\"a\": 1}".into()),
            of("{{ file }}".into(), "what is in it".into()),
            of("{{list}}".into(), "a,b".into()),
            of("{{missing}}".into(), "".into()),
            of("is {{other}}".into(), "is 5".into()),
            of("{{n | upper}}".into(), "5".into()),
            of(json!(["{{n}}"]), Value::Null),
        ];
        put_rendered_variables(&mut vars, &checked);
        let expected = json!({
            "json": "{\"a\": 1}", "file": "what is in it", "list": "a,b", "block": "Lima\n", "n": 5, "other": "{{n}}", "missing": "",
        });
        assert_eq!(Value::Object(vars), expected);
    }

    #[test]
    fn variables_are_put_in_where_promptfoo_did_not_say() {
        assert_eq!(unchecked("Paris".into()), Some("Paris".into()));
        assert_eq!(unchecked("in {{city}}, {{ n }}".into()), Some("in Lima, 5".into()));
        assert_eq!(unchecked(json!(["{{city}}", "a"])), Some(json!(["Lima", "a"])));
        for as_it_is in [json!(42), json!({"a": "{{city}}"}), json!([["{{city}}"]])] {
            assert_eq!(unchecked(as_it_is.clone()), Some(as_it_is));
        }
    }

    #[test]
    fn a_value_that_remains_a_template_or_the_name_of_a_file_is_not_known() {
        for value in [
            "{{city | upper}}",
            "{{nope}}",
            "{{city}} {{x}}",
            "{% if city %}a{% endif %}",
            "{{city",
            "file://expected.json",
            "package:@a/b:c",
            "{{file}}",
        ] {
            assert_eq!(unchecked(value.into()), None, "{value}");
        }
        assert_eq!(unchecked(json!(["a", "{{nope}}"])), None);
    }
}
