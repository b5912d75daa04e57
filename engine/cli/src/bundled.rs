//! Reads a suite from a bundle, with the bundle's components and nothing from this machine. It runs nothing.

use std::{
    fs::{self, File},
    path::Path,
    sync::Arc,
};

use scorebox::{
    digest::Digest,
    input_file::InputFileError,
    judge::ProviderSettings,
    registry::{Origin, Reference, Registry, ScorerSource},
    suite::{Brought, Location, Suite, SuiteError, SuiteScorer},
};
use scorebox_community::{Bundle, Carried, LOCK_FILE, Lock, NotABundle};

use crate::failure::Failure;

/// Whether the suite at `path` is a bundle, by its name.
pub(crate) fn is_bundle(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("tar"))
}

/// The bundle in the file at `path`.
pub(crate) fn bundle(path: &Path) -> Result<Bundle, Failure> {
    let shown = path.display();
    let unreadable = |error: InputFileError| {
        let message = format!("cannot read `{shown}`: {error}");
        Failure { message, ..Failure::from(error) }
    };
    // Opening a pipe would wait for a writer.
    let metadata = fs::metadata(path).map_err(|error| unreadable(error.into()))?;
    if metadata.is_dir() {
        return Err(unreadable(InputFileError::Folder));
    }
    if !metadata.is_file() {
        return Err(Failure::new(format!(
            "cannot read `{shown}`: a bundle must be a regular file"
        ))
        .hint("copy it to a file first"));
    }
    let file = File::open(path).map_err(|error| unreadable(error.into()))?;
    Bundle::read(file).map_err(|error| {
        let failure = Failure::new(format!("`{shown}` is not a valid bundle: {error}"));
        match error {
            NotABundle::OtherVersion(_) => {
                failure.hint("a newer scorebox made it: update scorebox")
            }
            NotABundle::NotATar | NotABundle::OtherKind(_) => {
                failure.hint("a bundle is what `scorebox bundle SUITE -o FILE` writes")
            }
            _ => failure.hint("copy it again from where it was made"),
        }
    })
}

/// The suite in the bundle at `path`, with its components.
pub(crate) fn suite(path: &Path) -> Result<Suite, Failure> {
    let bundle = bundle(path)?;
    let variable = |name: &str| bundle.variables.get(name).cloned();
    let suite = Suite::read_from(Path::new(&bundle.suite), &bundle, &variable);
    let mut suite = suite.map_err(|error| mistakes(path, error))?;
    must_be_bundled(&suite).map_err(|failure| within(path, failure))?;
    let registry = Registry::with_builtins();
    bundle.components.iter().try_for_each(|(name, component)| match component {
        Carried::BuiltIn(digest) => must_be_built_in(&registry, name, *digest, &bundle.scorebox),
        Carried::Here(_) => Ok(()),
    })?;
    let lock = bundle.lock.as_deref().map(Lock::parse).transpose();
    let lock = lock.map_err(|error| {
        Failure::new(format!("`{LOCK_FILE}` in `{}` is not valid: {error}", path.display()))
    })?;
    let lock = (lock.unwrap_or_default(), bundle.lock.clone().map(Arc::from));
    for scorer in &mut suite.scorers {
        scorer.brought = brought(path, &bundle, scorer, &lock)?;
    }
    locations(&mut suite).for_each(|location| location.file = path.join(&location.file));
    Ok(suite)
}

/// All locations in files that a suite contains.
fn locations(suite: &mut Suite) -> impl Iterator<Item = &mut Location> {
    let of_scorers = suite.scorers.iter_mut().flat_map(|scorer| {
        let condition = scorer.condition.as_mut().and_then(|it| it.location.as_mut());
        let locations =
            [&mut scorer.location, &mut scorer.uses_location, &mut scorer.policy_location];
        let config = scorer
            .config_location
            .iter_mut()
            .flat_map(|it| std::iter::once(&mut it.whole).chain(it.keys.values_mut()));
        locations.into_iter().flatten().chain(condition).chain(config)
    });
    let of_judges = suite.judges.values_mut().filter_map(|judge| judge.location.as_mut());
    let of_policies = suite.policies.iter_mut().filter_map(|policy| policy.location.as_mut());
    of_scorers.chain(of_judges).chain(of_policies)
}

/// Refuses what a bundle cannot contain, because it would be something else on another machine.
pub(crate) fn must_be_bundled(suite: &Suite) -> Result<(), Failure> {
    for (name, judge) in &suite.judges {
        let what = match &judge.settings.provider {
            ProviderSettings::Command { command } => {
                let program = command.first().map_or("", String::as_str);
                format!("is the program `{}`", program.escape_debug())
            }
            ProviderSettings::Recorded { file } => {
                format!("reads the recordings in `{}`", file.display().to_string().escape_debug())
            }
            _ => continue,
        };
        return Err(Failure::new(format!("judge `{name}` {what}, which a bundle cannot have"))
            .hint("judges of a bundle are servers; run this suite from its folder"));
    }
    Ok(())
}

/// The component that a bundle contains for a scorer; `None` if the scorer is built in.
fn brought(
    path: &Path,
    bundle: &Bundle,
    scorer: &SuiteScorer,
    (lock, lock_text): &(Lock, Option<Arc<str>>),
) -> Result<Option<Brought>, Failure> {
    let uses = scorer.uses.to_string();
    let invalid = |what: &str| {
        let uses = uses.escape_debug();
        Failure::new(format!("`{}` is not a valid bundle: {what} `{uses}`", path.display()))
            .hint("make it again: scorebox bundle SUITE -o FILE")
    };
    let bytes = match (&scorer.uses, bundle.components.get(&uses)) {
        (Reference::Name(_), Some(Carried::BuiltIn(_))) => return Ok(None),
        (Reference::File(_) | Reference::Published(_), Some(Carried::Here(bytes))) => bytes,
        (_, None) => return Err(invalid("it has no component for")),
        (Reference::Name(_), Some(Carried::Here(_))) => {
            return Err(invalid("it has a component in place of the built-in scorer"));
        }
        (_, Some(Carried::BuiltIn(_))) => {
            return Err(invalid("it says that this is a built-in scorer:"));
        }
    };
    let origin = match &scorer.uses {
        Reference::Published(address) => {
            match lock.get(address) {
                Some(locked) if locked.component == Digest::of(bytes) => {}
                Some(_) => return Err(invalid("its lock has another component for")),
                None => return Err(invalid("its lock lacks")),
            }
            Origin::Published(address.clone())
        }
        uses => Origin::File(path.join(uses.to_string())),
    };
    let source = ScorerSource::new(bytes.to_vec(), origin);
    Ok(Some(Brought::new(source).with_lock(lock_text.clone())))
}

/// Refuses a bundle that was made with other built-in scorers than this program has.
fn must_be_built_in(
    registry: &Registry,
    name: &str,
    digest: Digest,
    made_by: &str,
) -> Result<(), Failure> {
    let ours = registry.listing(name).ok().flatten();
    if ours.is_some_and(|listing| listing.digest == digest) {
        return Ok(());
    }
    let (name, made_by) = (name.escape_debug(), made_by.escape_debug());
    let message = format!(
        "the bundle was made with another built-in scorer `{name}` (sha256:{digest}) than this scorebox has"
    );
    Err(Failure::new(message).hint(format!(
        "use the scorebox that made it (version {made_by}), or make the bundle again with this one"
    )))
}

/// The mistakes of a suite in a bundle, whose locations are in the bundle.
fn mistakes(path: &Path, error: SuiteError) -> Failure {
    match error {
        SuiteError::Invalid { mut mistakes, clear } => {
            for mistake in &mut mistakes {
                let file = path.join(&mistake.location.file);
                mistake.location = Location { file, ..mistake.location.clone() };
            }
            Failure::from(SuiteError::Invalid { mistakes, clear })
        }
        other => within(path, Failure::from(other)),
    }
}

fn within(path: &Path, failure: Failure) -> Failure {
    Failure { message: format!("`{}`: {}", path.display(), failure.message), ..failure }
}
