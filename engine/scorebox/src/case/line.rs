//! Slices one line into the values of its keys: one pass, no tree, no copies. `checks` checks the types of the values.

use std::{borrow::Cow, collections::HashSet};

use crate::advice::{Advice, Conversion, Form};

use super::{
    depth::{MAX_DEPTH, too_deep},
    error::BadCaseReason,
    excerpt::{describe, excerpt},
    fault::Fault,
    key::{Key, Spelling},
    mapping::Mapping,
    members::{Stopped, document, each_member, offset_of},
    reasons::error,
};

/// The most keys that the message about a missing output lists.
const LISTED_KEYS: usize = 12;

/// Keys under which other tools write the value that scorebox calls `output`.
const OUTPUT_ELSEWHERE: [&str; 14] = [
    "response",
    "completion",
    "prediction",
    "answer",
    "actual_output",
    "actualOutput",
    "actual",
    "model_output",
    "modelOutput",
    "generated_text",
    "generation",
    "generated",
    "result",
    "text",
];

/// Where each key's value is in a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slots([Span; Key::COUNT]);

/// A range of a line, in bytes; empty if there is no value, because no JSON value is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Span {
    start: u32,
    end: u32,
}

impl Slots {
    /// The value of `key` in `line`, the line that was sliced.
    pub(super) fn get<'t>(&self, line: &'t str, key: Key) -> Option<&'t str> {
        let Span { start, end } = self.0[key as usize];
        if end == 0 { None } else { line.get(start as usize..end as usize) }
    }

    /// Sets the value of `key`, a slice of `line`, unless it counts as absent.
    fn put(&mut self, line: &str, key: Key, value: &str) {
        if value != "null" || key == Key::Output {
            self.0[key as usize] = span(line, value).unwrap_or_default();
        }
    }

    /// Whether `value`, a slice of `line`, is the whole value of a key.
    fn holds(&self, line: &str, value: &str) -> bool {
        span(line, value).is_some_and(|span| self.0.contains(&span))
    }
}

/// The range of `part`, a slice of `line`; `None` past 4 GiB.
fn span(line: &str, part: &str) -> Option<Span> {
    let start = offset_of(line, part);
    let end = u32::try_from(start + part.len()).ok()?;
    Some(Span { start: u32::try_from(start).ok()?, end })
}

/// A line that was sliced.
#[derive(Debug)]
pub(super) struct Sliced {
    /// Where the values of its keys are.
    pub slots: Slots,
    /// The members that are not a key's value, as the text of a JSON object; `None` if there are none.
    pub others: Option<Box<str>>,
}

/// Slices `line` by its keys and by the rules of `mapping`.
pub(super) fn slice(line: &str, mapping: &Mapping) -> Result<Sliced, Fault> {
    must_fit(line)?;
    let object = line.trim_ascii();
    if !object.starts_with('{') {
        return Err(not_an_object(line));
    }
    let mut slicer = Slicer::new(line, mapping);
    each_member(line, |key, value| slicer.member(key, value)).map_err(|stopped| match stopped {
        Stopped::Json(error) => Fault::json(line, &error),
        Stopped::Caller(fault) => fault,
    })?;
    for key in mapping.whole_line() {
        slicer.put(key, object);
    }
    must_be_a_case(line, &slicer.slots, mapping)?;
    let Slicer { slots, others, .. } = slicer;
    Ok(Sliced { others: others.finish(line, &slots), slots })
}

/// A line with these values of keys, one for each key, and where each is: what [`slice`] would find in it. Each value
/// is one JSON document.
pub(super) fn join(values: &[(Key, &str)]) -> (String, Result<Slots, Fault>) {
    let mut line = String::from("{");
    let mut starts = Vec::with_capacity(values.len());
    for (key, value) in values {
        if line.len() > 1 {
            line.push(',');
        }
        line.extend(["\"", key.name(), "\":"]);
        starts.push((*key, line.len()));
        line.push_str(value);
    }
    line.push('}');
    let mut slots = Slots::default();
    for ((key, start), (_, value)) in starts.into_iter().zip(values) {
        slots.put(&line, key, &line[start..start + value.len()]);
    }
    let checked = must_fit(&line).and_then(|()| must_be_a_case(&line, &slots, &Mapping::NONE));
    (line, checked.map(|()| slots))
}

/// Refuses a line whose offsets do not fit into 32 bits.
fn must_fit(line: &str) -> Result<(), Fault> {
    match u32::try_from(line.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err(Fault::whole(BadCaseReason::LineTooLong { limit: u32::MAX as usize })),
    }
}

/// The rules that concern more than one key.
fn must_be_a_case(line: &str, slots: &Slots, mapping: &Mapping) -> Result<(), Fault> {
    if let Some(offset) = too_deep(line) {
        let reason = BadCaseReason::TooDeep { limit: MAX_DEPTH };
        return Err(Fault { offset: Some(offset), ..Fault::whole(reason) }
            .with_advice(Advice::Write(Form::LessDeep)));
    }
    // A failed task may have left no output.
    let has_failed = || slots.get(line, Key::Error).and_then(error).is_some();
    match slots.get(line, Key::Output) {
        None if !has_failed() => Err(missing_output(line, mapping)),
        _ => Ok(()),
    }
}

/// What one pass over a line has found so far.
struct Slicer<'t> {
    line: &'t str,
    mapping: &'t Mapping,
    slots: Slots,
    /// The rank of the spelling that each slot was filled from.
    ranks: [u8; Key::COUNT],
    /// One bit for each spelling, set when it was seen.
    seen: u32,
    /// The other keys that were seen.
    unknown: UnknownKeys<'t>,
    others: Others<'t>,
}

impl<'t> Slicer<'t> {
    fn new(line: &'t str, mapping: &'t Mapping) -> Slicer<'t> {
        Slicer {
            line,
            mapping,
            slots: Slots::default(),
            ranks: [u8::MAX; Key::COUNT],
            seen: 0,
            unknown: UnknownKeys::default(),
            others: Others::default(),
        }
    }

    /// Handles one member of the line's object.
    fn member(&mut self, key: Cow<'t, str>, value: &'t str) -> Result<(), Fault> {
        let spelling = Key::find(&key);
        if !self.is_new(spelling, key.clone()) {
            let second = if let Cow::Borrowed(key) = key { key } else { value };
            return Err(Fault::duplicate(self.line, second, &key));
        }
        if !self.mapping.is_empty() {
            self.follow_rules(&key, value)?;
        }
        match spelling {
            Some(spelling) => {
                self.named(spelling, value);
                if value != "null" {
                    self.others.known(key, value);
                }
            }
            // No later member takes its value from this one: the rules that point into it have been followed.
            None if self.slots.holds(self.line, value) => {}
            None => self.others.unknown(&key, value),
        }
        Ok(())
    }

    /// Records that the key was seen; returns false if it was seen before.
    fn is_new(&mut self, spelling: Option<Spelling>, key: Cow<'t, str>) -> bool {
        let Some(spelling) = spelling else {
            return self.unknown.insert(key);
        };
        let bit = 1 << spelling.number;
        let new = self.seen & bit == 0;
        self.seen |= bit;
        new
    }

    /// Fills the slots whose rules point into the member `key`.
    fn follow_rules(&mut self, key: &str, value: &'t str) -> Result<(), Fault> {
        let mapping = self.mapping;
        for (mapped, pointer) in mapping.rules_into(key) {
            let found =
                pointer.find_below_first(value).map_err(|fault| fault.within(self.line, value))?;
            if let Some(found) = found {
                self.put(*mapped, found);
            }
        }
        Ok(())
    }

    /// Fills the slot of a member with a key's spelling, unless a rule or a stronger spelling fills it.
    fn named(&mut self, spelling: Spelling, value: &'t str) {
        let index = spelling.key as usize;
        let absent = value == "null" && spelling.key != Key::Output;
        if !absent && spelling.rank < self.ranks[index] && !self.mapping.covers(spelling.key) {
            self.put(spelling.key, value);
            self.ranks[index] = spelling.rank;
        }
    }

    fn put(&mut self, key: Key, value: &str) {
        self.slots.put(self.line, key, value);
    }
}

/// The members of a line that are not a key's value, collected during the pass.
#[derive(Default)]
struct Others<'t> {
    /// Those with unknown keys: `"key":value,` for each.
    written: String,
    /// Those with a key's spelling, for which a stronger one may follow: each with the length of `written` before it.
    /// At most one for every spelling.
    known: Vec<(usize, Cow<'t, str>, &'t str)>,
}

impl<'t> Others<'t> {
    fn unknown(&mut self, key: &str, value: &str) {
        write_member(&mut self.written, key, value);
    }

    fn known(&mut self, key: Cow<'t, str>, value: &'t str) {
        self.known.push((self.written.len(), key, value));
    }

    /// All members that are not a key's value in the end, in the order of the line.
    fn finish(self, line: &str, slots: &Slots) -> Option<Box<str>> {
        let Others { written, mut known } = self;
        known.retain(|(_, _, value)| !slots.holds(line, value));
        if written.is_empty() && known.is_empty() {
            return None;
        }
        let mut object = String::with_capacity(written.len() + 1);
        object.push('{');
        let mut from = 0;
        for (start, key, value) in &known {
            object.push_str(&written[from..*start]);
            write_member(&mut object, key, value);
            from = *start;
        }
        object.push_str(&written[from..]);
        object.pop();
        object.push('}');
        Some(object.into())
    }
}

/// Writes `"key":value,`.
fn write_member(object: &mut String, key: &str, value: &str) {
    match key.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        true => object.push_str(&serde_json::Value::from(key).to_string()),
        false => object.extend(["\"", key, "\""]),
    }
    object.extend([":", value, ","]);
}

/// The unknown keys of a line: a list while there are few, and a set for a line with many, so that no line makes the
/// search for duplicates slow.
#[derive(Default)]
struct UnknownKeys<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

impl<'t> UnknownKeys<'t> {
    const FEW: usize = 16;

    /// Adds `key`; returns false if it was there already.
    fn insert(&mut self, key: Cow<'t, str>) -> bool {
        if self.few.contains(&key) {
            return false;
        }
        if self.few.len() < Self::FEW {
            self.few.push(key);
            return true;
        }
        self.many.insert(key)
    }
}

/// The fault of a line that does not begin like an object.
fn not_an_object(line: &str) -> Fault {
    match document(line) {
        Ok(value) => {
            let reason = BadCaseReason::NotAnObject { found: describe(value) };
            let fault = Fault::at(line, value, reason);
            if value.starts_with('[') {
                fault.with_advice(Advice::Convert(Conversion::ArrayToLines))
            } else {
                fault
            }
        }
        Err(error) => Fault::json(line, &error),
    }
}

/// Whether other tools write the output under this key, for hints.
pub fn may_be_output(key: &str) -> bool {
    let mut names = ["output"].into_iter().chain(OUTPUT_ELSEWHERE);
    names.any(|name| name.eq_ignore_ascii_case(key))
}

/// The fault of a line without an output.
fn missing_output(line: &str, mapping: &Mapping) -> Fault {
    let mut keys = Vec::new();
    let mut elsewhere = None;
    // The line was read to its end before, so there is no error here.
    let _ = each_member(line, |key, _| {
        if elsewhere.is_none() && may_be_output(&key) {
            elsewhere = Some(key.to_string());
        }
        if keys.len() < LISTED_KEYS {
            keys.push(excerpt(&key));
        } else if keys.len() == LISTED_KEYS {
            keys.push("…".to_owned());
        }
        Ok::<(), ()>(())
    });
    let pointer = mapping.pointer(Key::Output).map(str::to_owned);
    let advice = match &pointer {
        Some(_) => Advice::Write(Form::PointerFromLine),
        None => Advice::Map { part: Key::Output.name().to_owned(), member: elsewhere },
    };
    Fault::whole(BadCaseReason::MissingOutput { keys, pointer }).with_advice(advice)
}
