//! One scorer over many runs: `scorebox trend`.

use insta::assert_snapshot;

use crate::{
    command_compare::run_of_right, command_serve::Server, fixture::Folder,
    judge_fixture::scores_of_a_program,
};

#[test]
fn a_scorer_over_runs_comes_in_the_order_of_time() {
    let folder = Folder::new();
    for (run, are_right) in [("z", 10), ("y", 14), ("x", 12)] {
        run_of_right(&folder, run, 20, are_right);
    }
    let json = folder.sh("scorebox trend --format json").exits_with(0).json();
    let points = json[0]["points"].as_array().unwrap();
    let ids: Vec<&str> = points.iter().map(|point| point["runId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["z", "y", "x"]);
    assert_eq!(points[0]["change"], serde_json::Value::Null);
    assert!((points[2]["change"].as_f64().unwrap() + 0.1).abs() < 1e-12);
    let newest = folder.sh("scorebox trend --limit 1 --scorer right --format jsonl").json();
    assert_eq!(newest["points"].as_array().unwrap().len(), 1);
    let table = folder.sh("scorebox trend").exits_with(0);
    assert!(
        table.stdout.lines().nth(1).unwrap().starts_with("right   z    finished"),
        "{}",
        table.stdout
    );
    assert_snapshot!(folder.sh("scorebox trend --suite none"), @"
    [stderr]
    error: none of the newest 1,000 runs of `scorebox.db` is of a suite `none`
    hint: `scorebox runs` lists runs with their suites
    [exit code 2]
    ");
    assert_snapshot!(folder.sh("scorebox trend --scorer none"), @"
    [stderr]
    error: the database has no scorer `none`
    hint: its scorers: right
    [exit code 2]
    ");
}

/// A run of two cases by the scorer `a`, a script with this text.
fn scripted(folder: &Folder, run: &str, script: &str) {
    folder.write("a.js", script);
    folder.write("two.jsonl", "{\"output\": \"x\"}\n{\"output\": \"y\"}\n");
    let line = format!("scorebox run two.jsonl -s a=./a.js -q --allow-failures --run-id {run}");
    folder.sh(&line).exits_with(0);
}

#[test]
fn a_change_of_scale_or_direction_is_not_a_change_of_the_mean() {
    let folder = Folder::new();
    let severity = "severity: 'soft'";
    let unit = format!("export const info = {{ {severity} }}; export default () => 0.25;");
    let points =
        format!("export const info = {{ {severity}, scale: 'points' }}; export default () => 164;");
    let lower = points.replace("scale", "direction: 'lower-is-better', scale");
    for (run, script) in [("u", &unit), ("p", &points), ("q", &points), ("l", &lower)] {
        scripted(&folder, run, script);
    }
    let table = folder.sh("scorebox trend | cut -c 1-22,43-").exits_with(0);
    assert_snapshot!(table, @"
    scorer  run  state      scored  errors    mean  95 % interval  change  changed
    a       u    finished        2       0  0.2500              -       -
            p    finished        2       0   164.0              -       -  component, scale
            q    finished        2       0   164.0              -  0.0000
            l    finished        2       0   164.0              -       -  component, direction
    [stderr]
    `changed` names what is different in the scorer since the run before: a change of the mean may come from that
    [exit code 0]
    ");
    let json = folder.sh("scorebox trend --format json").exits_with(0).json();
    let points = json[0]["points"].as_array().unwrap();
    let changes = points.iter().map(|it| it["change"].as_f64());
    assert_eq!(changes.collect::<Vec<_>>(), [None, None, Some(0.0), None]);
    assert_eq!(points[1]["scorerChanges"], serde_json::json!(["component", "scale"]));
    assert_eq!(points[3]["scorerChanges"], serde_json::json!(["component", "direction"]));
    // The page draws the means that are comparable with the newest one.
    let page = Server::ready(&folder, "").get("/scorer?id=a", &[]).text;
    assert_eq!(page.matches("class=\"dot\"").count(), 1, "{page}");
    assert!(page.contains("3 runs not drawn"), "{page}");
    assert!(page.contains("another component, scale than in the run before"), "{page}");
}

#[test]
fn a_scorer_with_another_component_configuration_or_judge_is_marked() {
    let folder = Folder::new();
    run_of_right(&folder, "a", 4, 2);
    for (run, scorer) in [
        ("b", "right=contains --config right='{\"value\": \"right\"}'"),
        ("c", "right=contains --config right='{\"value\": \"wrong\"}'"),
        ("d", "right=contains --config right='{\"value\": \"wrong\"}'"),
    ] {
        let line = format!("scorebox run a.jsonl -s {scorer} -q --allow-failures --run-id {run}");
        folder.sh(&line).exits_with(0);
    }
    let marks = |scorer: &str| {
        let json = folder.sh(&format!("scorebox trend --scorer {scorer} --format json")).json();
        let points = json[0]["points"].as_array().unwrap().clone();
        points.iter().map(|point| point["scorerChanges"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        marks("right"),
        ["[]", r#"["component","configuration"]"#, r#"["configuration"]"#, "[]"]
    );
    folder.write("asked.jsonl", "{\"input\": \"q\", \"output\": \"o\"}\n");
    for model in ["m", "m", "other"] {
        folder.write("suite.json", scores_of_a_program(1, model).to_string());
        folder.sh("scorebox run --suite suite.json asked.jsonl -q --allow-failures").exits_with(0);
    }
    assert_eq!(marks("r"), ["[]", "[]", r#"["judge"]"#]);
    let table = folder.sh("scorebox trend --scorer r").exits_with(0);
    assert!(table.stdout.lines().next().unwrap().ends_with("  changed"), "{}", table.stdout);
    assert!(table.stdout.ends_with("  judge\n"), "{}", table.stdout);
}

#[test]
fn the_newest_runs_of_a_scorer_are_those_that_have_it() {
    let folder = Folder::new();
    for (run, are_right) in [("old", 1), ("new", 2)] {
        run_of_right(&folder, run, 4, are_right);
    }
    folder.sh("scorebox run new.jsonl -s is-refusal -q --run-id other").exits_with(0);
    let shown = |limit: u32| {
        let line = format!("scorebox trend --scorer right --limit {limit} --format jsonl");
        let points = folder.sh(&line).exits_with(0).json()["points"].as_array().unwrap().clone();
        points.iter().map(|it| it["runId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown(1), ["new"]);
    assert_eq!(shown(2), ["old", "new"]);
    folder.write("suite.toml", "name = \"named\"\n[scorers.is-refusal]\n");
    folder.sh("scorebox run suite.toml new.jsonl -q").exits_with(0);
    assert_snapshot!(folder.sh("scorebox trend --suite named --scorer right"), @"
    [stderr]
    error: none of the newest 1,000 runs of `scorebox.db` is of a suite `named` and has a scorer `right`
    hint: `scorebox runs` lists runs with their suites
    [exit code 2]
    ");
}

#[test]
fn pooled_figures_of_another_scorer_under_one_name_come_with_a_warning() {
    let folder = Folder::new();
    scripted(
        &folder,
        "one",
        "export const info = { severity: 'soft' }; export default () => 0.25;",
    );
    let warned = |options: &str| {
        let stats = folder.sh(&format!("scorebox stats {options}")).exits_with(0);
        let lines = stats.stderr.lines().filter(|line| line.starts_with("warning"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    scripted(
        &folder,
        "again",
        "export const info = { severity: 'soft' }; export default () => 0.25;",
    );
    assert_eq!(warned("--all-runs"), [""; 0]);
    scripted(
        &folder,
        "other",
        "export const info = { severity: 'soft' }; export default () => 0.5;",
    );
    assert_eq!(
        warned("--all-runs"),
        ["warning: `a` is not the same scorer in all of these runs (component)"]
    );
    let points =
        "export const info = { severity: 'soft', scale: 'points', direction: 'lower-is-better' };";
    scripted(&folder, "points", &format!("{points} export default () => 164;"));
    assert_eq!(
        warned("--all-runs --scorer a"),
        [
            "warning: `a` is not the same scorer in all of these runs (component, scale, direction): its figures are of scores \
          that cannot be compared"
        ]
    );
    let json = |options: &str| folder.sh(&format!("scorebox stats {options} --format json")).json();
    assert_eq!(
        json("--all-runs")[0]["scorerChanges"],
        serde_json::json!(["component", "scale", "direction"])
    );
    // One run has only one scorer.
    assert_eq!(warned("--run points"), [""; 0]);
    assert!(json("--run points")[0].get("scorerChanges").is_none());
}
