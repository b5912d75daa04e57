//! Finds keys that an expression reads but that no case has: keys of the case, or of its usage, that scorers do not
//! see. It follows only what is certain, and runs nothing: a value that the expression builds itself may have any key.

use std::rc::Rc;

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{self, BinaryOp, Pattern};
use jaq_core::path::{Part, Path};
use scorebox_config_keys::nearest;
use scorebox_sdk::excerpt;

type Term<'s> = parse::Term<&'s str>;

/// The parts of a case, as an expression sees them.
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

/// Other names for parts in files of cases that are more than another spelling.
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

/// Why the expression cannot work as written, if it reads a key that no case has.
pub(crate) fn unseen(expression: &str) -> Option<String> {
    let term = jaq_core::load::parse(expression, |parser| parser.term())?;
    let mut walk = Walk::default();
    walk.place(&term, Place::Case);
    walk.unseen
}

/// How many terms are visited, so that definitions that call each other do not loop.
const MAX_STEPS: usize = 10_000;

/// Where a value is from.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Case,
    Usage,
    /// A list that contains only the case.
    Cases,
    Usages,
    /// No value, or one that has nothing under any key.
    Nothing,
    /// Inside a part, built by the expression, or not certain.
    Elsewhere,
}

impl Place {
    /// The union of two possible results.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, place) | (place, Self::Nothing) => place,
            (one, other) if one == other => one,
            _ => Self::Elsewhere,
        }
    }

    /// A list of such values.
    fn listed(self) -> Self {
        match self {
            Self::Case => Self::Cases,
            Self::Usage => Self::Usages,
            _ => Self::Elsewhere,
        }
    }

    /// The items of the list.
    fn item(self) -> Self {
        match self {
            Self::Cases => Self::Case,
            Self::Usages => Self::Usage,
            Self::Nothing => Self::Nothing,
            _ => Self::Elsewhere,
        }
    }
}

/// The meanings of names; the last definition of a name counts.
#[derive(Clone, Default)]
struct Scope<'t, 's> {
    variables: Vec<(&'s str, Place)>,
    filters: Vec<Rc<Definition<'t, 's>>>,
}

/// A filter that the expression defines, or an argument that it passes to one.
struct Definition<'t, 's> {
    name: &'s str,
    arguments: &'t [&'s str],
    body: &'t Term<'s>,
    /// The scope of the definition, without itself.
    scope: Scope<'t, 's>,
    is_argument: bool,
}

#[derive(Default)]
struct Walk<'t, 's> {
    scope: Scope<'t, 's>,
    /// The definitions whose calls are being followed.
    calls: Vec<*const Term<'s>>,
    steps: usize,
    unseen: Option<String>,
}

impl<'t, 's> Walk<'t, 's> {
    /// The result of a term for the input `here`.
    fn place(&mut self, term: &'t Term<'s>, here: Place) -> Place {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Place::Elsewhere;
        }
        match term {
            Term::Id => return here,
            Term::Var(name) => {
                let known = self.scope.variables.iter().rfind(|(known, _)| known == name);
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
                let place = self.place(inner, here);
                return place.or(self.place(caught, Place::Elsewhere));
            }
            Term::IfThenElse(branches, otherwise) => {
                let otherwise = otherwise.as_ref().map_or(here, |term| self.place(term, here));
                return branches.iter().fold(otherwise, |place, (condition, then)| {
                    self.place(condition, here);
                    place.or(self.place(then, here))
                });
            }
            Term::Def(definitions, rest) => {
                let outside = self.scope.clone();
                for definition in definitions {
                    let (name, arguments) = (definition.name, definition.args.as_slice());
                    self.define(name, arguments, &definition.body, false, self.scope.clone());
                }
                let place = self.place(rest, here);
                self.scope = outside;
                return place;
            }
            Term::Call(name, arguments) => return self.call(name, arguments, here),
            Term::Fold(_, values, pattern, arguments) => {
                let known = self.scope.variables.len();
                let values = self.place(values, here);
                self.all(arguments.iter().take(1), here);
                self.bind(pattern, values);
                self.all(arguments.iter().skip(1), Place::Elsewhere);
                self.scope.variables.truncate(known);
            }
            Term::Obj(entries) if entries.is_empty() => return Place::Nothing,
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
            Term::Arr(None) => {}
            Term::Arr(Some(items)) => return self.place(items, here).listed(),
            Term::Neg(inner) => self.all([&**inner], here),
            Term::Break(_) => return Place::Nothing,
            Term::Recurse | Term::Num(_) => {}
        }
        Place::Elsewhere
    }

    fn all(&mut self, terms: impl IntoIterator<Item = &'t Term<'s>>, here: Place) {
        for term in terms {
            self.place(term, here);
        }
    }

    fn operation(
        &mut self,
        left: &'t Term<'s>,
        operator: &'t BinaryOp<&'s str>,
        right: &'t Term<'s>,
        here: Place,
    ) -> Place {
        match operator {
            BinaryOp::Pipe(None) => {
                let between = self.place(left, here);
                self.place(right, between)
            }
            BinaryOp::Pipe(Some(pattern)) => {
                let known = self.scope.variables.len();
                let value = self.place(left, here);
                self.bind(pattern, value);
                let place = self.place(right, here);
                self.scope.variables.truncate(known);
                place
            }
            BinaryOp::Comma => self.place(left, here).or(self.place(right, here)),
            BinaryOp::Alt => {
                let (left, right) = (self.place(left, here), self.place(right, here));
                // The case is always present, but its usage may not be.
                if matches!(left, Place::Case | Place::Cases) { left } else { left.or(right) }
            }
            // On the left is the target of an assignment, which need not exist yet.
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

    fn define(
        &mut self,
        name: &'s str,
        arguments: &'t [&'s str],
        body: &'t Term<'s>,
        is_argument: bool,
        scope: Scope<'t, 's>,
    ) {
        let definition = Definition { name, arguments, body, scope, is_argument };
        self.scope.filters.push(Rc::new(definition));
    }

    /// Calls a filter by name: one that the expression defines, or one of jq's.
    fn call(&mut self, name: &'s str, arguments: &'t [Term<'s>], here: Place) -> Place {
        let own = self.scope.filters.iter().rfind(|definition| {
            definition.name == name && definition.arguments.len() == arguments.len()
        });
        match own.cloned() {
            Some(definition) => self.call_own(&definition, arguments, here),
            None => self.call_known(name, arguments, here),
        }
    }

    /// The result of the body for this input; arguments keep the scope in which they were written.
    fn call_own(
        &mut self,
        definition: &Rc<Definition<'t, 's>>,
        arguments: &'t [Term<'s>],
        here: Place,
    ) -> Place {
        let body: *const Term<'s> = definition.body;
        if self.calls.contains(&body) {
            return Place::Elsewhere;
        }
        let places: Vec<Place> = arguments
            .iter()
            .zip(definition.arguments)
            .map(|(argument, name)| {
                // If an argument is a filter, the body determines its input.
                if name.starts_with('$') { self.place(argument, here) } else { Place::Elsewhere }
            })
            .collect();
        let outside = std::mem::replace(&mut self.scope, definition.scope.clone());
        if !definition.is_argument {
            self.scope.filters.push(definition.clone());
        }
        for ((name, argument), place) in definition.arguments.iter().zip(arguments).zip(places) {
            if name.starts_with('$') {
                self.scope.variables.push((name, place));
            }
            self.define(name.trim_start_matches('$'), &[], argument, true, outside.clone());
        }
        self.calls.push(body);
        let place = self.place(definition.body, here);
        self.calls.pop();
        self.scope = outside;
        place
    }

    /// Calls one of jq's filters, most of whose arguments have an input other than the filter's.
    fn call_known(&mut self, name: &str, arguments: &'t [Term<'s>], here: Place) -> Place {
        match (name, arguments) {
            ("null" | "empty" | "error", []) => return Place::Nothing,
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
            (
                "values" | "objects" | "arrays" | "iterables" | "debug" | "reverse" | "unique",
                [],
            ) => {
                return here;
            }
            ("first" | "last" | "add" | "min" | "max", []) => return here.item(),
            ("map", [each]) => return self.place(each, here.item()).listed(),
            (
                "all" | "any" | "sort_by" | "group_by" | "unique_by" | "min_by" | "max_by",
                [each],
            ) => {
                self.place(each, here.item());
            }
            ("all" | "any", [values, condition]) => {
                let values = self.place(values, here);
                self.place(condition, values);
            }
            ("first" | "last", [values]) => return self.place(values, here),
            ("limit" | "skip" | "nth", [count, values]) => {
                self.place(count, here);
                return self.place(values, here);
            }
            (
                "isempty" | "add" | "error" | "IN" | "contains" | "startswith" | "endswith",
                [value],
            )
            | ("test" | "index" | "join" | "split" | "in" | "inside" | "range", [value]) => {
                self.place(value, here);
            }
            _ => self.all(arguments, Place::Elsewhere),
        }
        Place::Elsewhere
    }

    /// The value at a path that is written as a list of keys.
    fn path(&mut self, keys: &'t Term<'s>, at: Place, here: Place) -> Place {
        match keys {
            Term::BinOp(first, BinaryOp::Comma, rest) => {
                let inside = self.path(first, at, here);
                self.path(rest, inside, here)
            }
            key => self.index(at, key, here),
        }
    }

    /// Binds the variables of a pattern that destructures `value`.
    fn bind(&mut self, pattern: &'t Pattern<&'s str>, value: Place) {
        match pattern {
            Pattern::Var(name) => self.scope.variables.push((name, value)),
            Pattern::Arr(items) => {
                items.iter().for_each(|item| self.bind(item, value.item()));
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

    /// One step of a path; what is in brackets has the input of the whole path.
    fn step(&mut self, at: Place, part: &'t Part<Term<'s>>, here: Place) -> Place {
        match part {
            Part::Index(index) => self.index(at, index, here),
            Part::Range(None, None) => at.item(),
            Part::Range(from, to) => {
                self.all(from.iter().chain(to), here);
                // A slice of a list is a list.
                if at.item() == Place::Elsewhere { Place::Elsewhere } else { at }
            }
        }
    }

    /// The value under a key or a number, which an expression may compute.
    fn index(&mut self, at: Place, index: &'t Term<'s>, here: Place) -> Place {
        match literal(index) {
            Some(key) => self.key(at, &key),
            None => {
                self.place(index, here);
                at.item()
            }
        }
    }

    /// The value under a key.
    fn key(&mut self, at: Place, key: &str) -> Place {
        let (path, names): (&str, &[&str]) = match at {
            Place::Case => ("", &PARTS),
            Place::Usage => (".usage", &USAGE),
            Place::Nothing => return at,
            Place::Cases | Place::Usages | Place::Elsewhere => return Place::Elsewhere,
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

/// The text of a string literal without interpolation.
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
