//! The message of a panic in code of the embedding program. It does not catch panics.

use std::any::Any;

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_has_the_message_that_it_was_given() {
        let panics: [Box<dyn Any + Send>; 3] =
            [Box::new("as it is"), Box::new("made of 1".to_owned()), Box::new(1)];
        let messages = panics.each_ref().map(|panic| panic_message(&**panic));
        assert_eq!(messages, ["as it is", "made of 1", "without a message"]);
    }
}
