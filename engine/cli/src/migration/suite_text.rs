//! Writes scorers as the text of a suite file, with the parts without an equivalent as comments. The scorers are
//! decided before.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Mapped, Migration, Scorer};

/// The text of a suite; `file` is the name of the source configuration.
pub(crate) fn suite_text(migration: &Migration, file: &str) -> String {
    let mut text = format!("# Made of {} by `scorebox migrate`.\n", one_line(file));
    let maps: Vec<String> = migration.maps().iter().map(Mapped::to_string).collect();
    if !maps.is_empty() {
        let _ = writeln!(text, "# Run it with {}", one_line(&maps.join(" ")));
    }
    if !migration.left_out.is_empty() {
        text.push_str("#\n# Not in here:\n");
    }
    for left_out in &migration.left_out {
        let what =
            if left_out.what.is_empty() { String::new() } else { format!(" ({})", left_out.what) };
        let line = format!("{}{what}: {}", left_out.place, left_out.why);
        let _ = writeln!(text, "# - {}", one_line(&line));
    }
    text.push_str("\nversion = 1\n");
    if let Some(description) = &migration.description {
        let _ = writeln!(text, "name = {}", toml_text(description));
    }
    if migration.scorers.iter().any(|scorer| scorer.judged) {
        text.push('\n');
        text.push_str(&judge(migration));
    }
    // A test passes only if each of its assertions passes.
    text.push_str("\n[defaults]\nseverity = \"gate\"\n");
    let has_vectors = Provider::of(migration) == Provider::OpenAi;
    for scorer in &migration.scorers {
        text.push('\n');
        put(&mut text, scorer, has_vectors);
    }
    text
}

fn put(text: &mut String, scorer: &Scorer, has_vectors: bool) {
    let Scorer { name, uses, config, threshold, weight, judged, nodes, .. } = scorer;
    let _ = writeln!(text, "[scorers.{}]\nuse = {}", toml_text(name), toml_text(uses));
    if !config.is_empty() {
        let _ = writeln!(text, "config = {}", toml(&Value::Object(config.clone())));
    }
    if *judged {
        text.push_str("grants = [\"judge\"]\n");
    }
    if needs_vectors(scorer) && !has_vectors {
        text.push_str("judge = \"embeddings\"\n");
    }
    // A gate affects the verdict even without a weight.
    if *weight == Some(0.0) {
        text.push_str("severity = \"soft\"\n");
    }
    if let Some(threshold) = threshold {
        let _ = writeln!(text, "threshold = {threshold:?}");
    }
    if let Some(weight) = weight {
        let _ = writeln!(text, "weight = {weight:?}");
    }
    if !nodes.is_empty() {
        let nodes = nodes.iter().map(|node| Value::from(node.as_str())).collect();
        let _ = writeln!(text, "nodes = {}", toml(&nodes));
    }
}

/// The judge that the configuration names, if the suite knows its provider.
fn judge(migration: &Migration) -> String {
    let named = migration.judge.as_deref();
    let provider = Provider::of(migration);
    let behind = named.and_then(|named| named.split_once(':'));
    let model = behind.and_then(|(_, model)| model.split(':').rfind(|part| !part.is_empty()));
    let model = model.unwrap_or("gpt-4o-mini");
    let said = match named {
        Some(named) => format!("# The configuration says {}.\n", one_line(named)),
        None if migration.names_other_judges() => {
            "# The configuration names judges in the places that are listed above: choose the model.\n".to_owned()
        }
        None => "# The configuration names none: choose the model.\n".to_owned(),
    };
    let default = format!(
        "{said}[judges.default]\nprovider = \"{}\"\nmodel = {}\n",
        provider.name(),
        toml_text(model)
    );
    match (migration.scorers.iter().any(needs_vectors), provider) {
        (false, _) => default,
        (true, Provider::OpenAi) => format!("{default}{EMBEDDING_MODEL}"),
        (true, Provider::Anthropic) => format!("{default}{EMBEDDINGS}{EMBEDDING_MODEL}"),
    }
}

/// A provider of judges that a suite and promptfoo both know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Provider {
    OpenAi,
    Anthropic,
}

impl Provider {
    /// The provider of the judge that the configuration names.
    fn of(migration: &Migration) -> Provider {
        match migration.judge.as_deref().and_then(|judge| judge.split(':').next()) {
            Some("anthropic") => Provider::Anthropic,
            _ => Provider::OpenAi,
        }
    }

    /// Its name in a suite.
    fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
        }
    }
}

/// promptfoo's default model for embeddings.
const EMBEDDING_MODEL: &str = "embedding_model = \"text-embedding-3-large\"\n";

/// A judge for scorers that use embeddings, if the other judge has none.
const EMBEDDINGS: &str = "
# Anthropic has no embeddings; promptfoo asks OpenAI for them.
[judges.embeddings]
provider = \"openai\"
model = \"gpt-4o-mini\"
";

/// Whether a scorer asks its judge for embeddings.
fn needs_vectors(scorer: &Scorer) -> bool {
    matches!(scorer.uses, "embedding-similarity" | "answer-relevancy")
}

/// A value in one line of TOML, which has no `null`.
fn toml(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => toml_text(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| format!("{} = {}", toml_key(key), toml(value));
            let members: Vec<String> = members.iter().map(member).collect();
            match members.is_empty() {
                true => "{}".to_owned(),
                false => format!("{{ {} }}", members.join(", ")),
            }
        }
    }
}

fn toml_key(key: &str) -> String {
    let is_bare = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    match !key.is_empty() && key.chars().all(is_bare) {
        true => key.to_owned(),
        // A suite does not replace variables in keys.
        false => toml_quoted(key),
    }
}

/// A text as a basic string of TOML that the suite reads literally: without the escape, `${NAME}` would be a variable
/// of the environment, whose value may be a secret.
fn toml_text(text: &str) -> String {
    toml_quoted(&text.replace("${", "$${"))
}

/// A text as a basic string of TOML. Its escapes are those of JSON, except for the delete character, which TOML
/// requires to be escaped.
fn toml_quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// A text in one line, so that it stays in its comment.
fn one_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let value =
            json!({"a b": ["x\ny\u{1}\u{7f}\"\\", 1, 1.5, true, {}], "c": {"d.e": []}, "": "é"});
        let read: Value = toml::from_str(&format!("value = {}", toml(&value))).unwrap();
        assert_eq!(read["value"], value);
    }

    #[test]
    fn a_suite_reads_no_variable_in_what_is_written() {
        for text in ["${HOME}", "$${HOME}", "a $ {b} ${", "${${HOME}}", "$$$"] {
            let written = toml(&json!({ "value": text, "${HOME}": [text] }));
            let suite = format!("[scorers.contains]\nconfig = {written}\n");
            let suite = scorebox::suite::Suite::parse(&suite).unwrap();
            let config: Value = serde_json::from_str(suite.scorers[0].config.as_str()).unwrap();
            assert_eq!(config, json!({ "value": text, "${HOME}": [text] }));
        }
    }

    #[test]
    fn scorers_of_embeddings_ask_a_model_that_has_them() {
        let suite = |judge: &str| {
            let scorer = |uses: &'static str| Scorer {
                name: uses.to_owned(),
                label: uses.to_owned(),
                uses,
                config: serde_json::Map::new(),
                threshold: None,
                weight: None,
                judged: true,
                nodes: Vec::new(),
                from: Vec::new(),
            };
            let scorers = vec![scorer("rubric"), scorer("embedding-similarity")];
            let judge = Some(judge.to_owned());
            let text = suite_text(&Migration { judge, scorers, ..Migration::default() }, "p.yaml");
            scorebox::suite::Suite::parse(&text).unwrap();
            text
        };
        let openai = suite("openai:chat:gpt-4o");
        assert!(openai.contains("model = \"gpt-4o\"\nembedding_model = "), "{openai}");
        assert!(!openai.contains("judge = "), "{openai}");
        let anthropic = suite("anthropic:messages:claude");
        assert!(anthropic.contains("[judges.embeddings]\nprovider = \"openai\""), "{anthropic}");
        assert_eq!(anthropic.matches("judge = \"embeddings\"").count(), 1, "{anthropic}");
    }
}
