//! Formats a case's name for people. The contents of a case are shown elsewhere.

/// The case's id, with iteration and attempt if they are not the first.
pub(crate) fn case_name(case_id: &str, iteration: u32, attempt: u32) -> String {
    match (iteration, attempt) {
        (0, 0) => case_id.to_owned(),
        _ => format!("{case_id} (iteration {iteration}, attempt {attempt})"),
    }
}
