//! Splits a text at its commas. It judges nothing.

use serde_json::Value;

/// The texts between commas, without the white space around them. In double quotes, a text may contain commas or be
/// empty; `\\"` and `""` are a quote there, and `\\\\` a backslash. Empty text between two commas is skipped.
pub(crate) fn split(text: &str) -> Result<Vec<Value>, String> {
    let mut texts = Vec::new();
    let mut rest = text.trim_start_matches(between);
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (content, after) = unquote(quoted)?;
            texts.push(Value::String(content));
            rest = after.trim_start();
            if !rest.is_empty() && !rest.starts_with(',') {
                return Err(format!("should have a comma after text number {}", texts.len()));
            }
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            texts.push(Value::String(rest[..end].trim().to_owned()));
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(between);
    }
    Ok(texts)
}

fn between(c: char) -> bool {
    c == ',' || c.is_whitespace()
}

/// The text in quotes, and what comes after it.
fn unquote(text: &str) -> Result<(String, &str), String> {
    let mut content = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let next = rest.as_str().chars().next();
        match (c, next) {
            ('\\', Some(escaped @ ('"' | '\\'))) | ('"', Some(escaped @ '"')) => {
                content.push(escaped);
                rest.next();
            }
            ('"', _) => return Ok((content, rest.as_str())),
            _ => content.push(c),
        }
    }
    Err("has a double quote that is never closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let texts = split(text).unwrap();
        texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn commas_part_texts_and_white_space_around_them_is_dropped() {
        assert_eq!(texts("red"), ["red"]);
        assert_eq!(texts(" light red ,blue\t"), ["light red", "blue"]);
        assert_eq!(texts(",, red , ,"), ["red"]);
        assert!(texts("  ,  ").is_empty());
    }

    #[test]
    fn in_quotes_a_text_may_hold_commas_quotes_and_nothing() {
        assert_eq!(texts("\"dark, blue\"\t, red"), ["dark, blue", "red"]);
        assert_eq!(texts("\"5\"\" disk\", \"a\\\"b\", \"c\\\\\""), ["5\" disk", "a\"b", "c\\"]);
        assert_eq!(texts("\"\","), [""]);
        assert_eq!(texts("\"a\\n\""), ["a\\n"]);
        assert_eq!(texts("it is 5\" wide"), ["it is 5\" wide"]);
    }

    #[test]
    fn quotes_that_do_not_fit_are_named() {
        assert_eq!(split("red, \"blue").unwrap_err(), "has a double quote that is never closed");
        assert_eq!(
            split("red, \"dark\" blue").unwrap_err(),
            "should have a comma after text number 2"
        );
    }
}
