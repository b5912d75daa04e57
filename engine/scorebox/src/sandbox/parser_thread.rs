//! The threads that parse untrusted bytes in this process. They have a deep stack, because parsers recurse, and a name
//! by which a program can silence them. What they parse is decided by the caller.

use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

use super::phrases;

/// The name of the threads that parse untrusted bytes. If one panics, its caller gets an error; a program may want to
/// silence the panic's own message.
pub const PARSERS_NAME: &str = "scorebox-parser";
/// The stack of these threads in bytes, which is large because parsers recurse.
const DEEP_STACK_BYTES: usize = 64 << 20;

/// Why work has no result.
#[derive(Debug)]
pub(super) enum Undone {
    /// Its thread, or those that share the work, could not start: memory or threads are short.
    NotBegun(io::Error),
    /// It panicked.
    Panicked,
}

/// Runs `work` on a separate thread with a deep stack.
pub(super) async fn on_a_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Undone> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name(PARSERS_NAME.into());
    let begun = thread.stack_size(DEEP_STACK_BYTES).spawn(move || {
        let done =
            catch_unwind(AssertUnwindSafe(work)).map_err(
                |panicked| match panicked_without_threads(&*panicked) {
                    true => Undone::NotBegun(io::ErrorKind::WouldBlock.into()),
                    false => Undone::Panicked,
                },
            );
        // The receiver is gone if the time has run out.
        let _ = sender.send(done);
    });
    begun.map_err(Undone::NotBegun)?;
    receiver.await.unwrap_or(Err(Undone::Panicked))
}

/// Whether a panic comes from a compiler whose threads could not start.
pub(super) fn panicked_without_threads(panicked: &(dyn Any + Send)) -> bool {
    let words = panicked.downcast_ref::<String>();
    words.is_some_and(|words| words.contains(phrases::WITHOUT_THREADS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_no_shortage_of_threads_unless_it_says_so() {
        assert_eq!(on_a_deep_stack(|| 1).await.ok(), Some(1));
        let panicked = on_a_deep_stack(|| panic!("{} bugs", 1)).await;
        assert!(matches!(panicked, Err(Undone::Panicked)));
        let words = phrases::WITHOUT_THREADS;
        let short = on_a_deep_stack(move || panic!("{words}: 11")).await;
        assert!(matches!(short, Err(Undone::NotBegun(_))));
    }
}
