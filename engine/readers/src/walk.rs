//! Walks a JSON document and passes on elements one at a time, wherever they are, without the rest in memory. Knows no
//! format.

use std::{fmt, io::Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::problem::Problem;

/// The path of elements: names of members, and [`EACH`] for the elements of a list.
pub(crate) type Path = &'static [&'static str];

/// All elements of a list.
pub(crate) const EACH: &str = "[]";

/// Receives the elements that are found.
pub(crate) trait Take {
    /// Takes the element at the path with this index.
    fn take<'de, D: Deserializer<'de>>(&mut self, path: usize, element: D) -> Result<(), D::Error>;

    /// Why the last element was refused, if it was.
    fn problem(&mut self) -> Option<Problem>;
}

/// Reads the documents of `text`, one after the other, and passes what is at `paths` to `take`. `what` is their name in
/// messages.
pub(crate) fn walk(
    text: impl Read,
    paths: &[Path],
    take: &mut impl Take,
    what: &str,
) -> Result<u64, Problem> {
    let mut documents = serde_json::Deserializer::from_reader(text);
    let mut count = 0;
    loop {
        match documents.end() {
            Ok(()) => return Ok(count),
            Err(error) if error.is_io() => return Err(Problem::json(what, &error)),
            Err(_) => {}
        }
        let all: Vec<(usize, Path)> = paths.iter().copied().enumerate().collect();
        let walked = Walk { paths: all, take }.deserialize(&mut documents);
        if let Err(error) = walked {
            return Err(take.problem().unwrap_or_else(|| Problem::json(what, &error)));
        }
        count += 1;
    }
}

/// The part of a visitor that ignores values that cannot contain elements.
macro_rules! ignore_scalars {
    () => {
        $crate::walk::ignore_scalars! {
            visit_str(&str), visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64)
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
            Ok(())
        }
    };
    ($($visit:ident($scalar:ty)),*) => {
        $(fn $visit<E: serde::de::Error>(self, _: $scalar) -> Result<(), E> {
            Ok(())
        })*
    };
}

pub(crate) use ignore_scalars;

/// A value, with the paths that continue in it.
struct Walk<'a, T> {
    paths: Vec<(usize, Path)>,
    take: &'a mut T,
}

impl<'de, T: Take> DeserializeSeed<'de> for Walk<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if let Some((number, _)) = self.paths.iter().find(|(_, path)| path.is_empty()) {
            return self.take.take(*number, deserializer);
        }
        match self.paths.is_empty() {
            true => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            false => deserializer.deserialize_any(self),
        }
    }
}

impl<T: Take> Walk<'_, T> {
    /// The paths that lead through the member or element `name`.
    fn through(&self, name: &str) -> Vec<(usize, Path)> {
        let through = self.paths.iter().filter(|(_, path)| path[0] == name);
        through.map(|(number, path)| (*number, &path[1..])).collect()
    }
}

impl<'de, T: Take> Visitor<'de> for Walk<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let paths = self.through(&name);
            members.next_value_seed(Walk { paths, take: &mut *self.take })?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        let paths = self.through(EACH);
        while elements
            .next_element_seed(Walk { paths: paths.clone(), take: &mut *self.take })?
            .is_some()
        {}
        Ok(())
    }

    ignore_scalars!();
}

/// Runs `take`, keeps its problem for [`Take::problem`], and ends the walk with it.
pub(crate) fn refuse<E: serde::de::Error>(
    problem: &mut Option<Problem>,
    taken: Result<(), Problem>,
) -> Result<(), E> {
    taken.map_err(|refused| {
        *problem = Some(refused);
        E::custom("refused")
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;
    use serde_json::Value;

    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(usize, Value)>, Option<Problem>);

    impl Take for Seen {
        fn take<'de, D: Deserializer<'de>>(
            &mut self,
            path: usize,
            element: D,
        ) -> Result<(), D::Error> {
            let element = Value::deserialize(element)?;
            if element == "refuse" {
                return refuse(&mut self.1, Err(Problem::content("no such element")));
            }
            self.0.push((path, element));
            Ok(())
        }

        fn problem(&mut self) -> Option<Problem> {
            self.1.take()
        }
    }

    const PATHS: &[Path] = &[&["head"], &["lists", EACH, "items", EACH]];

    fn walked(text: &str) -> (String, Option<String>) {
        let mut seen = Seen::default();
        let error = walk(text.as_bytes(), PATHS, &mut seen, "the document").err();
        let found: Vec<String> = seen.0.iter().map(|(path, it)| format!("{path}:{it}")).collect();
        (found.join(" "), error.map(|error| error.to_string()))
    }

    #[test]
    fn elements_are_found_at_their_paths_and_nowhere_else() {
        let text = r#"{"head": {"a": 1}, "items": [9], "lists": [{"items": [1, "x"]}, {"other": [8]}, 5, {"items": [null]}]}
                      {"lists": {"items": [7]}, "head": 2} [3]"#;
        assert_eq!(walked(text), (r#"0:{"a":1} 1:1 1:"x" 1:null 0:2"#.to_owned(), None));
    }

    #[test]
    fn what_was_found_before_damage_stays_and_the_damage_is_reported() {
        let (found, error) = walked(r#"{"lists": [{"items": [1, 2"#);
        assert_eq!(found, "1:1 1:2");
        assert_eq!(
            error.unwrap(),
            "the document is not what is expected: EOF while parsing a list at line 1 column 26"
        );
    }

    #[test]
    fn a_refused_element_ends_the_walk_with_its_problem() {
        let (found, error) = walked(r#"{"lists": [{"items": [1, "refuse", 2]}]}"#);
        assert_eq!((found.as_str(), error.as_deref()), ("1:1", Some("no such element")));
    }
}
