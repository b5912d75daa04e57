//! For tests: a scorer that explores what WASI gives access to, and attacks it, one way at a time, as its configuration
//! says. It can only be loaded if `wasi` is granted.

use scorebox_sdk::{Case, ConfigError, Info, JsonSchema, Score, ScoreError, Scorer, schemars};
use serde::Deserialize;

#[allow(missing_docs, unsafe_code, clippy::all)]
mod bindings {
    wit_bindgen::generate!({ path: "wasi.wit", generate_all });
}

use bindings::wasi::{
    cli::{environment, exit, stderr, stdin, stdout},
    clocks::{monotonic_clock, wall_clock},
    filesystem::preopens,
    io::{poll, streams},
    random::{insecure, insecure_seed, random},
    sockets::{
        instance_network, ip_name_lookup, network::IpAddressFamily, tcp_create_socket,
        udp_create_socket,
    },
};

/// Attacks through WASI.
#[derive(Deserialize, JsonSchema)]
struct WasiAttacker {
    /// What to do in `score`.
    #[serde(default)]
    then: Deed,
    /// How much of it.
    #[serde(default)]
    amount: u64,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Deed {
    #[default]
    Nothing,
    /// Reports what there is: environment, files, network, clocks, randomness, standard input.
    LookAround,
    ExitWell,
    ExitBadly,
    Sleep,
    SleepInSteps,
    MeasureByWaiting,
    WaitForAnotherYear,
    PollNothing,
    PollOneManyTimes,
    OpenHandles,
    PrintLines,
    PrintForATerminal,
    PrintWithoutEnd,
    PrintOneLongText,
    WriteZeroes,
    ReadInput,
    RandomBytes,
    InsecureRandomBytes,
    RandomBytesWithoutEnd,
    OpenSockets,
}

impl Scorer for WasiAttacker {
    type Config = Self;
    const INFO: Info = Info::new("wasi-attacker", "WASI attacker", env!("CARGO_PKG_VERSION"));

    fn new(config: Self) -> Result<Self, ConfigError> {
        Ok(config)
    }

    fn score(&self, _case: &Case) -> Result<Score, ScoreError> {
        let mut score = Score::new(1.0);
        match self.then {
            Deed::Nothing => {}
            Deed::LookAround => score = score.reason(look_around()),
            Deed::ExitWell => exit::exit(Ok(())),
            Deed::ExitBadly => exit::exit(Err(())),
            Deed::Sleep => monotonic_clock::subscribe_duration(u64::MAX).block(),
            Deed::SleepInSteps => loop {
                monotonic_clock::subscribe_duration(1_000_000).block();
            },
            Deed::MeasureByWaiting => {
                let (one, other) = (
                    monotonic_clock::subscribe_duration(50_000_000),
                    monotonic_clock::subscribe_duration(50_100_000),
                );
                let ready = poll::poll(&[&one, &other]);
                let mut asked = 0;
                let another = monotonic_clock::subscribe_duration(50_000_000);
                while !another.ready() {
                    asked += 1;
                }
                let now = monotonic_clock::now();
                score = score.reason(format!("ready: {ready:?}, asked: {asked}, elapsed: {now}"));
            }
            Deed::WaitForAnotherYear => while monotonic_clock::now() < u64::MAX {},
            Deed::PollNothing => drop(poll::poll(&[])),
            Deed::PollOneManyTimes => {
                let one = monotonic_clock::subscribe_duration(u64::MAX);
                poll::poll(&(0..self.amount).map(|_| &one).collect::<Vec<_>>());
            }
            Deed::OpenHandles => {
                let open = |_| monotonic_clock::subscribe_instant(0);
                let handles: Vec<_> = (0..self.amount).map(open).collect();
                score = score.reason(handles.len().to_string());
            }
            Deed::PrintLines => (0..self.amount).for_each(|n| print(&format!("line {n}\n"))),
            Deed::PrintForATerminal => {
                print("\u{1b}[2J\u{202e}\u{9b}31m\u{0}\n");
                panic!("\u{1b}[2J\u{202e}\u{9b}31m");
            }
            Deed::PrintWithoutEnd => loop {
                print("again and again\n");
            },
            Deed::PrintOneLongText => {
                let text = vec![b'x'; usize::try_from(self.amount).unwrap_or(usize::MAX)];
                score = score.reason(format!("{:?}", stdout::get_stdout().write(&text).is_ok()));
            }
            Deed::WriteZeroes => {
                let written = stdout::get_stdout().write_zeroes(self.amount).is_ok();
                score = score.reason(format!("{written:?}"));
            }
            Deed::ReadInput => {
                let read = stdin::get_stdin().read(self.amount);
                score = score.reason(format!("{:?}", read.map(|bytes| bytes.len())));
            }
            Deed::RandomBytes => {
                score = score.reason(random::get_random_bytes(self.amount).len().to_string());
            }
            Deed::InsecureRandomBytes => {
                let bytes = insecure::get_insecure_random_bytes(self.amount);
                score = score.reason(bytes.len().to_string());
            }
            Deed::RandomBytesWithoutEnd => loop {
                random::get_random_bytes(self.amount);
            },
            Deed::OpenSockets => score = score.reason(open_sockets(self.amount)),
        }
        Ok(score)
    }
}

/// What a scorer finds in WASI, one item per line.
fn look_around() -> String {
    let now = wall_clock::now();
    let (first, second) = (monotonic_clock::now(), monotonic_clock::now());
    let folders: Vec<String> =
        preopens::get_directories().into_iter().map(|(_, name)| name).collect();
    let network = instance_network::instance_network();
    let looked_up = ip_name_lookup::resolve_addresses(&network, "localhost").map(drop);
    [
        format!("environment: {:?}", environment::get_environment()),
        format!("arguments: {:?}", environment::get_arguments()),
        format!("folder: {:?}", environment::initial_cwd()),
        format!("folders: {folders:?}"),
        format!("time: {} s, {} ns", now.seconds, now.nanoseconds),
        format!("elapsed: {first}, {second}"),
        format!("random: {}, {}", random::get_random_u64(), random::get_random_u64()),
        format!("insecure random: {}", insecure::get_insecure_random_u64()),
        format!("seed: {:?}", insecure_seed::insecure_seed()),
        format!("input: {:?}", stdin::get_stdin().read(1)),
        format!("lookup: {looked_up:?}"),
        format!("sockets: {}", open_sockets(1)),
    ]
    .join("\n")
}

/// Tries to open this many sockets of each kind; reports what happened to the last ones.
fn open_sockets(amount: u64) -> String {
    let mut open = Vec::new();
    let mut last = String::new();
    for _ in 0..amount {
        let tcp = tcp_create_socket::create_tcp_socket(IpAddressFamily::Ipv4);
        let udp = udp_create_socket::create_udp_socket(IpAddressFamily::Ipv6);
        let words =
            |error: Option<_>| error.map_or("open".to_owned(), |error| format!("{error:?}"));
        last = format!("{}, {}", words(tcp.as_ref().err()), words(udp.as_ref().err()));
        open.push((tcp, udp));
    }
    last
}

/// Prints to both standard output and standard error.
fn print(text: &str) {
    for stream in [stdout::get_stdout(), stderr::get_stderr()] {
        // Some of the attacks aim at a stream that accepts nothing more.
        let _: Result<(), streams::StreamError> = stream.blocking_write_and_flush(text.as_bytes());
    }
}

scorebox_sdk::export!(WasiAttacker);
