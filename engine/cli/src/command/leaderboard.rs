//! `scorebox leaderboard`: ranks the entrants at each challenge, and lists their attempts.

use scorebox::{
    aggregate::{
        Entered, Entrant, Leaderboard as Board, LeaderboardOptions, OfAttempts, Strategy, entered,
        leaderboard,
    },
    store::Store,
};

use crate::{
    arguments::{Database, completing},
    failure::{Exit, Failure},
    output::{self, Format, Page},
    report::{self, Align, Table},
    waiting::Waiting,
    words,
};

/// The columns of the table of attempts.
const COLUMNS: [(&str, Align); 10] = [
    ("case", Align::Left),
    ("challenge", Align::Left),
    ("tenant", Align::Left),
    ("entrant", Align::Left),
    ("succeeded", Align::Left),
    ("score", Align::Right),
    ("rating", Align::Right),
    ("tokens", Align::Right),
    ("elapsed", Align::Right),
    ("created (UTC)", Align::Left),
];

/// The most characters of a name that a table shows on a terminal.
const NAME_CHARACTERS: usize = 32;

/// Rank the entrants of a run at each challenge
///
/// A case names its `entrant` and `challenge` in its metadata or beside it, with `succeeded`, `rating`, `tokens_total`,
/// `elapsed_ms` and `created_at`. Only attempts that succeeded are ranked; of equal ones the earlier comes first.
#[derive(Debug, clap::Args)]
pub(crate) struct Leaderboard {
    /// The run [default: the newest]
    #[arg(add = completing::runs())]
    run: Option<String>,

    /// Only attempts at this challenge
    #[arg(long, value_name = "CHALLENGE", help_heading = "Ranking")]
    challenge: Option<String>,

    /// The scorer that ranks [default: the only scorer, or the only one on the scale of points]
    #[arg(long, value_name = "NAME", help_heading = "Ranking", add = completing::stored_scorers())]
    scorer: Option<String>,

    /// What decides who is first
    #[arg(long, value_name = "STRATEGY", default_value = "weighted", help_heading = "Ranking")]
    strategy: StrategyArgument,

    /// Which attempts of an entrant count
    #[arg(long, value_name = "WHICH", default_value = "best", help_heading = "Ranking")]
    of: OfArgument,

    /// List all attempts instead, including failed ones
    #[arg(long, conflicts_with_all = ["of", "strategy"], help_heading = "Output")]
    attempts: bool,

    /// Show at most N entrants of each challenge, or N attempts (0: all) [default: 20 for a table]
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<u64>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    database: Database,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum StrategyArgument {
    /// The earliest success.
    First,
    /// The shortest time.
    Fastest,
    /// The fewest tokens.
    #[value(alias = "fewest_tokens")]
    FewestTokens,
    /// The highest rating.
    #[value(alias = "highest_rating")]
    HighestRating,
    /// The best score of a scorer.
    #[value(alias = "custom")]
    Weighted,
}

impl From<StrategyArgument> for Strategy {
    fn from(argument: StrategyArgument) -> Strategy {
        match argument {
            StrategyArgument::First => Strategy::First,
            StrategyArgument::Fastest => Strategy::Fastest,
            StrategyArgument::FewestTokens => Strategy::FewestTokens,
            StrategyArgument::HighestRating => Strategy::HighestRating,
            StrategyArgument::Weighted => Strategy::Weighted,
        }
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OfArgument {
    /// The best one.
    Best,
    /// The mean of those that succeeded.
    Mean,
}

impl Leaderboard {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let store = self.database.read()?;
        let record = self.database.run(self.run.as_deref(), &store)?;
        let run = record.spec.id.to_string();
        let options = LeaderboardOptions::new(self.strategy.into())
            .with_challenge(self.challenge.as_deref())
            .with_scorer(self.scorer.as_deref())
            .with_of_attempts(match self.of {
                OfArgument::Best => OfAttempts::Best,
                OfArgument::Mean => OfAttempts::Mean,
            });
        let done = match self.attempts {
            true => self.list_attempts(&store, &run, options)?,
            false => self.rank(&store, &run, options)?,
        };
        report::not_whole(&record).iter().for_each(|line| words::warn(line));
        Ok(done)
    }

    fn rank(
        &self,
        store: &Store,
        run: &str,
        options: LeaderboardOptions<'_>,
    ) -> Result<Exit, Failure> {
        let waiting = Waiting::counting("reading attempts", store.rows_read());
        let mut board = leaderboard(store, run, options)?;
        drop(waiting);
        let found = board.entrants.len() as u64;
        self.must_be_there(run, found, &board)?;
        board.entrants = first_of_each(board.entrants, self.most());
        output::stdout(|out| match self.format {
            Format::Table => write!(out, "{}", self.ranked(&board.entrants)),
            format => output::list(out, format == Format::Jsonl, &board.entrants),
        })?;
        self.say(board.entrants.len() as u64, found, "entrants", &board);
        Ok(Exit::Done)
    }

    fn most(&self) -> u64 {
        self.format.most(self.limit, 20)
    }

    fn ranked(&self, entrants: &[Entrant]) -> Table {
        let any = |of: fn(&Entrant) -> bool| entrants.iter().any(of);
        let several = entrants
            .windows(2)
            .any(|pair| (&pair[0].app, &pair[0].challenge) != (&pair[1].app, &pair[1].challenge));
        let with_app = several && any(|entrant| entrant.app.is_some());
        let with_tenant = any(|entrant| entrant.tenant.is_some());
        let with_time = any(|entrant| entrant.created_at.is_some());
        let mut columns: Vec<(&str, Align)> = Vec::new();
        columns.extend(with_app.then_some(("app", Align::Left)));
        columns.extend(several.then_some(("challenge", Align::Left)));
        columns.push(("rank", Align::Left));
        columns.extend(with_tenant.then_some(("tenant", Align::Left)));
        columns.extend([
            ("entrant", Align::Left),
            ("score", Align::Right),
            ("rating", Align::Right),
            ("tokens", Align::Right),
            ("elapsed", Align::Right),
        ]);
        columns.extend(with_time.then_some(("created (UTC)", Align::Left)));
        columns.extend([
            ("attempts", Align::Right),
            ("succeeded", Align::Right),
            ("failed scores", Align::Right),
        ]);
        let mut table = Table::new(&columns);
        for entrant in entrants {
            let mut cells = Vec::new();
            cells.extend(with_app.then(|| name(entrant.app.as_deref())));
            cells.extend(several.then(|| name(entrant.challenge.as_deref())));
            cells.push(rank(entrant));
            cells.extend(with_tenant.then(|| name(entrant.tenant.as_deref())));
            cells.push(name(Some(&entrant.entrant)));
            cells.extend([
                figure(entrant.score),
                figure(entrant.rating),
                tokens(entrant.tokens_total),
                report::repeats::latency(entrant.elapsed_ms),
            ]);
            cells.extend(with_time.then(|| time(entrant.created_at)));
            cells.extend(
                [entrant.attempts, entrant.succeeded, entrant.failed_scores].map(report::count),
            );
            table.row(cells);
        }
        table
    }

    fn list_attempts(
        &self,
        store: &Store,
        run: &str,
        options: LeaderboardOptions<'_>,
    ) -> Result<Exit, Failure> {
        let mut page = Page::new(self.format, 0, self.most(), &COLUMNS);
        let mut board = None;
        page.print(|page, out| {
            let mut written = Ok(());
            let seen = entered(store, run, options, |attempt| {
                written = page.add(out, attempt, || cells(attempt));
                written.is_ok()
            });
            let seen = seen.map_err(Failure::from)?;
            written?;
            self.must_be_there(run, page.found(), &seen)?;
            board = Some(seen);
            Ok(())
        })?;
        if let Some(board) = board {
            self.say(page.shown(), page.found(), "attempts", &board);
        }
        Ok(Exit::Done)
    }

    /// Refuses a challenge that the run does not have, and a run without entrants.
    fn must_be_there(&self, run: &str, found: u64, board: &Board) -> Result<(), Failure> {
        if found > 0 {
            return Ok(());
        }
        if board.incomplete > 0 {
            return Err(Failure::new(format!(
                "all attempts of the run `{run}` that could be ranked are incomplete: not all scorers have scored them"
            ))
            .hint("finish the run: scorebox run … --resume"));
        }
        let short = |name: &String| report::one_line(name, NAME_CHARACTERS);
        let challenges: Vec<String> = board.challenges.iter().map(short).collect();
        match &self.challenge {
            Some(challenge) if !challenges.is_empty() => {
                Err(Failure::new(format!("the run `{run}` has no challenge `{challenge}`"))
                    .hint(format!("its challenges: {}", challenges.join(", "))))
            }
            Some(challenge) => {
                Err(Failure::new(format!("the run `{run}` has no challenge `{challenge}`"))
                    .hint("a case names it as `challenge`, in its metadata or beside it"))
            }
            None => Err(Failure::new(format!("no case of the run `{run}` names an entrant"))
                .hint("a leaderboard ranks the entrants of one run, which each case names as `entrant`, in its metadata or beside it; `scorebox compare A B` and `scorebox trend` compare runs")),
        }
    }

    fn say(&self, shown: u64, found: u64, what: &str, board: &Board) {
        if self.format != Format::Table {
            return;
        }
        if shown < found {
            let (shown, found) = (report::count(shown), report::count(found));
            words::say(&format!("{shown} of {found} {what}; all: --limit 0"));
        }
        if board.without_entrant > 0 {
            let cases = match board.without_entrant {
                1 => "1 case names".to_owned(),
                cases => format!("{} cases name", report::count(cases)),
            };
            words::say(&format!("{cases} no entrant"));
        }
        if board.incomplete > 0 {
            words::say(&match board.incomplete {
                1 => "1 incomplete attempt is left out: not all scorers have scored it".to_owned(),
                attempts => format!(
                    "{} incomplete attempts are left out: not all scorers have scored them",
                    report::count(attempts)
                ),
            });
        }
        if let (1.., Some(scorer)) = (board.unscored, &board.scorer_id) {
            words::say(&match board.unscored {
                1 => format!("1 attempt has not been scored by `{scorer}`"),
                attempts => {
                    format!(
                        "{} attempts have not been scored by `{scorer}`",
                        report::count(attempts)
                    )
                }
            });
        }
        if board.success_unknown > 0 {
            let attempts = match board.success_unknown {
                1 => "1 attempt is not ranked: it has".to_owned(),
                attempts => {
                    format!("{} attempts are not ranked: they have", report::count(attempts))
                }
            };
            words::say(&format!(
                "{attempts} no `succeeded`, and no scorer of the run can fail a case"
            ));
        }
        if board.unreadable > 0 {
            let keys: Vec<String> =
                board.unreadable_keys.iter().map(|key| format!("`{key}`")).collect();
            let keys = keys.join(", ");
            words::say(&match board.unreadable {
                1 => format!("1 attempt is not ranked: its {keys} cannot be read"),
                attempts => format!(
                    "{} attempts are not ranked: {keys} of them cannot be read",
                    report::count(attempts)
                ),
            });
        }
    }
}

/// The first `most` entrants of each challenge.
fn first_of_each(entrants: Vec<Entrant>, most: u64) -> Vec<Entrant> {
    let (mut board, mut taken) = (None, 0);
    let is_among_the_first = |entrant: &Entrant| {
        let of = (entrant.app.clone(), entrant.challenge.clone());
        if board.as_ref() != Some(&of) {
            (board, taken) = (Some(of), 0);
        }
        taken += 1;
        taken <= most
    };
    entrants.into_iter().filter(is_among_the_first).collect()
}

/// The row of an attempt.
fn cells(attempt: &Entered) -> Vec<String> {
    let case = report::case_name(&attempt.case_id, attempt.iteration, attempt.attempt);
    let score = match (attempt.score, attempt.status) {
        (Some(score), _) => report::score(score),
        (None, Some(status)) => status.as_str().to_owned(),
        (None, None) => "-".to_owned(),
    };
    vec![
        output::cell(&case, NAME_CHARACTERS),
        name(attempt.challenge.as_deref()),
        name(attempt.tenant.as_deref()),
        name(Some(&attempt.entrant)),
        match (attempt.succeeded, attempt.unreadable.is_empty()) {
            (_, false) => "unreadable",
            (Some(true), true) => "yes",
            (Some(false), true) => "no",
            (None, true) => "unknown",
        }
        .to_owned(),
        score,
        figure(attempt.rating),
        tokens(attempt.tokens_total),
        report::repeats::latency(attempt.elapsed_ms),
        time(attempt.created_at),
    ]
}

/// `2`, `2=` if others have the same rank, `-` without a rank.
fn rank(entrant: &Entrant) -> String {
    let rank = entrant.rank.map_or_else(|| "-".to_owned(), report::count);
    if entrant.tied { rank + "=" } else { rank }
}

fn name(name: Option<&str>) -> String {
    name.map_or_else(|| "-".to_owned(), |name| output::cell(name, NAME_CHARACTERS))
}

fn figure(figure: Option<f64>) -> String {
    figure.map_or_else(|| "-".to_owned(), report::score)
}

/// A number of tokens; of means, the closest one.
fn tokens(tokens: Option<f64>) -> String {
    const MOST: f64 = 1e15;
    match tokens {
        Some(tokens) if (0.0..MOST).contains(&tokens) => report::count(tokens.round() as u64),
        other => figure(other),
    }
}

/// A time from a case, which may be any number.
fn time(ms: Option<f64>) -> String {
    let time = ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms as i64).ok());
    time.map_or_else(|| "-".to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}
