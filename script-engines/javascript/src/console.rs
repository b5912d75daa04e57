//! Implements `console`: what a script logs goes to the score's log. It only converts values to text; format strings
//! are not supported.

use rquickjs::{
    Coerced, Ctx, FromJs as _, Function, Object, Result, String as JsString, Value, function::Rest,
};

use crate::{
    contract::log::{self, Level},
    text,
};

/// The functions of `console`, and the level of their messages.
const FUNCTIONS: [(&str, Level); 6] = [
    ("debug", Level::Debug),
    ("trace", Level::Debug),
    ("log", Level::Info),
    ("info", Level::Info),
    ("warn", Level::Warn),
    ("error", Level::Error),
];

/// Adds `console` to the globals.
pub(crate) fn install<'js>(ctx: &Ctx<'js>) -> Result<()> {
    let console = Object::new(ctx.clone())?;
    for (name, level) in FUNCTIONS {
        let function = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| {
            for (index, value) in values.0.iter().enumerate() {
                if index > 0 {
                    log::letter(' ');
                }
                words(&ctx, value).chars().for_each(log::letter);
            }
            log::end(level);
        };
        console.set(name, Function::new(ctx.clone(), function)?)?;
    }
    ctx.globals().set("console", console)
}

/// A text as it is, an error as its message, anything else as JSON if possible.
fn words<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    let coerced = || {
        let coerced = Coerced::<JsString<'js>>::from_js(ctx, value.clone())?;
        text::of(coerced.0)
    };
    let text = if value.is_object() && !value.is_error() && !value.is_function() {
        match text::json(ctx, value.clone()) {
            Ok(Some(text)) => Ok(text),
            Ok(None) | Err(_) => {
                // An exception while converting must not be thrown later.
                ctx.catch();
                coerced()
            }
        }
    } else {
        coerced()
    };
    text.unwrap_or_else(|_| {
        ctx.catch();
        crate::type_name::type_name(value).to_owned()
    })
}
