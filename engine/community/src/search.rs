//! Finds scorers by words: which ones match all words, and in which order. Knows no index.

/// The most words of a search.
const MAX_WORDS: usize = 20;

/// The words of a search, in lower case.
#[derive(Clone, Debug)]
pub struct Words(Vec<String>);

/// The texts of a scorer that are searched.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a text that is left out is not searched")]
pub struct Searched<'a> {
    /// The scorer's own id: `exact-match`.
    pub id: &'a str,
    /// Its address; empty if it is built in.
    pub address: &'a str,
    /// Its title for people.
    pub title: &'a str,
    /// What it scores and how.
    pub description: &'a str,
    /// The parts of a case that it reads, and the grants that it needs.
    pub needs: &'a [String],
}

impl Words {
    /// The words of these texts, at most twenty.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Words {
        let words = texts.into_iter().flat_map(str::split_whitespace).map(str::to_lowercase);
        Words(words.take(MAX_WORDS).collect())
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How well a scorer matches: the lower, the better. `None` if it lacks one of the words.
    pub fn distance(&self, scorer: &Searched<'_>) -> Option<u32> {
        let lower = Searched {
            id: &scorer.id.to_lowercase(),
            address: &scorer.address.to_lowercase(),
            title: &scorer.title.to_lowercase(),
            description: &scorer.description.to_lowercase(),
            needs: scorer.needs,
        };
        let each: Option<Vec<u32>> = self.0.iter().map(|word| distance(word, &lower)).collect();
        let sum = each?.into_iter().sum();
        // `exact match` means `exact-match`.
        let is_its_id = lower.id.split(['-', '_', '.']).eq(self.0.iter().map(String::as_str));
        Some(if is_its_id { 0 } else { sum })
    }
}

/// How well a scorer matches one word, depending on where the word is found.
fn distance(word: &str, scorer: &Searched<'_>) -> Option<u32> {
    let is_part = |text: &str| text.split(|it: char| !it.is_alphanumeric()).any(|it| it == word);
    let needs = || scorer.needs.iter().any(|need| need.to_lowercase().contains(word));
    Some(match () {
        () if scorer.id == word => 0,
        () if is_part(scorer.id) => 1,
        () if is_part(scorer.title) => 2,
        () if scorer.id.contains(word) => 3,
        () if scorer.title.contains(word) => 4,
        () if is_part(scorer.description) => 6,
        () if scorer.description.contains(word) => 8,
        () if scorer.address.contains(word) => 9,
        () if needs() => 10,
        () => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scorer<'a>(id: &'a str, title: &'a str, description: &'a str) -> Searched<'a> {
        Searched { id, title, description, ..Searched::default() }
    }

    #[test]
    fn all_words_must_be_found_somewhere() {
        let needs = ["groundTruth".to_owned()];
        let scorer = Searched {
            address: "registry.test/team/grade:1.2.0",
            needs: &needs,
            ..scorer("grade", "Grade of an answer", "Compares the answer with a rubric.")
        };
        let found = |words: &str| Words::new([words]).distance(&scorer).is_some();
        for words in ["grade", "GRADE rubric", "team grade", "groundtruth", "answ", ""] {
            assert!(found(words), "{words}");
        }
        for words in ["grade xylophone", "tool", "rubrics"] {
            assert!(!found(words), "{words}");
        }
    }

    #[test]
    fn what_has_the_words_in_its_name_comes_first() {
        let scorers = [
            scorer("exact-match", "Exact match", "Whether the answer is the expected one."),
            scorer("match", "Match", "Whether a pattern matches."),
            scorer("trajectory-match", "Trajectory match", "Compares calls."),
            scorer("rematch", "Again", "Scores twice."),
            scorer("equals", "Equals", "An exact match of JSON values."),
        ];
        let order = |words: &[&str]| {
            let words = Words::new(words.iter().copied());
            let mut found: Vec<(u32, &str)> = scorers
                .iter()
                .filter_map(|scorer| Some((words.distance(scorer)?, scorer.id)))
                .collect();
            found.sort_by_key(|(distance, _)| *distance);
            found.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
        };
        assert_eq!(
            order(&["match"]),
            ["match", "exact-match", "trajectory-match", "rematch", "equals"]
        );
        assert_eq!(order(&["exact match"]), ["exact-match", "equals"]);
        assert_eq!(order(&["match", "exact"]), ["exact-match", "equals"]);
    }

    #[test]
    fn no_more_than_twenty_words_are_looked_for() {
        let many = "grade ".repeat(1_000_000);
        assert_eq!(Words::new([many.as_str()]).0.len(), 20);
        assert!(Words::new([" ", ""]).is_empty());
    }
}
