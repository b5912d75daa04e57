//! Splits a mathematical text, plain or LaTeX, into tokens. It knows no grammar.

use crate::expression::{Function, Relation};

/// The most digits of one number, and of all together; the most tokens.
const DIGITS_OF_ONE: usize = 256;
const DIGITS_OF_ALL: usize = 2048;
const TOKEN_LIMIT: usize = 1024;

/// The longest run of letters that may be a product of variables; longer runs are words.
const LETTERS_LIMIT: usize = 3;

/// One piece of a mathematical text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// Digits with at most one decimal point and an exponent, in a program's notation, or with the repeating digits in
    /// brackets: `0.1(6)`.
    Number(String),
    /// A variable or a constant, in lower case.
    Name(String),
    Function(Function),
    Relation(Relation),
    /// A command with arguments in braces: `frac`, `sqrt`, `binom`.
    Command(&'static str),
    /// What separates its two arguments: `\bmod`, `\choose`.
    Between(Function),
    /// `\begin{…}` and `\end{…}`.
    Begin,
    End,
    /// `±`, or `∓` if false.
    PlusMinus(bool),
    /// The content of `\text{…}`.
    Text(String),
    /// One of `+ - * / ^ _ ! ( ) [ ] { } | , & %`, `∪`, `∩`, `∈`; `⟨` and `⟩` for `\{` and `\}`; `⌊ ⌋ ⌈ ⌉`;
    /// `;` between rows.
    Mark(char),
}

/// The tokens of a text; `None` if part of it is not mathematics.
pub(crate) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let (mut rest, mut digits) = (text, 0);
    while let Some(c) = rest.chars().next() {
        let (token, length) = if c.is_ascii_digit() || c == '.' {
            let (number, length) = number(rest)?;
            digits += length;
            // A number to another base, `11_2`, equals only itself.
            let has_base = rest[length..].starts_with('_');
            (Some(if has_base { Token::Name(number) } else { Token::Number(number) }), length)
        } else if c == '\\' {
            command(rest)?
        } else if c.is_alphabetic() {
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let length = letters.max(c.len_utf8());
            tokens.extend(names(&rest[..length])?);
            (None, length)
        } else {
            mark(rest, c)?
        };
        let is_fraction = matches!(token, Some(Token::Command("frac" | "binom")));
        tokens.extend(token);
        rest = &rest[length..];
        if is_fraction {
            // `\frac12` is a half, and so is `\frac 12`.
            for _ in 0..2 {
                let after = rest.trim_start();
                let Some(digit) = after.chars().next().filter(char::is_ascii_digit) else { break };
                tokens.push(Token::Number(digit.to_string()));
                rest = &after[1..];
            }
        }
        if let Some(Token::Name(name)) = tokens.last_mut() {
            rest = index(name, rest)?;
        }
        if tokens.len() > TOKEN_LIMIT || digits > DIGITS_OF_ALL {
            return None;
        }
    }
    Some(tokens)
}

/// Appends the index and the primes after a name to it: `x_1`, `a_{n+1}`, `f'`. Returns what comes after.
fn index<'t>(name: &mut String, text: &'t str) -> Option<&'t str> {
    let mut rest = text;
    while let Some(after) = rest.strip_prefix('\'') {
        name.push('\'');
        rest = after;
    }
    let Some(after) = rest.strip_prefix('_') else { return Some(rest) };
    let (content, length) = if after.starts_with('{') {
        braces(after)?
    } else {
        let end = after.find(|c: char| !c.is_alphanumeric()).unwrap_or(after.len());
        (&after[..end], end)
    };
    (!content.is_empty()).then_some(())?;
    name.push('_');
    name.extend(content.chars().filter(|c| !c.is_whitespace()));
    Some(&after[length..])
}

fn number(text: &str) -> Option<(String, usize)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end += 1 + digits(end + 1);
        if let Some((cycle, length)) = cycle(&text[end..]) {
            let number = format!("{}({cycle})", &text[..end]);
            return (number.len() <= DIGITS_OF_ONE).then_some((number, end + length));
        }
        // The decimal point belongs to something that is not understood: `0.\hat{3}`.
        let after = text[end..].strip_prefix('\\').unwrap_or(&text[end..]);
        let is_followed = after.starts_with(|c: char| c.is_alphabetic() || "([{".contains(c));
        if text[..end].ends_with('.') && is_followed {
            return None;
        }
    }
    if !text[..end].contains(|c: char| c.is_ascii_digit()) || end > DIGITS_OF_ONE {
        return None;
    }
    let exponent = text[end..].strip_prefix(['e', 'E']).map(|rest| {
        let sign = usize::from(rest.starts_with(['+', '-']));
        (1 + sign, digits(end + 1 + sign))
    });
    if let Some((before, count @ 1..=4)) = exponent {
        end += before + count;
    }
    Some((text[..end].to_owned(), end))
}

/// The repeating digits at the beginning of a text after a decimal point, and the length of their notation:
/// `\overline{36}`, `\bar3`, `\dot{3}\dot{6}`, `(36)`.
fn cycle(text: &str) -> Option<(String, usize)> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let marked = |command: &str, text: &str| {
        let (content, length) = argument(text.strip_prefix(command)?)?;
        is_digits(content).then(|| (content.to_owned(), command.len() + length))
    };
    if let Some(inside) = text.strip_prefix('(') {
        let (content, after) = inside.split_once(')')?;
        // `6.02(10)^{23}` is a product.
        let repeats = is_digits(content) && !after.starts_with('^');
        return repeats.then(|| (content.to_owned(), content.len() + 2));
    }
    if let Some(found) = marked("\\overline", text).or_else(|| marked("\\bar", text)) {
        return Some(found);
    }
    let (first, length) = marked("\\dot", text)?;
    let between = text[length..].bytes().take_while(u8::is_ascii_digit).count();
    let last_place = length + between;
    Some(match marked("\\dot", &text[last_place..]) {
        Some((last, more)) => {
            (format!("{first}{}{last}", &text[length..last_place]), last_place + more)
        }
        None => (first, length),
    })
}

/// A run of letters: a known name, or variables of one letter each.
fn names(run: &str) -> Option<Vec<Token>> {
    let lower = run.to_lowercase();
    let greek = |c: char| GREEK.get(u32::from(c).checked_sub(u32::from('α'))? as usize);
    let name = match lower.as_str() {
        "infinity" | "inf" | "oo" => Some("infty"),
        "ℝ" => Some(REALS),
        "or" | "and" => return Some(vec![Token::Text(lower)]),
        name => GREEK.iter().find(|letter| **letter == name).copied(),
    };
    if let Some(name) = name.or(lower.chars().next().and_then(greek).copied()) {
        return Some(vec![Token::Name(name.to_owned())]);
    }
    if let Some(function) = Function::plain(&lower) {
        return Some(vec![Token::Function(function)]);
    }
    if run.chars().count() > LETTERS_LIMIT || WORDS.contains(&lower.as_str()) {
        return None;
    }
    let letter = |c: char| Token::Name(c.to_lowercase().to_string());
    Some(run.chars().map(letter).collect())
}

/// Words of sentences that are not products of variables.
const WORDS: [&str; 28] = [
    "all", "an", "are", "as", "at", "be", "but", "by", "can", "for", "get", "has", "if", "in",
    "is", "it", "its", "not", "of", "off", "so", "the", "to", "was", "we", "you", "he", "she",
];

/// The Greek letters in the order of Unicode, from `α` on.
const GREEK: [&str; 25] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "final", "sigma", "tau", "upsilon", "phi",
    "chi", "psi", "omega",
];

/// The name of the set of all real numbers, `\mathbb{R}`.
pub(crate) const REALS: &str = "mathbb R";

/// Commands for letters, in addition to the Greek ones.
const LETTERS: [&str; 11] = [
    "ell",
    "hbar",
    "infty",
    "imath",
    "jmath",
    "varepsilon",
    "vartheta",
    "varpi",
    "varrho",
    "varsigma",
    "varphi",
];

/// Commands that turn their argument into a name: `\vec{AB}` is not `\vec{BA}`, and not a product.
const NAMING: [&str; 12] = [
    "mathbb",
    "mathcal",
    "mathscr",
    "mathfrak",
    "vec",
    "hat",
    "bar",
    "tilde",
    "dot",
    "overline",
    "overrightarrow",
    "widehat",
];

/// Whether a command only changes the appearance.
pub(crate) fn is_style(command: &str) -> bool {
    const STYLES: &str = "left right middle big bigl bigr Big Bigl Bigr bigg biggl biggr Bigg Biggl Biggr large Large \
        LARGE small normalsize displaystyle textstyle scriptstyle quad qquad limits mathrm mathbf mathit mathsf \
        boldsymbol rm bf it underline";
    STYLES.split(' ').any(|style| style == command)
}

/// Whether a command is the sign of a currency.
pub(crate) fn is_currency(command: &str) -> bool {
    matches!(command, "pounds" | "textsterling" | "textdollar" | "euro" | "texteuro")
}

/// A LaTeX command, and its length. Style commands are skipped.
fn command(text: &str) -> Option<(Option<Token>, usize)> {
    let letters = text[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        let c = text[1..].chars().next()?;
        let token = match c {
            '{' => Some(Token::Mark('⟨')),
            '}' => Some(Token::Mark('⟩')),
            '\\' => Some(Token::Mark(';')),
            '|' => Some(Token::Mark('|')),
            '%' => Some(Token::Mark('%')),
            ',' | ';' | ':' | '!' | ' ' | '$' => None,
            _ => return None,
        };
        return Some((token, 1 + c.len_utf8()));
    }
    let end = 1 + letters;
    let mark = |mark| Some(Token::Mark(mark));
    let token = match &text[1..end] {
        "cdot" | "times" | "ast" => mark('*'),
        "div" | "colon" => mark('/'),
        "lbrace" => mark('⟨'),
        "rbrace" => mark('⟩'),
        "lbrack" => mark('['),
        "rbrack" => mark(']'),
        "vert" | "lvert" | "rvert" | "mid" => mark('|'),
        "lfloor" => mark('⌊'),
        "rfloor" => mark('⌋'),
        "lceil" => mark('⌈'),
        "rceil" => mark('⌉'),
        "cup" => mark('∪'),
        "cap" => mark('∩'),
        "in" => mark('∈'),
        "pm" => Some(Token::PlusMinus(true)),
        "mp" => Some(Token::PlusMinus(false)),
        "lt" => Some(Token::Relation(Relation::Less)),
        "gt" => Some(Token::Relation(Relation::Greater)),
        "le" | "leq" | "leqslant" => Some(Token::Relation(Relation::AtMost)),
        "ge" | "geq" | "geqslant" => Some(Token::Relation(Relation::AtLeast)),
        "ne" | "neq" => Some(Token::Relation(Relation::Unequal)),
        "frac" | "dfrac" | "tfrac" | "cfrac" => Some(Token::Command("frac")),
        "sqrt" => Some(Token::Command("sqrt")),
        "binom" | "dbinom" | "tbinom" => Some(Token::Command("binom")),
        "varnothing" | "emptyset" => Some(Token::Name("emptyset".to_owned())),
        "angle" | "circ" | "degree" | "checkmark" => None,
        name if is_style(name) || is_currency(name) => None,
        "bmod" | "mod" => Some(Token::Between(Function::Modulo)),
        "choose" => Some(Token::Between(Function::Binomial)),
        name if NAMING.contains(&name) => {
            let (content, length) = argument(&text[end..])?;
            let content = content.trim();
            (!content.is_empty() && content.chars().all(char::is_alphanumeric)).then_some(())?;
            let name = match name {
                "overline" => "bar",
                "overrightarrow" => "vec",
                "widehat" => "hat",
                other => other,
            };
            return Some((Some(Token::Name(format!("{name} {content}"))), end + length));
        }
        "begin" | "end" => {
            let (name, mut length) = braces(&text[end..])?;
            if name == "array" && &text[1..end] == "begin" {
                length += braces(&text[end + length..])?.1;
            }
            let token = if &text[1..end] == "begin" { Token::Begin } else { Token::End };
            return Some((Some(token), end + length));
        }
        "text" | "textbf" | "textit" | "mbox" | "operatorname" => {
            let (content, length) = braces(&text[end..])?;
            let name = content.trim().to_lowercase();
            let function = Function::plain(&name).map(Token::Function);
            return Some((Some(function.unwrap_or(Token::Text(name))), end + length));
        }
        name => match Function::latex(name) {
            Some(function) => Some(Token::Function(function)),
            // An unknown command may be an operator that makes no product: `p \to q`, `A \subset B`.
            None => Some(Token::Name(letter(name)?)),
        },
    };
    Some((token, end))
}

/// The name of a command that is a letter.
fn letter(command: &str) -> Option<String> {
    let lower = command.to_lowercase();
    (LETTERS.contains(&command) || GREEK.contains(&lower.as_str())).then_some(lower)
}

/// The argument at the beginning of a text, in braces or a single sign, and its length including braces.
fn argument(text: &str) -> Option<(&str, usize)> {
    let start = text.len() - text.trim_start().len();
    match text[start..].chars().next()? {
        '{' => braces(text),
        c => Some((&text[start..start + c.len_utf8()], start + c.len_utf8())),
    }
}

/// The content of the braces at the beginning of a text, and the length including them.
fn braces(text: &str) -> Option<(&str, usize)> {
    let open = text.find('{').filter(|open| text[..*open].trim().is_empty())?;
    let close = open + text[open..].find('}')?;
    Some((&text[open + 1..close], close + 1))
}

fn mark(text: &str, c: char) -> Option<(Option<Token>, usize)> {
    let pairs = [
        ("**", Token::Mark('^')),
        ("<=", Token::Relation(Relation::AtMost)),
        (">=", Token::Relation(Relation::AtLeast)),
        ("!=", Token::Relation(Relation::Unequal)),
        ("==", Token::Relation(Relation::Equal)),
    ];
    if let Some((pair, token)) = pairs.into_iter().find(|(pair, _)| text.starts_with(pair)) {
        return Some((Some(token), pair.len()));
    }
    let token = match c {
        '+' | '-' | '*' | '/' | '^' | '_' | '!' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | ','
        | '&' | '%' | '∪' | '∩' | '∈' => Token::Mark(c),
        ';' => Token::Mark(','),
        ':' | '÷' | '∕' => Token::Mark('/'),
        '×' | '·' | '⋅' => Token::Mark('*'),
        '−' | '–' => Token::Mark('-'),
        '±' => Token::PlusMinus(true),
        '=' => Token::Relation(Relation::Equal),
        '<' => Token::Relation(Relation::Less),
        '>' => Token::Relation(Relation::Greater),
        '≤' => Token::Relation(Relation::AtMost),
        '≥' => Token::Relation(Relation::AtLeast),
        '≠' => Token::Relation(Relation::Unequal),
        '√' => Token::Command("sqrt"),
        '∅' => Token::Name("emptyset".to_owned()),
        '∞' => Token::Name("infty".to_owned()),
        '°' | '$' | '~' | '€' | '£' | '\u{200b}' => return Some((None, c.len_utf8())),
        c if c.is_whitespace() => return Some((None, c.len_utf8())),
        _ => return None,
    };
    Some((Some(token), c.len_utf8()))
}
