//! Which part of an output is compared, as a specification. Comparing values is specified in `tests`.

use super::*;

#[test]
fn what_is_neither_mathematics_nor_words_is_compared_as_it_is_written() {
    all_right(&[
        (r"\boxed{\text{A}, \text{B}}", r"\text{A},\text{B}"),
        (r"\boxed{C(5, 2)}", "C(5,2)"),
        (r"\boxed{3 \text{ R } 2}", r"3\text{ R }2"),
        (r"\boxed{≤}", "≤"),
        ("C(5,2)", "C(5,2)"),
    ]);
    assert!(right("The answer is $C(5,2)$.", "C(5,2)"));
    assert!(right(r"So it is \boxed{C(5,2)}, that is 10.", "C(5,2)"));
    assert!(right("I think that it is this one:\nC(5,2)", "C(5,2)"));
    none_right(&[
        (r"\boxed{3\text{ R }3}", r"3\text{ R }2"),
        (r"\boxed{≥}", "≤"),
        (r"\boxed{10}", "C(5,2)"),
        (r"\boxed{10}, not C(5,2)", "C(5,2)"),
        ("\\boxed{10}, not\nC(5,2)", "C(5,2)"),
    ]);
    assert_eq!(score(json!({"values": ["C(5,2)", 10]}), "C(5,2)", json!("x")).score, Some(1.0));
}

#[test]
fn a_number_inside_a_formula_is_not_the_answer() {
    none_right(&[
        ("so we have\nx^2+9", "9"),
        ("It simplifies to\n(x+1)(x-4)", "-4"),
        ("The interval\n(2,5)", "5"),
        ("Done\n2^10", "10"),
    ]);
    assert!(right(r"\boxed{\textbf{(E)}\ 12}", "12"));
    assert!(right("Done\n2^10", "1024"));
    assert!(right("The value for $x=3$ is 42.", "42"));
}

#[test]
fn the_likeliest_final_answer_is_taken() {
    let answers = [
        r"The answer is \boxed{42}",
        r"\boxed{10} and then \boxed{42}",
        r"\boxed{42 and \fbox{42}",
        "The answer is 42.",
        "Final answer: **42**",
        "RESULT = $42$",
        "The answer is $$42$$",
        r"So \(x = 42\), and 7 is another number.",
        "First compute 6*7.\n42",
        "The answer is 42 because geometry proves it",
        "42 because geometry proves it",
        "So\n42",
    ];
    for answer in answers {
        assert!(right(answer, "42"), "{answer}");
    }
    assert!(right("So it is\neven", r"\text{even}"));
    // On purpose unlike the peer: a box without braces.
    for answer in [
        r"\boxed 42",
        r"So $\boxed42$, not 7.",
        r"\(\fbox 42\) for n = 7.",
        r"\boxed 42.",
        r"$\boxed\frac{84}{2}$, where $n = 2$",
        r"\boxed{7}, no: \boxed 42, I am sure of these 2",
        r"\boxed{42}, as you want it in \boxed or so",
    ] {
        assert!(right(answer, "42"), "{answer}");
    }
    none_right(&[("A mailbox 42 and 7", "42"), (r"\boxed x is 7", "42")]);
    none_right(&[("The perimeter is 7", "42"), (r"\boxed{5} or 42", "42"), ("", "42")]);
    none_right(&[(r"\boxed{10} and then \boxed{42}", r"\{10,42\}")]);
}

#[test]
fn a_bullet_is_not_a_minus() {
    for output in [
        "The answer is:\n- 42",
        "The answer is\n\n– 42",
        "**Answer:**\n* 42",
        "Results:\n- 7\n- 42",
        "It follows that there are\n• 42",
    ] {
        assert!(right(output, "42"), "{output}");
        assert!(!right(output, "-42"), "{output}");
    }
    // As in the peer, if there is no list around it.
    for output in ["- 42", "The answer is - 42", r"\boxed{- 42}", "$- 42$", "x = - 42"] {
        assert!(right(output, "-42"), "{output}");
        assert!(!right(output, "42"), "{output}");
    }
    for output in ["The answer is\n\n-42", "The answer is:\n−42", "Results:\n-42"] {
        assert!(right(output, "-42"), "{output}");
    }
}

#[test]
fn the_last_number_has_its_minus_however_that_is_written() {
    for minus in ["-", "−", "–"] {
        assert!(right(&format!("#### {minus}5"), "-5"), "{minus}");
        assert!(!right(&format!("#### {minus}5"), "5"), "{minus}");
        assert!(right(&format!("It comes to {minus}1,234 units"), "-1234"), "{minus}");
    }
    assert!(!right("pages 3–5", "-5"));
    assert!(right("The distance - 30 km", "30"));
}
