//! What an output has instead of what was expected, line by line and, within changed lines, word by word.

use std::time::{Duration, Instant};

use maud::{Markup, html};
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::said::Said;

/// Bytes of a text that is still compared.
const MOST_BYTES: usize = 96 << 10;
/// Lines of both texts that are still compared.
const MOST_LINES: usize = 4000;
/// How long a comparison may take; what is left then is shown as changed.
const PATIENCE: Duration = Duration::from_millis(150);
/// Lines around a change that are shown.
const AROUND: usize = 4;

/// The lines of two texts, those that differ marked; `None` if they are too large to be compared.
pub(crate) fn diff(expected: &str, output: &str) -> Option<Markup> {
    let lines = expected.lines().count() + output.lines().count();
    if expected.len() > MOST_BYTES || output.len() > MOST_BYTES || lines > MOST_LINES {
        return None;
    }
    if expected == output {
        return Some(html! { p.aside { "The output is what was expected." } });
    }
    let compared = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .deadline(Instant::now() + PATIENCE)
        .diff_lines(expected, output);
    Some(html! {
        div.diff tabindex="0" role="group" aria-label="Difference of the output to what was expected" {
            @for (place, group) in compared.grouped_ops(AROUND).iter().enumerate() {
                @if place > 0 { span.more { "⋯" } }
                @for op in group {
                    @for change in compared.iter_inline_changes(op) {
                        (line(&change))
                    }
                }
            }
        }
    })
}

fn line(change: &similar::InlineChange<'_, str>) -> Markup {
    let text = html! {
        @for (is_emphasized, part) in change.iter_strings_lossy() {
            @let part = part.trim_end_matches(['\n', '\r']);
            @if is_emphasized { b { (Said::all(part)) } } @else { (Said::all(part)) }
        }
    };
    match change.tag() {
        ChangeTag::Equal => html! { span { (text) } },
        ChangeTag::Delete => html! { del { span.unseen { "expected: " } (text) } },
        ChangeTag::Insert => html! { ins { span.unseen { "output: " } (text) } },
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
    fn equal_texts_say_so_and_large_ones_are_not_compared() {
        assert!(diff("a", "a").unwrap().into_string().contains("is what was expected"));
        assert!(diff(&"a".repeat(MOST_BYTES + 1), "b").is_none());
        assert!(diff(&"\n".repeat(MOST_LINES), "b\n").is_none());
    }
}
