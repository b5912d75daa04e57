//! Tests that every SDK has each field of the contract at the same offset as the contract.

use std::collections::BTreeMap;

use wit_parser::{Resolve, SizeAlign, Type, TypeDefKind, TypeId};

use super::*;

/// Offsets from the start of the record, in bytes, by `record.field` in lower-case letters.
type Offsets = BTreeMap<String, usize>;

/// The records in the SDKs: their names in the contract, and in the SDKs.
const RECORDS: [(&str, &str); 5] = [
    ("usage", "usage"),
    ("scorer-input", "case"),
    ("scorer-info", "info"),
    ("assertion", "assertion"),
    ("score-result", "score"),
];

fn contract() -> (Resolve, SizeAlign) {
    let mut resolve = Resolve::default();
    let texts = [include_str!("../../../wit/0.1.0/types.wit"), "\nworld w { import types; }"];
    resolve.push_source("types.wit", &texts.concat()).unwrap();
    let mut sizes = SizeAlign::default();
    sizes.fill(&resolve);
    (resolve, sizes)
}

fn named(resolve: &Resolve, name: &str) -> TypeId {
    let found = resolve.types.iter().find(|(_, kind)| kind.name.as_deref() == Some(name));
    found.unwrap_or_else(|| panic!("{name}")).0
}

/// Only the letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// The offset of each field in the contract, and the size of each record.
fn expected() -> (Offsets, Offsets) {
    let (resolve, sizes) = contract();
    let (mut offsets, mut all_sizes) = (Offsets::new(), Offsets::new());
    for (in_contract, in_sdk) in RECORDS {
        let id = named(&resolve, in_contract);
        let TypeDefKind::Record(record) = &resolve.types[id].kind else { panic!("{in_contract}") };
        let types: Vec<&Type> = record.fields.iter().map(|field| &field.ty).collect();
        let fields = sizes.field_offsets(types.iter().copied());
        for (field, (offset, _)) in record.fields.iter().zip(fields) {
            let name = format!("{in_sdk}.{}", plain(&field.name));
            offsets.insert(name, offset.size_wasm32());
        }
        all_sizes.insert(in_sdk.to_owned(), sizes.size(&Type::Id(id)).size_wasm32());
    }
    // `score` returns a result of a score or a variant of texts; `configure` returns a result of nothing or a text.
    let score = Type::Id(named(&resolve, "score-result"));
    let error = Type::Id(named(&resolve, "scorer-error"));
    let is = sizes.align(&score).align_wasm32().max(sizes.align(&error).align_wasm32());
    let message = sizes.align(&Type::String).align_wasm32();
    let larger = sizes.size(&score).size_wasm32().max(sizes.size(&error).size_wasm32());
    offsets.insert("answer.is".into(), is);
    offsets.insert("answer.errorkind".into(), is);
    offsets.insert("answer.errormessage".into(), is + message);
    all_sizes.insert("answer".into(), is + larger);
    offsets.insert("configured.message".into(), message);
    let text = sizes.size(&Type::String).size_wasm32();
    all_sizes.insert("configured".into(), message + text);
    (offsets, all_sizes)
}

/// The offsets in lines of the form `mark RECORD, FIELD, NUMBER)`.
fn said(text: &str, mark: &str, record_of: impl Fn(&str) -> Option<&'static str>) -> Offsets {
    let mut said = Offsets::new();
    for line in text.lines() {
        let Some(arguments) = line.trim().strip_prefix(mark) else { continue };
        let arguments: Vec<&str> =
            arguments.split(')').next().unwrap().split(',').map(str::trim).collect();
        let [record, field, offset] = arguments[..] else { continue };
        let (Some(record), Ok(offset)) = (record_of(record), offset.parse()) else { continue };
        // A field inside a union.
        let field = field.rsplit_once("is.").map_or(field, |(_, field)| field);
        said.insert(format!("{record}.{}", plain(field)), offset);
    }
    said
}

/// The values of constants: `PREFIXRECORDFIELD … = NUMBER`, in any case and with any separators; sizes are separate.
fn constants(text: &str) -> (Offsets, Offsets) {
    let (mut offsets, mut sizes) = (Offsets::new(), Offsets::new());
    for line in text.lines() {
        let line = line.trim().trim_start_matches("const ");
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = plain(name.split(':').next().unwrap());
        let digits = value.trim().trim_end_matches(';');
        let Ok(value) = digits.parse() else { continue };
        let records = ["usage", "case", "info", "assertion", "score", "answer", "configured"];
        let Some(record) = records.into_iter().find(|record| name.starts_with(record)) else {
            continue;
        };
        match &name[record.len()..] {
            "size" => sizes.insert(record.to_owned(), value),
            field => offsets.insert(format!("{record}.{field}"), value),
        };
    }
    (offsets, sizes)
}

/// The fields of the contract that are missing or wrong. Fields outside records (`answer.errorkind`) may be missing if
/// the compiler lays them out.
fn wrong(said: &Offsets, expected: &Offsets, optional: &[&str]) -> Vec<String> {
    let missing = expected.iter().filter(|(name, offset)| match said.get(*name) {
        Some(found) => found != *offset,
        None => !optional.contains(&name.as_str()),
    });
    let more = said.iter().filter(|(name, _)| !expected.contains_key(*name));
    missing.chain(more).map(|(name, offset)| format!("{name} {offset}")).collect()
}

#[test]
fn every_sdk_has_the_fields_where_the_contract_has_them() {
    let (offsets, sizes) = expected();
    assert_eq!(offsets["scorerinput.output".replace("scorerinput", "case").as_str()], 0);
    assert_eq!((offsets["info.reads"], offsets["case.baseline"], sizes["answer"]), (46, 172, 72));

    let c = said(C.text, "SCOREBOX_AT(", |record| {
        Some(match record {
            "scorebox_usage" => "usage",
            "scorebox_case" => "case",
            "scorebox_info" => "info",
            "scorebox_assertion" => "assertion",
            "scorebox_score_value" => "score",
            "scorebox_answer" => "answer",
            "scorebox_configured" => "configured",
            _ => return None,
        })
    });
    assert_eq!(wrong(&c, &offsets, &["answer.errorkind"]), [] as [String; 0]);

    let zig = said(ZIG.text, "at(", |record| {
        Some(match record {
            "abi.Usage" => "usage",
            "Input" => "case",
            "abi.Info" => "info",
            "abi.Assertion" => "assertion",
            "Result" => "score",
            "Answer" => "answer",
            "Configured" => "configured",
            _ => return None,
        })
    });
    let laid_out = ["answer.errorkind", "answer.errormessage"];
    assert_eq!(wrong(&zig, &offsets, &laid_out), [] as [String; 0]);

    for file in [GO, ASSEMBLYSCRIPT] {
        let (found, found_sizes) = constants(file.text);
        assert_eq!(wrong(&found, &offsets, &[]), [] as [String; 0], "{}", file.path);
        assert_eq!(wrong(&found_sizes, &sizes, &["usage", "case", "score"]), [] as [String; 0]);
    }
}

/// The names in an enum or in flags, in the contract's order.
fn words_of(name: &str) -> Vec<String> {
    let (resolve, _) = contract();
    match &resolve.types[named(&resolve, name)].kind {
        TypeDefKind::Enum(kind) => kind.cases.iter().map(|case| plain(&case.name)).collect(),
        TypeDefKind::Flags(kind) => kind.flags.iter().map(|flag| plain(&flag.name)).collect(),
        _ => panic!("{name}"),
    }
}

#[test]
fn every_sdk_has_the_parts_of_a_case_in_the_contracts_order() {
    let fields = words_of("fields");
    // Reads the names after the line `from`, one in each line.
    let list = |text: &str, from: &str, of: fn(&str) -> &str| -> Vec<String> {
        let after = text.split_once(from).unwrap_or_else(|| panic!("{from}")).1;
        let lines = after.lines().skip(1).map(str::trim);
        let named = lines.map(|line| plain(of(line))).take(fields.len());
        named.collect()
    };
    let c = list(C.text, "`output` is always present. */\nenum {", |line| {
        line.trim_start_matches("SCOREBOX_").split(' ').next().unwrap_or("")
    });
    assert_eq!(c, fields);
    let zig = list(ZIG.text, "Fields = packed struct", |line| line.split(':').next().unwrap_or(""));
    assert_eq!(zig, fields);
    let go = list(GO.text, "const (", |line| line.split(' ').next().unwrap_or(""));
    let go: Vec<String> = go.iter().map(|name| name.replace("usagefield", "usage")).collect();
    assert_eq!(go, fields);
    let assemblyscript = list(ASSEMBLYSCRIPT.text, "export namespace Fields", |line| {
        line.trim_start_matches("export const ").split(':').next().unwrap_or("")
    });
    assert_eq!(assemblyscript, fields);
    // Each part is a bit.
    for bit in 0..fields.len() {
        let value = format!("= {}", 1 << bit);
        assert!(C.text.contains(&value) && ASSEMBLYSCRIPT.text.contains(&value), "{value}");
    }
}
