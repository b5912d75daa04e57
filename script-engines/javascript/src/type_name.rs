//! Describes the kind of a script's value in a few words. It shows nothing of the value itself.

use rquickjs::Value;

/// The kind of a value, in a few words.
pub(crate) fn type_name(value: &Value<'_>) -> &'static str {
    if value.is_undefined() {
        "undefined"
    } else if value.is_null() {
        "null"
    } else if value.is_bool() {
        "a boolean"
    } else if value.is_number() {
        "a number"
    } else if value.is_string() {
        "a string"
    } else if value.is_symbol() {
        "a symbol"
    } else if value.is_big_int() {
        "a BigInt"
    } else if value.is_array() {
        "an array"
    } else if value.is_function() {
        "a function"
    } else {
        "an object"
    }
}
