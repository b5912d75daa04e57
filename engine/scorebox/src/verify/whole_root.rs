//! Computes the root of a run from the stored data and compares it with a known root. It scores no case: whether each
//! score is right is another finding.

use crate::{
    digest::Digest,
    store::{CaseKey, RunRecord, ScorerRecord, Store, StoreError},
};

use super::{Difference, Finding, Verdict, belonging, plan, recorded_calls, rescore::rebuilt};

/// How many differences are listed in addition to that of the root.
const LISTED: usize = 10;

/// Whether a run is, to the last column, unchanged since it had the root `expected`. If not, contradictions are listed
/// as far as they can be found. `progress` is called with the number of cases that were read.
///
/// # Errors
/// [`StoreError::NoSuchRun`]; the database cannot be read.
pub fn verify_root(
    store: &Store,
    run: &str,
    expected: Digest,
    progress: impl FnMut(u64),
) -> Result<Finding, StoreError> {
    store.snapshot(|store| {
        let record = store.run(run)?;
        let (computed, changed) = root(store, &record, progress)?;
        let mut differences = belonging::differences(store, &record)?;
        differences.extend(changed_contents(store, &record, changed)?);
        if computed != expected {
            let root = Difference::new("root", expected.to_string(), computed.to_string());
            differences.insert(0, root);
            differences.extend(plan::differences(store, &record)?);
        }
        Ok(Finding::new(run, Verdict::of(differences)))
    })
}

/// The finding on a run whose root differs from the stored one, or whose cases, components or recordings do not match
/// their digests, or whose indexes disagree with its rows; `None` if everything is right, or if no root is stored.
pub(super) fn not_the_stored_one(
    store: &Store,
    run: &RunRecord,
) -> Result<Option<Finding>, StoreError> {
    let Some(expected) = run.root else { return Ok(None) };
    let (computed, changed) = root(store, run, |_| {})?;
    let mut differences = changed_contents(store, run, changed)?;
    if computed != expected {
        let root = Difference::new("root", expected.to_string(), computed.to_string());
        differences.insert(0, root);
    }
    let different = !differences.is_empty();
    Ok(different.then(|| Finding::new(run.spec.id.as_str(), Verdict::of(differences))))
}

/// The root as the database has it, with the digest of every case's content computed again, and the first cases whose
/// content does not match its stored digest.
fn root(
    store: &Store,
    run: &RunRecord,
    mut progress: impl FnMut(u64),
) -> Result<(Digest, Vec<Difference>), StoreError> {
    let (mut changed, mut cases) = (Vec::new(), 0);
    let root = store.run_root(run.key, |store, key| {
        cases += 1;
        progress(cases);
        content_digest(store, key, &mut changed)
    })?;
    Ok((root, changed))
}

/// The digest of a case's stored content.
fn content_digest(
    store: &Store,
    key: CaseKey,
    changed: &mut Vec<Difference>,
) -> Result<Digest, StoreError> {
    let content = store.case_content(key)?;
    let is_as_read = content.is_as_read();
    // If it is no longer a valid case, or has white space that is never stored, its digest becomes one that no case
    // has.
    let case = is_as_read.then(|| rebuilt(&content).ok()).flatten();
    let actual = case.map_or_else(|| Digest::of(b""), |case| case.digest());
    if actual != content.digest && changed.len() < LISTED {
        let what = format!("case {}", content.case_id);
        let found = match is_as_read {
            true => actual.to_string(),
            false => "white space around its JSON".to_owned(),
        };
        changed.push(Difference::new(what, content.digest.to_string(), found));
    }
    Ok(actual)
}

/// Contents that do not match their digests: these cases, components, and recordings of judges; and indexes whose
/// entries differ from the rows. The root covers only the digests, and no index.
fn changed_contents(
    store: &Store,
    run: &RunRecord,
    cases: Vec<Difference>,
) -> Result<Vec<Difference>, StoreError> {
    let mut differences = components(store, run)?;
    differences.extend(cases);
    let indexes = store.disagreeing_indexes(run.key)?.into_iter();
    differences.extend(indexes.map(|name| {
        Difference::new(format!("index {name}"), "entries of other rows", "those of the rows")
    }));
    let recordings = store.altered_recordings(run.key, LISTED)?;
    differences.extend(recordings.iter().map(recorded_calls::difference));
    Ok(differences)
}

/// Components whose bytes do not match the digest under which they are stored.
fn components(store: &Store, run: &RunRecord) -> Result<Vec<Difference>, StoreError> {
    let mut differences = Vec::new();
    let scorers = store.scorers(run.key)?;
    let components = scorers.iter().flat_map(|ScorerRecord { spec, .. }| {
        let condition = spec.condition.as_ref().map(|condition| condition.component_digest);
        [Some(spec.component_digest), condition]
            .into_iter()
            .flatten()
            .map(|digest| (&spec.scorer_id, digest))
    });
    for (id, digest) in components {
        let actual = store.component(digest)?.map(|bytes| Digest::of(&bytes));
        if actual != Some(digest) && differences.len() < LISTED {
            let actual = actual.map(|digest| digest.to_string());
            let what = format!("{}{id}", Difference::COMPONENT);
            differences.push(Difference::of(what, Some(digest.to_string()), actual));
        }
    }
    Ok(differences)
}
