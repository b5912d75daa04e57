//! Makes text from elsewhere (a case, a scorer, a model) safe for a page: it is escaped and cut to a limit, and every
//! character that a reader could not see, or that changes the direction of writing, is made visible.

use maud::{Escaper, Render};
use scorebox::terminal::{characters, indented_json, is_space};
use std::fmt::Write as _;

/// A text that is shown only as text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    text: &'a str,
    most: usize,
    is_line: bool,
}

impl<'a> Said<'a> {
    /// All of the text, with its line breaks.
    pub(crate) fn all(text: &'a str) -> Said<'a> {
        Said { text, most: usize::MAX, is_line: false }
    }

    /// The part of the text that fits into this many bytes, and how much more there is.
    pub(crate) fn most(text: &'a str, most: usize) -> Said<'a> {
        Said { text, most, is_line: false }
    }

    /// The same on one line: a run of white space becomes one space.
    pub(crate) fn line(text: &'a str, most: usize) -> Said<'a> {
        Said { text, most, is_line: true }
    }
}

impl Render for Said<'_> {
    fn render_to(&self, out: &mut String) {
        let end = self.text.floor_char_boundary(self.most);
        let (shown, rest) = self.text.split_at(end);
        let mut was_space = false;
        let mut characters = characters(shown).peekable();
        while let Some((character, is_seen)) = characters.next() {
            if self.is_line && is_space(character) {
                if !was_space {
                    out.push(' ');
                }
                was_space = true;
                continue;
            }
            was_space = false;
            match character {
                '\n' | '\t' => out.push(character),
                '\r' if characters.peek().is_some_and(|(next, _)| *next == '\n') => {}
                _ if !is_seen => {
                    // Writing to a string cannot fail.
                    let _ =
                        write!(out, "<span class=\"act\">{}</span>", character.escape_unicode());
                }
                _ => {
                    let _ = Escaper::new(out).write_char(character);
                }
            }
        }
        if !rest.is_empty() {
            let _ = match self.is_line {
                true => write!(out, "…"),
                false => write!(
                    out,
                    "<span class=\"more\">… {} more bytes</span>",
                    crate::figure::count(rest.len() as u64)
                ),
            };
        }
    }
}

/// The text for an attribute or a title, which cannot contain markup: on one line of at most this many characters.
pub(crate) fn plain(text: &str, most: usize) -> String {
    let mut plain = String::new();
    for (index, (character, is_seen)) in characters(text).enumerate() {
        if index == most {
            plain.push('…');
            break;
        }
        match character {
            _ if is_space(character) => plain.push(' '),
            _ if !is_seen => plain.extend(character.escape_unicode()),
            _ => plain.push(character),
        }
    }
    plain
}

/// A part of a case in the format for people, and whether it is JSON: a string becomes its text, and other JSON is
/// formatted over several lines, unless these would consist mostly of spaces.
pub(crate) fn readable(json: &str) -> (String, bool) {
    // Formatting JSON over several lines makes it larger; a document larger than this is shown as it is.
    const MAX_SET: usize = 4 << 20;
    if json.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(json)
    {
        return (text, false);
    }
    let set = (json.len() <= MAX_SET).then(|| indented_json(json)).flatten();
    (set.unwrap_or_else(|| json.to_owned()), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(said: Said<'_>) -> String {
        said.render().into_string()
    }

    #[test]
    fn markup_stays_text() {
        assert_eq!(
            html(Said::all("<script>alert('1')</script> & \"")),
            "&lt;script&gt;alert('1')&lt;/script&gt; &amp; &quot;"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(
            html(Said::all("a\u{202e}b\u{0}\r\nc\td")),
            "a<span class=\"act\">\\u{202e}</span>b<span class=\"act\">\\u{0}</span>\nc\td"
        );
        assert_eq!(plain("a\u{202e}\nb", 9), "a\\u{202e} b");
        assert_eq!(
            html(Said::line("a\u{200b}\u{e0041}", 99)),
            "a<span class=\"act\">\\u{200b}</span><span class=\"act\">\\u{e0041}</span>"
        );
        assert_eq!(html(Said::line("a\u{2028}b", 99)), "a<span class=\"act\">\\u{2028}</span>b");
        assert_eq!(plain("a\u{2029}b", 9), "a\\u{2029}b");
        assert_eq!(html(Said::all("\u{2764}\u{fe0f}")), "\u{2764}\u{fe0f}");
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_how_much_more_there_is() {
        assert_eq!(html(Said::most("aéééé", 2)), "a<span class=\"more\">… 8 more bytes</span>");
        assert_eq!(html(Said::line("a \n b c", 5)), "a b…");
        assert_eq!(plain("abc", 2), "ab…");
    }

    #[test]
    fn a_string_is_read_as_its_text_and_other_json_over_lines() {
        assert_eq!(readable(r#""a\nb""#), ("a\nb".into(), false));
        assert_eq!(readable(r#"{"a":[1]}"#), ("{\n  \"a\": [\n    1\n  ]\n}".into(), true));
        assert_eq!(readable("12345678901234567890.0"), ("12345678901234567890.0".into(), true));
        assert_eq!(readable("{broken"), ("{broken".into(), true));
        let numbers = vec!["1"; 100_000].join(",");
        let deep = format!("{}{numbers}{}", "[".repeat(122), "]".repeat(122));
        assert_eq!(readable(&deep), (deep.clone(), true));
    }
}
