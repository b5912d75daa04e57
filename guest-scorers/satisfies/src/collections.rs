//! jq's filters on the contents of texts, arrays and objects.

use jaq_core::ops::Math;
use jaq_core::{ValR, ValT as _};
use jaq_json::{Num, Val};
use jaq_std::ValT as _;
use std::rc::Rc;

use crate::value::{Error, Value, bounds, ends};

pub(crate) fn length(value: &Value) -> ValR<Value> {
    Ok(match &value.0 {
        Val::Null => Value::from(0_usize),
        Val::Num(Num::Int(_) | Num::BigInt(_)) if value.0 >= Val::from(0_usize) => value.clone(),
        Val::Num(Num::Int(_) | Num::BigInt(_)) => return -value.clone(),
        Val::Num(_) => Value::from(value.as_f64().unwrap_or(f64::NAN).abs()),
        Val::TStr(text) => Value::from(String::from_utf8_lossy(text).chars().count()),
        Val::BStr(bytes) => Value::from(bytes.len()),
        Val::Arr(items) => Value::from(items.len()),
        Val::Obj(map) => Value::from(map.len()),
        Val::Bool(_) => {
            return Err(Error::str(format_args!("{} ({value}) has no length", value.kind())));
        }
    })
}

pub(crate) fn contains(value: &Value, part: &Value) -> ValR<Value> {
    if value.kind() != part.kind() {
        let (of, kind) = (value.kind(), part.kind());
        return Err(Error::str(format_args!(
            "{of} ({value}) and {kind} ({part}) cannot have their containment checked"
        )));
    }
    Ok(Value::from(is_inside(&part.0, &value.0)))
}

fn is_inside(part: &Val, whole: &Val) -> bool {
    match (part, whole) {
        (Val::TStr(part), Val::TStr(whole)) => {
            let (part, whole) = (String::from_utf8_lossy(part), String::from_utf8_lossy(whole));
            whole.contains(&*part)
        }
        (Val::Arr(parts), Val::Arr(items)) => {
            parts.iter().all(|part| items.iter().any(|item| is_inside(part, item)))
        }
        (Val::Obj(parts), Val::Obj(map)) => (parts.iter())
            .all(|(key, part)| map.get(key).is_some_and(|value| is_inside(part, value))),
        _ => part == whole,
    }
}

pub(crate) fn has(value: &Value, key: &Value) -> ValR<Value> {
    Ok(Value::from(match (&value.0, &key.0) {
        (Val::Null, _) => false,
        (Val::Obj(map), key @ Val::TStr(_)) => map.contains_key(key),
        (Val::Arr(items), Val::Num(_)) => {
            let index = key.as_f64().unwrap_or(f64::NAN).floor();
            (0.0..items.len() as f64).contains(&index)
        }
        _ => {
            let (of, kind) = (value.kind(), key.kind());
            return Err(Error::str(format_args!(
                "{of} ({value}) has no keys of type {kind} ({key})"
            )));
        }
    }))
}

pub(crate) fn reversed(value: Value) -> ValR<Value> {
    match &value.0 {
        Val::Null => Ok(Value::from_iter([])),
        Val::TStr(text) => {
            let text = String::from_utf8_lossy(text);
            Ok(Value::from(text.chars().rev().collect::<String>()))
        }
        Val::Arr(items) => Ok(items.iter().rev().cloned().map(Value).collect()),
        _ => Err(Error::typ(value, "array")),
    }
}

/// Joins all items into one text; null counts as an empty one.
pub(crate) fn joined(value: Value, between: Value) -> ValR<Value> {
    let between = if between.0 == Val::Null { Value::text("") } else { between };
    let Some(separator) = between.as_utf8_bytes() else {
        return Err(Error::typ(between, "string"));
    };
    let mut bytes = Vec::new();
    for (place, item) in value.values().enumerate() {
        let item = item?;
        if place > 0 {
            bytes.extend_from_slice(separator);
        }
        match &item.0 {
            Val::Null => {}
            Val::TStr(text) => bytes.extend_from_slice(text),
            Val::Num(_) | Val::Bool(_) => bytes.extend_from_slice(item.to_string().as_bytes()),
            _ => return Err(Error::math(Value::text(""), Math::Add, item)),
        }
    }
    Ok(Value::from_utf8_bytes(bytes))
}

/// The positions of a text, a list or an item; in a text, they count characters.
pub(crate) fn indices(value: Value, wanted: Value) -> ValR<Value> {
    match (&value.0, &wanted.0) {
        (Val::Null, _) => Ok(value),
        (Val::TStr(_), Val::TStr(wanted)) if wanted.is_empty() => Ok(Value::from_iter([])),
        (Val::TStr(text), Val::TStr(wanted)) => {
            let text = String::from_utf8_lossy(text);
            let starts = text.char_indices().enumerate();
            let found =
                starts.filter(|(_, (byte, _))| text.as_bytes()[*byte..].starts_with(wanted));
            Ok(found.map(|(place, _)| Value::from(place)).collect())
        }
        (Val::Arr(_), Val::Arr(wanted)) if wanted.is_empty() => Ok(Value::from_iter([])),
        (Val::Arr(items), Val::Arr(wanted)) => {
            let found = items.windows(wanted.len()).enumerate();
            Ok(found
                .filter(|(_, some)| *some == &***wanted)
                .map(|(at, _)| Value::from(at))
                .collect())
        }
        (Val::Arr(items), wanted) => {
            let found = items.iter().enumerate().filter(|(_, item)| *item == wanted);
            Ok(found.map(|(place, _)| Value::from(place)).collect())
        }
        _ => Err(Error::index(value, wanted)),
    }
}

/// The index of a value in a sorted list; if it is missing, -1 minus the index where it would be.
pub(crate) fn search(value: &Value, wanted: &Value) -> ValR<Value> {
    let Val::Arr(items) = &value.0 else { return Err(Error::typ(value.clone(), "array")) };
    Ok(match items.binary_search(&wanted.0) {
        Ok(place) => Value::from(place),
        Err(place) => Value::from(-1.0 - place as f64),
    })
}

/// The value without what is at any of these paths, which refer to the value before any removal.
pub(crate) fn without(value: Value, paths: &Value) -> ValR<Value> {
    let Val::Arr(all) = &paths.0 else { return Err(Error::typ(paths.clone(), "array")) };
    let mut all: Vec<&Val> = all.iter().collect();
    all.sort();
    all.dedup();
    // Backwards, so that the remaining paths stay valid.
    all.into_iter().rev().try_fold(value, |value, path| match path {
        Val::Arr(path) => remove(value, path),
        _ => Err(Error::typ(Value(path.clone()), "array")),
    })
}

fn remove(value: Value, path: &[Val]) -> ValR<Value> {
    let [first, rest @ ..] = path else { return Ok(Value(Val::Null)) };
    if value.0 == Val::Null {
        return Ok(value);
    }
    if rest.is_empty() {
        return remove_child(value, first);
    }
    let key = Value(first.clone());
    let inside = value.clone().index(&key)?;
    if inside.0 == Val::Null {
        return Ok(value);
    }
    let inside = remove(inside, rest)?;
    // A single value, so that the closure is not called for it again.
    let replaced = value
        .map_index(&key, jaq_core::path::Opt::Essential, |_| std::iter::once(Ok(inside.clone())));
    replaced.map_err(|error| error.get_err().unwrap_or_else(|_| Error::str("stopped")))
}

fn remove_child(value: Value, key: &Val) -> ValR<Value> {
    match (value.0, key) {
        (Val::Obj(mut map), Val::TStr(_)) => {
            Rc::make_mut(&mut map).shift_remove(key);
            Ok(Value(Val::Obj(map)))
        }
        (Val::Arr(mut items), Val::Num(_)) => {
            let index = Value(key.clone()).as_f64().unwrap_or(f64::NAN).floor();
            let place = if index < 0.0 { index + items.len() as f64 } else { index };
            if (0.0..items.len() as f64).contains(&place) {
                Rc::make_mut(&mut items).remove(place as usize);
            }
            Ok(Value(Val::Arr(items)))
        }
        (Val::Arr(mut items), Val::Obj(range)) => {
            let (start, end) = ends(range);
            let within = bounds(items.len(), start.as_ref()..end.as_ref())?;
            Rc::make_mut(&mut items).drain(within);
            Ok(Value(Val::Arr(items)))
        }
        (value, key) => {
            let (value, key) = (Value(value), Value(key.clone()));
            let (of, kind) = (value.kind(), key.kind());
            Err(Error::str(format_args!("cannot delete {kind} ({key}) of {of} ({value})")))
        }
    }
}
