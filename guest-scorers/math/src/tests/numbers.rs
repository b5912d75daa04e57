//! How numbers are read and compared that are large, have groups of digits or are decorated, as a specification.

use super::*;

#[test]
fn numbers_beyond_the_range_of_a_double_are_compared_exactly() {
    for (large, equal) in
        [("1e400", "10^{400}"), ("2^{2024}", r"4^{1012}"), ("171!", r"171 \cdot 170!")]
    {
        all_right(&[(large, equal)]);
        for other in ["42", "0", "0.5", "x", "x+1", "i", r"\pi", r"\sqrt{2}", "1e399", "1.5e308"] {
            none_right(&[(large, other), (other, large)]);
            none_right(&[
                (&format!("-{large}"), other),
                (&format!("({large}, 1)"), &format!("({other}, 1)")),
            ]);
            none_right(&[(&format!(r"\{{{large}\}}"), &format!(r"\{{{other}\}}"))]);
            none_right(&[(&format!("x<{large}"), &format!("x<{other}"))]);
        }
    }
    none_right(&[("1e400", "-1e400"), ("1e400", "1.0001e400"), ("1e400", "1e401")]);
    none_right(&[("1e-400", "0"), ("1e-400", "2e-400"), ("1e-320", "1e-321")]);
    all_right(&[("1e-400", r"\frac{1}{10^{400}}"), ("0", "0.0"), (r"\sin(\pi)", "0")]);
}

#[test]
fn groups_of_digits_are_one_number_on_a_side_of_an_equation_and_before_a_unit() {
    all_right(&[
        ("$x = 1,234$", "1234"),
        ("$n=1,000,000$", "1000000"),
        (r"\boxed{12,345\text{ m}^2}", "12345"),
        (r"\boxed{1,024}", "x=1,024"),
    ]);
    assert!(right("The answer is n = 12,345.", "12345"));
    none_right(&[("x=1,23", "123")]);
}

#[test]
fn what_only_looks_different_around_groups_of_digits_does_not_part_them() {
    for output in [
        r"\displaystyle 12,345",
        r"\textstyle 12,345",
        r"\large \$12,345",
        r"\bf 12,345",
        r"\rm 12,345",
        r"\pounds 12,345",
        r"\textdollar 12,345",
        r"\euro 12,345",
        r"\text{\$}12,345",
        r"\color{red}12,345",
        r"~12,345",
        r"12,345~",
        r"\sim 12,345",
        r"12,345\ ",
        r"\ 12,345",
        r"~ 12,345 \text{ km}",
    ] {
        assert!(right(&format!(r"\boxed{{{output}}}"), "12345"), "{output}");
        assert!(right(r"12345", &format!(r"\boxed{{{output}}}")), "{output}");
    }
    all_right(&[
        (r"\displaystyle -12,345", "-12345"),
        (r"\color{red}{12}", "12"),
        (r"\color{red}12", "12"),
        (r"\textcolor{red}{12}", "12"),
        (r"\pounds 12", "12"),
        (r"\sim 12", "12"),
        (r"\bf{12}", "12"),
    ]);
    none_right(&[(r"\displaystyle 12,34", "1234"), (r"A \sim B", "AB"), (r"\sim 12", "13")]);
    // On purpose unlike the peer.
    all_right(&[
        (r"-\textdollar 12,345", "-12345"),
        (r"\color{blue}{\frac{1}{2}}", "1/2"),
        (r"2^{\color{red}{10}}", "1024"),
        (r"\textcolor{red}{12,345}", "12345"),
        (r"\displaystyle 1,2", "(1,2)"),
    ]);
}
