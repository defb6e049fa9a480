//! The expression language: values computed by hand, and the messages about expressions that cannot
//! be read or have no value.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use stormeter_replicate::{
    Cell, Column, Expression, FUNCTIONS, Printed, Scope, Table, Tables, Template, Value,
};

/// A table `t` with rows `x` and `y` and a table `u` without row names.
fn tables() -> Tables {
    let column =
        |name: &str| Column { name: name.into(), unit: "ms".into(), exact: false, role: None };
    let number = |text: &str| Cell::Number(Printed::read(text).unwrap());
    let name = |text: &str| Cell::Name(text.into());
    Tables(vec![
        Table {
            name: "t".into(),
            label: "Table 1".into(),
            about: "a test".into(),
            columns: vec![column("cell"), column("a"), column("b")],
            rows: vec![
                vec![name("x"), number("1.5"), number("4")],
                vec![name("y"), number("2.5"), Cell::Missing],
            ],
            holds: Vec::new(),
            same_load: false,
            summarises: None,
        },
        Table {
            name: "u".into(),
            label: "Table 2".into(),
            about: "a test".into(),
            columns: vec![column("v"), column("w")],
            rows: ["1 2", "2 4", "4 7"].map(|row| row.split(' ').map(number).collect()).to_vec(),
            holds: Vec::new(),
            same_load: false,
            summarises: None,
        },
    ])
}

fn value(text: &str) -> Value {
    Expression::read(text).unwrap().evaluate(&mut Scope::new(&tables())).unwrap()
}

fn near(text: &str, expected: f64) {
    match value(text) {
        Value::Number(number) => {
            assert!(
                (number - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                "{text} = {number}"
            );
        }
        other => panic!("{text} = {other:?}"),
    }
}

fn message(text: &str) -> String {
    match Expression::read(text) {
        Err(error) => error.to_string(),
        Ok(expression) => expression.evaluate(&mut Scope::new(&tables())).unwrap_err().to_string(),
    }
}

#[test]
fn arithmetic_has_the_usual_precedence() {
    near("1 + 2 * 3", 7.0);
    near("(1 + 2) * 3", 9.0);
    near("8 - 3 - 2", 3.0);
    near("8 / 4 / 2", 1.0);
    near("-2 ^ 2", -4.0);
    near("2 ^ 3 ^ 2", 512.0);
    near("2 ^ -1", 0.5);
    near("2 * -3", -6.0);
}

#[test]
fn paths_lead_to_columns_and_to_numbers() {
    assert_eq!(value("t.a"), Value::List(vec![1.5, 2.5]));
    near("t.y.a", 2.5);
    assert_eq!(value("u.w - u.v"), Value::List(vec![1.0, 2.0, 3.0]));
    assert_eq!(value("10 * u.v"), Value::List(vec![10.0, 20.0, 40.0]));
    assert_eq!(value("u.v < u.w"), Value::Truths(vec![true; 3]));
}

#[test]
fn functions_give_what_is_computed_by_hand() {
    near("mean(u.v)", 7.0 / 3.0);
    near("median(u.w)", 4.0);
    near("sum(u.v, 3)", 10.0);
    near("max(u.v, u.w, 5)", 7.0);
    near("range(u.w)", 5.0);
    near("sd(t.a)", 0.5f64.sqrt());
    near("se(t.a)", 0.5);
    near("first(u.v) + last(u.w) + at(u.w, 2)", 12.0);
    near("n(tail(u.v, 1))", 2.0);
    near("round(2.345, 1) + trunc(2.39, 1)", 4.6);
    near("pct_faster(3, 2)", 50.0);
    near("pct_faster(2, 3)", 50.0);
    near("pct_change(3, 2)", 50.0);
    near("pct_change(2, 4)", -50.0);
    near("improvement(10.5, 7.5)", 40.0);
    near("little(1000, 16)", 16.0);
    near("mib_s(256, 4)", 1.0);
    near("mb_s(1000000, 1)", 1024.0);
    near("effective_n(500, 0.5)", 500.0 / 3.0);
    near("corr(u.v, 2 * u.v)", 1.0);
    near("ratio(u.v, u.v)", 1.0);
    near("t_quantile(0.975, 1)", 12.706204736174698);
    assert_eq!(value("all(is_increasing(u.v), not(is_decreasing(u.v)))"), Value::Truth(true));
    assert_eq!(value("any(u.v > 3)"), Value::Truth(true));
    near("count(u.v >= 2)", 2.0);
    // 0.1 + 0.2 is not 0.3 in binary, but must count as equal.
    assert_eq!(value("0.1 + 0.2 == 0.3"), Value::Truth(true));
    assert_eq!(value("0.1 + 0.2 <= 0.3"), Value::Truth(true));
    assert_eq!(value("0.1 + 0.2 > 0.3"), Value::Truth(false));
}

#[test]
fn tests_of_several_samples_are_those_of_the_textbook() {
    near("t_p(2.10092204024104, 18)", 0.05);
    near("f_p(4.41387341917057, 1, 18)", 0.05);
    near("f_quantile(0.95, 1, 18)", 4.41387341917057);
    // Sums of squares 6 between and 52/3 within, with 1 and 4 degrees of freedom.
    near("anova_f(u.v, u.w)", 18.0 / 13.0);
    near("anova_f(moments(3, mean(u.v), sd(u.v)), moments(3, mean(u.w), sd(u.w)))", 18.0 / 13.0);
    // With two samples it is the pooled t test.
    near("anova_p(u.v, u.w) - rule_p(u.v, u.w)", 0.0);
    // Three against three, wholly apart: one of 20 orders on each side.
    near("mann_whitney_p(u.v, 10 * u.v)", 0.1);
    near("signed_rank_p(u.v, 10 * u.v)", 0.25);
    // H is 27/7, and the root of it a normal deviate.
    assert_eq!(value("kruskal_p(u.v, 10 * u.v) < 0.05"), Value::Truth(true));
    assert_eq!(value("kruskal_p(u.v, 10 * u.v) > 0.049"), Value::Truth(true));
    near("levene_p(u.v, u.v + 10)", 1.0);
    near("brown_forsythe_p(u.v, u.v + 10)", 1.0);
    near("tost_p(u.v, u.v + 1, 1)", 0.5);
    let Value::List(adjusted) = value("holm(0.01, 0.04, 0.03)") else { panic!("no list") };
    for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06]) {
        assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
    }
    near("repeated(u.v - u.v)", 2.0);
    near("repeated(u.v - u.v, u.w)", 0.0);
    for (wrong, part) in [
        ("f_p(1, 0, 3)", "above 0"),
        ("f_quantile(1, 2, 3)", "0.95"),
        ("holm(2)", "from 0 to 1"),
        ("repeated(u.v, t.a)", "same number of rows"),
        ("tost_p(u.v, u.w, -1)", ""),
    ] {
        assert!(message(wrong).contains(part), "{wrong}: {}", message(wrong));
    }
}

#[test]
fn the_two_sample_functions_are_those_of_the_textbook() {
    // Two samples of 5 with SD 1 and means 2 apart: pooled and Welch coincide, SE √(2/5), df 8.
    let two = "moments(5, 3, 1), moments(5, 1, 1)";
    near(&format!("rule_df({two})"), 8.0);
    near(&format!("rule_se({two})"), 0.4f64.sqrt());
    near(&format!("welch_df({two})"), 8.0);
    near(&format!("rule_low({two}, 0.95)"), 2.0 - 2.306004135033371 * 0.4f64.sqrt());
    near(&format!("welch_high({two}, 0.95)"), 2.0 + 2.306004135033371 * 0.4f64.sqrt());
    near(&format!("cohen_d({two})"), 2.0);
    near("pooled_ss(moments(3, 0, 2), moments(4, 0, 1))", 11.0);
    assert_eq!(value("pools(moments(5, 0, 1), moments(5, 0, 1.99))"), Value::Truth(true));
    assert_eq!(value("pools(moments(5, 0, 1), moments(5, 0, 2))"), Value::Truth(false));
    near("rule_df(moments(9, 0, 1), moments(5, 0, 2))", 4.0);
    // F(0.975; 1, 1) = 647.789011, so the ends of a ratio of 1 are its roots.
    near("sd_ratio_high(u.v, u.v, 0.95) * sd_ratio_low(u.v, u.v, 0.95)", 1.0);
    near("sd_ratio_low(u.v, u.v, 0.95)", 1.0 / 39f64.sqrt());
}

#[test]
fn errors_have_a_place_and_say_what_to_do() {
    for (text, part) in [
        ("", "ends where a number"),
        ("1 +", "ends where a number"),
        ("1 2", "nothing more was expected here and there is `2`"),
        ("(1", "a `)` is missing here (at character 3"),
        ("mean(u.v", "a `)` is missing"),
        ("1.2.3", "`1.2.3` is not a number"),
        ("local", "`local` is not a path"),
        ("a.b.c.d", "is not a path"),
        ("meen(u.v)", "`mean(…)` is near"),
        ("mean()", "mean has 0 argument(s) and is written mean(list, …)"),
        ("% 3", "`%` cannot start a value"),
        ("x.a", "there is no table called `x`; there are `t`, `u`"),
        (
            "1 + t.z",
            "there is no column in t called `z`; there are `cell`, `a`, `b` (at character 5",
        ),
        ("t.z.a", "there is no row in t called `z`; there are `x`, `y`"),
        ("u.z.v", "for there are none with names"),
        ("t.cell", "holds the name `x` and no number"),
        ("t.b", "no printed value in row 2"),
        ("1 / 0", "a division by zero"),
        ("t.a + u.v", "lists of 2 and 3 values"),
        ("sqrt(0 - 1)", "not a finite number"),
        ("ln(0)", "not a finite number"),
        ("sd(first(u.v))", "two values are needed for a spread"),
        ("all(3)", "a comparison is needed here and this is a number"),
        ("1 + (1 < 2)", "a list is needed here and this is true or false"),
        ("moments(1, 2, 3)", "2 values or more"),
        ("ratio(u.v - 3, u.w)", "a ratio needs values above 0"),
        ("at(u.v, 4)", "has the values 1 to 3"),
        ("at(u.v, 0)", "has the values 1 to 3"),
        ("round(1, 0.5)", "a whole number"),
        ("rule_low(u.v, u.w, 2)", "confidence level"),
        ("sd_ratio_low(u.v, u.w, 1)", "the level must be between 0 and 1"),
    ] {
        let message = message(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    assert!(message(&"(".repeat(100_000)).contains("too many parentheses"));
    assert!(message(&"-".repeat(100_000)).contains("too many signs"));
    let pieces =
        ["1", "t.a", "mean(", "(", ")", ",", "-", "^", "<=", " ", "é", "{", ".", "all(", "0"];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            // A linear congruential generator is random enough to pick pieces.
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        if let Ok(expression) = Expression::read(&text) {
            let _ = expression.evaluate(&mut Scope::new(&tables()));
        }
        let _ = Template::read(&text);
    }
}

#[test]
fn a_text_carries_the_figures_of_the_tables() {
    let fill = |text: &str| Template::read(text).unwrap().fill(&mut Scope::new(&tables()));
    assert_eq!(fill("mean {mean(u.v)|3} ms").unwrap(), "mean 2.333 ms");
    assert_eq!(fill("{u.v|0}; {1 < 2}; {0 - 0.001|1}").unwrap(), "1, 2, 4; true; 0.0");
    for (text, part) in [
        ("a {mean(u.v)", "a `}` is missing after this `{` (at character 3"),
        ("a {1|x}", "`x` is not a number of digits"),
        ("ab {1 +}", "(at character 8"),
    ] {
        let message = Template::read(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn every_function_is_documented() {
    let page = include_str!("../../../docs/replicate.md");
    for function in FUNCTIONS {
        assert!(page.contains(&format!("`{}`", function.usage)), "{} is missing", function.usage);
    }
}
