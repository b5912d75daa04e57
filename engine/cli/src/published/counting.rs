//! How the scores of another version of a scorer count in the verdicts of a suite, and which changes let more cases
//! pass. It decides nothing.

use scorebox::{
    contract::{ScorerInfo, Severity},
    verdict::{Policy, PolicyOverrides},
};

use crate::report;

/// How scores count: as the scorer declares, with the suite's overrides.
fn policy(info: &ScorerInfo, suite: &PolicyOverrides) -> Policy {
    let declared = Policy::declared(info.severity, info.threshold, info.direction, info.scale);
    // If the overrides are not valid, the suite does not load.
    declared.overridden(suite).unwrap_or(declared)
}

/// How the new version lets more cases pass than the old one, or reverses the scale, as text; `None` if it is as
/// strict.
///
/// The suite's overrides apply to both. Numbers are compared only if both versions have the same scale.
pub(super) fn laxer(old: &ScorerInfo, new: &ScorerInfo, suite: &PolicyOverrides) -> Option<String> {
    let (before, now) = (policy(old, suite), policy(new, suite));
    let changed = |what: &str, old: &str, new: &str| format!("{what} {old} → {new}");
    let mut said = Vec::new();
    if before.scale() != now.scale() || before.direction() != now.direction() {
        said.push(changed("scale", &report::scale(old), &report::scale(new)));
    } else if lets_more_pass(&before, &now) {
        let threshold = |policy: &Policy| {
            policy.threshold().map_or_else(|| "none".to_owned(), |it| it.to_string())
        };
        said.push(changed("threshold", &threshold(&before), &threshold(&now)));
    }
    if (before.severity(), now.severity()) == (Severity::Gate, Severity::Soft) {
        said.push(changed("severity", before.severity().as_str(), now.severity().as_str()));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// Whether a score passes by one threshold and not by the other, on the same scale.
fn lets_more_pass(before: &Policy, now: &Policy) -> bool {
    match (before.threshold(), now.threshold()) {
        (Some(before_it), Some(it)) => before_it != it && before.passes(it) == Some(false),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Whether the suite overrides every difference in how the scores of the two count.
pub(super) fn is_said_by_the_suite(
    old: &ScorerInfo,
    new: &ScorerInfo,
    suite: &PolicyOverrides,
) -> bool {
    let nothing = PolicyOverrides::default();
    !policy(old, &nothing).counts_as(&policy(new, &nothing))
        && policy(old, suite).counts_as(&policy(new, suite))
}

#[cfg(test)]
mod tests {
    use scorebox::contract::{
        Direction::{self, *},
        Fields,
        Scale::{self, *},
        Severity::*,
    };

    use super::*;

    fn info(
        severity: Severity,
        threshold: Option<f64>,
        direction: Direction,
        scale: Scale,
    ) -> ScorerInfo {
        ScorerInfo {
            id: "grade".to_owned(),
            name: "Grade".to_owned(),
            description: String::new(),
            version: "1.0.0".to_owned(),
            config_schema: None,
            scale,
            direction,
            reads: Fields::NONE,
            severity,
            threshold,
        }
    }

    #[test]
    fn a_version_is_laxer_if_a_score_passes_that_did_not() {
        let says_nothing = PolicyOverrides::default();
        let higher = |severity, threshold| info(severity, threshold, HigherIsBetter, Unit);
        let lower = |severity, threshold| info(severity, threshold, LowerIsBetter, Unit);
        for (old, new, expected) in [
            (higher(Gate, Some(0.8)), higher(Gate, Some(0.5)), "threshold 0.8 → 0.5"),
            (higher(Gate, Some(0.5)), higher(Gate, Some(0.8)), ""),
            (lower(Gate, Some(0.2)), lower(Gate, Some(0.5)), "threshold 0.2 → 0.5"),
            (lower(Gate, Some(0.5)), lower(Gate, Some(0.2)), ""),
            // A gate without a threshold requires the best score.
            (higher(Gate, None), higher(Gate, Some(1.0)), ""),
            (higher(Gate, Some(1.0)), higher(Gate, None), ""),
            (lower(Gate, None), lower(Gate, Some(1.0)), "threshold 0 → 1"),
            (higher(Soft, None), higher(Soft, Some(0.5)), ""),
            (higher(Soft, None), higher(Gate, Some(0.5)), ""),
            (higher(Soft, Some(0.5)), higher(Soft, None), "threshold 0.5 → none"),
            (higher(Gate, Some(0.5)), higher(Soft, Some(0.5)), "severity gate → soft"),
            (higher(Gate, None), higher(Soft, None), "threshold 1 → none; severity gate → soft"),
            (
                higher(Soft, None),
                lower(Soft, None),
                "scale 0 to 1, higher-is-better → 0 to 1, lower-is-better",
            ),
            (
                higher(Soft, None),
                info(Soft, None, HigherIsBetter, Points),
                "scale 0 to 1, higher-is-better → points from 0 up, higher-is-better",
            ),
        ] {
            let said = laxer(&old, &new, &says_nothing).unwrap_or_default();
            assert_eq!(said, expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn what_the_suite_says_itself_is_not_laxer() {
        let of = |severity, threshold| info(severity, threshold, HigherIsBetter, Unit);
        let (old, new) = (of(Gate, Some(0.8)), of(Soft, Some(0.5)));
        let severity = PolicyOverrides::default().with_severity(Gate);
        let both = severity.with_threshold(0.8);
        assert_eq!(laxer(&old, &new, &severity).as_deref(), Some("threshold 0.8 → 0.5"));
        assert_eq!(laxer(&old, &new, &both), None);
        assert!(is_said_by_the_suite(&old, &new, &both));
        assert!(!is_said_by_the_suite(&old, &new, &severity));
        assert!(!is_said_by_the_suite(&old, &old, &both), "nothing is different");
    }
}
