//! Helpers for scorers that compare texts: formulas and rules that several programs share. It reads no case and decides
//! no score.
//!
//! - [`normal`]: removes from a text what does not matter in an answer
//! - [`python`]: white space, digits and numbers as Python reads them
//! - [`similarity`]: how alike two texts, numbers or lists are
#![deny(missing_docs)]

pub mod normal;
pub mod python;
pub mod similarity;
