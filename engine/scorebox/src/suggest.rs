//! The names nearest to one that is not there, for hints. Used by every room that looks names up.

/// How alike two names have to be, 0 to 1 (Jaro-Winkler).
const ALIKE: f64 = 0.8;

/// How much less alike than the likest a name may be: beside a typing error, others are no help.
const BEHIND: f64 = 0.05;

/// The most names that are suggested.
const MOST: usize = 3;

/// The longest name, in bytes, that is compared; none that there is comes near.
const LONGEST: usize = 100;

/// Up to three of `names` that are like `wanted`, the likest first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let wanted = wanted.to_lowercase();
    let mut alike: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    let least = alike.first().map_or(0.0, |(likest, _)| likest - BEHIND);
    alike.retain(|(likeness, _)| *likeness >= least);
    alike.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}
