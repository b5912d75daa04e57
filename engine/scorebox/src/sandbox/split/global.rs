//! A global of the main module: a number of a certain type, stored as its bits. It knows no module.

use serde::{Deserialize, Serialize};
use wasm_encoder::{ConstExpr, GlobalType, Ieee32, Ieee64, ValType};

use super::encode::global_type;

/// The types of numbers that a global can have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) enum Kind {
    I32,
    I64,
    F32,
    F64,
    V128,
}

impl Kind {
    /// The kind of a value type; `None` if it is not a number.
    pub(super) fn of(ty: wasmparser::ValType) -> Option<Kind> {
        match ty {
            wasmparser::ValType::I32 => Some(Kind::I32),
            wasmparser::ValType::I64 => Some(Kind::I64),
            wasmparser::ValType::F32 => Some(Kind::F32),
            wasmparser::ValType::F64 => Some(Kind::F64),
            wasmparser::ValType::V128 => Some(Kind::V128),
            wasmparser::ValType::Ref(_) => None,
        }
    }

    pub(super) fn val_type(self) -> ValType {
        match self {
            Kind::I32 => ValType::I32,
            Kind::I64 => ValType::I64,
            Kind::F32 => ValType::F32,
            Kind::F64 => ValType::F64,
            Kind::V128 => ValType::V128,
        }
    }
}

/// A global of the main module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Global {
    pub(in super::super) kind: Kind,
    pub(in super::super) mutable: bool,
    /// The bits of its initial value: the low half and the high half.
    pub(super) bits: [u64; 2],
}

impl Global {
    pub(super) fn new(kind: Kind, mutable: bool, bits: u128) -> Global {
        Global { kind, mutable, bits: halves(bits) }
    }

    pub(super) fn ty(&self) -> GlobalType {
        global_type(self.kind.val_type(), self.mutable)
    }

    /// An initial value with these bits.
    pub(super) fn expression(&self, [low, high]: [u64; 2]) -> ConstExpr {
        // The narrower kinds have only the low bits.
        let narrow = low as u32;
        match self.kind {
            Kind::I32 => ConstExpr::i32_const(narrow.cast_signed()),
            Kind::I64 => ConstExpr::i64_const(low.cast_signed()),
            Kind::F32 => ConstExpr::f32_const(Ieee32::new(narrow)),
            Kind::F64 => ConstExpr::f64_const(Ieee64::new(low)),
            Kind::V128 => {
                ConstExpr::v128_const((u128::from(high) << 64 | u128::from(low)).cast_signed())
            }
        }
    }
}

pub(super) fn halves(bits: u128) -> [u64; 2] {
    [bits as u64, (bits >> 64) as u64]
}
