//! A judge that answers with lists: statements with a verdict each, sentences, questions. What the items are is up to
//! the scorer.

use scorebox_sdk::ScoreError;
use serde_json::Value;

use crate::{Prompt, Settings, Unread, ask_for, reading, schema};

/// The most items that are read from one list.
const MAX_ITEMS: usize = 1000;

/// A question whose answer is lists.
#[derive(Debug, Clone, PartialEq)]
pub struct List<'l> {
    /// The system prompt: what to list, and how.
    pub criteria: &'l str,
    /// How the answer should look.
    pub form: &'l str,
    /// The keys of the lists in the answer; if there is only one, the answer may be the list itself.
    pub keys: &'l [&'l str],
    /// The smallest number of items that all lists must have together.
    pub least: usize,
    /// What an item is, as a JSON Schema.
    pub item: &'l str,
}

impl List<'_> {
    /// The lists, in the order of their keys; `read` converts an item into the type that the scorer works with. Texts
    /// that are only white space are skipped.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if the case's texts are too long. The inner error is [`Unread`] if the answer
    /// cannot be read.
    pub fn ask<T: PartialEq>(
        &self,
        prompt: &Prompt<'_>,
        settings: &Settings,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Result<Vec<Vec<T>>, Unread>, ScoreError> {
        let question = prompt.question(self.criteria, self.form)?;
        let question = question.schema(self.schema()).model(settings.model.0.clone());
        let read = |value: &Value| self.read(value, &read);
        Ok(ask_for(&question, |answer| reading::json(answer, read)))
    }

    fn read<T>(
        &self,
        value: &Value,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Vec<Vec<T>>, String> {
        let list = |key: &&str| {
            let items = match (reading::member(value, &[key]), value) {
                (Some(Value::Array(items)), _) => items,
                (None, Value::Array(items)) if self.keys.len() == 1 => items,
                _ => return Err(format!("the list `{key}` is missing")),
            };
            if items.len() > MAX_ITEMS {
                return Err(format!("`{key}` has {} items; the limit is {MAX_ITEMS}", items.len()));
            }
            let items = items.iter().filter(|item| !is_blank(item));
            let items: Option<Vec<T>> = items.map(&read).collect();
            items.ok_or_else(|| format!("an item of `{key}` is not in the form that was asked for"))
        };
        let lists: Vec<Vec<T>> = self.keys.iter().map(list).collect::<Result<_, _>>()?;
        match lists.iter().map(Vec::len).sum::<usize>() < self.least {
            true => Err("there are not enough items in it".to_owned()),
            false => Ok(lists),
        }
    }

    fn schema(&self) -> String {
        let list = schema::list(self.item);
        let properties: Vec<_> = self.keys.iter().map(|key| (*key, list.as_str())).collect();
        schema::object(&properties)
    }
}

fn is_blank(item: &Value) -> bool {
    item.as_str().is_some_and(|text| text.trim().is_empty())
}
