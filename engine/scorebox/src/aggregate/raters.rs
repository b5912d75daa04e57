//! How well people agree with each other: the labels that several of them gave to the same cases. This shows how much
//! agreement can be expected of a scorer; no scorer is involved here.

use std::collections::HashMap;

use serde::Serialize;

use super::labels::{Found, Value, Words, all_at};
use crate::{case::Pointer, stats::agreement, store::LabelledCase};

/// How many labels of one case are read.
const MAX_RATINGS: usize = 100;
/// How many different labels count; further ones are left out.
const MAX_CATEGORIES: usize = 1000;

/// How well several raters agree. Labels are categories: they are equal or not. Numbers as text are numbers, and a word
/// among them is a category like the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RaterAgreement {
    /// Where their labels are: JSON Pointers, each to a rater's label or to a list with a label of each.
    pub at: Vec<String>,
    /// Cases with two labels or more; with or without a score.
    pub cases: u64,
    /// Cases with at most one readable label, which say nothing about agreement.
    pub without: u64,
    /// The most common number of labels among the cases with two or more.
    pub raters: u64,
    /// Cases with this number of labels, over which Fleiss' kappa is computed.
    pub rated_by_all: u64,
    /// The part of a case's pairs of raters who agree, 0 to 1: its mean over cases, each of which counts once, however
    /// many labels it has.
    pub same: Option<f64>,
    /// Fleiss' kappa; `None` if all labels are equal.
    pub fleiss_kappa: Option<f64>,
    /// Krippendorff's alpha for categories, over all cases with two labels or more; `None` if all labels are equal.
    pub alpha: Option<f64>,
}

/// The labels that were read.
pub(super) struct Rating<'p> {
    at: &'p [Pointer],
    words: Words,
    categories: HashMap<Category, usize>,
    raters: agreement::Raters,
    /// How many cases were read.
    read: u64,
}

/// Identifies equal labels.
#[derive(PartialEq, Eq, Hash)]
enum Category {
    /// The bits of the number that they are, or read as.
    Number(u64),
    /// The index of the word.
    Word(usize),
}

impl<'p> Rating<'p> {
    /// Labels at these pointers.
    pub(super) fn new(at: &'p [Pointer]) -> Rating<'p> {
        let raters = agreement::Raters::default();
        Rating { at, words: Words::default(), categories: HashMap::new(), raters, read: 0 }
    }

    /// Adds the readable labels of a case.
    pub(super) fn add(&mut self, case: &LabelledCase) {
        let mut ratings = Vec::new();
        for pointer in self.at {
            let room = MAX_RATINGS - ratings.len();
            let found = all_at(pointer, case, &mut self.words);
            let values = found.into_iter().take(room).filter_map(|found| match found {
                Found::Value(value) => Some(value),
                Found::Nothing | Found::Unreadable => None,
            });
            ratings.extend(values);
        }
        let indices: Vec<usize> =
            ratings.into_iter().filter_map(|value| self.category(value)).collect();
        self.raters.add(&indices);
        self.read += 1;
    }

    fn category(&mut self, value: Value) -> Option<usize> {
        let category = match (value, self.words.number(value)) {
            // -0 equals 0.
            (_, Some(number)) | (Value::Number(number), None) => {
                Category::Number((number + 0.0).to_bits())
            }
            (Value::Word(index), None) => Category::Word(index),
        };
        let next = self.categories.len();
        if next >= MAX_CATEGORIES {
            return self.categories.get(&category).copied();
        }
        Some(*self.categories.entry(category).or_insert(next))
    }

    /// The agreement over all cases; `None` if none has two labels.
    pub(super) fn agreement(&self, at: &[String]) -> Option<RaterAgreement> {
        let (raters, rated_by_all) = self.raters.usual()?;
        Some(RaterAgreement {
            at: at.to_vec(),
            cases: self.raters.cases(),
            without: self.read - self.raters.cases(),
            raters: raters as u64,
            rated_by_all,
            same: self.raters.same(),
            fleiss_kappa: self.raters.fleiss_kappa(),
            alpha: self.raters.alpha_nominal(),
        })
    }
}
