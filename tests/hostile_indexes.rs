//! Indexes that are not valid: unsigned, older, changed, endless, contradicting each other, and servers that redirect
//! elsewhere.

use std::fs;

use insta::assert_snapshot;
use scorebox::digest::Digest;
use scorebox_community::Index;
use serde_json::Value;

use crate::{
    collector::{Collector, SELF_SIGNED},
    index_shelf::{OTHER, Shelf, TEAM, TEAM_SIGNER, entry, names},
    oci_registry::{Door, OciRegistry, with_blobs_elsewhere},
};

#[test]
fn an_index_that_its_signer_did_not_sign_is_left_out_and_the_others_are_searched() {
    let shelf = Shelf::new();
    shelf.configure(&[("good", "good.json"), ("team", "team.json")]);
    shelf.put_index("good.json", 1, &[entry("registry.test/team/good:1.0.0")]);
    let index = Index::new("team", 1, vec![entry("registry.test/team/evil:1.0.0")]).unwrap().text();
    let refused = || {
        let output = shelf.search("xylophone").exits_with(2);
        assert_eq!(names(&output), ["registry.test/team/good:1.0.0"]);
        output.stderr
    };
    assert_snapshot!(refused(), @"
    error: cannot read the index `team`: http://HOST/team.json: there is nothing there
    hint: check its `url` in the configuration
    ");
    shelf.folder.write("web/team.json", &index);
    assert_snapshot!(refused(), @"
    error: cannot read the index `team`: http://HOST/team.json: it is not signed: there is no signature beside it
    hint: nothing of it was used; its publisher signs it with `minisign -S`, and puts the signature beside it
    ");
    shelf.put("team.json", &index, OTHER);
    assert_snapshot!(refused(), @"
    error: cannot read the index `team`: http://HOST/team.json: another key than RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI signed it
    hint: nothing of it was used; ask its publisher whether the key has changed
    ");
    shelf.put("team.json", "another document", TEAM);
    shelf.folder.write("web/team.json", &index);
    assert_snapshot!(refused(), @"
    error: cannot read the index `team`: http://HOST/team.json: its signature is not one of this document by RWThsDRumhUUfC5VoJHIalKvBThGlM4RUCxu1781EmXXoMnlTi2mdWlI
    hint: nothing of it was used: it was changed after it was signed, or it is being replaced at this moment
    ");
    shelf.folder.write("web/team.json.minisig", "no signature\n");
    assert_snapshot!(refused(), @"
    error: cannot read the index `team`: http://HOST/team.json: its signature is not valid
    hint: nothing of it was used: it was changed after it was signed, or it is being replaced at this moment
    ");
    shelf.put("team.json", "<html>Not an index</html>", TEAM);
    assert_snapshot!(refused(), @"error: cannot read the index `team`: http://HOST/team.json: what is signed is not an index: expected value at line 1 column 1");
    shelf.put("team.json", &index, TEAM);
    assert_eq!(names(&shelf.search("xylophone").exits_with(0)).len(), 2);
}

#[test]
fn an_older_index_than_was_seen_before_is_not_used() {
    let shelf = Shelf::new();
    let old = [entry("registry.test/team/evil:1.0.0")];
    let new = [entry("registry.test/team/good:1.0.0")];
    shelf.put_index("team.json", 1, &old);
    assert_eq!(names(&shelf.search("xylophone")), ["registry.test/team/evil:1.0.0"]);
    shelf.put_index("team.json", 2, &new);
    let uses_the_new_one = || {
        let output = shelf.search("xylophone").exits_with(0);
        assert_eq!(names(&output), ["registry.test/team/good:1.0.0"]);
        without_times(&output.stderr)
    };
    assert_eq!(uses_the_new_one(), "");
    shelf.put_index("team.json", 1, &old);
    assert_snapshot!(uses_the_new_one(), @"
    warning: the index `team` at http://HOST/team.json is not used: it is older than the copy: its serial number is 1, and 2 was seen before; this is its copy of [date] [time] UTC
    hint: someone may be withholding newer entries; if its publisher confirms that this is intended, delete data/indexes/[digest].index
    ");
    shelf.put_index("team.json", 2, &old);
    assert_snapshot!(uses_the_new_one(), @"
    warning: the index `team` at http://HOST/team.json is not used: its serial number 2 was seen before with other content; this is its copy of [date] [time] UTC
    hint: someone may be withholding newer entries; if its publisher confirms that this is intended, delete data/indexes/[digest].index
    ");
    let other = Index::new("other", 3, old.to_vec()).unwrap();
    shelf.put("team.json", &other.text(), TEAM);
    assert_snapshot!(uses_the_new_one(), @"
    warning: the index `team` at http://HOST/team.json is not used: it calls itself `other`; this place had the index `team` before; this is its copy of [date] [time] UTC
    hint: someone may be withholding newer entries; if its publisher confirms that this is intended, delete data/indexes/[digest].index
    ");
    // Its user trusts the publisher without a signature.
    shelf.put_index("team.json", 1, &old);
    fs::remove_dir_all(shelf.folder.path("data/indexes")).unwrap();
    let again = shelf.search("xylophone").exits_with(0);
    assert_eq!((names(&again).len(), again.stderr.as_str()), (1, ""));
    assert_eq!(names(&again), ["registry.test/team/evil:1.0.0"]);
}

/// The text with `[time]` in place of times.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| word.len() == 8 && word.split(':').count() == 3;
    let is_date = |word: &str| word.len() == 10 && word.split('-').count() == 3;
    let words = text.split(' ').map(|word| match word {
        word if is_time(word) => "[time]",
        word if is_date(word) => "[date]",
        word => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn without_a_network_indexes_are_searched_as_they_were_fetched_last() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 1, &[entry("registry.test/team/good:1.0.0")]);
    let before = shelf.search("xylophone --offline").exits_with(2);
    assert_snapshot!(before.stderr, @"
    no scorer that could be searched has all of these words
    error: the index `team` was not fetched before
    hint: search once without --offline
    ");
    assert_eq!(shelf.server.asked(), 0);
    shelf.search("xylophone").exits_with(0);
    assert_eq!(shelf.server.asked(), 2);
    let offline = shelf.search("xylophone --offline").exits_with(0);
    assert_eq!(names(&offline), ["registry.test/team/good:1.0.0"]);
    assert_eq!((offline.stderr.as_str(), shelf.server.asked()), ("", 2));
    let Shelf { folder, server } = shelf;
    let host = server.host();
    drop(server);
    let line = "export HOME=home SCOREBOX_DATA_DIR=data; scorebox search xylophone";
    let down = folder.sh(line).exits_with(0);
    assert_eq!(names(&down), ["registry.test/team/good:1.0.0"]);
    assert_snapshot!(without_times(&down.stderr.replace(&host, "HOST")), @"warning: cannot read the index `team` (http://HOST/team.json: cannot reach it: Connection refused (os error 111)); this is its copy of [date] [time] UTC");
    fs::remove_dir_all(folder.path("data")).unwrap();
    let down = folder.sh(line).exits_with(2);
    assert_snapshot!(down.stderr.replace(&host, "HOST"), @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: http://HOST/team.json: cannot reach it: Connection refused (os error 111)
    hint: check its `url` in the configuration, and the network
    ");
}

#[test]
fn a_changed_copy_is_not_searched() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 7, &[entry("registry.test/team/good:1.0.0")]);
    shelf.search("xylophone").exits_with(0);
    let file = fs::read_dir(shelf.folder.path("data/indexes")).unwrap().next().unwrap().unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    fs::write(file.path(), text.replace("/good:", "/evil:")).unwrap();
    let offline = shelf.search("xylophone --offline").exits_with(2);
    assert_eq!(offline.stdout, "");
    assert!(offline.stderr.contains("/team.json: the copy of it in `data/indexes/"), "{offline}");
}

#[test]
fn where_nothing_can_be_kept_a_warning_says_what_that_means() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 1, &[entry("registry.test/team/good:1.0.0")]);
    shelf.folder.write("data", "a file in the place of the folder");
    let output = shelf.search("xylophone").exits_with(0);
    assert_eq!(names(&output), ["registry.test/team/good:1.0.0"]);
    assert_snapshot!(output.stderr, @"warning: cannot keep the index `team` (Not a directory (os error 20)): an older one would not be noticed");
}

#[test]
fn nothing_that_a_terminal_acts_on_is_shown_of_an_index() {
    let shelf = Shelf::new();
    let evil = "\u{1b}[2J\u{9b}31m\u{202e}\u{7}\r\nerror: xylophone";
    let entry = entry("registry.test/team/good:1.0.0")
        .described(evil, evil)
        .published_with(Some(evil), Some(evil))
        .using(vec![evil.to_owned()], vec![evil.to_owned()], vec![evil.to_owned()]);
    let mut document: Value =
        serde_json::from_str(&Index::new("team", 1, vec![entry]).unwrap().text()).unwrap();
    document["scorers"][0]["contract"] = evil.into();
    shelf.put("team.json", &document.to_string(), TEAM);
    let acts = |text: &str| {
        text.chars().any(|it| it != '\n' && scorebox::terminal::acts(it))
            || text.contains("\nerror:")
    };
    for format in ["table", "json", "jsonl"] {
        let output = shelf.search(&format!("xylophone --format {format}")).exits_with(0);
        assert!(!acts(&output.stdout) && !acts(&output.stderr), "{output}");
        assert!(output.stdout.contains("good"), "{output}");
    }
    // The names of an index, a scorer or a registry must not contain any of this; otherwise the index is refused.
    for pointer in [
        "/name",
        "/scorers/0/address",
        "/scorers/0/scorerId",
        "/scorers/0/signer",
        "/scorers/0/component",
    ] {
        let mut other = document.clone();
        *other.pointer_mut(pointer).unwrap() = evil.into();
        shelf.put("team.json", &other.to_string(), TEAM);
        let output = shelf.search("xylophone").exits_with(2);
        let (_, said) = output.stderr.split_once("\nerror:").unwrap();
        assert!(!acts(said) && output.stdout.is_empty(), "{pointer}: {output}");
    }
}

#[test]
fn an_index_with_more_scorers_than_one_may_have_is_refused() {
    let shelf = Shelf::new();
    let entry = serde_json::to_string(
        &serde_json::from_str::<Value>(
            &Index::new("team", 1, vec![entry("registry.test/team/good:1.0.0")]).unwrap().text(),
        )
        .unwrap()["scorers"][0],
    )
    .unwrap();
    let document = |count: u32| {
        let entries = (0..count).map(|number| entry.replace("/good:", &format!("/good{number}:")));
        let entries = entries.collect::<Vec<_>>().join(",");
        format!("{{\"version\":1,\"name\":\"team\",\"serial\":1,\"scorers\":[{entries}]}}")
    };
    shelf.put("team.json", &document(50_001), TEAM);
    assert_snapshot!(shelf.search("xylophone").exits_with(2).stderr, @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: http://HOST/team.json: what is signed is not an index: it has more than 50000 scorers at line 1 column 17889297
    ");
    // A million entries are more than the limit.
    let million = "{\"address\": \"registry.test/good:1.0.0\"}\n".repeat(1_000_000);
    shelf.put("team.json", &million, TEAM);
    assert_snapshot!(shelf.search("xylophone").exits_with(2).stderr, @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: http://HOST/team.json: it sent more than 33554432 bytes as an index
    ");
}

#[test]
fn a_scorer_that_is_twice_in_an_index_makes_it_invalid() {
    let shelf = Shelf::new();
    let one = Index::new("team", 1, vec![entry("registry.test/team/good:1.0.0")]).unwrap();
    let mut document: Value = serde_json::from_str(&one.text()).unwrap();
    let again = document["scorers"][0].clone();
    document["scorers"].as_array_mut().unwrap().push(again);
    shelf.put("team.json", &document.to_string(), TEAM);
    assert_snapshot!(shelf.search("xylophone").exits_with(2).stderr, @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: http://HOST/team.json: what is signed is not an index: scorer 2: `registry.test/team/good:1.0.0` is in it twice at line 1 column 732
    ");
}

#[test]
fn two_indexes_that_name_one_address_agree_or_a_warning_says_that_they_do_not() {
    let shelf = Shelf::new();
    shelf.configure(&[("one", "one.json"), ("two", "two.json")]);
    let good = entry("registry.test/team/good:1.0.0");
    shelf.put_index("one.json", 1, std::slice::from_ref(&good));
    shelf.put_index("two.json", 1, std::slice::from_ref(&good));
    assert_snapshot!(shelf.search("xylophone"), @"
    scorer                         index     reads   needs  signed by      what it scores
    registry.test/team/good:1.0.0  one, two  output  -      …oMnlTi2mdWlI  good: The xylophone of good.
    [exit code 0]
    ");
    let renamed = good.clone().described("Good", "The xylophone, in other words.");
    shelf.put_index("two.json", 2, &[renamed]);
    assert_snapshot!(shelf.search("xylophone"), @"
    scorer                         index  reads   needs  signed by      what it scores
    registry.test/team/good:1.0.0  one    output  -      …oMnlTi2mdWlI  good: The xylophone of good.
    registry.test/team/good:1.0.0  two    output  -      …oMnlTi2mdWlI  Good: The xylophone, in other words.
    [stderr]
    warning: the indexes `one` and `two` say different things about `registry.test/team/good:1.0.0`
    [exit code 0]
    ");
    let mut other = good;
    other.component = Digest::of(b"another component");
    shelf.put_index("two.json", 3, &[other]);
    assert_snapshot!(shelf.search("xylophone").exits_with(0).stderr, @"warning: the indexes `one` and `two` name different components for `registry.test/team/good:1.0.0`");
}

#[test]
fn no_server_is_asked_without_tls_unless_the_configuration_says_so() {
    let shelf = Shelf::new();
    let host = shelf.server.host();
    let table = |url: &str| format!("[index.team]\nurl = \"{url}\"\nsigner = \"{TEAM_SIGNER}\"\n");
    shelf.write_configuration(&table(&format!("http://{host}/team.json")));
    assert_snapshot!(shelf.search("bleu"), @"
    [stderr]
    error: [folder]/config/scorebox/config.toml:3:7: `http://` has no TLS: anyone in between can see what is searched, and withhold newer entries
    hint: write `https://`, or `plain-http = true` if that is what you want
    [exit code 2]
    ");
    assert_eq!(shelf.server.asked(), 0);
    // A server that does not speak TLS is asked for nothing without encryption.
    for url in [format!("https://{host}/team.json"), format!("oci://{host}/team/index:1")] {
        shelf.write_configuration(&table(&url));
        let output = shelf.search("bleu").exits_with(2);
        assert!(output.stderr.contains("cannot reach it"), "{output}");
    }
}

#[test]
fn no_redirect_leads_from_tls_to_a_place_without() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 1, &[entry("registry.test/team/evil:1.0.0")]);
    let host = with_blobs_elsewhere("{}", &format!("http://{}/team.json", shelf.server.host()));
    let certificates = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/certificates");
    let table =
        format!("[index.team]\nurl = \"https://{host}/team.json\"\nsigner = \"{TEAM_SIGNER}\"\n");
    shelf.write_configuration(&table);
    let search = |authority: &str| {
        let line = format!("SSL_CERT_FILE={certificates}/{authority} scorebox search xylophone");
        let output = shelf.sh(&line).exits_with(2);
        assert_eq!(output.stdout, "");
        output.stderr.replace(&host, "TLS-HOST")
    };
    assert_snapshot!(search("authority.pem"), @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: https://TLS-HOST/team.json: it names a place without TLS, `http://HOST`, which is not asked
    ");
    let untrusted = search("other-authority.pem");
    assert!(untrusted.contains("its certificate is not trusted"), "{untrusted}");
    assert!(untrusted.contains("hint: if the server is yours, SSL_CERT_FILE"), "{untrusted}");
    assert_eq!(shelf.server.asked(), 0);
}

#[test]
fn a_server_that_is_busy_or_broken_does_not_hide_the_copy() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 1, &[entry("registry.test/team/loud:1.0.0")]);
    for (status, words, hint) in [
        (
            "429 Too Many Requests",
            "it answered with status 429, 4 times",
            "HOST is busy or down: try again later",
        ),
        (
            "500 Internal Server Error",
            "it answered with status 500",
            "HOST has broken down: try again later, or ask those who run it",
        ),
    ] {
        shelf.server.fail(Some(status));
        let nothing = shelf.search("xylophone").exits_with(2);
        let error = format!("cannot read the index `team`: http://HOST/team.json: {words}\n");
        assert!(nothing.stderr.contains(&error), "{nothing}");
        assert!(nothing.stderr.contains(&format!("hint: {hint}\n")), "{nothing}");
        shelf.server.fail(None);
        shelf.search("xylophone").exits_with(0);
        shelf.server.fail(Some(status));
        let found = shelf.search("xylophone").exits_with(0);
        assert_eq!(names(&found), ["registry.test/team/loud:1.0.0"]);
        let warning = format!("({}: {words}); this is its copy of ", "http://HOST/team.json");
        assert!(found.stderr.contains(&warning), "{found}");
        fs::remove_dir_all(shelf.folder.path("data")).unwrap();
    }
}

#[test]
fn a_copy_that_is_damaged_is_reported() {
    let shelf = Shelf::new();
    shelf.put_index("team.json", 1, &[entry("registry.test/team/loud:1.0.0")]);
    shelf.search("xylophone").exits_with(0);
    let damage = || shelf.sh("for copy in data/indexes/*.index; do echo '{}' > $copy; done");
    damage().exits_with(0);
    let offline = shelf.search("xylophone --offline").exits_with(2);
    assert_snapshot!(offline.stderr, @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: http://HOST/team.json: the copy of it in `data/indexes/[digest].index` is damaged
    hint: search once without --offline
    ");
    shelf.server.fail(Some("503 Service Unavailable"));
    let down = shelf.search("xylophone").exits_with(2);
    assert_snapshot!(down.stderr, @"
    warning: the index `team`: the copy of it in `data/indexes/[digest].index` is damaged, and is not used
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: http://HOST/team.json: it answered with status 503, 4 times
    hint: HOST is busy or down: try again later
    ");
    shelf.server.fail(None);
    let replaced = shelf.search("xylophone").exits_with(0);
    assert_snapshot!(replaced.stderr, @"warning: the copy of the index `team` was damaged, and is replaced: if this one is older, that was not noticed");
    assert_eq!(names(&replaced), ["registry.test/team/loud:1.0.0"]);
    assert_eq!(shelf.search("xylophone").exits_with(0).stderr, "");
}

#[test]
fn a_server_that_uses_the_certificate_of_an_authority_is_refused_in_words() {
    let shelf = Shelf::new();
    let server = Collector::https(SELF_SIGNED);
    let port = server.address.port();
    shelf.write_configuration(&format!(
        "[index.team]\nurl = \"https://localhost:{port}/team.json\"\nsigner = \"{TEAM_SIGNER}\"\n"
    ));
    let output = shelf.search("xylophone").exits_with(2);
    assert_snapshot!(output.stderr.replace(&port.to_string(), "PORT"), @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: https://localhost:PORT/team.json: it uses the certificate of an authority (CA) as its own
    hint: if the server is yours, let an authority sign a certificate for it, or make one with `openssl req -x509 -addext basicConstraints=critical,CA:FALSE`
    ");
}

#[test]
fn a_registry_that_wants_a_login_says_which_command_gives_it() {
    let Some(registry) = OciRegistry::start(Door::Password) else { return };
    let shelf = Shelf::new();
    let host = registry.host();
    shelf.write_configuration(&format!(
        "[index.team]\nurl = \"oci://{host}/team/index:1\"\nsigner = \"{TEAM_SIGNER}\"\nplain-http = true\n"
    ));
    let output = shelf.search("xylophone").exits_with(2);
    assert_snapshot!(output.stderr.replace(&host, "REGISTRY"), @"
    no scorer that could be searched has all of these words
    error: cannot read the index `team`: oci://REGISTRY/team/index:1: it wants a login
    hint: `docker login REGISTRY` stores a login that may fetch there
    ");
}
