//! Which attack, in which export. For `configure` and what follows, the configuration says so (`{"score": "spin",
//! "amount": 5}`); `describe` gets no configuration, so its order is in the component's data, where the test overwrites
//! it.

use std::sync::Mutex;

/// The mark that the test looks for, and the order after it that the test overwrites: a word, padded with spaces.
static OF_DESCRIBE: [u8; 64] = *b"order of describe: behave                                       ";
const BEFORE_THE_WORD: usize = 19;

/// The configuration; the engine writes it as JSON with sorted keys and without spaces.
static CONFIG: Mutex<String> = Mutex::new(String::new());

/// One attack.
pub struct Order {
    /// Its name.
    pub word: String,
    /// How much of it: bytes, lines, pages.
    pub amount: usize,
}

impl Order {
    pub fn of_describe() -> Order {
        // SAFETY: it is an initialised static; the volatile read keeps the compiler from assuming its content.
        #[allow(unsafe_code)]
        let text = unsafe { std::ptr::read_volatile(&raw const OF_DESCRIBE) };
        let text = String::from_utf8_lossy(&text[BEFORE_THE_WORD..]).into_owned();
        let mut words = text.split_whitespace().map(str::to_owned);
        let word = words.next().unwrap_or_default();
        let amount = words.next().and_then(|amount| amount.parse().ok());
        Order { word, amount: amount.unwrap_or(0) }
    }

    pub fn of_configure(config: String) -> Order {
        let order = Order::of(&config, "configure");
        keep(config);
        order
    }

    pub fn of_score() -> Order {
        Order::of(&kept(), "score")
    }

    pub fn of_summarize() -> Order {
        Order::of(&kept(), "summarize")
    }

    fn of(config: &str, export: &str) -> Order {
        let word = value(config, export).and_then(|value| value.strip_prefix('"'));
        let word = word.and_then(|value| value.split('"').next()).unwrap_or("behave");
        let amount = value(config, "amount").map(|value| value.split([',', '}']).next());
        let amount = amount.flatten().and_then(|digits| digits.parse().ok()).unwrap_or(0);
        Order { word: word.to_owned(), amount }
    }
}

/// What follows `"key":`.
fn value<'a>(config: &'a str, key: &str) -> Option<&'a str> {
    let key = format!("\"{key}\":");
    config.split_once(key.as_str()).map(|(_, value)| value)
}

fn keep(config: String) {
    if let Ok(mut kept) = CONFIG.lock() {
        *kept = config;
    }
}

fn kept() -> String {
    CONFIG.lock().map(|kept| kept.clone()).unwrap_or_default()
}
