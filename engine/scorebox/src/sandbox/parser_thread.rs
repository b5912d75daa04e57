//! The threads that parse untrusted bytes in this process: with a deep stack, because parsers recurse, and with a name by
//! which a program can silence them. What is parsed there is for the caller to say.

/// The name of the threads that parse untrusted bytes. If one panics, its caller has
/// an error for that; a program may want to silence the panic's own message.
pub const PARSERS_NAME: &str = "scorebox-parser";
/// Bytes of stack of the threads that parse untrusted bytes: parsers recurse.
const DEEP_STACK_BYTES: usize = 64 << 20;

/// Runs `work` on a separate thread with a deep stack; `None` if it panicked, or could not begin.
pub(super) async fn on_a_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name(PARSERS_NAME.into());
    let begun = thread.stack_size(DEEP_STACK_BYTES).spawn(move || {
        // The receiver is gone if the time was over.
        let _ = sender.send(work());
    });
    begun.ok()?;
    receiver.await.ok()
}
