//! math, as a specification. Unless a test says otherwise, the results are those of `math` in Inspect 0.3.285, which
//! has a computer algebra system.

mod finding;
mod numbers;

use serde_json::Value;

use super::*;

fn score(config: Value, output: &str, truth: Value) -> Score {
    let scorer: Math = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output)).with_ground_truth(truth)).unwrap()
}

fn right(output: &str, truth: &str) -> bool {
    score(json!({}), output, json!(truth)).score == Some(1.0)
}

#[track_caller]
fn all_right(pairs: &[(&str, &str)]) {
    for (output, truth) in pairs {
        assert!(right(output, truth), "{output} is not {truth}");
        assert!(right(truth, output), "{truth} is not {output}");
    }
}

#[track_caller]
fn none_right(pairs: &[(&str, &str)]) {
    for (output, truth) in pairs {
        assert!(!right(output, truth), "{output} is {truth}");
    }
}

#[test]
fn numbers_are_written_in_many_ways() {
    all_right(&[
        ("1,234.5", "1234.5"),
        ("12,345,678", "12345678"),
        (r"1\,234", "1234"),
        (r"15,\!000", "15000"),
        (r"1\!234", "1234"),
        (r"\boxed{1\!234}", "1234"),
        (r"10\!000\!000", "10000000"),
        (r"\boxed{10\!000\!000}", "10000000"),
        ("12{,}000", "12000"),
        ("1e3", "1000"),
        (r"1.5 \times 10^3", "1500"),
        ("6.02×10^23", "6.02e23"),
        (r"10^{-3}", "0.001"),
        ("−5", "-5"),
        (r"33.5\%", "0.335"),
        ("33.5 percent", "0.335"),
        (r"\frac{1}{2}\text{ percent}", "0.005"),
        (r"\$12.50", "12.5"),
        ("50.0", "50"),
    ]);
    none_right(&[("10%", "10"), ("1,23", "123"), ("42", "43")]);
}

#[test]
fn a_percent_sign_is_of_all_that_it_stands_after() {
    all_right(&[
        (r"16\frac{2}{3}\%", "1/6"),
        (r"16\frac{2}{3}\%", r"\frac{50}{3}\%"),
        (r"2\frac12\%", r"2.5\%"),
        (r"1/2\%", "0.005"),
        (r"2^{3}\%", "0.08"),
        (r"-\frac{1}{2}\%", "-0.005"),
        (r"x=5\%", "0.05"),
        (r"100\% - 20\%", "0.8"),
        (r"20\% \cdot 50", "10"),
        (r"(5\%, 10\%)", "(0.05, 0.1)"),
    ]);
    none_right(&[(r"1/2\%", "50"), (r"50\%/25\%", "0.0002"), (r"5\%\%", "0.0005")]);
    // On purpose unlike the peer.
    all_right(&[("2½%", "2.5%"), (r"3+4\%", "3.04")]);
}

#[test]
fn the_raised_end_of_an_ordinal_does_not_count() {
    for output in [r"\boxed{90^\text{th}}", r"\boxed{90^{\text{th}}}", r"\boxed{90^{\mathrm{th}}}"]
    {
        assert!(right(output, "90"), "{output}");
    }
    none_right(&[("2^{nd}", "2"), (r"5^{\text{2}}", "5"), (r"x^{\text{th}}", "x")]);
}

#[test]
fn fractions_are_compared_by_value() {
    all_right(&[
        (r"\frac{1}{2}", "0.5"),
        (r"\tfrac34", "3/4"),
        // Without braces, each argument takes one digit, even after a space.
        (r"\frac 12", "1/2"),
        (r"-\dfrac 34", "-0.75"),
        (r"\frac 1 2", "1/2"),
        (r"\frac 1{2}", "1/2"),
        (r"3\frac 12", "3.5"),
        (r"\frac 12 3", "3/2"),
        (r"\frac 59(F-32)", r"\frac{5}{9}(F-32)"),
        (r"\binom 52", "10"),
        (r"-\frac{3}{4}", r"\frac{-3}{4}"),
        (r"2\frac{1}{3}", r"\frac{7}{3}"),
        ("4:3", r"\frac{4}{3}"),
        ("0.3333333333", "1/3"),
    ]);
    none_right(&[("0.333", "1/3"), ("3.14", r"\pi"), (r"\frac 12 3", "4")]);
    // On purpose unlike the peer.
    all_right(&[("1 1/2", "1.5"), ("2½", "2.5"), ("12 345", "12345")]);
    none_right(&[("3(1/2)", "3.5")]);
}

#[test]
fn digits_that_repeat_are_a_fraction() {
    none_right(&[
        (r"\boxed{0.\overline{6}}", r"0.\overline{3}"),
        (r"\boxed{0.\overline{6}}", "0"),
        ("0.(6)", "0.(3)"),
        (r"0.\hat{3}", "0"),
        ("5.x", "5x"),
        ("It is 2^10", "10"),
    ]);
    // On purpose unlike the peer.
    all_right(&[
        (r"0.\overline{3}", "1/3"),
        (r"-0.1\bar6", "-1/6"),
        (r"0.\dot{3}\dot{6}", r"\frac{4}{11}"),
        (r"0.\dot142857\dot1", "0.1428571(1428571)"),
        ("0.58(3)", "7/12"),
        (r"33.\overline{3}\%", "1/3"),
        (r"0.\overline{9}", "1"),
        (r"6.02(10)^{23}", "6.02e23"),
    ]);
    // The omitted digits may not repeat.
    all_right(&[(r"0.333\ldots", "0.333")]);
}

#[test]
fn words_for_numbers_and_signs_belong_to_the_number() {
    none_right(&[
        ("The answer is minus 5", "5"),
        ("The answer is negative 5", "5"),
        ("The answer is not 5", "5"),
        ("5 million", "5"),
        ("The price is 5 million dollars", "5"),
    ]);
    // On purpose unlike the peer.
    all_right(&[
        ("minus 5", "-5"),
        ("5 million", "5000000"),
        (r"\$1,200 thousand", "1.2e6"),
        (r"5\text{ million dollars}", "5000000"),
    ]);
    assert!(right("It lost negative 5 points", "-5"));
    assert!(right("The price is 5 million dollars", "5000000"));
    all_right(&[(r"\approx 3.14", "3.14"), (r"x \approx 5", "5")]);
}

#[test]
fn whole_numbers_are_compared_exactly() {
    none_right(&[
        ("99999999999", "100000000000"),
        ("100000000000000000000", "100000000001000000000"),
        (r"\boxed{2^{2025}}", "3^{2025}"),
    ]);
    all_right(&[
        ("2^{10}", "1024"),
        ("20!", "2432902008176640000"),
        (r"\binom{6}{2}", "15"),
        ("2^200", "1606938044258990275541962092341162602522202993782792835301376"),
    ]);
    none_right(&[("2^200", "1606938044258990275541962092341162602522202993782792835301377")]);
    // On purpose unlike the peer: constants of physics are small.
    none_right(&[("6.626e-34", "1.055e-34")]);
}

#[test]
fn roots_functions_and_constants_are_computed() {
    all_right(&[
        (r"\sqrt2", r"\sqrt{2}"),
        (r"\sqrt{12}", r"2\sqrt{3}"),
        (r"\sqrt{\sqrt{2}}", "2**(1/4)"),
        ("sqrt(2)/2", r"\frac{1}{\sqrt{2}}"),
        ("(3*sqrt(5))/7", r"\frac{3\sqrt{5}}{7}"),
        (r"\sqrt[3]{8}", "2"),
        (r"\frac{6\sqrt{1789-240\sqrt{21}}+8\sqrt{1236-240\sqrt{21}}}{5}", r"96-10\sqrt{21}"),
        ("1.4142135623730951", r"\sqrt{2}"),
        ("3.14159265358979", r"\pi"),
        (r"\sin(\pi/6)", "1/2"),
        (r"\log 100", "2"),
        (r"\log_2 8", "3"),
        (r"\ln e", "1"),
        ("log(e)", "1"),
        ("|-3|", "3"),
        (r"\lfloor 2.7 \rfloor", "2"),
        ("i^2", "-1"),
        (r"\sin^{-1} x", r"\arcsin x"),
        (r"\tan^{-1}(1)", r"\frac{\pi}{4}"),
        (r"\sec^{-1} 2", r"\pi/3"),
        (r"\sin^{-2} x", r"\frac{1}{\sin^2 x}"),
        (r"3 \mod 2", "1"),
        (r"{5 \choose 2}", "10"),
        (r"{n+1 \choose 2}", r"\binom{n+1}{2}"),
        (r"\frac{3+i\sqrt{3}}{2}", r"\frac{i\sqrt{3}+3}{2}"),
    ]);
    none_right(&[("sqrt(2)", "1.414213562"), (r"\sqrt{2}", r"\sqrt{3}"), ("1/0", "2")]);
    none_right(&[
        (r"\sin^{-1} x", r"\frac{1}{\sin x}"),
        (r"\sinh^{-1} x", r"\frac{1}{\sinh x}"),
        (r"5 \bmod 7", r"7 \bmod 5"),
        (r"{5 \choose 2}", r"{2 \choose 5}"),
        (r"3 \colon 2", r"2 \colon 3"),
        (r"1^\infty", "1"),
        (r"\infty-\infty", "0"),
        ("1e-12", "2e-12"),
    ]);
    // On purpose unlike the peer, which rounds what is written out.
    none_right(&[("1e-12", "0")]);
}

#[test]
fn expressions_with_variables_are_compared_by_what_they_are_worth() {
    all_right(&[
        ("x^2+2x+1", "(x+1)^2"),
        ("(x+1)**2", "x^2 + 2*x + 1"),
        (r"\boxed{x^2 - x^2}", "0"),
        (r"\frac{1}{2}x", "x/2"),
        (r"\frac{n(n+1)}{2}", r"\frac{n^2+n}{2}"),
        (r"\frac{\sin\theta}{\cos\theta}", r"\tan\theta"),
        (r"1-\sin^2 x", r"\cos^2 x"),
        ("a_1+a_{2}", "a_2+a_{1}"),
        ("X", "x"),
        ("1/xy", "1/(xy)"),
        (r"2\hat{i}+3\hat{j}", r"3\hat{j}+2\hat{i}"),
        ("f(x)+f(x)", "2f(x)"),
        ("h(a+b)/2", r"\frac{1}{2}(a+b)h"),
    ]);
    none_right(&[
        ("1/xy", "y/x"),
        ("f(g(x))", "g(f(x))"),
        ("f(-x)", "-f(x)"),
        ("f(x,y)", "f(y,x)"),
        (r"\vec{AB}", r"\vec{BA}"),
        (r"\overline{AB}", r"\overline{BA}"),
        (r"\mathbb{Z}", r"\mathbb{N}"),
    ]);
    // On purpose unlike the peer.
    all_right(&[("y = 1/2x + 3", r"\frac{1}{2}x+3")]);
    none_right(&[("f'(x)", "f(x)")]);
    none_right(&[("x", "y"), ("x+1", "x+2"), (r"\sqrt{x^2}", "x"), ("x^2", "x^3")]);
    // Not computed, but equal as written.
    all_right(&[("2024^{4046}", "2024^{4046}"), ("1/2004!", "1/2004!"), ("n!", "n!")]);
}

#[test]
fn an_equation_is_the_answer_of_its_variable() {
    all_right(&[
        ("x=2", "2"),
        ("2 = y", "2"),
        ("x=2", "2=x"),
        ("y = 3x-2", "-2+3x"),
        ("f(x)=x^2", "x^2"),
        (r"\boxed{\;\angle APC = 74^\circ\;}", r"74^\circ"),
        ("3 + 4 = 7", "7"),
    ]);
    none_right(&[("x=2", "y=2"), ("x=2", "3")]);
}

#[test]
fn relations_may_be_turned() {
    all_right(&[("x<2", "2>x"), (r"x\le 2", r"2\ge x")]);
    // On purpose unlike the peer.
    all_right(&[("0<x<1", "1>x>0")]);
    none_right(&[("x<2", "x<=2"), ("x<2", "x>2")]);
}

#[test]
fn lists_sets_intervals_and_matrices_are_compared_part_by_part() {
    all_right(&[
        (r"\left( 3, \frac{\pi}{2} \right)", "(3, pi/2)"),
        (r"$\{1,2,3\}$", r"$\{3, 2, 1\}$"),
        ("1,2", "(1, 2)"),
        (r"(-\infty,-8)\cup (8,\infty)", r"(8,\infty)\cup(-\infty,-8)"),
        (
            r"\begin{pmatrix} 1/\sqrt{2} & 1 \\ -1 & 0.5 \end{pmatrix}",
            r"\begin{bmatrix}\frac{\sqrt2}{2}&1\\-1&\frac12\end{bmatrix}",
        ),
        ("x=1, y=2", "y=2, x=1"),
        ("3 or 4", "4 or 3"),
        (r"\boxed{\{1,1,2\}}", r"\{1,2\}"),
        (r"(-\infty,\infty)", r"\mathbb{R}"),
    ]);
    none_right(&[("2,3", "3,2"), ("[0,1)", "[0,1]"), ("(0, 1)", "2"), ("[0]", "2")]);
    // On purpose unlike the peer.
    none_right(&[("(1,2)", "[1,2]"), ("1,1,2", "1,2"), (r"\{1,2,3\}", r"\{1,2\}")]);
    all_right(&[("x=1,y=2", "(1,2)"), (r"5\text{ or }6", "5,6"), ("ℝ", r"\mathbb{R}")]);
    all_right(&[(r"\pm 2", "2, -2"), (r"x \in [0,1]", "[0,1]"), (r"\emptyset", r"\{\}")]);
}

#[test]
fn units_degrees_and_currencies_do_not_count() {
    all_right(&[
        (r"\boxed{10\text{ cm}}", "10"),
        ("10 cm", "10"),
        ("10 apples", "10"),
        ("74°", r"74^\circ"),
        (r"100\sqrt{2}\text{ m}^2", r"100\sqrt{2}"),
        (r"\boxed{5\text{ m}}", "5"),
        (r"5\text{ s}^{-1}", "5"),
    ]);
    none_right(&[
        (r"\boxed{2\text{ and }3}", "2"),
        (r"5\text{ or }6", "5"),
        (r"5\text{ to }6", "5"),
        (r"5\text{ out of }12", "5"),
        (r"4\text{ remainder }2", "4"),
        (r"12\text{ mod }5", "12"),
        (r"10\text{:}30", "10"),
        (r"10\text{:}30", "30"),
    ]);
    // On purpose unlike the peer.
    all_right(&[("5 km/h", "5")]);
    // A variable is not a unit.
    none_right(&[("5 x", "5"), ("5 m", "5"), ("5m", "5"), ("2 pi", "2")]);
}

#[test]
fn words_are_compared_as_words() {
    all_right(&[
        ("odd $n$", "odd $n$"),
        (r"\text{yes}", "Yes"),
        (r"\text{(A)}", "A"),
        ("11_2", "11_2"),
    ]);
    // On purpose unlike the peer.
    all_right(&[("no solution", r"\text{no solution}"), ("11_2", "11_{2}")]);
    none_right(&[("no", "on"), ("yes", "no"), ("11_2", "11"), ("Paris", "3")]);
}

#[test]
fn formulas_that_are_not_understood_are_compared_as_they_are_written() {
    all_right(&[
        (r"\boxed{\mathbb{R} \setminus \{0\}}", r"\mathbb{R}\setminus\{0\}"),
        (r"x \equiv 3 \pmod{5}", r"x\equiv 3\pmod 5"),
        (r"A \subset B", r"A\subset B"),
        (r"\left\{x \mid x>2\right\}", r"\{x \mid x > 2\}"),
        (r"\sum_{k=1}^{n} \dfrac{1}{k}", r"\sum_{k=1}^n \frac{1}{k}"),
    ]);
    none_right(&[
        (r"x \equiv 3 \pmod{5}", r"x \equiv 5 \pmod{3}"),
        (r"A \subset B", r"B \subset A"),
        (r"p \to q", r"q \to p"),
        (r"p \leftarrow q", r"p \rightarrow q"),
        (r"p \implies q", r"q \implies p"),
        (r"\neg p \land q", r"p \land \neg q"),
        (r"\boxed{\mathbb{R}\setminus\{5\}}", "5"),
    ]);
}

#[test]
fn a_program_is_not_an_answer() {
    for program in ["__import__('os').system('x')", "open('m', 'w')", "globals()['x']"] {
        assert!(!right(&format!("{program} or 0"), "0"), "{program}");
    }
    let scorer: Math = scorebox_sdk::configure(json!({})).unwrap();
    let case = Case::new(json!("42")).with_ground_truth(json!("__import__('os')"));
    assert_eq!(
        scorer.score(&case).unwrap_err().message(),
        "`groundTruth` should be a mathematical answer, found \"__import__('os')\""
    );
    let broken = expected(&[Part::new("groundTruth", r#""\ud800""#)]).unwrap_err();
    let message = r#"should be a mathematical answer, found "\ud800""#;
    assert_eq!(broken, ("groundTruth".to_owned(), message.to_owned()));
    let error = scorebox_sdk::configure::<Math>(json!({"value": "."})).err().unwrap();
    assert_eq!(error.to_string(), "`value`: should be a mathematical answer, found \".\"");
}

#[test]
fn any_expected_answer_will_do_and_programs_are_passed_over() {
    let truth = json!(["__import__('os')", "42", 7]);
    assert_eq!(score(json!({}), r"\boxed{42}", truth.clone()).score, Some(1.0));
    assert_eq!(score(json!({}), "7.0", truth.clone()).score, Some(1.0));
    assert_eq!(score(json!({"negate": true}), "8", truth).score, Some(1.0));
    assert_eq!(score(json!({"value": 0.5}), "1/2", json!("x")).score, Some(1.0));
}

#[test]
fn reasons_show_both_answers() {
    let wrong = score(json!({}), r"So \boxed{\frac{1}{2}}.", json!("0.6"));
    assert_eq!(wrong.reason.as_deref(), Some(r"the answer is \frac{1}{2}, expected 0.6"));
    assert_eq!(wrong.meta_value(), Some(json!({"answer": r"\frac{1}{2}"})));
    let none = score(json!({}), "?", json!("0.6"));
    assert_eq!(none.score, Some(0.0));
    assert_eq!(none.reason.as_deref(), Some("no mathematical answer found"));
}

#[test]
fn nothing_takes_long_or_nests_without_end() {
    let pieces = [
        "(",
        "{",
        "|",
        "-",
        "!",
        "5!",
        "2^",
        "x^",
        "\\frac",
        "\\frac{1}",
        "2\\frac{",
        "\\sqrt",
        "\\sin ",
        "\\boxed{",
        "\\boxed{1}",
        "\\boxed 1",
        "\\boxed1",
        "$",
        "$x$ ",
        "answer is ",
        "1,",
        "1+",
        "9",
        "9^",
        "x+",
        "\\pm ",
        "1/7+",
        "\\begin{matrix}",
        "1 or ",
        "\\text{",
        "\\{1,",
        "so 1 ",
        "99^99*",
        "f(",
        "g(f(",
        "0.(",
        "0.(9)",
        "0.\\dot1",
        "\\vec{",
        "\\bmod 2",
        "\\choose 2",
        "5 million ",
        "{x}",
        "\\subset ",
    ];
    for piece in pieces {
        for times in [30, 200, 4000, 50_000] {
            let text = piece.repeat(times);
            let _ = (right(&text, "42"), right(&format!("\\boxed{{{text}}}"), "42"));
            let scorer: Math = scorebox_sdk::configure(json!({})).unwrap();
            let _ = scorer.score(&Case::new(json!(text)).with_ground_truth(json!(text)));
        }
    }
    assert!(!right(r"\boxed{2^{2^{2^{49}}}}", "1"));
}
