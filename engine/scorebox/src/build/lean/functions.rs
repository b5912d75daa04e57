//! The functions of a module, and which of them can be called from somewhere other than a function. It changes nothing.

use wasmparser::{
    CompositeInnerType, ConstExpr, ElementItems, ExternalKind, FunctionBody, Operator, Parser,
    Payload, SubType, TypeRef,
};

use super::{Result, frees_score};

/// The functions of a module.
pub(super) struct Functions<'m> {
    /// The number of imported functions, which have the first indices.
    pub(super) imported: u32,
    /// The type index of each of the module's own functions.
    pub(super) types: Vec<u32>,
    /// The number of parameters of each type.
    pub(super) parameters: Vec<u32>,
    pub(super) bodies: Vec<FunctionBody<'m>>,
    /// The functions that the host or a table can call.
    pub(super) roots: Vec<u32>,
}

impl<'m> Functions<'m> {
    /// Reads a valid module.
    pub(super) fn read(module: &'m [u8]) -> Result<Self> {
        let mut read = Self {
            imported: 0,
            types: Vec::new(),
            parameters: Vec::new(),
            bodies: Vec::new(),
            roots: Vec::new(),
        };
        for payload in Parser::new(0).parse_all(module) {
            read.add(payload?)?;
        }
        Ok(read)
    }

    fn add(&mut self, payload: Payload<'m>) -> Result<()> {
        match payload {
            Payload::TypeSection(types) => {
                for group in types {
                    self.parameters.extend(group?.into_types().map(|it| parameters(&it)));
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let is_function =
                        matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_));
                    self.imported += u32::from(is_function);
                }
            }
            Payload::FunctionSection(types) => {
                self.types = types.into_iter().collect::<std::result::Result<_, _>>()?;
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    let is_function =
                        matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact);
                    if is_function && !frees_score(export.name) {
                        self.roots.push(export.index);
                    }
                }
            }
            Payload::StartSection { func, .. } => self.roots.push(func),
            Payload::GlobalSection(globals) => {
                for global in globals {
                    self.constant(&global?.init_expr)?;
                }
            }
            Payload::ElementSection(elements) => {
                for element in elements {
                    self.element(element?.items)?;
                }
            }
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            _ => {}
        }
        Ok(())
    }

    /// Records the functions of a table.
    fn element(&mut self, items: ElementItems<'_>) -> Result<()> {
        match items {
            ElementItems::Functions(indices) => {
                for index in indices {
                    self.roots.push(index?);
                }
            }
            ElementItems::Expressions(_, items) => {
                for item in items {
                    self.constant(&item?)?;
                }
            }
        }
        Ok(())
    }

    /// Records the functions that a constant refers to.
    fn constant(&mut self, constant: &ConstExpr<'_>) -> Result<()> {
        for operator in constant.get_operators_reader() {
            if let Operator::RefFunc { function_index } = operator? {
                self.roots.push(function_index);
            }
        }
        Ok(())
    }

    /// The module's own functions: index, type, body.
    pub(super) fn own(&self) -> impl Iterator<Item = (u32, u32, &FunctionBody<'m>)> {
        let indices = self.imported..;
        indices.zip(&self.types).zip(&self.bodies).map(|((index, kind), body)| (index, *kind, body))
    }

    /// The number of functions, including imported ones.
    pub(super) fn count(&self) -> usize {
        self.imported as usize + self.bodies.len()
    }
}

/// The number of parameters of a type; 0 if it is not a function type.
fn parameters(kind: &SubType) -> u32 {
    match &kind.composite_type.inner {
        CompositeInnerType::Func(function) => function.params().len() as u32,
        _ => 0,
    }
}
