//! Filters that cannot be written in jq, in addition to jaq's own: those on jaq's values, which are wrapped in `Value`
//! here, and those that jaq only offers together with dates and the environment.

use jaq_core::Exn;
use jaq_core::RunPtr;
use jaq_core::ValR;
use jaq_core::native::{Filter, Fun, bome, run, unary, v};
use jaq_std::ValT as _;

use crate::regular_expressions::{Parts, matches};
use crate::value::{Data, Error, Value};
use crate::{collections, json_text, numbers};

type Natives<const N: usize> = [Filter<RunPtr<Data>>; N];

pub(crate) fn natives() -> impl Iterator<Item = Fun<Data>> {
    let all = of_values().into_iter().chain(of_texts()).chain(of_numbers()).chain(of_two_numbers());
    all.map(run::<Data>)
}

fn of_values() -> Natives<9> {
    [
        ("tojson", v(0), |cv| bome(Ok(Value::from(cv.1.to_string())))),
        ("length", v(0), |cv| bome(collections::length(&cv.1))),
        ("reverse", v(0), |cv| bome(collections::reversed(cv.1))),
        ("join", v(1), |cv| unary(cv, collections::joined)),
        ("contains", v(1), |cv| unary(cv, |value, part| collections::contains(&value, &part))),
        ("has", v(1), |cv| unary(cv, |value, key| collections::has(&value, &key))),
        ("indices", v(1), |cv| unary(cv, collections::indices)),
        ("bsearch", v(1), |cv| unary(cv, |value, wanted| collections::search(&value, &wanted))),
        ("delpaths", v(1), |cv| unary(cv, |value, paths| collections::without(value, &paths))),
    ]
}

fn of_texts() -> Natives<5> {
    [
        ("fromjson", v(0), |cv| {
            let values = json_text::from_json(&cv.1).into_iter();
            Box::new(values.map(|value| value.map_err(Exn::from)))
        }),
        ("tonumber", v(0), |cv| bome(json_text::to_number(&cv.1))),
        ("matches", v(2), |cv| bome(matches(cv, Parts { between: false, matched: true }))),
        ("split_", v(2), |cv| bome(matches(cv, Parts { between: true, matched: false }))),
        ("split_matches", v(2), |cv| bome(matches(cv, Parts { between: true, matched: true }))),
    ]
}

/// Defines a filter from a number to a number.
macro_rules! number {
    ($name:literal, $function:expr) => {
        ($name, v(0), |cv| bome(number(&cv.1).map(|x| Value::from($function(x)))))
    };
}

fn of_numbers() -> Natives<17> {
    [
        ("nan", v(0), |_| bome(Ok(Value::from(f64::NAN)))),
        ("infinite", v(0), |_| bome(Ok(Value::from(f64::INFINITY)))),
        number!("sqrt", f64::sqrt),
        number!("exp", f64::exp),
        number!("exp2", f64::exp2),
        number!("exp10", |x| 10_f64.powf(x)),
        number!("log", f64::ln),
        number!("log2", f64::log2),
        number!("log10", f64::log10),
        number!("fabs", f64::abs),
        number!("trunc", f64::trunc),
        number!("rint", f64::round_ties_even),
        number!("nearbyint", f64::round_ties_even),
        number!("logb", numbers::exponent),
        number!("significand", numbers::significand),
        ("frexp", v(0), |cv| {
            let parts = number(&cv.1).map(numbers::mantissa_and_exponent);
            bome(parts.map(|(mantissa, exponent)| pair(mantissa, f64::from(exponent))))
        }),
        ("modf", v(0), |cv| {
            bome(number(&cv.1).map(|x| {
                let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { x.fract() };
                pair(fraction, x.trunc())
            }))
        }),
    ]
}

/// Defines a filter of two numeric arguments with a numeric result.
macro_rules! numbers {
    ($name:literal, $function:expr) => {
        ($name, v(2), |mut cv| {
            let (second, first) = (cv.0.pop_var(), cv.0.pop_var());
            let function: fn(f64, f64) -> f64 = $function;
            bome(number(&first).and_then(|first| Ok(function(first, number(&second)?).into())))
        })
    };
}

fn of_two_numbers() -> Natives<8> {
    [
        numbers!("pow", f64::powf),
        numbers!("fmin", f64::min),
        numbers!("fmax", f64::max),
        numbers!("fmod", |x, y| x % y),
        numbers!("drem", numbers::remainder),
        numbers!("ldexp", numbers::scaled),
        numbers!("scalb", numbers::scaled),
        numbers!("scalbln", numbers::scaled),
    ]
}

fn pair(first: f64, second: f64) -> Value {
    [Value::from(first), Value::from(second)].into_iter().collect()
}

fn number(value: &Value) -> ValR<f64, Value> {
    value.as_f64().ok_or_else(|| Error::typ(value.clone(), "number"))
}
