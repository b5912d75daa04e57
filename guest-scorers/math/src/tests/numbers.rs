//! How numbers are read and compared that are large, or in groups of digits, as a specification.

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
