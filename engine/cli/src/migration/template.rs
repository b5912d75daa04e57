//! Replaces variables in the values of assertions: `{{name}}`. Anything else between braces is template code, which has
//! no equivalent.

use serde_json::{Map, Number, Value};

/// The variable that is the whole text: `name` of `{{ name }}`. Spaces and line ends around the braces are part of the
/// text that promptfoo expects.
pub(crate) fn variable_alone(value: Option<&Value>) -> Option<&str> {
    let inner = value?.as_str()?.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    is_name(inner).then_some(inner)
}

/// Whether promptfoo renders a part of it: a text, or a text in a list. Texts that are nested deeper stay as written.
pub(crate) fn has_variables(value: &Value) -> bool {
    let is_rendered =
        |it: &Value| it.as_str().is_some_and(|it| it.contains("{{") || it.contains("{%"));
    match value {
        Value::Array(items) => items.iter().any(is_rendered),
        other => is_rendered(other),
    }
}

/// The same with each variable's value in its place, where promptfoo renders it.
pub(crate) fn rendered(of: &Value, variables: &Map<String, Value>) -> Result<Value, String> {
    let text = |it: &Value| match it {
        Value::String(text) => render(text, variables).map(Value::String),
        other => Ok(other.clone()),
    };
    match of {
        Value::Array(items) => items.iter().map(text).collect(),
        other => text(other),
    }
}

fn render(text: &str, variables: &Map<String, Value>) -> Result<String, String> {
    if ["{%", "{#"].iter().any(|begin| text.contains(begin)) {
        return Err("its value is a template with statements or comments".to_owned());
    }
    let mut pieces = text.split("{{");
    let mut rendered = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let Some((name, rest)) = piece.split_once("}}") else {
            return Err("its value is a template that does not end".to_owned());
        };
        let name = name.trim();
        if !is_name(name) {
            return Err(format!(
                "its value is a template with `{name}`, which is more than a variable"
            ));
        }
        match variables.get(name) {
            Some(Value::String(value)) if is_template(value) || is_elsewhere(value) => {
                return Err(format!("the variable `{name}` is a template or a file itself"));
            }
            Some(Value::String(value)) => rendered.push_str(without_line_end(value)),
            Some(Value::Number(number)) => rendered.push_str(&as_javascript(number)),
            Some(Value::Bool(value)) => rendered.push_str(&value.to_string()),
            Some(_) => {
                return Err(format!(
                    "the variable `{name}` is not text, or is one of several lists"
                ));
            }
            None => return Err(format!("a test has no variable `{name}`")),
        }
        rendered.push_str(rest);
    }
    Ok(rendered)
}

fn is_template(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|begin| text.contains(begin))
}

/// Whether the value of a variable is the contents of a file or a package.
fn is_elsewhere(text: &str) -> bool {
    ["file://", "package:"].iter().any(|scheme| text.starts_with(scheme))
}

/// A variable as promptfoo puts it into texts: without one line end at its end, which a YAML block has.
fn without_line_end(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// A number as JavaScript writes it: with the fewest digits that identify it, without a fraction if it is whole, and
/// with an exponent if it is very large or small.
pub(super) fn as_javascript(number: &Number) -> String {
    match number.as_f64() {
        None => number.to_string(),
        Some(0.0) => "0".to_owned(),
        Some(value) if (1e-6..1e21).contains(&value.abs()) => value.to_string(),
        Some(value) => match format!("{value:e}") {
            small if small.contains("e-") => small,
            large => large.replace('e', "e+"),
        },
    }
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|it| it.is_alphabetic() || it == '_')
        && characters.all(|it| it.is_alphanumeric() || it == '_')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_are_put_in_and_programs_are_refused() {
        let Value::Object(variables) = json!({
            "city": "Lima", "block": "Lima\n\n", "n": 2, "x": 2.0, "list": [], "if": "{% if x %}", "package": "package:a:b",
        }) else {
            panic!()
        };
        let render = |text: &str| render(text, &variables);
        assert_eq!(render("in {{city}}, {{ n }}x").unwrap(), "in Lima, 2x");
        assert_eq!(render("is {{x}}").unwrap(), "is 2");
        assert_eq!(render("is {{block}}.").unwrap(), "is Lima\n.");
        for text in [
            "{{city | upper}}",
            "{% if x %}",
            "{# no #}",
            "{{if}}",
            "{{city",
            "{{list}}",
            "{{missing}}",
            "{{package}}",
        ] {
            assert!(render(text).is_err(), "{text}");
        }
        assert_eq!(variable_alone(Some(&json!("{{ city }}"))), Some("city"));
        for more in [" {{city}}", "{{city}}\n", "{{a}} {{b}}"] {
            assert_eq!(variable_alone(Some(&json!(more))), None, "{more}");
        }
    }

    #[test]
    fn only_a_text_and_the_texts_of_a_list_are_rendered() {
        let Value::Object(variables) = json!({"n": 5}) else { panic!() };
        assert_eq!(rendered(&json!(["{{n}}", 1]), &variables), Ok(json!(["5", 1])));
        for as_it_is in [json!({"a": "{{n}}"}), json!([["{{n}}"]]), json!([{"a": ["{{ z }}"]}])] {
            assert!(!has_variables(&as_it_is), "{as_it_is}");
            assert_eq!(rendered(&as_it_is, &variables), Ok(as_it_is));
        }
    }

    #[test]
    fn numbers_are_written_as_in_javascript() {
        for (number, text) in [
            (json!(1.0), "1"),
            (json!(-0.0), "0"),
            (json!(0.1), "0.1"),
            (json!(-2.50), "-2.5"),
            (json!(0.000001), "0.000001"),
            (json!(0.00000015), "1.5e-7"),
            (json!(1e20), "100000000000000000000"),
            (json!(1e21), "1e+21"),
            (json!(-1.25e300), "-1.25e+300"),
            (json!(9007199254740993_u64), "9007199254740992"),
            (json!(18446744073709551615_u64), "18446744073709552000"),
            (json!(-7), "-7"),
        ] {
            let Value::Number(number) = number else { panic!() };
            assert_eq!(as_javascript(&number), text);
        }
    }
}
