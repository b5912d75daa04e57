//! Finds what an expression reads of a case that no case has: a key of the case, or of its usage, that scorers do not
//! see. It follows only what is certain, and runs nothing: what an expression makes itself may have any key.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{self, BinaryOp, Pattern};
use jaq_core::path::{Part, Path};
use scorebox_config_keys::nearest;
use scorebox_sdk::excerpt;

type Term<'s> = parse::Term<&'s str>;

/// The parts of a case, as an expression sees it.
const PARTS: [&str; 10] = [
    "output",
    "input",
    "groundTruth",
    "context",
    "latencyMs",
    "outputSchema",
    "trace",
    "usage",
    "metadata",
    "baseline",
];
const USAGE: [&str; 4] = ["inputTokens", "outputTokens", "totalTokens", "costUsd"];

/// What files of cases may call a part, where that is more than another way to write its name.
const SPELLINGS: [(&str, &str); 11] = [
    ("expected", "groundTruth"),
    ("expectedOutput", "groundTruth"),
    ("expected_output", "groundTruth"),
    ("reference", "groundTruth"),
    ("target", "groundTruth"),
    ("messages", "trace"),
    ("meta", "metadata"),
    ("prompt_tokens", "inputTokens"),
    ("promptTokens", "inputTokens"),
    ("completion_tokens", "outputTokens"),
    ("completionTokens", "outputTokens"),
];

/// Why the expression cannot mean what it says, if it reads a key that no case has.
pub(crate) fn unseen(expression: &str) -> Option<String> {
    let term = jaq_core::load::parse(expression, |parser| parser.term())?;
    let mut walk = Walk::default();
    walk.place(&term, Place::Case);
    walk.unseen
}

/// What a value is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Case,
    Usage,
    /// Inside a part, made by the expression, or not certain.
    Elsewhere,
}

impl Place {
    /// Of two that may come out.
    fn or(self, other: Self) -> Self {
        if self == other { self } else { Self::Elsewhere }
    }
}

#[derive(Default)]
struct Walk<'s> {
    /// The last one of a name counts.
    variables: Vec<(&'s str, Place)>,
    /// A definition may have the name of any filter.
    has_definitions: bool,
    unseen: Option<String>,
}

impl<'s> Walk<'s> {
    /// What comes out of a term whose input is `here`.
    fn place(&mut self, term: &Term<'s>, here: Place) -> Place {
        match term {
            Term::Id => return here,
            Term::Var(name) => {
                let known = self.variables.iter().rfind(|(known, _)| known == name);
                return known.map_or(Place::Elsewhere, |(_, place)| *place);
            }
            Term::Path(start, Path(parts)) => {
                let start = self.place(start, here);
                return parts.iter().fold(start, |at, (part, _)| self.step(at, part, here));
            }
            Term::BinOp(left, operator, right) => {
                return self.operation(left, operator, right, here);
            }
            Term::Label(_, inner) => return self.place(inner, here),
            Term::TryCatch(inner, None) => return self.place(inner, here),
            Term::TryCatch(inner, Some(caught)) => {
                self.all([&**inner], here);
                self.all([&**caught], Place::Elsewhere);
            }
            Term::IfThenElse(branches, otherwise) => {
                let otherwise = otherwise.as_ref().map_or(here, |term| self.place(term, here));
                return branches.iter().fold(otherwise, |place, (condition, then)| {
                    self.place(condition, here);
                    place.or(self.place(then, here))
                });
            }
            Term::Def(definitions, rest) => {
                for definition in definitions {
                    let known = self.variables.len();
                    let arguments = definition.args.iter().map(|name| (*name, Place::Elsewhere));
                    self.variables.extend(arguments);
                    self.place(&definition.body, Place::Elsewhere);
                    self.variables.truncate(known);
                }
                self.has_definitions = true;
                return self.place(rest, here);
            }
            Term::Call(name, arguments) => return self.call(name, arguments, here),
            Term::Fold(_, values, pattern, arguments) => {
                let known = self.variables.len();
                let values = self.place(values, here);
                self.all(arguments.iter().take(1), here);
                self.bind(pattern, values);
                self.all(arguments.iter().skip(1), Place::Elsewhere);
                self.variables.truncate(known);
            }
            Term::Obj(entries) => {
                for (key, value) in entries {
                    match (literal(key), value) {
                        (Some(key), None) => _ = self.key(here, &key),
                        _ => self.all([key].into_iter().chain(value), here),
                    }
                }
            }
            Term::Str(_, parts) => {
                for part in parts {
                    if let StrPart::Term(inner) = part {
                        self.place(inner, here);
                    }
                }
            }
            Term::Arr(inner) => self.all(inner.as_deref(), here),
            Term::Neg(inner) => self.all([&**inner], here),
            Term::Recurse | Term::Num(_) | Term::Break(_) => {}
        }
        Place::Elsewhere
    }

    fn all<'t>(&mut self, terms: impl IntoIterator<Item = &'t Term<'s>>, here: Place)
    where
        's: 't,
    {
        for term in terms {
            self.place(term, here);
        }
    }

    fn operation(
        &mut self,
        left: &Term<'s>,
        operator: &BinaryOp<&'s str>,
        right: &Term<'s>,
        here: Place,
    ) -> Place {
        match operator {
            BinaryOp::Pipe(None) => {
                let between = self.place(left, here);
                self.place(right, between)
            }
            BinaryOp::Pipe(Some(pattern)) => {
                let known = self.variables.len();
                let value = self.place(left, here);
                self.bind(pattern, value);
                let place = self.place(right, here);
                self.variables.truncate(known);
                place
            }
            BinaryOp::Comma | BinaryOp::Alt => self.place(left, here).or(self.place(right, here)),
            // On the left is what gets a value, which it need not have before.
            BinaryOp::Assign | BinaryOp::UpdateMath(_) | BinaryOp::UpdateAlt => {
                self.place(right, here);
                Place::Elsewhere
            }
            BinaryOp::Update => Place::Elsewhere,
            BinaryOp::Or | BinaryOp::And | BinaryOp::Math(_) | BinaryOp::Cmp(_) => {
                self.all([left, right], here);
                Place::Elsewhere
            }
        }
    }

    /// A filter by its name. Most arguments have another input than the filter.
    fn call(&mut self, name: &str, arguments: &[Term<'s>], here: Place) -> Place {
        match (name, arguments) {
            _ if self.has_definitions => {}
            ("has", [key]) => {
                if let Some(key) = literal(key) {
                    self.key(here, &key);
                }
            }
            ("getpath", [Term::Arr(Some(path))]) => return self.path(path, here, here),
            ("select", [condition]) => {
                self.place(condition, here);
                return here;
            }
            ("all" | "any", [values, condition]) => {
                let values = self.place(values, here);
                self.place(condition, values);
            }
            ("first" | "last" | "isempty" | "add", [values]) => _ = self.place(values, here),
            _ => self.all(arguments, Place::Elsewhere),
        }
        Place::Elsewhere
    }

    /// What is at a path that is written as a list of keys.
    fn path(&mut self, keys: &Term<'s>, at: Place, here: Place) -> Place {
        match keys {
            Term::BinOp(first, BinaryOp::Comma, rest) => {
                let inside = self.path(first, at, here);
                self.path(rest, inside, here)
            }
            key => self.index(at, key, here),
        }
    }

    /// The variables of a pattern, which takes `value` apart.
    fn bind(&mut self, pattern: &Pattern<&'s str>, value: Place) {
        match pattern {
            Pattern::Var(name) => self.variables.push((name, value)),
            Pattern::Arr(items) => {
                items.iter().for_each(|item| self.bind(item, Place::Elsewhere));
            }
            Pattern::Obj(entries) => {
                for (key, inner) in entries {
                    let value = match literal(key) {
                        Some(key) => self.key(value, &key),
                        None => Place::Elsewhere,
                    };
                    self.bind(inner, value);
                }
            }
        }
    }

    /// One step of a path; what stands in brackets has the input of the whole path.
    fn step(&mut self, at: Place, part: &Part<Term<'s>>, here: Place) -> Place {
        match part {
            Part::Index(index) => return self.index(at, index, here),
            Part::Range(from, to) => self.all(from.iter().chain(to), here),
        }
        Place::Elsewhere
    }

    /// What is under a key or a number, which an expression may make.
    fn index(&mut self, at: Place, index: &Term<'s>, here: Place) -> Place {
        match literal(index) {
            Some(key) => self.key(at, &key),
            None => {
                self.place(index, here);
                Place::Elsewhere
            }
        }
    }

    /// What is under a key.
    fn key(&mut self, at: Place, key: &str) -> Place {
        let (path, names): (&str, &[&str]) = match at {
            Place::Case => ("", &PARTS),
            Place::Usage => (".usage", &USAGE),
            Place::Elsewhere => return at,
        };
        match names.contains(&key) {
            true if at == Place::Case && key == "usage" => return Place::Usage,
            true => {}
            false => _ = self.unseen.get_or_insert_with(|| refusal(path, names, key)),
        }
        Place::Elsewhere
    }
}

fn refusal(path: &str, names: &[&str], key: &str) -> String {
    let spelled =
        SPELLINGS.iter().find(|(spelling, name)| *spelling == key && names.contains(name));
    let meant = spelled.map(|(_, name)| *name).or_else(|| nearest(key, names.iter().copied()));
    let shown = excerpt(key, 40);
    match meant {
        Some(name) => {
            format!("a scorer sees no `{path}.{shown}`; did you mean `{path}.{name}`?")
        }
        None => format!(
            "a scorer sees no `{path}.{shown}`; put it into `metadata`: `.metadata.{shown}`"
        ),
    }
}

/// The text of a string that is nothing else.
fn literal(term: &Term<'_>) -> Option<String> {
    let Term::Str(None, parts) = term else { return None };
    let mut text = String::new();
    for part in parts {
        match part {
            StrPart::Str(piece) => text.push_str(piece),
            StrPart::Char(letter) => text.push(*letter),
            StrPart::Term(_) => return None,
        }
    }
    Some(text)
}
