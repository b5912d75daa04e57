//! Converts assertions about an agent's actions: the tools that it called, the skill that it used, its time and its
//! cost. Other files convert those about its output.

use serde_json::{Value, json};

use super::making::{Made, Making};

const NO_NAMES: &str = "its tools are not listed by name";
const NO_THRESHOLD: &str = "it has no `threshold`";

/// Converts an assertion about an agent's actions; `None` for any other.
pub(super) fn of_trajectories(making: &mut Making<'_>, kind: &str) -> Option<Made> {
    Some(match kind {
        "trajectory:tool-used" => tools(making, "called-tool"),
        "trajectory:tool-sequence" => tools(making, "tool-order"),
        "tool-call-f1" => tool_call_f1(making),
        "skill-used" => skill_used(making),
        "latency" => latency(making),
        "cost" => cost(making),
        _ => return None,
    })
}

fn latency(making: &mut Making<'_>) -> Made {
    let most = making.threshold().ok_or(NO_THRESHOLD)?;
    making.set("targetMs", most);
    making.set("maxMs", most);
    making.set("missing", "error");
    Ok(("latency", None))
}

fn cost(making: &mut Making<'_>) -> Made {
    let most = making.threshold().ok_or(NO_THRESHOLD)?;
    making.set("maxCost", most);
    Ok(("cost-budget", None))
}

fn tool_call_f1(making: &mut Making<'_>) -> Made {
    let threshold = making.threshold().unwrap_or(1.0);
    let names = names(making)?;
    making.set("value", names);
    making.set("arguments", "ignore");
    Ok(("tool-call-f1", Some(threshold)))
}

fn skill_used(making: &mut Making<'_>) -> Made {
    let name = making.text()?;
    making.set("name", name);
    Ok(("loaded-skill", None))
}

/// Names in a list, or in one text with commas between them.
fn names(making: &Making<'_>) -> Result<Vec<String>, String> {
    let names = match making.value()? {
        Value::String(text) => text.split(',').map(|name| name.trim().to_owned()).collect(),
        Value::Array(items) => texts(&items)?,
        _ => Vec::new(),
    };
    match names.is_empty() {
        true => Err(NO_NAMES.to_owned()),
        false => Ok(names),
    }
}

/// Tools by their names: a name, a list of names, or an object with one of these.
fn tools(making: &mut Making<'_>, uses: &'static str) -> Made {
    let names = match making.value()? {
        Value::String(name) => vec![name],
        Value::Array(names) => texts(&names)?,
        Value::Object(members) => {
            if let Some(mode) = members.get("mode").and_then(Value::as_str) {
                match (uses, mode) {
                    ("tool-order", "exact") => making.set("mode", "exact"),
                    ("tool-order", "in_order" | "in-order" | "subsequence") => {}
                    _ => return Err(format!("its mode `{mode}` is not known")),
                }
            }
            for (theirs, ours) in [("min", "min"), ("max", "max")] {
                if let Some(count) = members.get(theirs).and_then(Value::as_u64) {
                    making.set(ours, count);
                }
            }
            let found = ["steps", "tools", "names", "name", "tool"]
                .iter()
                .find_map(|key| members.get(*key));
            match found {
                Some(Value::String(name)) => vec![name.clone()],
                Some(Value::Array(names)) => texts(names)?,
                _ => return Err(NO_NAMES.to_owned()),
            }
        }
        _ => return Err(NO_NAMES.to_owned()),
    };
    // A name with `*` is a pattern in promptfoo.
    if making.negated && names.len() > 1 {
        return Err("none of several tools: write an assertion for each".to_owned());
    }
    let names: Vec<Value> = names.iter().map(|name| pattern(name)).collect();
    making.set("names", names);
    Ok((uses, None))
}

fn texts(items: &[Value]) -> Result<Vec<String>, String> {
    let text =
        |item: &Value| item.as_str().or_else(|| item.get("name")?.as_str()).map(str::to_owned);
    let all: Option<Vec<String>> = items.iter().map(text).collect();
    all.ok_or_else(|| NO_NAMES.to_owned())
}

/// A name, or a pattern if the name has a `*`.
fn pattern(name: &str) -> Value {
    match name.contains('*') {
        false => name.into(),
        true => {
            let escaped: Vec<String> = name.split('*').map(escaped).collect();
            json!({"regex": format!("^{}$", escaped.join(".*"))})
        }
    }
}

fn escaped(text: &str) -> String {
    let escape = |it: char| {
        if it.is_alphanumeric() || it == '_' { it.to_string() } else { format!("\\{it}") }
    };
    text.chars().map(escape).collect()
}
