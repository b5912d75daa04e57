//! Settles the promises of a script: runs its jobs until none is left, and finds unhandled rejections. How a thrown
//! value is worded is up to `thrown`.

use std::{cell::RefCell, collections::VecDeque};

use rquickjs::{Context, Ctx, Error, JsLifetime, Result, Runtime, Value, qjs};

use crate::thrown;

/// Promises that were rejected and not handled so far, each with its reason, in the order of rejection.
#[derive(Default)]
struct Unhandled<'js>(RefCell<VecDeque<(Value<'js>, Value<'js>)>>);

// SAFETY: the lifetime is that of the values, and occurs nowhere else.
#[expect(unsafe_code, reason = "the trait promises which lifetime is the interpreter's")]
unsafe impl<'js> JsLifetime<'js> for Unhandled<'js> {
    type Changed<'to> = Unhandled<'to>;
}

/// Watches the promises of a script.
pub(crate) fn watch(runtime: &Runtime, context: &Context) {
    // It only fails while the data is borrowed, and nothing has borrowed it yet.
    let _ = context.with(|ctx| ctx.store_userdata(Unhandled::default()).map(drop).is_ok());
    runtime.set_host_promise_rejection_tracker(Some(Box::new(
        |ctx, promise, reason, is_handled| {
            if !is_handled {
                thrown::rejected(&ctx, &reason);
            }
            let Some(unhandled) = ctx.userdata::<Unhandled<'_>>() else { return };
            let mut unhandled = unhandled.0.borrow_mut();
            if !is_handled {
                unhandled.push_back((promise, reason));
            } else if let Some(at) = unhandled.iter().position(|(rejected, _)| *rejected == promise)
            {
                unhandled.remove(at);
            }
        },
    )));
}

/// The result of a promise once no job is left; any other value as it is. The error is the reason of the promise's
/// rejection, or else of another one that was not handled: a check that nobody awaits must not pass.
pub(crate) fn settled(value: Value<'_>) -> Result<Value<'_>> {
    let ctx = value.ctx().clone();
    while run_job(&ctx)? {}
    let result = match value.as_promise() {
        Some(promise) => promise.result().unwrap_or(Err(Error::WouldBlock)),
        None => Ok(value),
    };
    match (result, first_unhandled(&ctx)) {
        (Ok(_) | Err(Error::WouldBlock), Some(reason)) => Err(ctx.throw(reason)),
        (result, _) => result,
    }
}

fn first_unhandled<'js>(ctx: &Ctx<'js>) -> Option<Value<'js>> {
    let unhandled = ctx.userdata::<Unhandled<'js>>()?;
    unhandled.0.borrow().front().map(|(_, reason)| reason.clone())
}

/// Runs the next job, and returns whether there was one; the error is what it threw.
fn run_job(ctx: &Ctx<'_>) -> Result<bool> {
    let context = ctx.as_raw().as_ptr();
    let mut of_the_job = context;
    // SAFETY: the context is alive, and is the only one of its runtime, so that an exception in a job is found in it.
    #[expect(unsafe_code, reason = "rquickjs drops what a job throws")]
    let ran =
        unsafe { qjs::JS_ExecutePendingJob(qjs::JS_GetRuntime(context), &raw mut of_the_job) };
    match ran {
        0 => Ok(false),
        1.. => Ok(true),
        _ => Err(Error::Exception),
    }
}
