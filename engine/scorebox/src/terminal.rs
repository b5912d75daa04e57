//! Finds the characters of a text that a reader does not see or that a terminal acts on, and makes them visible; also
//! formats JSON over several lines. The caller decides which texts need that.

use std::borrow::Cow;

/// Whether a terminal acts on this character: control characters, and the marks of bidirectional text (Unicode TR 9).
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
        )
}

/// The characters of a text, each with whether a reader sees it. A reader does not see the characters that a terminal
/// acts on, or those that are drawn as nothing, which can make two texts look alike or hide one text in another.
/// Characters that draw nothing but change what is seen count as seen: those that combine several characters into an
/// emoji, and joiners between letters of scripts that need them.
pub fn characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    text.char_indices().map(move |(offset, character)| {
        // Most characters of most texts are plain, and texts may be large.
        let is_plain = matches!(character, ' '..='~');
        let is_hidden = !is_plain
            && (acts(character)
                || is_ignorable(character) && !shapes(&text[..offset], character, &text[offset..]));
        (character, !is_hidden)
    })
}

/// What a CI runner takes for a command anywhere in a line: GitHub's older form, and Azure's.
const ANYWHERE: [&str; 2] = ["##[", "##vso["];

/// Whether one space can replace this character within a line: white space, except for characters that do not look like
/// it and elsewhere end a line.
pub fn is_space(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Markup (XML or HTML) that a CI runner can have in its log without finding a command in it. GitHub's and Azure's
/// runners react to `::` at the beginning of a line, and to `##[` and `##vso[` anywhere. Their first characters become
/// character references, so it is the same document.
pub fn markup_without_commands(markup: &str) -> Cow<'_, str> {
    let begins = |line: &str| line.trim_start().starts_with("::");
    let mut shown = Cow::Borrowed(markup);
    if markup.lines().any(begins) {
        let lines = markup.split_inclusive('\n').map(|line| match begins(line) {
            true => Cow::Owned(line.replacen("::", "&#58;:", 1)),
            false => Cow::Borrowed(line),
        });
        shown = Cow::Owned(lines.collect());
    }
    for mark in ANYWHERE {
        if shown.contains(mark) {
            shown = Cow::Owned(shown.replace(mark, &mark.replacen('#', "&#35;", 1)));
        }
    }
    shown
}

/// The text with unseen characters as `\u{202e}`; line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let stays = |(character, is_seen): (char, bool)| is_seen || matches!(character, '\n' | '\t');
    if characters(text).all(stays) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for (character, is_seen) in characters(text) {
        match stays((character, is_seen)) {
            true => visible.push(character),
            false => visible.extend(character.escape_unicode()),
        }
    }
    Cow::Owned(visible)
}

/// JSON with unseen characters as `\u202e`, and with `\u0023#[` for what a CI runner would take for a command in its
/// log: the same document.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    json_with(json, |character| character == '\r')
}

/// Like [`visible_json`], and in one line.
pub fn visible_json_line(json: &str) -> Cow<'_, str> {
    json_with(json, |character| matches!(character, '\r' | '\n' | '\t'))
}

/// Below U+0020, JSON has only white space between its tokens; `space` selects which of it becomes a plain space.
fn json_with(json: &str, space: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |(character, is_seen): (char, bool)| !is_seen && character >= '\u{7f}';
    let mut json = Cow::Borrowed(json);
    for mark in ANYWHERE {
        // JSON has a `#` only in strings.
        if json.contains(mark) {
            json = Cow::Owned(json.replace(mark, &mark.replacen('#', "\\u0023", 1)));
        }
    }
    if !characters(&json).any(|it| is_escaped(it) || space(it.0)) {
        return json;
    }
    let mut visible = String::with_capacity(json.len() + 16);
    for (character, is_seen) in characters(&json) {
        if is_escaped((character, is_seen)) {
            // JSON has these only in strings, and writes characters beyond the first plane as two units.
            for unit in character.encode_utf16(&mut [0; 2]) {
                visible.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            visible.push(if space(character) { ' ' } else { character });
        }
    }
    Cow::Owned(visible)
}

/// JSON over several lines, with the same numbers and keys: no number is rounded, and a key that occurs twice stays. In
/// strings, escapes of characters that need none are resolved. `None` if it is not JSON, is nested in more than 128
/// levels, or would become many times as long: deep in a document, two bytes become a line of spaces.
pub fn indented_json(json: &str) -> Option<String> {
    const MAX_DEPTH: usize = 128;
    /// How many bytes may be added to those of the JSON: a few times as many, and some more for a small document.
    const TIMES: usize = 8;
    const FEW_BYTES: usize = 64 << 10;
    const MAX_BYTES: usize = 32 << 20;
    let more = json.len().saturating_mul(TIMES).saturating_add(FEW_BYTES).min(MAX_BYTES);
    let most = json.len().saturating_add(more);
    serde_json::from_str::<serde::de::IgnoredAny>(json).ok()?;
    let mut set = String::with_capacity(json.len() + json.len() / 4);
    let mut depth = 0;
    let mut rest = json.trim_start_matches(JSON_SPACE);
    while let Some(first) = rest.chars().next() {
        if set.len() > most {
            return None;
        }
        let end = token_end(rest);
        let (token, behind) = rest.split_at(end);
        rest = behind.trim_start_matches(JSON_SPACE);
        match first {
            '{' | '[' if rest.starts_with(['}', ']']) => {
                set.push(first);
                set.push(if first == '{' { '}' } else { ']' });
                rest = rest[1..].trim_start_matches(JSON_SPACE);
            }
            '{' | '[' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return None;
                }
                set.push(first);
                break_line(&mut set, depth);
            }
            '}' | ']' => {
                depth -= 1;
                break_line(&mut set, depth);
                set.push(first);
            }
            ',' => {
                set.push(first);
                break_line(&mut set, depth);
            }
            ':' => set.push_str(": "),
            '"' => match serde_json::from_str::<String>(token) {
                Ok(text) => set.push_str(&serde_json::to_string(&text).ok()?),
                // Half a surrogate pair is JSON, but not text.
                Err(_) => set.push_str(token),
            },
            _ => set.push_str(token),
        }
    }
    Some(set)
}

/// The white space that JSON has between its tokens.
const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Where the first token of valid JSON ends.
fn token_end(json: &str) -> usize {
    if !json.starts_with('"') {
        let is_end = |it: char| JSON_SPACE.contains(&it) || "{}[],:\"".contains(it);
        let behind = json.char_indices().skip(1).find(|(_, it)| is_end(*it));
        return match json.starts_with(['{', '}', '[', ']', ',', ':']) {
            true => 1,
            false => behind.map_or(json.len(), |(offset, _)| offset),
        };
    }
    let mut is_escaped = false;
    for (offset, byte) in json.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return offset + 1,
            _ => {}
        }
    }
    json.len()
}

fn break_line(set: &mut String, depth: usize) {
    set.push('\n');
    for _ in 0..depth {
        set.push_str("  ");
    }
}

/// Whether it is drawn as nothing: Unicode's `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt of Unicode 17),
/// the three marks of interlinear annotations, and the line and paragraph separators.
fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether an ignorable character after `before` changes what is seen. `rest` begins with it.
fn shapes(before: &str, character: char, rest: &str) -> bool {
    let last = |text: &str| text.chars().next_back();
    let next = rest.chars().nth(1);
    match character {
        '\u{200c}' | '\u{200d}' if last(before).is_some_and(is_joined) => {
            next.is_some_and(is_joined)
        }
        '\u{200d}' => {
            let before = before.strip_suffix('\u{fe0f}').unwrap_or(before);
            last(before).is_some_and(is_pictograph) && next.is_some_and(is_pictograph)
        }
        '\u{fe0e}' | '\u{fe0f}' => match last(before) {
            Some('0'..='9' | '#' | '*') => next == Some('\u{20e3}'),
            last => last.is_some_and(is_pictograph),
        },
        '\u{e0000}'..='\u{e007f}' => FLAGS.iter().any(|flag| {
            let offsets = flag.char_indices().filter(|(_, it)| *it == character);
            offsets
                .map(|(offset, _)| flag.split_at(offset))
                .any(|(begin, end)| before.ends_with(begin) && rest.starts_with(end))
        }),
        _ => false,
    }
}

/// The flags that are made of tags (emoji-sequences.txt): England, Scotland, Wales.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Letters of scripts in which a joiner changes the shape of its neighbours: from Arabic to Myanmar, Khmer and
/// Mongolian.
fn is_joined(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17d3}' | '\u{1820}'..='\u{18aa}')
}

/// The characters that can start or form an emoji: the blocks of Unicode's `Extended_Pictographic` (emoji-data.txt),
/// which contain other symbols too.
fn is_pictograph(character: char) -> bool {
    matches!(
        character,
        '\u{a9}'
            | '\u{ae}'
            | '\u{203c}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}'
            | '\u{24c2}'
            | '\u{25a0}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_has_no_command_and_says_the_same() {
        for (markup, shown) in [
            ("<a>std::fs, # and ##</a>", "<a>std::fs, # and ##</a>"),
            ("<a>x\n  ::add-mask::y</a>", "<a>x\n  &#58;:add-mask::y</a>"),
            ("<a b=\"##[error]\">", "<a b=\"&#35;#[error]\">"),
            ("##vso[task.complete]", "&#35;#vso[task.complete]"),
        ] {
            assert_eq!(markup_without_commands(markup), shown);
        }
    }

    #[test]
    fn json_has_no_command_and_says_the_same() {
        let json = r###"{"##[a":"##vso[b] # ## \\\\##[c"}"###;
        let shown = visible_json_line(json);
        assert!(!shown.contains("##[") && !shown.contains("##vso["), "{shown}");
        let parsed = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(parsed(&shown), parsed(json));
    }

    #[test]
    fn what_ends_a_line_elsewhere_is_no_space() {
        for space in [' ', '\t', '\n', '\r', '\u{a0}', '\u{3000}'] {
            assert!(is_space(space), "{space:?}");
        }
        for other in ['\u{85}', '\u{2028}', '\u{2029}', '\u{200b}', 'a'] {
            assert!(!is_space(other), "{other:?}");
        }
    }

    #[test]
    fn nothing_stays_that_a_terminal_would_act_on() {
        assert_eq!(visible("a\u{1b}[31mred\u{202e}"), "a\\u{1b}[31mred\\u{202e}");
        assert_eq!(visible("one\n\ttwo\r"), "one\n\ttwo\\u{d}");
    }

    #[test]
    fn what_is_drawn_as_nothing_is_shown() {
        for hidden in
            "\u{ad}\u{34f}\u{180e}\u{200b}\u{200c}\u{200d}\u{2028}\u{2029}\u{2060}\u{3164}\u{fe0f}\u{feff}\u{e0041}"
                .chars()
        {
            let text = format!("a{hidden}b");
            assert_eq!(visible(&text), format!("a{}b", hidden.escape_unicode()));
        }
    }

    #[test]
    fn emoji_and_joined_letters_stay_what_they_are() {
        for text in [
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f52c} \u{2764}\u{fe0f}\u{200d}\u{1f525} \u{263a}\u{fe0e}",
            "#\u{fe0f}\u{20e3} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
            FLAGS[1],
            // Persian and Sinhala.
            "می\u{200c}خواهم ක්\u{200d}රම",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn nothing_hides_behind_an_emoji() {
        assert_eq!(visible("\u{1f600}\u{fe0f}\u{fe0f}"), "\u{1f600}\u{fe0f}\\u{fe0f}");
        assert_eq!(visible("\u{1f600}\u{200d}a"), "\u{1f600}\\u{200d}a");
        assert_eq!(visible("1\u{fe0f}"), "1\\u{fe0f}");
        let flag = FLAGS[0];
        assert_eq!(visible(&format!("{flag}\u{e0067}")), format!("{flag}\\u{{e0067}}"));
        assert_eq!(visible("\u{1f3f4}\u{e0067}\u{e007f}"), "\u{1f3f4}\\u{e0067}\\u{e007f}");
    }

    #[test]
    fn json_over_lines_keeps_its_numbers_and_its_keys() {
        let json = r#" {"a":1.0,"a":12345678901234567890123, "list" : [ ], "of":[{},"x, \"y\"",1e400,null]}"#;
        let lines = [
            "{",
            "  \"a\": 1.0,",
            "  \"a\": 12345678901234567890123,",
            "  \"list\": [],",
            "  \"of\": [",
            "    {},",
            "    \"x, \\\"y\\\"\",",
            "    1e400,",
            "    null",
            "  ]",
            "}",
        ];
        assert_eq!(indented_json(json).unwrap(), lines.join("\n"));
        assert_eq!(indented_json(r#""\u00e9\ud800\\""#).unwrap(), r#""\u00e9\ud800\\""#);
        assert_eq!(indented_json(r#"["\u00e9\n"]"#).unwrap(), "[\n  \"é\\n\"\n]");
        assert_eq!(indented_json("{broken"), None);
        assert_eq!(indented_json(&"[".repeat(200)), None);
        assert_eq!(indented_json(&format!("{}{}", "[".repeat(200), "]".repeat(200))), None);
        let value = serde_json::json!({"a": [1, {"b": [[], {}]}], "c": "d"});
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(indented_json(&value.to_string()).unwrap(), pretty);
    }

    #[test]
    fn json_whose_lines_would_be_mostly_spaces_stays_as_it_is() {
        let nested = |depth: usize, numbers: usize| {
            let numbers = vec!["1"; numbers].join(",");
            format!("{}{numbers}{}", "[".repeat(depth), "]".repeat(depth))
        };
        assert!(indented_json(&nested(122, 100)).is_some(), "it is small");
        assert!(indented_json(&nested(5, 1_000_000)).is_some(), "it is not deep");
        assert_eq!(indented_json(&nested(122, 10_000)), None);
        assert_eq!(indented_json(&nested(5, 10_000_000)), None);
    }

    #[test]
    fn json_stays_the_same_document() {
        let shown = visible_json("[\"a\u{9b}31m\u{202e}é\u{200b}\u{e0041}\"]");
        assert_eq!(shown, r#"["a\u009b31m\u202eé\u200b\udb40\udc41"]"#);
        assert_eq!(visible_json("{\r\n}"), "{ \n}");
        assert_eq!(visible_json_line("{\r\n\t}"), "{   }");
        let read: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, ["a\u{9b}31m\u{202e}é\u{200b}\u{e0041}"]);
    }
}
