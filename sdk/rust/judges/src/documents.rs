//! The texts of a context: retrieved documents, in the shapes that programs give them. Nothing is cut.

use scorebox_sdk::{Part, ScoreError};
use serde_json::Value;

/// The most documents of one context.
const MOST_DOCUMENTS: usize = 200;
/// Where an object has its text.
const TEXT_KEYS: [&str; 5] = ["text", "content", "pageContent", "page_content", "document"];

/// The documents of a context, in their order: a list of texts or of objects with a `text`, `content`, `pageContent`,
/// `page_content` or `document`; anything else is one document, and what is not text is its JSON. None if nothing was
/// retrieved: the list is empty, or all documents are of white space.
///
/// # Errors
/// [`ScoreError::InvalidInput`] if there are more than 200.
pub fn documents(context: &Part<'_>) -> Result<Vec<String>, ScoreError> {
    let documents: Vec<String> = match context.is_array() {
        true => context.read::<Vec<Value>>()?.iter().map(text).collect(),
        false => vec![text(&context.value()?)],
    };
    if documents.iter().all(|document| document.trim().is_empty()) {
        return Ok(Vec::new());
    }
    if documents.len() > MOST_DOCUMENTS {
        let (name, count) = (context.name(), documents.len());
        return Err(ScoreError::invalid_input(format!(
            "`{name}` has {count} documents; the limit is {MOST_DOCUMENTS}"
        )));
    }
    Ok(documents)
}

/// All documents of a context as one text, one after the other; empty if nothing was retrieved.
///
/// # Errors
/// As [`documents`].
pub fn joined_documents(context: &Part<'_>) -> Result<String, ScoreError> {
    documents(context).map(|documents| documents.join("\n"))
}

fn text(document: &Value) -> String {
    let inner = TEXT_KEYS.iter().find_map(|key| document.get(key)?.as_str());
    match (inner, document) {
        (Some(text), _) => text.to_owned(),
        (None, Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}
