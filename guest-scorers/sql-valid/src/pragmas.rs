//! Rewrites SQLite's pragmas so that the parser accepts them: it reads values only as texts or unsigned numbers.
//! Whether a pragma exists is not checked.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Whitespace};

/// Turns a pragma's value into a text if it is a word, and removes its sign: `PRAGMA table_info(t)`, `PRAGMA
/// journal_mode = WAL`, `PRAGMA cache_size = -2000`.
pub(crate) fn simplify(tokens: &mut [TokenWithSpan]) {
    let mut place = Place::Start;
    for token in tokens.iter_mut().map(|located| &mut located.token) {
        place = match (place, &*token) {
            (place, Token::Whitespace(_)) => place,
            (_, Token::SemiColon) => Place::Start,
            (Place::Start, Token::Word(word)) if word.keyword == Keyword::PRAGMA => Place::Name,
            (Place::Name, Token::Word(_) | Token::Period) => Place::Name,
            (Place::Name, Token::Eq | Token::LParen) => Place::Value,
            (Place::Value, Token::Plus | Token::Minus) => {
                *token = Token::Whitespace(Whitespace::Space);
                Place::Elsewhere
            }
            (Place::Value, Token::Word(word)) => {
                *token = Token::SingleQuotedString(word.value.clone());
                Place::Elsewhere
            }
            _ => Place::Elsewhere,
        };
    }
}

/// What may come next in a statement.
enum Place {
    Start,
    /// The name of a pragma, or what follows it.
    Name,
    Value,
    Elsewhere,
}
