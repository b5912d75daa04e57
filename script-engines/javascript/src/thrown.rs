//! What a script threw that is not an `Error`, such as a string or a number, and where. Such a value has no stack, but
//! the interpreter keeps that of the last exception that left a function. Errors have their own stacks, and are handled
//! elsewhere.

use std::{cell::RefCell, ffi::c_int};

use rquickjs::{Ctx, Value, qjs};

use crate::{text, type_name::type_name};

/// The command of `js_std_cmd` that returns that stack.
const ERROR_BACK_TRACE: c_int = 2;
/// How many rejected promises' stacks are kept.
const MAX_KEPT: usize = 8;

thread_local! {
    /// Values that promises were rejected with, as text, and their stacks: awaiting such a promise throws the
    /// value again, at another place.
    static REJECTED: RefCell<Vec<(String, String)>> = const { RefCell::new(Vec::new()) };
}

#[expect(unsafe_code, reason = "a function of the interpreter that rquickjs has no name for")]
unsafe extern "C" {
    fn js_std_cmd(command: c_int, ...) -> usize;
}

/// Records where a promise was rejected with `reason`.
pub(crate) fn rejected(ctx: &Ctx<'_>, reason: &Value<'_>) {
    if let Some(stack) = last_stack(ctx)
        && !reason.is_error()
    {
        REJECTED.with_borrow_mut(|rejected| {
            rejected.truncate(MAX_KEPT - 1);
            rejected.insert(0, (in_words(reason), stack));
        });
    }
}

/// Forgets what was thrown so far.
pub(crate) fn forget(ctx: &Ctx<'_>) {
    last_stack(ctx);
    REJECTED.with_borrow_mut(Vec::clear);
}

/// Describes a thrown value that is not an error.
pub(crate) fn in_words(value: &Value<'_>) -> String {
    match value.as_string().and_then(|text| text::of(text.clone()).ok()) {
        Some(text) => format!("the script threw the string {text:?}"),
        None => format!("the script threw {}, not an Error", type_name(value)),
    }
}

/// The stacks of the places where `value` may have been thrown, the most likely first.
pub(crate) fn stacks(value: &Value<'_>) -> Vec<String> {
    let text = in_words(value);
    let rejected = REJECTED.with_borrow(|rejected| {
        let same = rejected.iter().filter(|(thrown, _)| *thrown == text);
        same.map(|(_, stack)| stack.clone()).collect::<Vec<_>>()
    });
    last_stack(value.ctx()).into_iter().chain(rejected).collect()
}

/// The stack of the last exception that left a function and was not caught, which the interpreter then forgets.
fn last_stack(ctx: &Ctx<'_>) -> Option<String> {
    let mut stack = qjs::JS_UNDEFINED;
    // SAFETY: the interpreter writes one value through the pointer, and passes on its reference to it.
    #[expect(unsafe_code, reason = "a function of the interpreter that rquickjs has no name for")]
    let stack = unsafe {
        js_std_cmd(ERROR_BACK_TRACE, ctx.as_raw().as_ptr(), &raw mut stack);
        Value::from_raw(ctx.clone(), stack)
    };
    stack.as_string()?.to_string().ok()
}
