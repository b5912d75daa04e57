//! The digest of a component without its data, which identifies the code that it is compiled to. It reads where
//! sections are, but not their content.

use std::{ops::Range, slice};

use wasmparser::{Parser, Payload};

use super::{module, outside};
use crate::digest::Digest;

/// Marks the end of a module's sections.
const END: u8 = u8::MAX;

/// The digest of `component` without the data segments of its core modules. Two components with the same digest are
/// split to the same shell, if both are split: nothing in a shell comes from data. `None` if the bytes are not a
/// component.
pub(in super::super) fn digest_but_data(component: &[u8]) -> Option<Digest> {
    let sections = sections_but_data(component)?;
    let parts = sections
        .iter()
        .map(|(id, range)| Some([slice::from_ref(id), component.get(range.clone())?]))
        .collect::<Option<Vec<_>>>()?;
    Some(Digest::of_parts(parts.into_iter().flatten()))
}

/// The id and the content's range of each section; a core module is listed as its sections.
fn sections_but_data(component: &[u8]) -> Option<Vec<(u8, Range<usize>)>> {
    let mut sections = Vec::new();
    // For each enclosing module or component, whether it is a core module of the component itself.
    let mut around = Vec::new();
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload.ok()?;
        let in_module = match around.as_slice() {
            [] => Some(false),
            [true] => Some(true),
            _ => None,
        };
        match (&payload, in_module) {
            (Payload::ModuleSection { .. }, Some(false)) => {
                sections.push((outside::section::MODULE, 0..0));
                around.push(true);
            }
            (Payload::ModuleSection { .. } | Payload::ComponentSection { .. }, _) => {
                // Its content is a part of this section.
                sections.extend(payload.as_section());
                around.push(false);
            }
            (Payload::End(_), _) => {
                if around.pop() == Some(true) {
                    sections.push((END, 0..0));
                }
            }
            (_, Some(in_module)) => sections.extend(payload.as_section().map(|(id, range)| {
                let is_data =
                    in_module && matches!(id, module::section::DATA | module::section::DATA_COUNT);
                (id, if is_data { 0..0 } else { range })
            })),
            (_, None) => {}
        }
    }
    Some(sections)
}
