//! Completions for bash: the function that it calls, the words of its line, and answers with the quotes of that line.
//! It replaces clap's own adapter, which takes words as bash splits them, even at `=` and `:`, and does not handle
//! quotes.

use std::{ffi::OsString, io, path::Path};

use clap::Command;
use clap_complete::{engine::complete, env::EnvCompleter};

use super::TYPED;

/// Answers bash.
pub(super) struct Bash;

/// Registered without a space after the inserted word, because bash before version 4 cannot remove it. A newer version
/// adds the space unless more must follow, as after a folder.
const SCRIPT: &str = r#"
_complete_NAME() {
    local one
    COMPREPLY=()
    while IFS= read -r one; do
        [[ -n $one ]] && COMPREPLY+=("$one")
    done <<< "$(VARIABLE=bash COMPLETER -- "${COMP_LINE:0:COMP_POINT}" "${COMP_LINE:COMP_POINT}" "$2" 2> /dev/null)"
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:@] ]] || compopt +o nospace 2> /dev/null
}
if [[ ${BASH_VERSINFO[0]} -gt 4 || ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -ge 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _complete_NAME NAME
else
    complete -o nospace -o bashdefault -F _complete_NAME NAME
fi
"#;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn is(&self, name: &str) -> bool {
        name == "bash"
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        _bin: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let completer = Quote::None.written(completer);
        let script = SCRIPT.replace("NAME", name).replace("VARIABLE", variable);
        out.write_all(script.replace("COMPLETER", &completer).as_bytes())
    }

    /// `arguments` are the line up to the cursor, the text after it, and the part that bash replaces by an answer.
    fn write_complete(
        &self,
        command: &mut Command,
        arguments: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let lossy =
            |at: usize| arguments.get(at).map(|it| it.to_string_lossy()).unwrap_or_default();
        let line = Line::new(&lossy(0), &lossy(1), &lossy(2));
        let words = TYPED.get_or_init(|| line.words.iter().map(OsString::from).collect());
        for candidate in complete(command, words.clone(), line.at, folder)? {
            if let Some(answer) = candidate.get_value().to_str().and_then(|it| line.answer(it)) {
                writeln!(out, "{answer}")?;
            }
        }
        Ok(())
    }
}

/// A bash line that the user is typing.
struct Line {
    /// The words as a program would get them; the word with the cursor ends at the cursor.
    words: Vec<String>,
    /// The index of the word with the cursor.
    at: usize,
    /// The part of this word that stays before an answer.
    stays: String,
    /// The quote that is open after that part.
    quote: Quote,
}

impl Line {
    /// `replaced` is the end of `before` that bash replaces by an answer.
    fn new(before: &str, after: &str, replaced: &str) -> Line {
        let mut words = Word::all(before);
        if words.last().is_none_or(|word| word.is_ended) {
            words.push(Word::at(before.len()));
        }
        let at = words.len() - 1;
        let written = &before[words[at].start..];
        let stays = Word::all(written.strip_suffix(replaced).unwrap_or_default()).pop();
        let stays = stays.unwrap_or_else(|| Word::at(0));
        let mut words: Vec<String> = words.into_iter().map(|word| word.text).collect();
        // The rest of the word with the cursor is not a word.
        let others = after.split_once(char::is_whitespace).map_or("", |(_, others)| others);
        words.extend(Word::all(others).into_iter().map(|word| word.text));
        Line { words, at, stays: stays.text, quote: stays.quote }
    }

    /// The word `candidate` as bash must insert it; `None` if it cannot.
    fn answer(&self, candidate: &str) -> Option<String> {
        let rest = candidate.strip_prefix(&self.stays)?;
        // Each line of the answer is a word.
        (!rest.contains(['\n', '\r'])).then(|| self.quote.written(rest))
    }
}

/// The quotes around a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    None,
    Single,
    Double,
}

impl Quote {
    /// Quotes the text so that bash reads it literally.
    fn written(self, text: &str) -> String {
        let mut written = String::new();
        for (at, character) in text.char_indices() {
            match self {
                Quote::Single if character == '\'' => written.push_str(r"'\'"),
                Quote::Double if r#""\$`"#.contains(character) => written.push('\\'),
                // bash replaces it by the user's home folder, as the path intends.
                Quote::None if at == 0 && text.starts_with("~/") => {}
                Quote::None if is_special(character) => written.push('\\'),
                _ => {}
            }
            written.push(character);
        }
        written
    }
}

/// Whether the character has a special meaning for bash in some position.
fn is_special(character: char) -> bool {
    character.is_ascii() && !character.is_ascii_alphanumeric() && !"_-./=:@%+,".contains(character)
}

/// A word of a line.
struct Word {
    /// Its start in the line.
    start: usize,
    /// The text without its quotes.
    text: String,
    /// The quote that is open at the end of the line.
    quote: Quote,
    /// Whether the line contains its end.
    is_ended: bool,
}

impl Word {
    fn at(start: usize) -> Word {
        Word { start, text: String::new(), quote: Quote::None, is_ended: false }
    }

    /// The words of a line. Variables and patterns are not expanded.
    fn all(line: &str) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut characters = line.char_indices().peekable();
        while let Some((start, character)) = characters.next() {
            let quote =
                words.last().filter(|word| !word.is_ended).map_or(Quote::None, |it| it.quote);
            if quote == Quote::None && character.is_whitespace() {
                words.last_mut().into_iter().for_each(|word| word.is_ended = true);
                continue;
            }
            if words.last().is_none_or(|word| word.is_ended) {
                words.push(Word::at(start));
            }
            let Some(word) = words.last_mut() else { break };
            match (quote, character) {
                (Quote::None, '\'') => word.quote = Quote::Single,
                (Quote::None, '"') => word.quote = Quote::Double,
                (Quote::Single, '\'') | (Quote::Double, '"') => word.quote = Quote::None,
                (Quote::None, '\\') => word.text.extend(characters.next().map(|(_, it)| it)),
                (Quote::Double, '\\') => {
                    let escaped = characters.next_if(|(_, it)| r#""\$`"#.contains(*it));
                    word.text.push(escaped.map_or('\\', |(_, it)| it));
                }
                _ => word.text.push(character),
            }
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The word with the cursor, and the answer to bash for `candidate`.
    fn answered(before: &str, replaced: &str, candidate: &str) -> (String, Option<String>) {
        let line = Line::new(before, "", replaced);
        (line.words[line.at].clone(), line.answer(candidate))
    }

    #[test]
    fn words_lose_their_quotes_and_are_not_divided_at_other_characters() {
        let words = |line: &str| Line::new(line, "", "").words;
        assert_eq!(words("scorebox run"), ["scorebox", "run"]);
        assert_eq!(words("scorebox run "), ["scorebox", "run", ""]);
        assert_eq!(words(r"s sub\ dir/ x=a:b"), ["s", "sub dir/", "x=a:b"]);
        assert_eq!(
            words(r#"s 'a "b' "c 'd\"\$\e" e"f g"h"#),
            ["s", r#"a "b"#, r#"c 'd"$\e"#, "ef gh"]
        );
        assert_eq!(words("s 'open quote "), ["s", "open quote "]);
        assert_eq!(words(r"s '' end\"), ["s", "", "end"]);
    }

    #[test]
    fn a_word_ends_at_the_cursor_and_others_may_follow() {
        let line = Line::new("s run --grant be", "gun suite.toml", "be");
        assert_eq!((line.at, line.words.join(" ").as_str()), (3, "s run --grant be suite.toml"));
    }

    #[test]
    fn an_answer_takes_the_place_of_what_bash_replaces() {
        let is = |word: &str, answer: &str| (word.to_owned(), Some(answer.to_owned()));
        assert_eq!(answered("s my", "my", "my file"), is("my", r"my\ file"));
        assert_eq!(answered(r"s my\ f", r"my\ f", "my file"), is("my f", r"my\ file"));
        assert_eq!(answered("s x=lev", "lev", "x=levenshtein"), is("x=lev", "levenshtein"));
        assert_eq!(answered("s x=", "", "x=bleu"), is("x=", "bleu"));
        assert_eq!(answered("s 'my f", "my f", "my file's"), is("my f", r"my file'\''s"));
        assert_eq!(answered(r#"s x="my f"#, "my f", "x=my file$"), is("x=my f", r"my file\$"));
        assert_eq!(answered("s ~/m", "~/m", "~/m~ #"), is("~/m", r"~/m\~\ \#"));
        assert_eq!(answered("s ", "", "~"), is("", r"\~"));
        assert_eq!(answered("s a", "a", "a\nb"), ("a".to_owned(), None));
    }
}
