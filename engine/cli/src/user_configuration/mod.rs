//! The user's configuration file: which indexes of scorers are searched, and the policy about published scorers. It
//! decides nothing.
//!
//! - `reading`: the values of the document, and every mistake with its location.
//! - `indexes`: `[index.NAME]`.
//! - `policy`: `[policy]`.
//! - here: the file and its contents.

mod indexes;
mod policy;
mod reading;

use std::{io, panic, path::Path, thread};

use scorebox::suite::TrustPolicy;
use toml::de::DeTable;

use crate::{failure::Failure, input, setup};

pub(crate) use indexes::ConfiguredIndex;
use reading::Reading;

/// The version of the format.
const VERSION: i64 = 1;
/// The most bytes of the file that are read: 1 MiB.
const MAX_BYTES: u64 = 1 << 20;
/// Bytes of stack for parsing: nested tables, each with a key of many parts, cause some thousand levels of recursion.
const DEEP_STACK_BYTES: usize = 256 << 20;
/// The keys of the file.
const KEYS: [&str; 3] = ["version", "index", "policy"];

/// What the user has configured.
#[derive(Debug, Default)]
pub(crate) struct UserConfiguration {
    /// The indexes, in the order of their names.
    pub indexes: Vec<ConfiguredIndex>,
    /// The policy about published scorers.
    pub policy: Option<TrustPolicy>,
}

impl UserConfiguration {
    /// Reads the user's file. Without one, nothing is configured; a file that the user names must exist.
    pub(crate) fn read() -> Result<UserConfiguration, Failure> {
        let Some((path, is_named)) = setup::configuration_file() else {
            return Ok(UserConfiguration::default());
        };
        let is_missing = matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
        if is_missing && !is_named {
            return Ok(UserConfiguration::default());
        }
        let text = input::read_file(&path, MAX_BYTES).map_err(|failure| match is_named {
            true => failure.hint("SCOREBOX_CONFIG names this file: name another one, or unset it"),
            false => failure,
        })?;
        UserConfiguration::parse_apart(&path, &text)
    }

    /// Reads the text of the file at `path`, on a stack that is deep enough for it.
    fn parse_apart(path: &Path, text: &str) -> Result<UserConfiguration, Failure> {
        let parsing = || UserConfiguration::parse(path, text);
        let thread = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
        thread::scope(|scope| match thread.spawn_scoped(scope, parsing).map(|it| it.join()) {
            Ok(Ok(configuration)) => configuration,
            Ok(Err(panicked)) => panic::resume_unwind(panicked),
            Err(error) => {
                let path = path.display();
                Err(Failure::new(format!("cannot read `{path}`: {error}")))
            }
        })
    }

    fn parse(path: &Path, text: &str) -> Result<UserConfiguration, Failure> {
        let mut reading = Reading::new(path, text);
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            reading.wrong(error.span().unwrap_or(0..0), error.message());
        }
        let mut configuration = UserConfiguration::default();
        // A key that seems missing may be one that cannot be read.
        if errors.is_empty() {
            configuration.read_document(&mut reading, document.get_ref(), path);
        }
        reading.finish().map_or(Ok(configuration), Err)
    }

    fn read_document(&mut self, reading: &mut Reading<'_>, document: &DeTable<'_>, path: &Path) {
        let mut has_version = false;
        for (key, value) in reading.members(document, "of the configuration", &KEYS) {
            match key {
                "version" => {
                    has_version = true;
                    if let Some(version) = reading.number(value, "version")
                        && version != VERSION
                    {
                        let reason = format!(
                            "this is version {version} of the format; this scorebox reads version {VERSION}"
                        );
                        reading.wrong(value.span(), &reason);
                    }
                }
                "index" => self.indexes = indexes::read(reading, value),
                _ => self.policy = policy::read(reading, value, path),
            }
        }
        if !has_version && !document.is_empty() {
            reading.wrong(0..0, &format!("the file must begin with `version = {VERSION}`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNER: &str = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI";

    fn parse(text: &str) -> Result<UserConfiguration, Failure> {
        let text = text.replace("SIGNER", SIGNER);
        UserConfiguration::parse_apart(Path::new("config.toml"), &text)
    }

    /// All errors, a line each, each followed by its hint.
    fn wrong(text: &str) -> String {
        let Failure { message, hint, others } = parse(text).unwrap_err();
        let all = [(message, hint)].into_iter().chain(others);
        let lines = all.map(|(message, hint)| match hint {
            Some(hint) => format!("{message} ({hint})"),
            None => message,
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_configuration_names_indexes() {
        let configuration = parse(
            r#"version = 1
            [index.team]
            url = "https://scorers.example.com/index.json"
            signer = "SIGNER"
            [index.local]
            url = "oci://localhost:5000/team/index:1"
            signer = "SIGNER"
            plain-http = true
            "#,
        );
        let indexes = configuration.unwrap().indexes;
        let shown = indexes.iter().map(|it| format!("{} {} {:?}", it.name, it.place, it.transport));
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "local oci://localhost:5000/team/index:1 PlainHttp",
                "team https://scorers.example.com/index.json Tls"
            ]
        );
        assert!(indexes.iter().all(|index| index.signer.as_str() == SIGNER));
    }

    #[test]
    fn an_empty_file_configures_nothing() {
        for text in ["", "# nothing yet\n", "version = 1\n"] {
            assert!(parse(text).unwrap().indexes.is_empty(), "{text}");
        }
    }

    #[test]
    fn every_mistake_has_its_location_and_the_closest_key() {
        let said = wrong(
            r#"version = 1
indexes = 3

[index.team]
url = "https://scorers.example.com/"
singer = "SIGNER"

[index.other]
url = "oci://scorers.example.com/index:1"
signer = "RW"
plain-http = "yes"
"#,
        );
        assert_eq!(
            said,
            "config.toml:2:1: unknown key `indexes`; the keys of the configuration are `version`, `index`, `policy` (did you mean `index`?)\n\
             config.toml:4:1: the index `team` lacks `signer`\n\
             config.toml:5:7: an index is at `https://HOST/FILE`, or in a registry at `oci://REGISTRY/NAME:TAG`; this is a folder: name the file in it\n\
             config.toml:6:1: unknown key `singer`; the keys of an index are `url`, `signer`, `plain-http` (did you mean `signer`?)\n\
             config.toml:10:10: it is not a public key of minisign, which has 56 characters and begins with `RW` \
             (its publisher names the key of an index; the file that `minisign -G` wrote has it on its second line)\n\
             config.toml:11:14: `plain-http` must be true or false"
        );
    }

    #[test]
    fn plain_http_must_be_asked_for_where_it_means_something() {
        let index = |url: &str, more: &str| {
            format!("version = 1\n[index.a]\nurl = \"{url}\"\nsigner = \"SIGNER\"\n{more}\n")
        };
        let said = wrong(&index("http://a.b/index.json", ""));
        assert!(said.starts_with("config.toml:3:7: `http://` has no TLS"), "{said}");
        assert!(said.contains("(write `https://`, or `plain-http = true`"), "{said}");
        assert!(parse(&index("http://a.b/index.json", "plain-http = true")).is_ok());
        let said = wrong(&index("https://a.b/index.json", "plain-http = true"));
        assert!(said.starts_with("config.toml:5:14: `https://` has TLS"), "{said}");
    }

    #[test]
    fn what_is_not_a_configuration_is_refused_with_its_line() {
        assert!(wrong("version = 1\n[index.a\n").starts_with("config.toml:2:"));
        assert!(wrong("version = 2\n").contains("config.toml:1:11: this is version 2"));
        assert!(wrong("[index]\n").contains("config.toml:1:1: the file must begin with"));
        assert!(wrong("version = \"1\"\n").contains("`version` must be a whole number"));
        assert!(wrong("version = 1\nindex = 1\n").contains("2:9: `index` must be a table"));
        assert!(wrong("version = 1\nindex.a = 1\n").contains("`index.a` must be a table"));
        assert!(wrong("version = 1\nindex.a.url = 1\n").contains("`url` must be a text"));
        for name in ["", "..", "a/b", "a b", "é", &"a".repeat(65)] {
            let said = wrong(&format!("version = 1\n[index.\"{name}\"]\n"));
            assert!(said.contains("cannot be the name of an index"), "{said}");
        }
        assert!(wrong("version = 1\nx\u{1b}[2Jy = 1").lines().all(|it| !it.contains('\u{1b}')));
    }

    #[test]
    fn a_document_as_deep_as_it_can_be_is_refused_and_nothing_else() {
        let key = vec!["a"; 80].join(".");
        let deep = format!("{}1{}", format!("{key} = {{").repeat(79), "}".repeat(79));
        let arrays = format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000));
        for text in [deep, arrays, "a.".repeat(200_000), "[a.".repeat(100_000)] {
            assert!(parse(&text).is_err());
        }
    }
    #[test]
    fn a_policy_says_what_published_scorers_must_be_and_where_it_is_written() {
        let configuration = parse(
            r#"version = 1
            [policy]
            signers = ["SIGNER"]
            registries = ["registry.example.com", "localhost:5000"]
            deny-grants = ["wasi"]
            max-size = "2MiB"
            "#,
        );
        let policy = configuration.unwrap().policy.unwrap();
        assert_eq!(policy.signers, Some(vec![SIGNER.to_owned()]));
        assert_eq!(policy.registries.as_ref().map(Vec::len), Some(2));
        assert_eq!(policy.max_bytes, Some(2 << 20));
        assert_eq!(policy.denied_grants, [scorebox::sandbox::Grant::Wasi].into_iter().collect());
        assert_eq!(policy.location.unwrap().to_string(), "config.toml:2:13");
        let wrong = wrong(
            r#"version = 1
            [policy]
            signer = ["SIGNER"]
            signers = ["RWshort", 7]
            registries = ["https://registry.example.com"]
            deny-grants = ["network"]
            max-size = -1
            "#,
        );
        assert_eq!(wrong.lines().count(), 6, "{wrong}");
        for (line, words) in
            wrong.lines().zip(["config.toml:3:", "4:24", "4:35", "5:27", "6:28", "7:24"])
        {
            assert!(line.contains(words), "{line}");
        }
    }
}
