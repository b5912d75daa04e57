//! Holds the answers of scorebox against those of a peer and against the table of differences.

use super::{
    difference,
    peers::Peer,
    trial::{Answer, Trial, answers, number},
    vector::{self, Expected},
};

/// Whether an answer is the expected one.
fn agrees(expected: Expected, answer: &Answer) -> bool {
    match (expected, answer) {
        (Expected::Score { score, tolerance }, Answer::Score(ours)) => {
            (score - *ours).abs() <= tolerance
        }
        (Expected::Range { least, most }, Answer::Score(ours)) => (least..=most).contains(ours),
        (Expected::NoScore, Answer::NoScore | Answer::Error(_)) => true,
        _ => false,
    }
}

/// What a peer answered, in words.
pub(super) fn words(expected: Expected) -> String {
    match expected {
        Expected::Score { score, .. } => number(score),
        Expected::Range { least, most } => format!("{} to {}", number(least), number(most)),
        Expected::NoScore => "error".to_owned(),
    }
}

/// All that does not hold for a peer, a line each.
pub(super) async fn complaints(peer: &Peer) -> Vec<String> {
    let mut rows = Vec::new();
    for file in peer.files {
        for (index, vector) in vector::read(file).into_iter().enumerate() {
            rows.push((*file, index + 1, vector));
        }
    }
    let trials: Vec<Trial> = rows.iter().map(|(_, _, vector)| (peer.trial)(vector)).collect();
    let answers = answers(&trials).await;
    let differences = difference::all();
    let mut complaints = Vec::new();
    for (((file, row, vector), trial), answer) in rows.iter().zip(&trials).zip(answers) {
        let agrees = agrees(vector.expected(), &answer);
        let listed = differences.iter().find(|difference| difference.is_of(file, *row));
        let complaint = match listed {
            None if agrees => continue,
            None => "neither agrees nor is listed".to_owned(),
            Some(_) if agrees => "is listed, but agrees".to_owned(),
            Some(listed) if listed.ours == answer.to_string() => continue,
            Some(listed) => format!("is listed with the answer {}", listed.ours),
        };
        let problem = match &answer {
            Answer::Error(error) => format!(" ({error})"),
            _ => String::new(),
        };
        complaints.push(format!(
            "{file}:{row} {complaint}: {theirs} answers {expected}, ours {answer}{problem}: {ours} {config} {case}",
            theirs = vector.scorer,
            expected = words(vector.expected()),
            ours = trial.scorer,
            config = trial.config,
            case = trial.line(),
        ));
    }
    complaints
}
