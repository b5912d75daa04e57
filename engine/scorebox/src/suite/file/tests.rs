//! Suites of one file and of several: what they resolve to, and the locations of their mistakes.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{places_tests::Elsewhere, *};
use crate::suite::OnDisk;

/// A folder with these files.
pub(super) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// What the first of these files resolves to; `HOME` is the only variable.
fn suite(files: &[(&str, &str)]) -> Result<Suite, Vec<String>> {
    let folder = folder(files);
    let home = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
    match read(&folder.path().join(files[0].0), &OnDisk, &home) {
        Ok(suite) => Ok(suite),
        Err(SuiteError::Invalid { mistakes, .. }) => {
            let base = format!("{}/", folder.path().display());
            Err(mistakes.iter().map(|mistake| mistake.to_string().replace(&base, "")).collect())
        }
        Err(other) => Err(vec![other.to_string()]),
    }
}

pub(super) fn plan(suite: &Suite) -> serde_json::Value {
    serde_json::from_str(&suite.to_json()).unwrap()
}

#[test]
fn all_mistakes_of_a_file_are_found_at_once() {
    let text = r#"version = 1
nam = "x"
[defaults]
limits = { fuel = -1 }
[scorers.a]
use = 3
grants = ["wasi", "network"]
limits = { timeout = "5 parsecs", memory = true }
config = { x = nan, y = ["${NOWHERE}"] }
[scorers."b c"]
"#;
    assert_eq!(
        suite(&[("s.toml", text)]).unwrap_err(),
        [
            "s.toml:2:1: unknown key `nam`; the keys of a suite are `version`, `name`, `seed`, `include`, `defaults`, `judges`, `policy`, `target`, `scorers`",
            "s.toml:4:19: `fuel` must be a whole number of 0 or more",
            "s.toml:6:7: `use` must be a text; found a number",
            "s.toml:7:19: `network` is not a grant; use `wasi`, `workspace` or `judge`",
            "s.toml:8:22: `5 parsecs` is not a time such as `500ms`, `5s` or `2min`",
            "s.toml:8:44: `memory` must be a whole number; found a boolean",
            "s.toml:9:16: `config.x` has a number that JSON does not have: nan",
            "s.toml:9:26: the variable `NOWHERE` has no value",
            "s.toml:10:10: `b c` cannot be a scorer's name",
        ]
    );
}

#[test]
fn what_is_not_toml_is_found_together_with_other_mistakes() {
    let mistakes = suite(&[("s.toml", "[scorers.a]\nuse = \nconfg = 1\n")]).unwrap_err();
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    assert!(mistakes[0].starts_with("s.toml:2:"), "{mistakes:?}");
    assert!(mistakes[1].starts_with("s.toml:3:1: unknown key `confg`"), "{mistakes:?}");
}

#[test]
fn what_stands_below_a_table_that_is_not_toml_is_not_taken_for_part_of_another() {
    let text = "[scorers.a\nuse = \"length\"\nconfg = 1\n[scorers.b]\nuze = \"length\"\n";
    let mistakes = suite(&[("s.toml", text)]).unwrap_err();
    assert_eq!(mistakes.len(), 2, "{mistakes:?}");
    assert!(mistakes[0].starts_with("s.toml:1:11: unclosed table"), "{mistakes:?}");
    assert!(mistakes[1].starts_with("s.toml:5:1: unknown key `uze`"), "{mistakes:?}");
}

#[test]
fn json_of_the_same_shape_is_the_same_suite() {
    let toml = "name = \"x\"\n[scorers.a]\nuse = \"length\"\nconfig = { max = 3, of = [1.5, true] }\n\
                [scorers.b]\nlimits = { memory = \"1MiB\", fuel = 7 }\n";
    let json = r#"{"name": "x", "scorers": {
        "a": {"use": "length", "config": {"of": [1.5, true], "max": 3}},
        "b": {"limits": {"memory": 1048576, "fuel": 7}}}}"#;
    let toml = suite(&[("s.toml", toml)]).unwrap();
    for name in ["s.json", "s.suite"] {
        let json = suite(&[(name, json)]).unwrap();
        assert_eq!(plan(&json), plan(&toml));
        assert_eq!(json.digest(), toml.digest());
    }
}

#[test]
fn mistakes_in_json_have_their_locations() {
    let text = "{\"scorers\": {\n  \"a\": {\"use\": 1},\n  \"a\": {\"grants\": [\"wasy\"]}\n}}";
    assert_eq!(
        suite(&[("s.json", text)]).unwrap_err(),
        ["s.json:2:16: `use` must be a text; found a number", "s.json:3:3: duplicate key `a`",]
    );
    let mistakes = suite(&[("s.json", "{\"scorers\": {\n  \"a\": nope }}")]).unwrap_err();
    assert!(mistakes[0].starts_with("s.json:2:"), "{mistakes:?}");
}

#[test]
fn what_is_there_twice_in_toml_is_named_once() {
    let key = "[scorers.a]\nuse = \"length\"\nuse = \"contains\"\n";
    assert_eq!(suite(&[("s.toml", key)]).unwrap_err(), ["s.toml:3:1: duplicate key `use`"]);
    let table = "[scorers.a]\nuse = \"length\"\n[scorers.a]\nuse = \"contains\"\n";
    let of_table = suite(&[("s.toml", table)]).unwrap_err();
    assert_eq!(of_table, ["s.toml:3:10: duplicate key `a`"]);
    let below = format!("{table}[scorers.b]\nuse = \"length\"\nuse = \"contains\"\n");
    let of_both = suite(&[("s.toml", &below)]).unwrap_err();
    assert_eq!(of_both, ["s.toml:3:10: duplicate key `a`", "s.toml:7:1: duplicate key `use`"]);
}

#[test]
fn another_version_is_said_before_anything_else() {
    let mistakes = suite(&[("s.toml", "new = 1\nversion = 2\n[scorers.a\n")]).unwrap_err();
    assert_eq!(
        mistakes,
        ["s.toml:2:11: version 2 of the suite format; this scorebox reads version 1"]
    );
}

#[test]
fn a_file_is_laid_over_the_files_that_it_includes() {
    let main = "include = [\"parts/base.toml\"]\n[defaults]\nlimits = { timeout = \"1s\", fuel = 5 }\n\
                [scorers.own]\nuse = \"./own.wasm\"\n[scorers.brief]\nlimits = { memory = \"2MiB\" }\n";
    let base = "name = \"base\"\n[defaults]\nlimits = { fuel = 9 }\n[scorers.brief]\n\
                use = \"./length.wasm\"\nconfig = { max = 3 }\nlimits = { log = 10 }\n";
    let suite = suite(&[("s.toml", main), ("parts/base.toml", base)]).unwrap();
    assert_eq!(suite.name, "s", "the name of the file that was named");
    let ids: Vec<&str> = suite.scorers.iter().map(|scorer| scorer.id.as_str()).collect();
    assert_eq!(ids, ["brief", "own"], "what is included comes first");
    let [brief, own] = &suite.scorers[..] else { panic!("{suite:?}") };
    let file = |scorer: &SuiteScorer| scorer.uses.to_string();
    assert!(file(brief).ends_with("/parts/./length.wasm"), "{brief:?}");
    assert!(!file(own).contains("parts"), "{own:?}");
    assert_eq!(brief.config.as_str(), r#"{"max":3}"#);
    let limits = |scorer: &SuiteScorer| {
        let Limits { fuel, memory_bytes, timeout, log_bytes, .. } = &scorer.limits;
        (*fuel, *memory_bytes, timeout.as_millis(), *log_bytes)
    };
    let usual = Limits::default();
    assert_eq!(limits(brief), (9, 2 << 20, 1000, 10));
    assert_eq!(limits(own), (5, usual.memory_bytes, 1000, usual.log_bytes));
}

#[test]
fn mistakes_of_included_files_are_in_those_files() {
    let files = [
        ("s.toml", "include = [\"a.toml\", \"none.toml\"]\n[scorers.x]\nus = \"\"\n"),
        ("a.toml", "[scorers.y]\nconfig = 1\n"),
    ];
    let mistakes = suite(&files).unwrap_err();
    assert_eq!(mistakes.len(), 3, "{mistakes:?}");
    assert_eq!(mistakes[0], "a.toml:2:10: `config` must be a table; found a number");
    assert_eq!(mistakes[1], "s.toml:1:22: cannot read `none.toml`: no such file");
    assert!(mistakes[2].starts_with("s.toml:3:1: unknown key `us`"), "{mistakes:?}");
}

#[test]
fn files_that_include_each_other_are_refused() {
    let files = [
        ("s.toml", "include = [\"a.toml\"]\n[scorers.x]\n"),
        ("a.toml", "include = [\"b.toml\"]\n"),
        ("b.toml", "include = [\"s.toml\"]\n"),
    ];
    let circle = "`s.toml` includes `a.toml` includes `b.toml` includes `s.toml`";
    let mistakes = suite(&files).unwrap_err();
    assert_eq!(mistakes, [format!("b.toml:1:12: `s.toml` includes itself: {circle}")]);
}

#[test]
fn a_suite_of_too_many_files_is_refused() {
    // Each file includes the next one twice.
    let names: Vec<String> = (0..12).map(|number| format!("f{number}.toml")).collect();
    let texts: Vec<String> =
        (1..=12).map(|next| format!("include = [\"f{next}.toml\", \"f{next}.toml\"]\n")).collect();
    let mut files: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    files.push(("f12.toml", "[scorers.contains]\n"));
    let mistakes = suite(&files).unwrap_err();
    assert!(mistakes[0].ends_with("a suite is made of 100 files at most"), "{mistakes:?}");
}

#[test]
fn the_environment_is_read_where_a_variable_is_written_and_nowhere_else() {
    let text = "[scorers.a]\nuse = \"${HOME}/a.wasm\"\n\
                config = { file = \"${HOME}:${HOME}\", price = \"$5 ${\", kept = \"$${HOME}\", n = \"\\\\d{2}${2}\" }\n";
    let suite = suite(&[("s.toml", text)]).unwrap();
    let plan = plan(&suite);
    assert_eq!(plan["scorers"][0]["use"], "/home/me/a.wasm");
    let config = serde_json::json!({
        "file": "/home/me:/home/me", "price": "$5 ${", "kept": "${HOME}", "n": "\\d{2}${2}"
    });
    assert_eq!(plan["scorers"][0]["config"], config);
    let asked = |name: &str| -> Option<String> { panic!("asked for {name}") };
    let plain =
        "[scorers.HOME]\nuse = \"contains\"\nconfig = { value = \"$HOME {HOME} $${HOME}\" }\n";
    assert!(parse_apart(Path::new("suite"), plain, &OnDisk, &asked).is_ok());
}

#[test]
fn a_jury_stands_in_its_entry_or_in_its_judge_and_not_in_both() {
    let seated = |entry: &str| {
        let text = format!(
            "[judges.strict]\nprovider = \"recorded\"\nmodel = \"m\"\nfile = \"a\"\n{entry}"
        );
        suite(&[("suite.toml", text.as_str())]).map(|suite| suite.scorers[0].judge.clone())
    };
    let of_entry = "[scorers.a]\njudge = \"strict\"\njury = { samples = 3 }";
    let of_judge = "[scorers.a]\njudge = { use = \"strict\", jury = { samples = 3 } }";
    let choice = seated(of_entry).unwrap();
    assert_eq!(choice.jury.as_ref().map(|jury| jury.jurors()), Some(3));
    assert_eq!(choice, seated(of_judge).unwrap());
    let of_defaults = "[defaults]\njury = { samples = 3 }\n[scorers.a]\njudge = \"strict\"";
    assert_eq!(choice, seated(of_defaults).unwrap());
    for own in [of_judge, of_entry] {
        let over_defaults = format!("[defaults]\njury = {{ samples = 5 }}\n{own}");
        assert_eq!(choice, seated(&over_defaults).unwrap(), "what a scorer says wins");
    }
    let twice = seated(&format!("{of_judge}\njury = {{ samples = 2 }}")).unwrap_err();
    assert_eq!(twice, ["suite.toml:5:1: the jury is there twice: as `jury` and in `judge`"]);
    let unknown = seated("[scorers.a]\njury = { judges = [\"strict\", \"kind\"] }").unwrap_err();
    assert!(unknown[0].contains("kind"), "{unknown:?}");
}

#[test]
fn a_jury_in_a_judge_is_laid_over_the_jury_of_an_included_file() {
    let judge = "[judges.default]\nprovider = \"recorded\"\nmodel = \"m\"\nfile = \"a\"\n";
    let base = format!("{judge}[scorers.a]\njury = {{ samples = 5 }}\n");
    let samples = |entry: &str| {
        let main = format!("include = [\"base.toml\"]\n[scorers.a]\n{entry}");
        let suite = suite(&[("s.toml", &main), ("base.toml", &base)]).unwrap();
        suite.scorers[0].judge.jury.as_ref().map(|jury| jury.samples)
    };
    assert_eq!(samples("judge = { jury = { samples = 3 } }"), Some(3));
    assert_eq!(samples("judge = { model = \"other\" }"), Some(5));
}

/// The judge `default`, with this model.
fn default_judge(model: &str) -> String {
    format!("[judges.default]\nprovider = \"recorded\"\nfile = \"a.jsonl\"\nmodel = \"{model}\"\n")
}

#[test]
fn what_two_included_files_describe_differently_is_refused() {
    let one = format!(
        "seed = \"1\"\n[target]\nuse = \"bleu\"\n{}[scorers.length]\nconfig = {{ max = 1 }}\nlimits = {{ fuel = 5 }}\nthreshold = 0.5\n[scorers.a]\n",
        default_judge("strong")
    );
    let other = format!(
        "seed = \"2\"\n[target]\nuse = \"./x.wasm\"\n{}[scorers.length]\nconfig = {{ max = 9 }}\nlimits = {{ fuel = 6 }}\n[scorers.b]\n",
        default_judge("weak")
    );
    let main = "include = [\"one.toml\", \"other.toml\"]\n";
    let wrong = suite(&[("s.toml", main), ("one.toml", &one), ("other.toml", &other)]).unwrap_err();
    insta::assert_snapshot!(wrong.join("\n"), @"
    other.toml:1:1: `seed` differs from what `one.toml:1:1` says; `s.toml` includes both, and does not say which holds
    other.toml:2:2: `target` differs in `use` from what `one.toml:2:2` says; `s.toml` includes both, and does not say which holds
    other.toml:4:9: the judge `default` differs from what `one.toml:4:9` says; `s.toml` includes both, and does not say which holds
    other.toml:8:10: the scorer `length` differs in `config`, `limits`, `threshold` from what `one.toml:8:10` says; `s.toml` includes both, and does not say which holds
    ");
    // They differ only in keys that the including file does not set.
    let some = format!("{main}[scorers.length]\nconfig = {{ max = 3 }}\nlimits = {{ fuel = 7 }}\n");
    let files = [("s.toml", some.as_str()), ("one.toml", &one), ("other.toml", &other)];
    let wrong = suite(&files).unwrap_err();
    assert!(wrong[3].contains("differs in `threshold` from"), "{wrong:?}");

    let all = format!(
        "seed = \"3\"\n{some}threshold = 0.7\n[target]\nuse = \"rouge\"\n{}",
        default_judge("own")
    );
    let files = [("s.toml", all.as_str()), ("one.toml", &one), ("other.toml", &other)];
    let suite = suite(&files).unwrap();
    let uses: Vec<String> = suite.scorers.iter().map(|scorer| scorer.uses.to_string()).collect();
    assert_eq!(uses, ["rouge", "length", "a", "b"]);
    assert_eq!(suite.scorers[1].config.as_str(), r#"{"max":3}"#);
    assert_eq!((suite.scorers[1].limits.fuel, suite.seed.as_deref()), (7, Some("3")));
    assert_eq!(suite.judges["default"].settings.model.as_deref(), Some("own"));
}

#[test]
fn what_the_defaults_of_two_included_files_make_different_is_refused() {
    let base = "[scorers.length]\n";
    let of = |weight: &str| format!("include = [\"base.toml\"]\n[defaults]\nweight = {weight}\n");
    let read = |other: &str| {
        let main = "include = [\"one.toml\", \"other.toml\"]\n";
        suite(&[
            ("s.toml", main),
            ("base.toml", base),
            ("one.toml", &of("2")),
            ("other.toml", &of(other)),
        ])
    };
    assert_eq!(read("2").unwrap().scorers[0].policy.weight, Some(2.0));
    let wrong = read("3").unwrap_err();
    assert!(wrong[0].contains("the scorer `length` differs in `weight` from"), "{wrong:?}");
}

#[test]
fn two_included_files_may_include_the_same_file() {
    let base = format!(
        "seed = \"1\"\n[target]\nuse = \"./t.wasm\"\n{}[scorers.own]\nuse = \"./x.wasm\"\nwhen = \"true\"\nnodes = [\"n\"]\nmeta = [\"own\"]\n",
        default_judge("m")
    );
    let files = [
        ("s.toml", "include = [\"one/a.toml\", \"other/b.toml\"]\n"),
        ("one/a.toml", "include = [\"../base.toml\"]\n[scorers.a]\n"),
        ("other/b.toml", "include = [\"../base.toml\"]\n[scorers.b]\n"),
        ("base.toml", &base),
    ];
    let read = suite(&files).unwrap();
    let ids: Vec<&str> = read.scorers.iter().map(|scorer| scorer.id.as_str()).collect();
    assert_eq!(ids, ["target", "target.own", "target.own.own", "target.a", "target.b"]);
    assert_eq!(read.seed.as_deref(), Some("1"), "a file without a seed has that which it includes");
    // Whether the files are on a disk does not matter either.
    let by_other_ways =
        [files[0], files[1], files[2], ("one/../base.toml", &base), ("other/../base.toml", &base)];
    let elsewhere = Elsewhere(&by_other_ways, Default::default());
    assert!(Suite::read_from(Path::new("s.toml"), &elsewhere, &|_| None).is_ok());
}

#[test]
fn what_a_file_says_wins_over_what_it_includes_wherever_it_says_it() {
    let main = r#"{"seed": "own", "target": {"use": "rouge"}, "include": ["base.toml"]}"#;
    let base = "seed = \"base\"\n[target]\nuse = \"bleu\"\nconfig = { n = 1 }\n[scorers.a]\n";
    let suite = suite(&[("s.json", main), ("base.toml", base)]).unwrap();
    assert_eq!(suite.seed.as_deref(), Some("own"));
    assert_eq!(suite.scorers[0].uses.to_string(), "rouge");
    assert_eq!(suite.scorers[0].config.as_str(), "{}", "a target is replaced as a whole");
}

#[test]
fn a_target_and_a_scorer_of_its_name_are_a_mistake_whichever_files_say_them() {
    let said = |target: &str| {
        format!(
            "two scorers are called `target`: this one and that of `[target]` ({target}); give this one another name, or \
             leave out `[target]`"
        )
    };
    let mistake = |file: &str, text: &str, included: &str| {
        suite(&[(file, text), ("base.toml", included)]).unwrap_err().join("\n")
    };
    let (target, scorer) = ("[target]\nuse = \"bleu\"\n", "[scorers.target]\nuse = \"rouge\"\n");
    let includes = |text: &str| format!("include = [\"base.toml\"]\n{text}");
    assert_eq!(
        mistake("s.toml", &includes(target), scorer),
        format!("base.toml:1:10: {}", said("s.toml:2:2"))
    );
    assert_eq!(
        mistake("s.toml", &includes(scorer), target),
        format!("s.toml:2:10: {}", said("base.toml:1:2"))
    );
    let json = r#"{"include": ["base.toml"], "target": {"use": "bleu"}, "scorers": {"target": {"use": "rouge"}}}"#;
    assert_eq!(mistake("s.json", json, ""), format!("s.json:1:67: {}", said("s.json:1:28")));
}

/// A key in minisign's format.
const SIGNER: &str = "RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI";

#[test]
fn what_published_scorers_must_be_is_gathered_from_all_files_of_a_suite() {
    let policy = format!(
        "signers = [\"{SIGNER}\"]\nregistries = [\"a.test\"]\ndeny-grants = [\"wasi\", \"judge\"]\nmax-size = \"1MiB\"\n"
    );
    let suite = suite(&[
        ("s.toml", "include = [\"base.toml\"]\n[policy]\nmax-size = 4096\n[scorers.a]\n"),
        ("base.toml", &format!("[policy]\n{policy}")),
    ])
    .unwrap();
    let [base, own] = &suite.policies[..] else { panic!("{:?}", suite.policies) };
    assert_eq!(base.signers.as_deref(), Some(&[SIGNER.to_owned()][..]));
    assert_eq!(base.registries.as_deref(), Some(&["a.test".to_owned()][..]));
    assert_eq!(base.denied_grants, [Grant::Wasi, Grant::Judge].into_iter().collect());
    assert_eq!((base.max_bytes, own.max_bytes), (Some(1 << 20), Some(4096)));
    assert!(base.location.as_ref().unwrap().to_string().ends_with("base.toml:1:2"));
    assert_eq!((own.signers.clone(), own.registries.clone()), (None, None));
}

#[test]
fn what_is_wrong_with_a_policy_has_its_location() {
    let text = format!(
        "[policy]\nsigner = []\nsigners = [\"{SIGNER}\", \"RWshort\"]\nregistries = \"a.test\"\n\
         deny-grants = [\"network\"]\nmax-size = \"large\"\n"
    );
    insta::assert_snapshot!(suite(&[("s.toml", &text)]).unwrap_err().join("\n"), @"
    s.toml:2:1: unknown key `signer`; the keys of `policy` are `signers`, `registries`, `deny-grants`, `max-size`
    s.toml:3:72: `RWshort` is not a public key of minisign, which has 56 characters and begins with `RW`
    s.toml:4:14: `registries` must be a list; found a text
    s.toml:5:16: `network` is not a grant; use `wasi`, `workspace` or `judge`
    s.toml:6:12: `large` is not a size such as 1048576, `64MiB` or `1GB`
    ");
}

#[test]
fn a_registry_of_a_policy_is_a_host_because_nothing_else_would_be_one() {
    let policies = ["https://a.test", "*.test", "a.test/team", "", "localhost:5000", "[::1]:5000"];
    let text = format!("[policy]\nregistries = {policies:?}\n[scorers.exact-match]\n");
    let wrong = suite(&[("s.toml", &text)]).unwrap_err();
    assert_eq!(wrong.len(), 4, "{wrong:?}");
    for (mistake, written) in wrong.iter().zip(policies) {
        let reason = format!("`{written}` is not the host of a registry, such as");
        assert!(mistake.contains(&reason), "{mistake}");
    }
}

#[test]
fn a_policy_is_read_where_there_are_no_scorers_yet_or_others_are_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.toml");
    let policies = |text: &str| {
        fs::write(&path, text).unwrap();
        Suite::policies_of(&path, &|_| None).map(|policies| policies.len())
    };
    assert_eq!(policies("").unwrap(), 0);
    assert_eq!(policies("[policy]\nmax-size = 1\n").unwrap(), 1);
    assert_eq!(policies("[policy]\nmax-size = 1\n[scorers.a]\nseverity = 7\n").unwrap(), 1);
    for unclear in
        ["[policy]\nmax-size = -1\n", "[policy]\nmax-size =", "include = [\"gone.toml\"]\n"]
    {
        assert!(policies(unclear).is_err(), "{unclear}");
    }
}

#[test]
fn the_values_of_variables_have_room_for_16_mib_in_all_files_of_a_suite_together() {
    let value = "x".repeat(1 << 20);
    let long = |name: &str| (name == "LONG").then(|| value.clone());
    let named = |times: usize| {
        let name = "${LONG}".repeat(times);
        format!("[scorers.contains]\nname = \"{name}\"\nconfig.value = \"${{LONG}}\"\n")
    };
    let read_all = |times: [usize; 2]| {
        let base = named(times[0]).replace("contains", "exact-match").replace("config.value", "#");
        let suite = format!("include = ['base.toml']\n{}", named(times[1]));
        let folder = folder(&[("s.toml", &suite), ("base.toml", &base)]);
        match read(&folder.path().join("s.toml"), &OnDisk, &long) {
            Ok(_) => Vec::new(),
            Err(SuiteError::Invalid { mistakes, clear }) => {
                assert!(clear.scorers.is_empty(), "what is cut off is not loaded");
                mistakes.into_iter().map(|mistake| mistake.reason).collect()
            }
            Err(other) => vec![other.to_string()],
        }
    };
    assert_eq!(read_all([8, 7]), [""; 0]);
    let reason =
        "the values of variables have more than 16 MiB together, the most that a suite may have";
    assert_eq!(read_all([8, 8]), [reason]);
    assert_eq!(read_all([17, 100]), [reason]);
    // Without a limit these are 100 TiB.
    assert_eq!(read_all([1, 100 << 10]), [reason]);
}
