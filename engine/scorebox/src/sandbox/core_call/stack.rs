//! The stack that guests run on. A guest runs on the thread that calls it, and that thread's stack can be of any size,
//! or belong to a coroutine, which cannot be detected. It knows nothing of guests.

use std::cell::Cell;

use corosensei::{on_stack, stack::DefaultStack};

/// The size of a stack, in bytes. A guest may use 512 KiB of it and the host the rest, as on the stacks that wasmtime
/// makes for asynchronous calls. Only the pages that were used take memory.
const STACK_BYTES: usize = 2 << 20;

thread_local! {
    /// This thread's stack, while no guest runs on it. After its end is a page that cannot be written.
    static FREE: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// Calls `work` on a stack that is large enough for a guest; `None` if there is no memory for the stack.
pub(super) fn on_guests_stack<T>(work: impl FnOnce() -> T) -> Option<T> {
    let mut stack = FREE.take().or_else(|| DefaultStack::new(STACK_BYTES).ok())?;
    let done = on_stack(&mut stack, work);
    FREE.set(Some(stack));
    Some(done)
}

#[cfg(test)]
mod tests {
    use std::{panic::catch_unwind, thread};

    use super::*;

    /// Uses this many times 16 KiB of the stack.
    fn deep(levels: u32) -> u8 {
        let room = std::hint::black_box([levels as u8; 16 << 10]);
        match levels {
            0 => room[0],
            _ => deep(levels - 1).wrapping_add(room[room.len() - 1]),
        }
    }

    #[test]
    fn a_thread_with_little_stack_has_one_for_guests() {
        let thread = thread::Builder::new().stack_size(128 << 10);
        let done = thread.spawn(|| on_guests_stack(|| deep(20))).unwrap().join().unwrap();
        assert_eq!(done, Some((0..=20_u8).fold(0, u8::wrapping_add)));
    }

    #[test]
    fn one_within_another_has_its_own_and_a_panic_goes_through() {
        assert_eq!(on_guests_stack(|| on_guests_stack(|| deep(20)).unwrap()), Some(210));
        let panic = catch_unwind(|| on_guests_stack(|| panic!("within"))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"within"));
        assert_eq!(on_guests_stack(|| 1), Some(1));
    }
}
