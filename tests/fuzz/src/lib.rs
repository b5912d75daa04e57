//! The fuzz targets: all that scorebox reads from strangers, as functions that take any bytes. Each panics if scorebox
//! panics, or if one of its claims about the bytes does not hold. The source of the bytes (libFuzzer, the committed
//! corpus) is left to the callers.

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
