//! Shared parts of the tests of the attackers in C and JavaScript: a folder with an attacker and a good scorer, and
//! what must hold for every attack. `tests/hostile/` contains the attacks.

use std::{fmt::Write as _, fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    fixture::{Folder, Output},
    hostile_fixture::acts,
};

/// The offset of the order for `describe` in the attacker's bytes, and the placeholder there.
const ORDER: &[u8] = b"order of describe: behave";
const BEFORE_THE_WORD: usize = 19;
const ORDER_BYTES: usize = 64;

/// A folder with `attacker.wasm`.
pub(crate) struct Ring {
    folder: Folder,
    component: Vec<u8>,
}

/// One attack on `score`: a scorer's configuration and the output of a case, as JSON.
struct Attack {
    name: String,
    config: Value,
    output: Value,
}

impl Ring {
    /// With the attacker of `tests/hostile/LANGUAGE`.
    pub(crate) fn new(language: &str) -> Ring {
        let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let component = fs::read(tests.join("hostile").join(language).join("attacker.wasm"));
        let component = component.unwrap();
        let folder = Folder::new();
        folder.write("attacker.wasm", &component);
        Ring { folder, component }
    }

    /// The attacker.
    pub(crate) fn component(&self) -> &[u8] {
        &self.component
    }

    /// The output that the user sees of each attack in `score`, which the configuration names. Then all of them in one
    /// run, next to a good scorer.
    #[track_caller]
    pub(crate) fn attack(&self, words: &[&str], options: &str) -> String {
        let orders: Vec<Value> = words.iter().map(|word| json!({"score": word})).collect();
        self.attack_configured(&orders, options)
    }

    /// The same, with whole configurations.
    #[track_caller]
    pub(crate) fn attack_configured(&self, orders: &[Value], options: &str) -> String {
        let attacks = orders.iter().map(|order| Attack {
            name: order.to_string(),
            config: order.clone(),
            output: "attack".into(),
        });
        self.carry_out(&attacks.collect::<Vec<_>>(), options)
    }

    /// The output that the user sees of each attack in `score`, which the case names. Then all of them in one run, next
    /// to a good scorer.
    #[track_caller]
    pub(crate) fn attack_by_case(&self, words: &[&str], options: &str) -> String {
        self.attack_by_case_configured(&json!({}), words, options)
    }

    /// The same, with a configuration.
    #[track_caller]
    pub(crate) fn attack_by_case_configured(
        &self,
        config: &Value,
        words: &[&str],
        options: &str,
    ) -> String {
        let attacks = words.iter().map(|word| Attack {
            name: (*word).into(),
            config: config.clone(),
            output: format!("attack {word}").into(),
        });
        self.carry_out(&attacks.collect::<Vec<_>>(), options)
    }

    #[track_caller]
    fn carry_out(&self, attacks: &[Attack], options: &str) -> String {
        let mut read = String::new();
        let mut alone = Vec::new();
        for attack in attacks {
            let output = self.score(&attack.config, &attack.output, options);
            writeln!(read, "-- {}\n{}", attack.name, shown(&output)).unwrap();
            alone.push(row(&output.json()));
        }
        self.run_beside_a_good_scorer(attacks, &alone, options);
        read
    }

    /// The output that the user sees of attacks in `score` that affect every case, so that none continues.
    #[track_caller]
    pub(crate) fn attack_every_case(&self, words: &[&str], options: &str) -> String {
        self.attack_alone("score", words, options)
    }

    /// The output that the user sees of each attack in `configure`.
    #[track_caller]
    pub(crate) fn attack_configure(&self, words: &[&str], options: &str) -> String {
        self.attack_alone("configure", words, options)
    }

    #[track_caller]
    fn attack_alone(&self, export: &str, words: &[&str], options: &str) -> String {
        let mut read = String::new();
        for word in words {
            let order = json!({export: word});
            let output = self.score(&order, &"attack".into(), options);
            writeln!(read, "-- {order}\n{}", shown(&output)).unwrap();
        }
        read
    }

    /// The output that the user sees of each attack in `describe`.
    #[track_caller]
    pub(crate) fn attack_describe(&self, words: &[&str], options: &str) -> String {
        let mut read = String::new();
        for word in words {
            let mut component = self.component.clone();
            let mut places = component.windows(ORDER.len()).enumerate();
            let (place, _) = places.find(|(_, window)| *window == ORDER).unwrap();
            assert!(places.all(|(_, window)| window != ORDER), "there is one place for it");
            let room = ORDER_BYTES - BEFORE_THE_WORD;
            component[place + BEFORE_THE_WORD..place + ORDER_BYTES]
                .copy_from_slice(format!("{word:room$}").as_bytes());
            self.folder.write("attacker.wasm", component);
            let output = self.score(&json!({}), &"attack".into(), options);
            writeln!(read, "-- describe: {word}\n{}", shown(&output)).unwrap();
        }
        self.folder.write("attacker.wasm", &self.component);
        read
    }

    #[track_caller]
    fn score(&self, config: &Value, output: &Value, options: &str) -> Output {
        self.sh(&format!(
            "scorebox score ./attacker.wasm --config '{config}' --output '{output}' {options}"
        ))
    }

    /// One run of all attacks, one at a time, each case twice with a harmless one after it, so that each attack gets
    /// the sandboxes of the previous one. Both times, every attack must end as it does alone; the harmless cases must
    /// score as if there were no attacks; and the good scorer's scores must all be right.
    #[track_caller]
    fn run_beside_a_good_scorer(&self, attacks: &[Attack], alone: &[Row], options: &str) {
        let mut cases = String::new();
        let other = json!("defend");
        let mut outputs: Vec<&Value> = attacks.iter().map(|attack| &attack.output).collect();
        outputs.dedup();
        for (n, output) in outputs.iter().enumerate() {
            let truth = if n % 2 == 0 { *output } else { &other };
            for (id, output, truth) in [
                (format!("attack-{n}"), *output, truth),
                (format!("harmless-{n}"), &json!(1), &json!(1)),
                (format!("again-{n}"), *output, truth),
                (format!("harmless-again-{n}"), &json!([]), &json!({})),
            ] {
                let case = json!({"id": id, "output": output, "groundTruth": truth});
                writeln!(cases, "{case}").unwrap();
            }
        }
        self.folder.write("cases.jsonl", cases);
        let mut configs: Vec<&Value> = attacks.iter().map(|attack| &attack.config).collect();
        configs.dedup();
        let mut command = String::from(
            "scorebox run cases.jsonl -j 1 --run-id r --allow-failures -s exact-match",
        );
        for (n, config) in configs.iter().enumerate() {
            let scorer =
                format!(" -s attacker-{n}=./attacker.wasm --config attacker-{n}='{config}'");
            command.push_str(&scorer);
        }
        let output = self.sh(&format!("{command} {options}"));
        assert!(matches!(output.code, Some(0 | 1)), "{output}");

        for n in 0..outputs.len() {
            let attacked = u8::from(n % 2 == 0).to_string();
            for (case, score) in [
                (format!("attack-{n}"), attacked.as_str()),
                (format!("harmless-{n}"), "1"),
                (format!("again-{n}"), attacked.as_str()),
                (format!("harmless-again-{n}"), "0"),
            ] {
                assert_eq!(self.row("exact-match", &case)[..2], ["scored", score], "{case}");
            }
        }
        for (attack, alone) in attacks.iter().zip(alone) {
            let n = outputs.iter().position(|output| *output == &attack.output).unwrap();
            let config = configs.iter().position(|config| *config == &attack.config).unwrap();
            let scorer = format!("attacker-{config}");
            for case in [format!("attack-{n}"), format!("again-{n}")] {
                assert_eq!(&self.row(&scorer, &case), alone, "{} on {case}", attack.name);
            }
            for (case, score) in
                [(format!("harmless-{n}"), "1"), (format!("harmless-again-{n}"), "0")]
            {
                let good = ["scored", score, "null", "null", "behaves on this case"];
                assert_eq!(self.row(&scorer, &case), good, "after {}", attack.name);
            }
        }
        for name in ["scorebox.db", "scorebox.db-wal", "scorebox.db-shm"] {
            let _ = fs::remove_file(self.folder.path(name));
        }
    }

    fn row(&self, scorer: &str, case: &str) -> Row {
        let columns = ["status", "score", "error_kind", "error_message", "reason"];
        columns.map(|column| {
            let mut found = self.folder.rows(&format!(
                "SELECT {column} FROM scores WHERE scorer_id = '{scorer}' AND case_id = '{case}'"
            ));
            assert_eq!(found.len(), 1, "{scorer} has one row for {case}");
            found.remove(0)
        })
    }

    /// Runs a command, which must print nothing that a terminal would act on.
    #[track_caller]
    fn sh(&self, command: &str) -> Output {
        let output = self.folder.sh(command);
        for character in output.stdout.chars().chain(output.stderr.chars()) {
            assert!(!acts(character), "{character:?} in the output of {command}");
        }
        output
    }
}

/// Status, score, kind and message of an error, reason.
type Row = [String; 5];

/// The fields of a database row that are in the JSON of a score.
fn row(score: &Value) -> Row {
    let error = &score["error"];
    [&score["status"], &score["score"], &error["kind"], &error["message"], &score["reason"]].map(
        |value| match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.as_f64().unwrap().to_string(),
            other => other.to_string(),
        },
    )
}

/// The output that a user sees. Backtraces are cut to a sign that there is one, because they depend on the compiler.
fn shown(output: &Output) -> String {
    let mut shown = String::new();
    let score: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    if !score.is_null() && score["error"].is_null() {
        writeln!(shown, "{} {}: {}", row(&score)[0], score["score"], score["reason"]).unwrap();
        if let Some(log) = score["log"].as_array() {
            log.iter().for_each(|line| writeln!(shown, "log: {}", line["message"]).unwrap());
        }
    }
    let mut lines = output.stderr.lines().peekable();
    let frame = |line: &str| line.starts_with("    at ") && !line.contains(".js:");
    while let Some(line) = lines.next() {
        if !frame(line) {
            writeln!(shown, "{line}").unwrap();
        } else if !lines.peek().is_some_and(|next| frame(next)) {
            shown.push_str("    at [frames]\n");
        }
    }
    let code = output.code.map_or("none".into(), |code| code.to_string());
    format!("{shown}[exit code {code}]")
}
