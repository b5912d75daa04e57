//! Reads what a script says about itself in `export const info`, and provides the defaults.

use rquickjs::{Array, CatchResultExt as _, Ctx, Object, Value};

use crate::{
    answer::{self, get, known_keys, severity_named},
    complaint::Complaint,
    contract::types::{Direction, Fields, Scale, ScorerInfo, Severity},
    text,
    type_name::type_name,
};

const KEYS: [&str; 10] = [
    "id",
    "name",
    "description",
    "version",
    "configSchema",
    "reads",
    "scale",
    "direction",
    "severity",
    "threshold",
];
/// The parts of a case that a script can name in `reads`.
const PARTS: [(&str, Fields); 10] = [
    ("output", Fields::empty()),
    ("input", Fields::INPUT),
    ("groundTruth", Fields::GROUND_TRUTH),
    ("context", Fields::CONTEXT),
    ("latencyMs", Fields::LATENCY),
    ("outputSchema", Fields::OUTPUT_SCHEMA),
    ("trace", Fields::TRACE),
    ("usage", Fields::USAGE),
    ("metadata", Fields::METADATA),
    ("baseline", Fields::BASELINE),
];
/// Characters of an id.
const ID_CHARACTERS: usize = 64;

/// The defaults for a script without `info`: named after its file, it reads all of a case.
pub(crate) fn default_info(main: &str) -> ScorerInfo {
    let stem = main.rsplit_once('.').map_or(main, |(stem, _)| stem);
    ScorerInfo {
        id: id_of(stem),
        name: if stem.is_empty() { "Script".to_owned() } else { stem.to_owned() },
        description: String::new(),
        version: "0.0.0".to_owned(),
        config_schema: None,
        scale: Scale::Unit,
        direction: Direction::HigherIsBetter,
        reads: Fields::all(),
        severity: Severity::Gate,
        threshold: None,
    }
}

/// A file's name as an id: lower-case words joined by hyphens.
fn id_of(stem: &str) -> String {
    let mut id = String::new();
    for letter in stem.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' => id.push(letter),
            _ if !id.is_empty() && !id.ends_with('-') => id.push('-'),
            _ => {}
        }
    }
    id.truncate(ID_CHARACTERS);
    match id.trim_end_matches('-') {
        "" => "script".to_owned(),
        id => id.to_owned(),
    }
}

/// Reads the script's `info`; the error is for its author.
pub(crate) fn info<'js>(
    ctx: &Ctx<'js>,
    said: &Value<'js>,
    main: &str,
) -> Result<ScorerInfo, String> {
    let mut info = default_info(main);
    if said.is_undefined() {
        return Ok(info);
    }
    let object = match said.as_object() {
        Some(object) if type_name(said) == "an object" => object,
        _ => return Err(format!("`info` is {}, not an object", type_name(said))),
    };
    known_keys(object, "`info`", &KEYS)?;
    let word = |key: &str| answer::text(ctx, object, key, &format!("`info.{key}`"));
    if let Some(id) = word("id")? {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if id.is_empty() || id.len() > ID_CHARACTERS || !id.bytes().all(fits) {
            return Err(format!(
                "`info.id` is {id:?}; it must be 1 to {ID_CHARACTERS} of a-z, 0-9 and -"
            ));
        }
        info.name.clone_from(&id);
        info.id = id;
    }
    info.name = word("name")?.unwrap_or(info.name);
    info.description = word("description")?.unwrap_or_default();
    info.version = word("version")?.unwrap_or(info.version);
    info.scale = match word("scale")?.as_deref() {
        None | Some("unit") => Scale::Unit,
        Some("points") => Scale::Points,
        Some(other) => {
            return Err(format!("`info.scale` is {other:?}; it must be \"unit\" or \"points\""));
        }
    };
    info.direction = match word("direction")?.as_deref() {
        None | Some("higher-is-better") => Direction::HigherIsBetter,
        Some("lower-is-better") => Direction::LowerIsBetter,
        Some(other) => {
            return Err(format!(
                "`info.direction` is {other:?}; it must be \"higher-is-better\" or \"lower-is-better\""
            ));
        }
    };
    if let Some(severity) = word("severity")? {
        info.severity = severity_named(&severity, "info.severity")?;
    }
    let threshold = get(ctx, object, "threshold")?;
    info.threshold = match threshold.as_number() {
        Some(number) => Some(number),
        None if threshold.is_undefined() || threshold.is_null() => None,
        None => return Err(format!("`info.threshold` is {}, not a number", type_name(&threshold))),
    };
    let schema = get(ctx, object, "configSchema")?;
    if !schema.is_undefined() {
        let written = text::json(ctx, schema).catch(ctx);
        info.config_schema = written.map_err(|error| {
            let text = Complaint::of(error, None).into_text();
            format!("`info.configSchema` cannot be written as JSON: {text}")
        })?;
    }
    let reads = get(ctx, object, "reads")?;
    if let Some(list) = reads.as_array() {
        info.reads = parts(ctx, list)?;
    } else if !reads.is_undefined() {
        return Err(format!("`info.reads` is {}, not an array of names", type_name(&reads)));
    }
    Ok(info)
}

fn parts<'js>(ctx: &Ctx<'js>, list: &Array<'js>) -> Result<Fields, String> {
    let mut fields = Fields::empty();
    for item in list.iter::<Value<'js>>() {
        let item = item.catch(ctx).map_err(|error| Complaint::of(error, None).into_text())?;
        let name = item.as_string().and_then(|text| text.to_string().ok()).unwrap_or_default();
        let Some((_, field)) = PARTS.iter().find(|(part, _)| *part == name) else {
            let known = PARTS.map(|(part, _)| part).join("`, `");
            return Err(format!("`info.reads` has {name:?}; the parts of a case are `{known}`"));
        };
        fields |= *field;
    }
    Ok(fields)
}

/// The configuration, completed with the defaults that the schema has for missing keys.
pub(crate) fn with_defaults<'js>(
    ctx: &Ctx<'js>,
    config: &Object<'js>,
    info: &ScorerInfo,
) -> rquickjs::Result<()> {
    let schema = info.config_schema.as_deref().map(serde_json::from_str::<serde_json::Value>);
    let Some(Ok(schema)) = schema else { return Ok(()) };
    let properties = schema.get("properties").and_then(serde_json::Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        if let Some(default) = property.get("default")
            && !config.contains_key(key.as_str())?
        {
            config.set(key.as_str(), ctx.json_parse(default.to_string())?)?;
        }
    }
    Ok(())
}
