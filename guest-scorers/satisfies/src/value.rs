//! The values of an expression: jaq's, with jq's arithmetic and paths where jaq's differ. Numbers and texts themselves
//! are jaq's.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::rc::Rc;

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::data::JustLut;
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValR, ValT, ValX};
use jaq_json::{Map, Num, Val};
use jaq_std::ValT as _;

pub(crate) type Error = jaq_core::Error<Value>;
/// The data that filters run with: only their definitions.
pub(crate) type Data = JustLut<Value>;

/// A value; the contents of arrays and objects need no wrapper.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Value(pub(crate) Val);

/// Up to here, every integer is a distinct double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The longest list of nulls that jq creates.
const LONGEST: usize = 1 << 29;

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::from(text.to_owned())
    }

    /// The type, by jq's name.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.0 {
            Val::Null => "null",
            Val::Bool(_) => "boolean",
            Val::Num(_) => "number",
            Val::BStr(_) | Val::TStr(_) => "string",
            Val::Arr(_) => "array",
            Val::Obj(_) => "object",
        }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.0, Val::TStr(_))
    }

    /// An index or a bound as an integer, which jaq requires; jq takes any number.
    fn whole(&self, round: fn(f64) -> f64) -> Self {
        match &self.0 {
            Val::Num(Num::Float(_) | Num::Dec(_)) => {
                self.as_f64().map_or(Self(Val::Null), |number| Self::from(round(number)))
            }
            _ => self.clone(),
        }
    }

    /// Both numbers, unless the divisor is zero.
    fn divisible(&self, by: &Self, how: &str) -> Result<Option<(f64, f64)>, Error> {
        let (Some(left), Some(right)) = (self.as_f64(), by.as_f64()) else { return Ok(None) };
        // jq's remainder uses integers, so 0.5 counts as zero.
        let divisor = if how.is_empty() { right } else { right.trunc() };
        match divisor == 0.0 {
            true => Err(Error::str(format_args!(
                "number ({self}) and number ({by}) cannot be divided{how} because the divisor is zero"
            ))),
            false => Ok(Some((left, right))),
        }
    }
}

/// Converts an error of jaq's own values.
fn wrapped(result: jaq_json::ValR) -> ValR<Value> {
    match result {
        Ok(Val::Num(Num::Float(number))) => Ok(Value::from(number)),
        Ok(value) => Ok(Value(value)),
        Err(error) => Err(Error::new(Value(error.into_val()))),
    }
}

fn own<T: Clone>(shared: Rc<T>) -> T {
    Rc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone())
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self(Val::from(value))
    }
}

impl From<isize> for Value {
    fn from(value: isize) -> Self {
        Self(Val::from(value))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self(Val::from(value))
    }
}

/// A whole number becomes an integer, which is written without `.0` and is a valid index, as in jq.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        let is_minus_zero = number == 0.0 && number.is_sign_negative();
        match number.fract() == 0.0 && number.abs() < EXACT && !is_minus_zero {
            true => Self(Val::Num(Num::from_integral(number as i64))),
            false => Self(Val::from(number)),
        }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self(Val::from(text))
    }
}

impl From<Range<Self>> for Value {
    fn from(range: Range<Self>) -> Self {
        Self(Val::from(range.start.map(|value| value.0)..range.end.map(|value| value.0)))
    }
}

impl FromIterator<Self> for Value {
    fn from_iter<T: IntoIterator<Item = Self>>(values: T) -> Self {
        Self(values.into_iter().map(|value| value.0).collect())
    }
}

impl Add for Value {
    type Output = ValR<Self>;
    fn add(self, other: Self) -> ValR<Self> {
        wrapped(self.0 + other.0)
    }
}

impl Sub for Value {
    type Output = ValR<Self>;
    fn sub(self, other: Self) -> ValR<Self> {
        wrapped(self.0 - other.0)
    }
}

impl Mul for Value {
    type Output = ValR<Self>;
    fn mul(self, other: Self) -> ValR<Self> {
        match (&self.0, &other.0) {
            (Val::TStr(_), Val::Num(_)) => repeated(self.0, &other),
            (Val::Num(_), Val::TStr(_)) => repeated(other.0, &self),
            _ => wrapped(self.0 * other.0),
        }
    }
}

/// Repeats a text; a fraction of a repetition adds nothing.
fn repeated(text: Val, times: &Value) -> ValR<Value> {
    match times.as_f64() {
        Some(number) if (0.0..1.0).contains(&number) => Ok(Value::text("")),
        Some(number) if number >= 1.0 => wrapped(text * times.whole(f64::trunc).0),
        _ => Ok(Value(Val::Null)),
    }
}

impl Div for Value {
    type Output = ValR<Self>;
    fn div(self, other: Self) -> ValR<Self> {
        match self.divisible(&other, "")? {
            Some((left, right)) => Ok(Self::from(left / right)),
            None => wrapped(self.0 / other.0),
        }
    }
}

impl Rem for Value {
    type Output = ValR<Self>;
    fn rem(self, other: Self) -> ValR<Self> {
        match self.divisible(&other, " (remainder)")? {
            Some(_) if self.is_int() && other.is_int() => wrapped(self.0 % other.0),
            Some((left, right)) if left.is_nan() || right.is_nan() => Ok(Self::from(f64::NAN)),
            Some((left, right)) => {
                let remainder = (left as i64).checked_rem(right as i64).unwrap_or(0);
                Ok(Self(Val::Num(Num::from_integral(remainder))))
            }
            None => wrapped(self.0 % other.0),
        }
    }
}

impl Neg for Value {
    type Output = ValR<Self>;
    fn neg(self) -> ValR<Self> {
        wrapped(-self.0)
    }
}

impl ValT for Value {
    fn from_num(number: &str) -> ValR<Self> {
        wrapped(Val::from_num(number))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(entries: I) -> ValR<Self> {
        let mut map = Map::default();
        for (key, value) in entries {
            if !key.is_text() {
                let kind = key.kind();
                return Err(Error::str(format_args!("cannot use {kind} ({key}) as object key")));
            }
            map.insert(key.0, value.0);
        }
        Ok(Self(Val::obj(map)))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Self, Self), Self>> {
        match self.0 {
            Val::Arr(items) => {
                let items = own(items).into_iter().enumerate();
                Box::new(items.map(|(index, item)| Ok((Self::from(index), Self(item)))))
            }
            Val::Obj(map) => {
                Box::new(own(map).into_iter().map(|(key, value)| Ok((Self(key), Self(value)))))
            }
            _ => box_once(Err(not_iterable(self))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        match self.0 {
            Val::Arr(items) => Box::new(own(items).into_iter().map(|item| Ok(Self(item)))),
            Val::Obj(map) => Box::new(own(map).into_iter().map(|(_, value)| Ok(Self(value)))),
            _ => box_once(Err(not_iterable(self))),
        }
    }

    fn index(self, index: &Self) -> ValR<Self> {
        match (&self.0, &index.0) {
            (Val::Obj(_), key) if !matches!(key, Val::TStr(_)) => {
                Err(Error::index(self, index.clone()))
            }
            (Val::Arr(_), Val::Num(Num::Float(_) | Num::Dec(_))) => {
                match index.whole(f64::floor).0 {
                    Val::Num(number @ (Num::Int(_) | Num::BigInt(_))) => {
                        wrapped(self.0.index(&Val::Num(number)))
                    }
                    _ => Ok(Self(Val::Null)),
                }
            }
            (Val::Null | Val::Arr(_), Val::Obj(range)) => {
                let (start, end) = ends(range);
                self.range(start.as_ref()..end.as_ref())
            }
            _ => wrapped(self.0.index(&index.0)),
        }
    }

    fn range(self, range: Range<&Self>) -> ValR<Self> {
        if self.0 == Val::Null {
            return Ok(self);
        }
        let start = range.start.map(|start| start.whole(f64::floor).0);
        let end = range.end.map(|end| end.whole(f64::ceil).0);
        wrapped(self.0.range(start.as_ref()..end.as_ref()))
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        optional: Opt,
        update: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        match self.0 {
            Val::Arr(items) => own(items).into_iter().flat_map(|item| update(Self(item))).collect(),
            Val::Obj(map) => {
                let entries = own(map).into_iter().filter_map(|(key, value)| {
                    update(Self(value)).next().map(|value| Ok((key, value?.0)))
                });
                Ok(Self(Val::obj(entries.collect::<Result<_, Exn<_>>>()?)))
            }
            _ => optional.fail(self, |value| Exn::from(not_iterable(value))),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        index: &Self,
        optional: Opt,
        update: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        match (self.0, &index.0) {
            (value @ (Val::Null | Val::Arr(_)), Val::Obj(range)) => {
                let (start, end) = ends(range);
                Self(value).map_range(start.as_ref()..end.as_ref(), optional, update)
            }
            (Val::Obj(mut map), key @ Val::TStr(_)) => {
                update_key(Rc::make_mut(&mut map), key, update)?;
                Ok(Self(Val::Obj(map)))
            }
            (Val::Null, key @ Val::TStr(_)) => {
                let mut map = Map::default();
                update_key(&mut map, key, update)?;
                Ok(Self(if map.is_empty() { Val::Null } else { Val::obj(map) }))
            }
            (Val::Arr(mut items), Val::Num(_)) => match place(&items, index) {
                Ok(place) => {
                    update_item(Rc::make_mut(&mut items), place, update)?;
                    Ok(Self(Val::Arr(items)))
                }
                Err(error) => optional.fail(Self(Val::Arr(items)), |_| Exn::from(error)),
            },
            (Val::Null, Val::Num(_)) => match place(&[], index) {
                Ok(place) => {
                    let mut items = Vec::new();
                    update_item(&mut items, place, update)?;
                    Ok(Self(if items.is_empty() { Val::Null } else { Val::Arr(Rc::new(items)) }))
                }
                Err(error) => optional.fail(Self(Val::Null), |_| Exn::from(error)),
            },
            (value, _) => {
                optional.fail(Self(value), |value| Exn::from(Error::index(value, index.clone())))
            }
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        range: Range<&Self>,
        optional: Opt,
        update: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let items = match self.0 {
            Val::Null => Rc::default(),
            Val::Arr(ref items) => items.clone(),
            _ => return optional.fail(self, |value| Exn::from(Error::typ(value, "array"))),
        };
        let within = match bounds(items.len(), range) {
            Ok(within) => within,
            Err(error) => return optional.fail(self, |_| Exn::from(error)),
        };
        let slice = Self(items[within.clone()].iter().cloned().collect());
        let slice = if self.0 == Val::Null { Self(Val::Null) } else { slice };
        let new = match update(slice).next().transpose()?.map(|new| new.0) {
            Some(Val::Arr(new)) => new,
            Some(other) => return Err(Exn::from(Error::typ(Self(other), "array"))),
            None => Rc::default(),
        };
        let mut items = own(items);
        items.splice(within, new.iter().cloned());
        Ok(Self(Val::Arr(Rc::new(items))))
    }

    fn as_bool(&self) -> bool {
        self.0.as_bool()
    }

    fn into_string(self) -> Self {
        Self(self.0.into_string())
    }
}

fn not_iterable(value: Value) -> Error {
    Error::typ(value, "iterable (array or object)")
}

/// The ends of a slice, as a path has them.
pub(crate) fn ends(range: &Map) -> (Option<Value>, Option<Value>) {
    let end = |name: &str| range.get(&Val::from(name.to_owned())).cloned().map(Value);
    (end("start"), end("end"))
}

/// The items between two ends, either of which may be missing, negative or too large.
pub(crate) fn bounds(length: usize, range: Range<&Value>) -> Result<std::ops::Range<usize>, Error> {
    let end = |end: Option<&Value>, missing: usize, round: fn(f64) -> f64| match end {
        None | Some(Value(Val::Null)) => Ok(missing),
        Some(end) => {
            let end = end.as_f64().ok_or_else(|| Error::typ(end.clone(), "number"))?;
            let end = if end < 0.0 { end + length as f64 } else { end };
            // For a float out of range, the cast gives the closest integer.
            Ok((round(end) as usize).min(length))
        }
    };
    let start = end(range.start, 0, f64::floor)?;
    Ok(start..end(range.end, length, f64::ceil)?.max(start))
}

/// The position of an item, existing or not; a negative index counts from the end.
fn place(items: &[Val], index: &Value) -> Result<usize, Error> {
    let number = index.as_f64().unwrap_or(f64::NAN).floor();
    let place = if number < 0.0 { number + items.len() as f64 } else { number };
    let fail = |why: &str| Err(Error::str(format_args!("index {index} {why}")));
    match place {
        _ if place.is_nan() => fail("is not a number"),
        _ if place < 0.0 => fail("is before the start of the array"),
        _ if place >= LONGEST as f64 => fail("is too large for an array"),
        _ => Ok(place as usize),
    }
}

/// Updates the value under a key, or removes it if there is no new value.
fn update_key<'a, I: Iterator<Item = ValX<'a, Value>>>(
    map: &mut Map,
    key: &Val,
    update: impl Fn(Value) -> I,
) -> Result<(), Exn<'a, Value>> {
    let old = map.get_mut(key).map(std::mem::take);
    match update(Value(old.unwrap_or_default())).next().transpose()? {
        Some(new) => _ = map.insert(key.clone(), new.0),
        None => _ = map.shift_remove(key),
    }
    Ok(())
}

/// Updates an item, after padding a short list with nulls, or removes it if there is no new value.
fn update_item<'a, I: Iterator<Item = ValX<'a, Value>>>(
    items: &mut Vec<Val>,
    place: usize,
    update: impl Fn(Value) -> I,
) -> Result<(), Exn<'a, Value>> {
    let old = items.get_mut(place).map(std::mem::take);
    match update(Value(old.unwrap_or_default())).next().transpose()? {
        Some(new) => {
            if place >= items.len() {
                items.resize(place + 1, Val::Null);
            }
            items[place] = new.0;
        }
        None if place < items.len() => _ = items.remove(place),
        None => {}
    }
    Ok(())
}

impl jaq_std::ValT for Value {
    fn into_seq<S: FromIterator<Self>>(self) -> Result<S, Self> {
        match self.0 {
            Val::Arr(items) => Ok(own(items).into_iter().map(Self).collect()),
            _ => Err(self),
        }
    }

    fn is_int(&self) -> bool {
        self.0.is_int()
    }

    fn as_isize(&self) -> Option<isize> {
        self.0.as_isize()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.as_f64()
    }

    fn is_utf8_str(&self) -> bool {
        self.0.is_utf8_str()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        self.0.as_bytes()
    }

    fn as_sub_str(&self, sub: &[u8]) -> Self {
        Self(self.0.as_sub_str(sub))
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        Self(Val::from_utf8_bytes(bytes))
    }
}
