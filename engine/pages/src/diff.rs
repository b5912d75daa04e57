//! Shows how an output differs from what was expected, line by line and, within changed lines, word by word. Makes
//! differences visible that a reader could not see: line ends, and the code points of characters that look alike.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use maud::{Markup, html};
use similar::{Algorithm, ChangeTag, InlineChange, TextDiff};

use crate::{alike::look, said::Said};

/// The most bytes of a text that is compared.
const MAX_BYTES: usize = 96 << 10;
/// The most lines of both texts that are compared.
const MAX_LINES: usize = 4000;
/// The longest time of a comparison; the rest is shown as changed.
const PATIENCE: Duration = Duration::from_millis(150);
/// How many lines around a change are shown.
const AROUND: usize = 4;

/// The lines of two texts that differ, with the differences marked; `None` if they are too large to be compared.
pub(crate) fn diff(expected: &str, output: &str) -> Option<Markup> {
    let lines = expected.lines().count() + output.lines().count();
    if expected.len() > MAX_BYTES || output.len() > MAX_BYTES || lines > MAX_LINES {
        return None;
    }
    let ends = Ends::of(expected, output);
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .deadline(Instant::now() + PATIENCE)
        .diff_lines(expected, output);
    Some(html! {
        div.diff tabindex="0" role="group" aria-label="Difference of the output to what was expected" {
            @for (index, group) in compared.grouped_ops(AROUND).iter().enumerate() {
                @if index > 0 { span.more { "⋯" } }
                @for op in group {
                    @let changes: Vec<_> = compared.iter_inline_changes(op).collect();
                    @let looks = Looks::of(&changes);
                    @for change in &changes { (line(change, ends, looks.is_mistaken(change))) }
                }
            }
        }
    })
}

/// What must be shown about line ends.
#[derive(Clone, Copy)]
struct Ends {
    /// Whether some lines of the two texts end with a carriage return, and others do not.
    are_mixed: bool,
    /// Whether only one of the texts ends with a line break.
    is_last_open: bool,
}

impl Ends {
    fn of(expected: &str, output: &str) -> Ends {
        let count = |what: &str| expected.matches(what).count() + output.matches(what).count();
        let returns = count("\r\n");
        Ends {
            are_mixed: returns > 0 && returns < count("\n"),
            is_last_open: expected.ends_with(['\n', '\r']) != output.ends_with(['\n', '\r']),
        }
    }

    /// The end of a changed line, if it must be shown.
    fn shown(self, line: &str) -> Markup {
        html! {
            @if line.ends_with('\r') || self.are_mixed && line.ends_with("\r\n") { span.act { "\\u{d}" } }
            @if self.is_last_open && !line.ends_with(['\n', '\r']) { span.more { " (no line break at the end)" } }
        }
    }
}

fn text(change: &InlineChange<'_, str>) -> String {
    change.iter_strings_lossy().map(|(_, part)| part).collect()
}

/// The changed lines of both texts, by their look.
struct Looks(HashMap<(ChangeTag, String), HashSet<String>>);

impl Looks {
    fn of(changes: &[InlineChange<'_, str>]) -> Looks {
        let mut looks = HashMap::<_, HashSet<String>>::new();
        for change in changes.iter().filter(|it| it.tag() != ChangeTag::Equal) {
            let text = without_end(change);
            looks.entry((change.tag(), look(&text))).or_default().insert(text);
        }
        Looks(looks)
    }

    /// Whether a changed line of the other text looks like this one, but is different.
    fn is_mistaken(&self, change: &InlineChange<'_, str>) -> bool {
        let other = match change.tag() {
            ChangeTag::Delete => ChangeTag::Insert,
            ChangeTag::Insert => ChangeTag::Delete,
            ChangeTag::Equal => return false,
        };
        let own = without_end(change);
        let like_it = self.0.get(&(other, look(&own)));
        like_it.is_some_and(|texts| texts.iter().any(|text| *text != own))
    }
}

fn without_end(change: &InlineChange<'_, str>) -> String {
    text(change).trim_end_matches(['\n', '\r']).to_owned()
}

fn line(change: &InlineChange<'_, str>, ends: Ends, is_mistaken: bool) -> Markup {
    let all = text(change);
    let has_marks = change.iter_strings_lossy().any(|(is_emphasized, _)| is_emphasized);
    let text = html! {
        @for (is_emphasized, part) in change.iter_strings_lossy() {
            @let part = part.trim_end_matches(['\n', '\r']);
            @let part = html! {
                @if is_mistaken && (is_emphasized || !has_marks) { (code_points(part)) } @else { (Said::all(part)) }
            };
            @if is_emphasized { b { (part) } } @else { (part) }
        }
    };
    match change.tag() {
        ChangeTag::Equal => html! { span { (text) } },
        ChangeTag::Delete => {
            html! { del { span.unseen { "expected: " } (text) (ends.shown(&all)) } }
        }
        ChangeTag::Insert => html! { ins { span.unseen { "output: " } (text) (ends.shown(&all)) } },
    }
}

/// The text with the code point of each character beyond ASCII in place of the character.
fn code_points(text: &str) -> Markup {
    html! {
        @for character in text.chars() {
            @if character.is_ascii() { (Said::all(character.encode_utf8(&mut [0; 4]))) }
            @else { span.act { (character.escape_unicode()) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_marked_and_the_words_in_them() {
        let html = diff("one\nthe cat sat\n", "one\nthe dog sat\n").unwrap().into_string();
        assert!(html.contains("<span>one</span>"), "{html}");
        assert!(html.contains("the <b>cat</b> sat</del>"), "{html}");
        assert!(html.contains("the <b>dog</b> sat</ins>"), "{html}");
    }

    #[test]
    fn markup_in_both_texts_stays_text() {
        let html = diff("<script>", "<img onerror=x>").unwrap().into_string();
        assert!(!html.contains("<script>") && !html.contains("<img"), "{html}");
    }

    #[test]
    fn large_texts_are_not_compared() {
        assert!(diff(&"a".repeat(MAX_BYTES + 1), "b").is_none());
        assert!(diff(&"\n".repeat(MAX_LINES), "b\n").is_none());
    }

    fn changed(expected: &str, output: &str) -> Vec<String> {
        let html = diff(expected, output).unwrap().into_string();
        let lines = html.split(['\n']).collect::<String>();
        let mut changed = Vec::new();
        for mark in ["del", "ins"] {
            for part in lines.split(&format!("<{mark}>")).skip(1) {
                let line = part.split(&format!("</{mark}>")).next().unwrap();
                let (_, line) = line.split_once(": </span>").unwrap();
                changed.push(line.replace("<span class=\"act\">", "‹").replace("</span>", "›"));
            }
        }
        changed
    }

    #[test]
    fn a_line_that_only_ends_in_another_way_shows_its_end() {
        assert_eq!(changed("a\nb\n", "a\r\nb\n"), ["a", "a‹\\u{d}›"]);
        assert_eq!(changed("a\r\nb\r\n", "a\r\nc\r\n"), ["<b>b</b>", "<b>c</b>"]);
        let open = "b<span class=\"more\"> (no line break at the end)›";
        assert_eq!(changed("a\nb", "a\nb\n"), [open, "b"]);
        assert_eq!(changed("a\nb\n", "a\nb"), ["b", open]);
    }

    #[test]
    fn characters_that_look_alike_are_told_apart_by_their_code_points() {
        assert_eq!(
            changed("caf\u{e9}\n", "cafe\u{301}\n"),
            ["<b>caf‹\\u{e9}›</b>", "<b>cafe‹\\u{301}›</b>"]
        );
        assert_eq!(changed("cat\n", "\u{441}at\n"), ["<b>cat</b>", "<b>‹\\u{441}›at</b>"]);
        let letters = changed("caf\u{e9}\n", "cafes\n").concat();
        assert!(letters.contains('\u{e9}'), "letters that are seen to differ stay: {letters}");
    }
}
