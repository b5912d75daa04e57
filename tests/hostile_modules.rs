//! Scorers whose core module is written by hand, so that they can do what no compiler lets through: each is a working
//! scorer of the contract, except for the part that a test replaces.

use wit_component::{ComponentEncoder, StringEncoding, decode, embed_component_metadata};

use crate::sandbox_fixture::guest;

/// The parts of the module, as text. Its memory: at 1024 a word; at 2048 the answer of `describe`; at 3072 that of
/// `configure`, which succeeds; at 4096 that of `score`, which is 1; from 65536 on, the arguments that it is given.
pub(crate) struct Module<'a> {
    pub memory: &'a str,
    /// The body of `cabi_realloc`: old address, old size, alignment, new size; returns an address.
    pub realloc: &'a str,
    pub describe: &'a str,
    pub configure: &'a str,
    /// The body of `score`; returns the address of the result.
    pub score: &'a str,
    /// Anything else: functions, tables, data.
    pub more: &'a str,
    /// Its imports from `world`.
    pub imports: &'a str,
    /// WIT of a package with a world that it has in addition to the contract's; not used if it is empty.
    pub world: &'a str,
}

impl Default for Module<'_> {
    fn default() -> Self {
        Module {
            memory: "(memory (export \"memory\") 2)",
            realloc: "(global.get $next)
                (global.set $next (i32.and
                    (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 7))
                    (i32.const -8)))",
            describe: "(i32.const 2048)",
            configure: "(i32.const 3072)",
            score: "(i32.const 4096)",
            more: "",
            imports: "",
            world: "",
        }
    }
}

impl Module<'_> {
    /// The module as a component.
    pub(crate) fn component(&self) -> Vec<u8> {
        let Module { memory, realloc, describe, configure, score, more, imports, world } = self;
        let text = format!(
            r#"(module
                {imports}
                {memory}
                (global $next (mut i32) (i32.const 65536))
                (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) {realloc})
                (func (export "scorebox:scorer/scoring@0.1.0#describe") (result i32) {describe})
                (func (export "scorebox:scorer/scoring@0.1.0#configure")
                    (param i32 i32) (result i32) {configure})
                (func (export "scorebox:scorer/scoring@0.1.0#score")
                    (param i32) (result i32) {score})
                (data (i32.const 1024) "by-hand")
                (data (i32.const 2048) "{WORD}{WORD}{WORD}{WORD}")
                ;; No schema, 0 to 1, higher is better, reads nothing, soft, no threshold.
                (data (i32.const 2092) "\00\00\00\00\01")
                ;; There is a score, and it is 1.
                (data (i32.const 4104) "\01")
                (data (i32.const 4118) "\f0\3f")
                {more}
            )"#
        );
        let mut module = wat::parse_str(text).unwrap();
        let contract = decode(&guest("misbehave")).unwrap();
        let scorer = contract.resolve().worlds.iter().next().unwrap().0;
        let encoding = StringEncoding::UTF8;
        embed_component_metadata(&mut module, contract.resolve(), scorer, encoding).unwrap();
        if !world.is_empty() {
            let mut resolve = contract.resolve().clone();
            let package = resolve.push_str("world.wit", world).unwrap();
            let world = resolve.select_world(&[package], None).unwrap();
            embed_component_metadata(&mut module, &resolve, world, encoding).unwrap();
        }
        ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
    }
}

/// The address and the length of the word.
const WORD: &str = r"\00\04\00\00\07\00\00\00";

/// The addresses of the parts of `score`'s answer: whether there is a reason, its address and its length; the address
/// and the number of the assertions.
pub(crate) const REASON: [i32; 3] = [4096 + 36, 4096 + 40, 4096 + 44];
pub(crate) const ASSERTIONS: [i32; 2] = [4096 + 60, 4096 + 64];

/// A body for `score` that writes these numbers to these addresses, and answers as usual.
pub(crate) fn answer_with(numbers: &[(i32, i32)]) -> String {
    let store = |(address, number): &(i32, i32)| {
        format!("(i32.store (i32.const {address}) (i32.const {number}))")
    };
    numbers.iter().map(store).collect::<String>() + "(i32.const 4096)"
}
