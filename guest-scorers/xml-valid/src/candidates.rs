//! Finds text that may be an XML element: from a start tag to the end tag that closes it. Whether it is well-formed is
//! not checked here.

use std::ops::Range;

use scorebox_sdk::ScoreError;

/// How often each byte of a text may be returned, on average, because elements nest, and each may be malformed.
const READINGS: usize = 64;

/// How many more bytes may be returned, so that a short text is always searched to its end.
const LEAST_BUDGET: usize = 16 << 20;

/// The elements of a text, outer ones before those inside them.
pub(crate) struct Candidates<'t> {
    text: &'t str,
    ranges: std::vec::IntoIter<Range<usize>>,
    /// The element that was returned last.
    last: Range<usize>,
    /// The position up to which elements are skipped.
    passed: usize,
    budget: usize,
}

impl<'t> Candidates<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut ranges = elements(text);
        ranges.sort_by_key(|range| (range.start, usize::MAX - range.end));
        let budget = text.len().saturating_mul(READINGS).saturating_add(LEAST_BUDGET);
        Self { text, ranges: ranges.into_iter(), last: 0..0, passed: 0, budget }
    }

    /// The next element.
    ///
    /// # Errors
    /// [`ScoreError::InvalidInput`] if malformed elements nest so deeply that examining each would take quadratic time.
    pub(crate) fn next(&mut self) -> Result<Option<&'t str>, ScoreError> {
        let passed = self.passed;
        let Some(range) = self.ranges.find(|range| range.start >= passed) else {
            return Ok(None);
        };
        self.budget = self.budget.checked_sub(range.len()).ok_or_else(|| {
            ScoreError::invalid_input(
                "`output` nests too many malformed elements to search it for XML",
            )
        })?;
        self.last = range.clone();
        Ok(Some(&self.text[range]))
    }

    /// Skips the elements inside the one that was returned last.
    pub(crate) fn pass_over(&mut self) {
        self.passed = self.last.end;
    }
}

enum Tag<'t> {
    Start(&'t str),
    Empty,
    End(&'t str),
}

/// All elements: an end tag closes the start tag that is open, or else invalidates all open ones.
fn elements(text: &str) -> Vec<Range<usize>> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut elements = Vec::new();
    let skips = Skips::new(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find('<') {
        let start = from + offset;
        from = start + 1;
        if let Some(end) = skips.end(start) {
            from = end;
        } else if let Some((tag, end)) = tag(text, start) {
            from = end;
            match tag {
                Tag::Start(name) => open.push((name, start)),
                Tag::Empty => elements.push(start..end),
                Tag::End(name) => match open.pop() {
                    Some((opened, place)) if opened == name => elements.push(place..end),
                    _ => open.clear(),
                },
            }
        }
    }
    elements
}

/// Text that is skipped: comments, CDATA sections and processing instructions.
struct Skips<'t> {
    text: &'t str,
    /// For each kind, how it begins, how it ends, and where the last such end is in the text: after that, a text of
    /// only beginnings is not searched to its end for each.
    kinds: [(&'static str, &'static str, Option<usize>); 3],
}

impl<'t> Skips<'t> {
    fn new(text: &'t str) -> Self {
        let kinds = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        Self { text, kinds: kinds.map(|(begin, end)| (begin, end, text.rfind(end))) }
    }

    /// The end of the skipped text that begins here.
    fn end(&self, start: usize) -> Option<usize> {
        let begins = |begin: &str| self.text[start..].starts_with(begin);
        let (begin, end, last) = self.kinds.iter().find(|(begin, ..)| begins(begin))?;
        let inside = start + begin.len();
        (*last).filter(|last| *last >= inside)?;
        self.text[inside..].find(end).map(|offset| inside + offset + end.len())
    }
}

/// A tag, and the position after it. A tag contains no further `<`.
fn tag(text: &str, start: usize) -> Option<(Tag<'_>, usize)> {
    let inside = &text[start + 1..];
    let mut quote = None;
    let end = inside.find(|c| match (quote, c) {
        (_, '<') => true,
        (Some(open), c) => {
            if c == open {
                quote = None;
            }
            false
        }
        (None, '"' | '\'') => {
            quote = Some(c);
            false
        }
        (None, c) => c == '>',
    })?;
    if !inside[end..].starts_with('>') {
        return None;
    }
    let (inside, after) = (&inside[..end], start + 1 + end + 1);
    let (closing, inside) = inside.strip_prefix('/').map_or((false, inside), |rest| (true, rest));
    let name = inside.split(|c: char| c.is_whitespace() || c == '/').next()?;
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':') {
        return None;
    }
    let tag = match (closing, inside.ends_with('/')) {
        (true, _) => Tag::End(name),
        (false, true) => Tag::Empty,
        (false, false) => Tag::Start(name),
    };
    Some((tag, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut candidates = Candidates::new(text);
        std::iter::from_fn(|| candidates.next().unwrap()).collect()
    }

    #[test]
    fn elements_run_from_their_start_tag_to_their_end_tag() {
        assert_eq!(found("x <a>1</a> y <b/> z"), ["<a>1</a>", "<b/>"]);
        assert_eq!(found("<a><b c='>'/></a>"), ["<a><b c='>'/></a>", "<b c='>'/>"]);
        assert_eq!(found("if a < b and c > d: <e></e >"), ["<e></e >"]);
        assert_eq!(found("an open <tag> and <r></r>"), ["<r></r>"]);
        assert_eq!(found("<a><br></a>"), Vec::<&str>::new());
        assert_eq!(found("<!-- <a></a> --><![CDATA[<b/>]]><?c <d/>?><e/>"), ["<e/>"]);
    }

    #[test]
    fn a_text_of_beginnings_is_searched_in_bounded_work() {
        for text in ["<a \"", "<!--", "<![CDATA[", "<?", "</a>", "<a>"] {
            assert!(found(&text.repeat(50_000)).is_empty());
        }
    }
}
