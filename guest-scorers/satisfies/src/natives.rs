//! Filters of jq that jaq brings only together with dates and the environment: regular expressions, and
//! the functions on numbers that a formula needs. And `fromjson`, of which jaq's knows no bound.

use jaq_core::data::JustLut;
use jaq_core::native::{Filter, Fun, bome, run, v};
use jaq_core::{Cv, Exn, RunPtr};
use jaq_json::{Error, Map, Val, ValR, read};
use jaq_std::ValT as _;
use regex_lite::{Regex, RegexBuilder};
use scorebox_sdk::excerpt;

type Data = JustLut<Val>;

pub(crate) fn natives() -> impl Iterator<Item = Fun<Data>> {
    let natives: [Filter<RunPtr<Data>>; 10] = [
        ("fromjson", v(0), |cv| {
            Box::new(from_json(&cv.1).into_iter().map(|value| value.map_err(Exn::from)))
        }),
        ("matches", v(2), |cv| bome(matches(cv, Parts { between: false, matched: true }))),
        ("split_", v(2), |cv| bome(matches(cv, Parts { between: true, matched: false }))),
        ("split_matches", v(2), |cv| bome(matches(cv, Parts { between: true, matched: true }))),
        ("sqrt", v(0), |cv| bome(number(&cv.1).map(|x| x.sqrt().into()))),
        ("exp", v(0), |cv| bome(number(&cv.1).map(|x| x.exp().into()))),
        ("log", v(0), |cv| bome(number(&cv.1).map(|x| x.ln().into()))),
        ("log2", v(0), |cv| bome(number(&cv.1).map(|x| x.log2().into()))),
        ("log10", v(0), |cv| bome(number(&cv.1).map(|x| x.log10().into()))),
        ("pow", v(2), |mut cv| {
            let (exponent, base) = (cv.0.pop_var(), cv.0.pop_var());
            bome(number(&base).and_then(|base| Ok(base.powf(number(&exponent)?).into())))
        }),
    ];
    natives.into_iter().map(run::<Data>)
}

/// How deep JSON in a text may nest, as in the case itself; jaq's reader recurses with it.
const DEPTH: usize = 127;

/// The JSON values in a text, up to what is not JSON.
fn from_json(input: &Val) -> Vec<ValR> {
    let Some(text) = input.as_utf8_bytes() else {
        return vec![Err(Error::typ(input.clone(), "string"))];
    };
    let fail = |why: &dyn std::fmt::Display| {
        let input = input.to_string();
        Error::str(format_args!("cannot parse {} as JSON: {why}", excerpt(&input, 80)))
    };
    if depth(text) > DEPTH {
        return vec![Err(fail(&format_args!("it nests more than {DEPTH} deep")))];
    }
    let mut values = Vec::new();
    for value in read::parse_many(text) {
        let is_wrong = value.is_err();
        values.push(value.map_err(|error| fail(&error)));
        // The reader would continue inside what it could not read, where brackets mean something else.
        if is_wrong {
            break;
        }
    }
    values
}

/// How deep brackets nest outside of strings and of comments, which jaq's reader knows too.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'#' => {
                bytes.find(|byte| **byte == b'\n');
            }
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'"' => break,
                        b'\\' => {
                            bytes.next();
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn number(value: &Val) -> Result<f64, Error> {
    value.as_f64().ok_or_else(|| Error::typ(value.clone(), "number"))
}

/// Which parts of a text are wanted: those between matches, the matches, or both in turn.
struct Parts {
    between: bool,
    matched: bool,
}

/// The parts of the input text, by a regular expression and its flags.
fn matches(mut cv: Cv<'_, Data>, parts: Parts) -> ValR {
    let (flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
    let (flags, pattern, text) = (text(&flags)?, text(&pattern)?, text(&cv.1)?);
    let regex = regex(&pattern, &flags)?;
    let mut found = Vec::new();
    let (mut byte, mut character, mut end) = (0, 0, 0);
    let mut characters_before = |start: usize| {
        // A group may start before the one that was looked at last.
        if start < byte {
            (byte, character) = (0, 0);
        }
        character += text[byte..start].chars().count();
        byte = start;
        character
    };
    for captures in regex.captures_iter(&text) {
        let Some(whole) = captures.get(0) else { continue };
        if flags.contains('n') && whole.is_empty() {
            continue;
        }
        if parts.between {
            found.push(Val::from(text[end..whole.start()].to_owned()));
            end = whole.end();
        }
        if parts.matched {
            let groups = captures.iter().zip(regex.capture_names());
            let groups = groups.filter_map(|(group, name)| Some((group?, name)));
            found.push(Val::from_iter(groups.map(|(group, name)| {
                let offset = characters_before(group.start());
                let length = group.as_str().chars().count();
                let mut fields: Map = Map::default();
                fields.insert(key("offset"), Val::from(offset));
                fields.insert(key("length"), Val::from(length));
                fields.insert(key("string"), key(group.as_str()));
                if let Some(name) = name {
                    fields.insert(key("name"), key(name));
                }
                Val::obj(fields)
            })));
        }
        if !flags.contains('g') {
            break;
        }
    }
    if parts.between {
        found.push(Val::from(text[end..].to_owned()));
    }
    Ok(Val::from_iter(found))
}

fn key(text: &str) -> Val {
    Val::from(text.to_owned())
}

fn text(value: &Val) -> Result<String, Error> {
    let bytes = value.as_utf8_bytes().ok_or_else(|| Error::typ(value.clone(), "string"))?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn regex(pattern: &str, flags: &str) -> Result<Regex, Error> {
    if let Some(flag) = flags.chars().find(|flag| !"gnimslxp".contains(*flag)) {
        return Err(Error::str(format_args!("invalid regex flag: {flag}")));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains(['m', 'p']))
        .dot_matches_new_line(flags.contains(['s', 'p']))
        .swap_greed(flags.contains('l'))
        .ignore_whitespace(flags.contains('x'))
        .build()
        .map_err(|error| Error::str(format_args!("invalid regex: {error}")))
}
