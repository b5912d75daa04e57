//! `scorebox search`: searches by words in the built-in scorers and in the indexes that the user has configured.

use std::collections::BTreeMap;

use scorebox::{
    advice::Advice,
    contract::{Field, Fields},
    digest::Digest,
    registry::Registry,
    sandbox::Anatomy,
};
use scorebox_community::{
    Address, IndexEntry, KnownName, Named, NearMisses, Searched, SignedIndex, Signer, Words,
};
use serde::{Serialize, Serializer};

use crate::{
    advice,
    failure::{Exit, Failure},
    indexes::{self, Indexes},
    names,
    output::{self, Format},
    report::{self, Align, Table},
    setup,
    user_configuration::UserConfiguration,
    waiting::Waiting,
    words,
};

/// The characters of a key that a table shows: its last ones, because the maker of a key can choose the first ones.
const SHOWN_OF_A_KEY: usize = 12;

/// Search scorers: the built-in ones, and those in the indexes that you have configured
///
/// Indexes are signed lists of published scorers; the configuration file names them, with the key that must have signed
/// each. What an index says about a scorer is what its publisher says: `scorebox add` shows what the scorer is.
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// Words that a scorer must all have: in its name, its title, its description, or what it reads
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,

    /// Ask no server: search indexes as they were fetched last
    #[arg(long, help_heading = "Indexes")]
    offline: bool,

    /// Show at most N scorers (0: all) [default: 30 for a table]
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<u64>,

    /// How to print them
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,
}

/// A scorer that was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    scorer_id: String,
    /// `None` if it is built in.
    #[serde(serialize_with = "address")]
    address: Option<Address>,
    title: String,
    description: String,
    /// The keys of a case, the output first.
    reads: Vec<String>,
    grants: Vec<String>,
    imports: Vec<String>,
    #[serde(serialize_with = "signer")]
    signer: Option<Signer>,
    license: Option<String>,
    source: Option<String>,
    #[serde(serialize_with = "component")]
    component: Digest,
    bytes: u64,
    contract: Option<String>,
    /// The indexes with this entry.
    indexes: Vec<String>,
    close_to: Option<CloseTo>,
    /// The same, as text.
    #[serde(skip)]
    similarity: Option<String>,
    #[serde(skip)]
    distance: u32,
}

/// A name with which its name could be confused.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum CloseTo {
    BuiltIn(String),
    Published(String),
}

impl Search {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let words = Words::new(self.words.iter().map(String::as_str));
        if words.is_empty() {
            return Err(Failure::new("name at least one word to search for"));
        }
        let configuration = UserConfiguration::read()?;
        let Indexes { read, failures } = match self.offline {
            true => indexes::offline(&configuration.indexes),
            false => {
                let runtime = setup::small_runtime()?;
                setup::finish(runtime, indexes::fetched(&configuration.indexes))
            }
        };
        let registry = setup::registry();
        let mut found = built_in(&registry, &words)?;
        found.extend(in_indexes(&read, &words));
        // Built-in scorers have no address, which comes before all that have one.
        found.sort_by_cached_key(|it| {
            let address = it.address.as_ref().map(ToString::to_string);
            (it.distance, address, it.scorer_id.clone())
        });
        let all = found.len();
        found.truncate(usize::try_from(self.format.most(self.limit, 30)).unwrap_or(usize::MAX));
        let waiting = Waiting::on("comparing names");
        let names = known_names(&read)?;
        found.iter_mut().for_each(|it| it.compare_with(&names));
        drop((names, waiting));
        match self.format {
            Format::Table if found.is_empty() => {
                self.say_that_there_is_none(&registry, &read, failures.is_empty());
            }
            Format::Table => output::stdout(|out| output::table_of_strangers(out, table(&found)))?,
            format => {
                let lines = format == Format::Jsonl;
                output::stdout(|out| output::list(out, lines, &found))?;
            }
        }
        if found.len() < all {
            let (shown, all) = (report::count(found.len() as u64), report::count(all as u64));
            words::say(&format!("{shown} of {all} scorers; all: --limit 0"));
        }
        warn_of_names(&found);
        warn_of_differences(&found);
        // Errors of indexes come last, so that the user sees them.
        Failure::of_all(failures).map_or(Ok(Exit::Done), Err)
    }

    /// `is_all` if each index could be searched.
    fn say_that_there_is_none(
        &self,
        registry: &Registry,
        read: &[(String, SignedIndex)],
        is_all: bool,
    ) {
        words::say(match is_all {
            true => "no scorer has all of these words",
            false => "no scorer that could be searched has all of these words",
        });
        let entries = read.iter().flat_map(|(_, signed)| &signed.index().scorers);
        let ids = registry.list().chain(entries.map(|entry| entry.scorer_id.as_str()));
        let closest = Advice::closest(&self.words.join("-"), ids);
        if let Some(hint) = closest.as_ref().and_then(advice::words) {
            words::hint(&hint);
        }
    }
}

/// The built-in scorers that have all of the words.
fn built_in(registry: &Registry, words: &Words) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for name in registry.list() {
        let Some(listing) = registry.listing(name)? else { continue };
        let info = listing.info;
        let mut reads = vec!["output".to_owned()];
        reads.extend(info.reads.iter().map(|field: Field| field.key().to_owned()));
        let searched = Searched {
            id: name,
            address: "",
            title: &info.name,
            description: &info.description,
            needs: &reads,
        };
        let Some(distance) = words.distance(&searched) else { continue };
        let anatomy = Anatomy::read(registry.get(name)?.component.bytes()?)?;
        found.push(Found {
            scorer_id: name.to_owned(),
            address: None,
            title: info.name,
            description: info.description,
            reads,
            grants: anatomy.grants().iter().map(|grant| grant.to_string()).collect(),
            contract: anatomy.contract_version().map(str::to_owned),
            imports: anatomy.imports,
            signer: None,
            license: None,
            source: None,
            component: listing.digest,
            bytes: listing.bytes,
            indexes: Vec::new(),
            close_to: None,
            similarity: None,
            distance,
        });
    }
    Ok(found)
}

/// The scorers in indexes that have all of the words. Equal entries of several indexes are listed once.
fn in_indexes(read: &[(String, SignedIndex)], words: &Words) -> Vec<Found> {
    let mut found: Vec<(Found, &IndexEntry)> = Vec::new();
    let mut positions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, signed) in read {
        for entry in &signed.index().scorers {
            let address = entry.address.to_string();
            let needs = [&entry.reads[..], &entry.grants].concat();
            let searched = Searched {
                id: &entry.scorer_id,
                address: &address,
                title: &entry.title,
                description: &entry.description,
                needs: &needs,
            };
            let Some(distance) = words.distance(&searched) else { continue };
            let same = positions.entry(address).or_default();
            match same.iter().find(|position| found[**position].1 == entry) {
                Some(position) => found[*position].0.indexes.push(index.clone()),
                None => {
                    same.push(found.len());
                    found.push((Found::of(entry, index, distance), entry));
                }
            }
        }
    }
    found.into_iter().map(|(found, _)| found).collect()
}

/// The names with which others are compared.
fn known_names(read: &[(String, SignedIndex)]) -> Result<NearMisses, Failure> {
    let mut names = names::built_in()?;
    for entry in read.iter().flat_map(|(_, signed)| &signed.index().scorers) {
        names.know(&names::named(entry));
    }
    Ok(names)
}

impl Found {
    fn of(entry: &IndexEntry, index: &str, distance: u32) -> Found {
        let IndexEntry { scorer_id, address, title, description, grants, imports, .. } =
            entry.clone();
        let IndexEntry { signer, license, source, contract, reads, .. } = entry.clone();
        Found {
            scorer_id,
            address: Some(address),
            title,
            description,
            reads: [vec!["output".to_owned()], reads].concat(),
            grants,
            imports,
            signer,
            license,
            source,
            component: entry.component,
            bytes: entry.bytes,
            contract: Some(contract),
            indexes: vec![index.to_owned()],
            close_to: None,
            similarity: None,
            distance,
        }
    }

    /// Records the names with which its name could be confused.
    fn compare_with(&mut self, names: &NearMisses) {
        let Some(address) = &self.address else { return };
        let named = Named {
            address,
            id: &self.scorer_id,
            title: &self.title,
            signer: self.signer.as_ref().map(Signer::as_str),
            component: self.component,
        };
        let Some((known, similarity)) = names.closest(&named) else { return };
        self.similarity = Some(names::in_words(&known, similarity));
        self.close_to = Some(match known {
            KnownName::BuiltIn(name) => CloseTo::BuiltIn(name),
            KnownName::Published(place) => CloseTo::Published(place),
        });
    }

    fn reads_in_words(&self) -> String {
        match self.reads.len() > Fields::ALL.iter().count() {
            true => "the whole case".to_owned(),
            false => self.reads.join(", "),
        }
    }

    fn signed_by(&self) -> String {
        match (&self.signer, &self.address) {
            (_, None) => "-".to_owned(),
            (None, _) => "not signed".to_owned(),
            (Some(signer), _) => {
                let key = signer.as_str();
                format!("…{}", &key[key.len() - SHOWN_OF_A_KEY..])
            }
        }
    }

    /// The title, and the first paragraph of the description.
    fn gist(&self) -> String {
        let gist = self.description.split("\n\n").next().unwrap_or_default();
        match gist {
            "" => self.title.clone(),
            gist => format!("{}: {gist}", self.title),
        }
    }
}

fn table(found: &[Found]) -> Table {
    let mut table = Table::new(&[
        ("scorer", Align::Left),
        ("index", Align::Left),
        ("reads", Align::Left),
        ("needs", Align::Left),
        ("signed by", Align::Left),
        ("what it scores", Align::Left),
    ]);
    for it in found {
        let (name, index) = match &it.address {
            Some(address) => (address.to_string(), it.indexes.join(", ")),
            None => (it.scorer_id.clone(), "built in".to_owned()),
        };
        let needs = if it.grants.is_empty() { "-".to_owned() } else { it.grants.join(", ") };
        table.row([
            name,
            index,
            output::cell(&it.reads_in_words(), 40),
            output::cell(&needs, 40),
            it.signed_by(),
            output::last_cell(&it.gist()),
        ]);
    }
    table
}

/// Warns of names that could be confused with others.
fn warn_of_names(found: &[Found]) {
    for it in found {
        if let (Some(address), Some(similarity)) = (&it.address, &it.similarity) {
            words::warn(&format!("`{address}` {similarity}"));
        }
    }
}

/// Warns of addresses about which indexes differ.
fn warn_of_differences(found: &[Found]) {
    let mut seen: BTreeMap<String, &Found> = BTreeMap::new();
    for it in found {
        let Some(address) = &it.address else { continue };
        let Some(first) = seen.insert(address.to_string(), it) else { continue };
        let what = match first.component == it.component {
            true => "say different things about",
            false => "name different components for",
        };
        let (one, other) = (first.indexes.join("`, `"), it.indexes.join("`, `"));
        words::warn(&format!("the indexes `{one}` and `{other}` {what} `{address}`"));
    }
}

fn address<S: Serializer>(address: &Option<Address>, to: S) -> Result<S::Ok, S::Error> {
    address.as_ref().map(ToString::to_string).serialize(to)
}

fn signer<S: Serializer>(signer: &Option<Signer>, to: S) -> Result<S::Ok, S::Error> {
    signer.as_ref().map(Signer::as_str).serialize(to)
}

fn component<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("sha256:{digest}"))
}
