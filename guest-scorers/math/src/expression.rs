//! The structure of a mathematical answer. It computes nothing.

use num_rational::BigRational;

/// A mathematical answer. Sums and products are flat, so only brackets add depth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    /// A number as it was written; with a point or an exponent if `is_decimal`.
    Number {
        value: BigRational,
        is_decimal: bool,
    },
    /// A variable, or one of the constants `pi`, `e` and `i`.
    Name(String),
    /// Terms; true means that the term is subtracted.
    Sum(Vec<(bool, Expression)>),
    /// Factors; true means that the product is divided by the factor.
    Product(Vec<(bool, Expression)>),
    Power(Box<Expression>, Box<Expression>),
    Call(Function, Vec<Expression>),
    /// A function of which only the name is known: `f(x)`.
    Unknown(String, Vec<Expression>),
    /// Several values in order, in brackets or without: `(1, 2)`, `[0, 1)`.
    List {
        brackets: Option<(char, char)>,
        items: Vec<Expression>,
    },
    /// Several values without an order: `\{1, 2\}`, `1 or 2`, `±1`.
    Set(Vec<Expression>),
    /// A union of sets.
    Union(Vec<Expression>),
    /// Rows of a matrix.
    Matrix(Vec<Vec<Expression>>),
    /// The sides, and the relations between them: `0 < x < 1`.
    Relations(Vec<Expression>, Vec<Relation>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Function {
    Abs,
    Binomial,
    Ceiling,
    Exp,
    Factorial,
    Floor,
    /// To base 10 unless it has a second argument.
    Log10,
    /// Natural unless it has a second argument.
    Ln,
    Max,
    Min,
    Modulo,
    Root,
    Sine,
    Cosine,
    Tangent,
    Cotangent,
    Secant,
    Cosecant,
    ArcSine,
    ArcCosine,
    ArcTangent,
    HyperbolicSine,
    HyperbolicCosine,
    HyperbolicTangent,
}

impl Function {
    /// A function as programs name it; `log` is the natural logarithm.
    pub(crate) fn plain(name: &str) -> Option<Self> {
        Some(match name {
            "abs" => Function::Abs,
            "binomial" => Function::Binomial,
            "ceil" | "ceiling" => Function::Ceiling,
            "factorial" => Function::Factorial,
            "floor" => Function::Floor,
            "log" => Function::Ln,
            "sqrt" => Function::Root,
            "asin" => Function::ArcSine,
            "acos" => Function::ArcCosine,
            "atan" => Function::ArcTangent,
            other => return Self::latex(other).filter(|function| *function != Function::Log10),
        })
    }

    /// The function that an exponent of -1 means, and whether it takes the reciprocal of the argument; `None` if the
    /// exponent is an ordinary one.
    pub(crate) fn inverse(self) -> Option<(Self, bool)> {
        Some(match self {
            Function::Sine => (Function::ArcSine, false),
            Function::Cosine => (Function::ArcCosine, false),
            Function::Tangent => (Function::ArcTangent, false),
            Function::Cosecant => (Function::ArcSine, true),
            Function::Secant => (Function::ArcCosine, true),
            Function::Cotangent => (Function::ArcTangent, true),
            _ => return None,
        })
    }

    pub(crate) fn is_hyperbolic(self) -> bool {
        use Function::{HyperbolicCosine, HyperbolicSine, HyperbolicTangent};
        matches!(self, HyperbolicSine | HyperbolicCosine | HyperbolicTangent)
    }

    /// A LaTeX command; `\log` is the logarithm to base 10.
    pub(crate) fn latex(name: &str) -> Option<Self> {
        Some(match name {
            "exp" => Function::Exp,
            "ln" => Function::Ln,
            "log" | "lg" => Function::Log10,
            "max" => Function::Max,
            "min" => Function::Min,
            "sin" => Function::Sine,
            "cos" => Function::Cosine,
            "tan" => Function::Tangent,
            "cot" => Function::Cotangent,
            "sec" => Function::Secant,
            "csc" => Function::Cosecant,
            "arcsin" => Function::ArcSine,
            "arccos" => Function::ArcCosine,
            "arctan" => Function::ArcTangent,
            "sinh" => Function::HyperbolicSine,
            "cosh" => Function::HyperbolicCosine,
            "tanh" => Function::HyperbolicTangent,
            _ => return None,
        })
    }
}
