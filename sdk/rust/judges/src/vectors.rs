//! Compares embeddings. It makes none: the host asks the model.

use scorebox_sdk::ScoreError;

use crate::embed;

/// The cosine of the angle between two vectors, -1 to 1; 0 if the length of one of them is 0, and exactly 1 if they are
/// equal.
#[must_use]
pub fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |left: &[f32], right: &[f32]| -> f64 {
        left.iter().zip(right).map(|(left, right)| f64::from(*left) * f64::from(*right)).sum()
    };
    // The root of a square is exact, but the square of a root is not. Squares of 32-bit numbers stay far within the
    // range of 64 bits.
    let lengths = (dot(left, left) * dot(right, right)).sqrt();
    if lengths > 0.0 { (dot(left, right) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The text, if it has a meaning to compare. Call it before a model is asked, and before anything is added to the text.
///
/// # Errors
/// [`ScoreError::InvalidInput`] if it is empty or only white space.
pub fn with_meaning<T: AsRef<str>>(text: T) -> Result<T, ScoreError> {
    match text.as_ref().trim().is_empty() {
        true => Err(ScoreError::invalid_input("an empty text cannot be compared by its meaning")),
        false => Ok(text),
    }
}

/// The cosine of each text with the first one.
///
/// # Errors
/// As [`with_meaning`] for each text; [`ScoreError::Failed`] if one of the vectors has only zeros: it has no direction,
/// and a cosine of 0 would hide the fault.
pub fn similarity(
    first: &str,
    others: &[String],
    model: Option<&str>,
) -> Result<Vec<f64>, ScoreError> {
    let mut texts = vec![first.to_owned()];
    texts.extend_from_slice(others);
    for text in &texts {
        with_meaning(text)?;
    }
    let vectors = embed(&texts, model);
    if vectors.iter().any(|vector| vector.iter().all(|number| *number == 0.0)) {
        let message = "the model for embeddings gave a vector of zeros, which is close to nothing";
        return Err(ScoreError::failed(message));
    }
    match vectors.split_first() {
        Some((first, others)) => Ok(others.iter().map(|other| cosine(first, other)).collect()),
        None => Err(ScoreError::failed("the model for embeddings gave no vectors")),
    }
}
