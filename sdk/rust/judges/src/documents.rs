//! The texts of a context: retrieved documents, in the forms that programs write them. Nothing is shortened.

use scorebox_sdk::{Part, ScoreError};
use serde_json::Value;

/// The most documents of one context that are asked about one by one: a score may ask 256 questions, and each may have
/// to be asked twice.
const MAX_DOCUMENTS: usize = 128;
/// The keys under which an object may have its text.
const TEXT_KEYS: [&str; 5] = ["text", "content", "pageContent", "page_content", "document"];

/// The documents of a context, in order, for a question about each: a list of texts or of objects with a `text`,
/// `content`, `pageContent`, `page_content` or `document`. Anything else is one document, and what is not a text is
/// represented by its JSON. The result is empty if nothing was retrieved: the list is empty, or all documents are white
/// space or objects without content, such as `{"documents": []}`.
///
/// # Errors
/// [`ScoreError::InvalidInput`] if there are more than 128.
pub fn documents(context: &Part<'_>) -> Result<Vec<String>, ScoreError> {
    let documents = all(context)?;
    if documents.len() > MAX_DOCUMENTS {
        let (name, count) = (context.name(), documents.len());
        return Err(ScoreError::invalid_input(format!(
            "`{name}` has {count} documents; the limit is {MAX_DOCUMENTS}"
        )));
    }
    Ok(documents)
}

/// All documents of a context joined into one text, however many there are; empty if nothing was retrieved.
///
/// # Errors
/// [`ScoreError::InvalidInput`] if the context cannot be read.
pub fn joined_documents(context: &Part<'_>) -> Result<String, ScoreError> {
    all(context).map(|documents| documents.join("\n"))
}

fn all(context: &Part<'_>) -> Result<Vec<String>, ScoreError> {
    let documents = match context.value()? {
        Value::Array(documents) => documents,
        one => vec![one],
    };
    let says_nothing = |document| text(document).trim().is_empty() || is_empty(document);
    match documents.iter().all(says_nothing) {
        true => Ok(Vec::new()),
        false => Ok(documents.iter().map(text).collect()),
    }
}

/// Whether a value contains nothing but lists, objects and white space.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(members) => members.values().all(is_empty),
    }
}

fn text(document: &Value) -> String {
    let inner = TEXT_KEYS.iter().find_map(|key| document.get(key)?.as_str());
    match (inner, document) {
        (Some(text), _) => text.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}
