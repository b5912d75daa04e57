//! The names nearest to one that is not there, for hints. Used by every room that looks names up.

/// How alike two names have to be, 0 to 1 (Jaro-Winkler).
const ALIKE: f64 = 0.8;
const MOST: usize = 3;

/// Up to three of `names` that are like `wanted`, the likest first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut alike: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    alike.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}
