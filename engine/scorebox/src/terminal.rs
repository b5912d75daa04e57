//! The characters of a text that a reader does not see, or that a terminal acts on, and the text with them made visible. Which
//! texts need that is for what shows them to say.

use std::borrow::Cow;

/// Whether a terminal acts on it: control characters, and the marks of bidirectional text (Unicode TR 9).
pub fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}'
        )
}

/// The characters of a text, and of each whether a reader sees it as what it is. Not seen are those that a terminal acts on and
/// those that are drawn as nothing, so that two texts look alike or one hides in another. What draws nothing and yet shapes
/// what is seen is seen: what makes an emoji of several characters, and joiners between letters of scripts that need them.
pub fn characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    text.char_indices().map(move |(place, character)| {
        let is_hidden = acts(character)
            || is_ignorable(character) && !shapes(&text[..place], character, &text[place..]);
        (character, !is_hidden)
    })
}

/// The text with what is not seen as `\u{202e}`; line breaks and tabs stay.
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

/// JSON with what is not seen as `\u202e`: the same document.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    json_with(json, |character| character == '\r')
}

/// As [`visible_json`], and in one line.
pub fn visible_json_line(json: &str) -> Cow<'_, str> {
    json_with(json, |character| matches!(character, '\r' | '\n' | '\t'))
}

/// Below U+0020, JSON has only white space between its tokens; `space` says which of that becomes a plain space.
fn json_with(json: &str, space: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_escaped = |(character, is_seen): (char, bool)| !is_seen && character >= '\u{7f}';
    if !characters(json).any(|it| is_escaped(it) || space(it.0)) {
        return Cow::Borrowed(json);
    }
    let mut visible = String::with_capacity(json.len() + 16);
    for (character, is_seen) in characters(json) {
        if is_escaped((character, is_seen)) {
            // JSON has them only in strings, and writes characters beyond the first plane as two units.
            for unit in character.encode_utf16(&mut [0; 2]) {
                visible.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            visible.push(if space(character) { ' ' } else { character });
        }
    }
    Cow::Owned(visible)
}

/// Whether it is drawn as nothing: Unicode's `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt of Unicode 17), and the
/// three marks of interlinear annotations.
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
            | '\u{202a}'..='\u{202e}'
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

/// Whether an ignorable character behind `before` shapes what is seen. `rest` begins with it.
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
            let places = flag.char_indices().filter(|(_, it)| *it == character);
            places
                .map(|(place, _)| flag.split_at(place))
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

/// Letters of scripts in which a joiner changes how its neighbours look: from Arabic to Myanmar, Khmer and Mongolian.
fn is_joined(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{109f}' | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17d3}' | '\u{1820}'..='\u{18aa}')
}

/// What an emoji may begin with or be made of: the blocks of Unicode's `Extended_Pictographic` (emoji-data.txt), which have
/// other symbols, too.
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
    fn nothing_stays_that_a_terminal_would_act_on() {
        assert_eq!(visible("a\u{1b}[31mred\u{202e}"), "a\\u{1b}[31mred\\u{202e}");
        assert_eq!(visible("one\n\ttwo\r"), "one\n\ttwo\\u{d}");
    }

    #[test]
    fn what_is_drawn_as_nothing_is_shown() {
        for hidden in
            "\u{ad}\u{34f}\u{180e}\u{200b}\u{200c}\u{200d}\u{2060}\u{3164}\u{fe0f}\u{feff}\u{e0041}"
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
    fn json_stays_the_same_document() {
        let shown = visible_json("[\"a\u{9b}31m\u{202e}é\u{200b}\u{e0041}\"]");
        assert_eq!(shown, r#"["a\u009b31m\u202eé\u200b\udb40\udc41"]"#);
        assert_eq!(visible_json("{\r\n}"), "{ \n}");
        assert_eq!(visible_json_line("{\r\n\t}"), "{   }");
        let read: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, ["a\u{9b}31m\u{202e}é\u{200b}\u{e0041}"]);
    }
}
