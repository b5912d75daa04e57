//! What scorebox reads from strangers, as functions of bytes: each takes any bytes at all, and panics
//! where scorebox does or where what it says of them is not so. Who makes the bytes (libFuzzer, the
//! committed corpus) is not known here.

mod bundle;
mod case_reader;
mod component;
mod core_module;
mod database;
mod guest;
mod guest_result;
mod index;
#[cfg(feature = "libfuzzer")]
mod mutation;
mod readers;
mod shards;
mod suite_file;
mod trace;
mod work;

#[cfg(test)]
mod corpus;

pub use bundle::bundle;
pub use case_reader::case_reader;
#[cfg(feature = "libfuzzer")]
pub use component::let_wizer_assert;
pub use component::{component_load, component_outside};
pub use core_module::core_module;
pub use database::database;
pub use guest_result::guest_result;
pub use index::index;
#[cfg(feature = "libfuzzer")]
pub use mutation::{change_component, change_module};
#[cfg(feature = "libfuzzer")]
pub use readers::let_parsers_panic;
pub use readers::readers;
pub use shards::shards;
pub use suite_file::suite_file;
pub use trace::trace;
pub use work::work;
