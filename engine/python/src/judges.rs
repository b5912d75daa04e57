//! Connects the judges of a suite: keys come from the environment, as on the command line. Asks nothing.

use std::{env, path::Path, sync::Arc};

use pyo3::prelude::*;
use scorebox::{
    judge::{Judges, ProviderSettings, RecordedFile},
    sandbox::Grant,
    store::CallStore,
    suite::Suite,
};
use scorebox_judges::ConnectError;

use crate::error::{self, Kind};

/// The judges that scorers of the suite ask, with the recordings in `database`, if there is one.
pub(crate) fn connected(
    py: Python<'_>,
    suite: &Suite,
    database: Option<&Path>,
) -> PyResult<Judges> {
    let asking = suite.scorers.iter().filter(|scorer| scorer.grants.contains(Grant::Judge));
    let asked: Vec<&str> = asking.flat_map(|scorer| scorer.judge.names()).collect();
    let mut builder = Judges::builder();
    let mut is_asked = false;
    for (name, judge) in suite.judges.iter().filter(|(name, _)| asked.contains(&name.as_str())) {
        is_asked = true;
        let settings = judge.settings.clone();
        let refused = |why: String| error::new(py, Kind::Failed, format!("judge `{name}`: {why}"));
        builder = match &judge.settings.provider {
            ProviderSettings::Recorded { file } => {
                let file = RecordedFile::open(file).map_err(|error| refused(error.to_string()))?;
                builder.recorded_judge(name, settings, Arc::new(file))
            }
            _ => {
                let value_of = |variable: &str| env::var(variable).ok();
                let provider = scorebox_judges::connect_with(&settings, value_of);
                let provider = provider.map_err(|error| not_connected(py, name, &error))?;
                builder.judge(name, settings, Some(provider))
            }
        };
    }
    if let Some(database) = database.filter(|_| is_asked) {
        let recordings = CallStore::open(database);
        let recordings = recordings.map_err(|error| error::of(py, Kind::Database, &error))?;
        builder = builder.recordings(Arc::new(recordings));
    }
    Ok(builder.build())
}

fn not_connected(py: Python<'_>, name: &str, error: &ConnectError) -> PyErr {
    let advice = match error {
        ConnectError::NoKey(_) => Some("set it, or name another with `key_env`".to_owned()),
        _ => None,
    };
    error::advised(py, Kind::Failed, format!("judge `{name}`: {error}"), advice)
}
