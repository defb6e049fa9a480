//! The command that repeats a run, for its report.

use stormeter_report::shell_command;
use stormeter_results::Header;

/// The command that repeats a run.
pub(crate) fn command(header: &Header) -> String {
    let given = &header.command_line;
    // A study file has the seed; a comparison may have drawn it.
    match name(given) {
        Some("compare" | "demo") => of_comparison(given, header.plan.seed),
        _ => of_study(given),
    }
}

/// The name of the command. Options that all commands have may stand before it.
pub(crate) fn name(given: &[String]) -> Option<&str> {
    let mut words = given.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--color" => _ = words.next(),
            option if option.starts_with('-') => {}
            name => return Some(name),
        }
    }
    None
}

/// The command as given, without what belongs to that run only: its files, resuming, and the permission to destroy
/// data, which must be typed each time. `seed` may have been drawn.
fn of_comparison(given: &[String], seed: u64) -> String {
    let mut words = without_this_run(given);
    words.extend(["--seed".into(), seed.to_string()]);
    shell_command(&words)
}

/// The same for a study, whose file has the seed. It gets its own results file: with the same one the results would
/// only be shown again.
fn of_study(given: &[String]) -> String {
    let mut words = without_this_run(given);
    words.extend(["--output".into(), "again.db".into()]);
    shell_command(&words)
}

pub(crate) fn without_this_run(given: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let mut given = given.iter();
    while let Some(word) = given.next() {
        match word.split('=').next().unwrap_or_default() {
            "--resume" => {}
            "--output" | "-o" | "--seed" | "--html" | "--destroy-data" => {
                if !word.contains('=') {
                    given.next();
                }
            }
            glued if glued.starts_with("-o") && !glued.starts_with("--") => {}
            _ => words.push(word.clone()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use stormeter_results::Environment;
    use stormeter_study::parse_study;

    use super::*;

    #[test]
    fn options_before_the_command_change_nothing() {
        let plan = parse_study("datastores: {a: /a, b: /b}\nseed: 77").unwrap();
        let of = |words: &str| {
            command(&Header {
                created_unix_ms: 0,
                run_id: String::new(),
                stormeter_version: String::new(),
                command_line: words.split(' ').map(String::from).collect(),
                plan: plan.clone(),
                environment: Environment::default(),
                datastores: Vec::new(),
                prediction: None,
            })
        };
        for color in ["", "--color never ", "--color=never "] {
            let start = format!("stormeter {color}");
            let compare = of(&format!("{start}compare /a run --seed 5"));
            assert_eq!(compare, format!("{start}compare /a run --seed 77"));
            let run = of(&format!("{start}run s.yaml"));
            assert_eq!(run, format!("{start}run s.yaml --output again.db"));
        }
        assert_eq!(name(&["stormeter".into()]), None);
    }

    #[test]
    fn the_command_repeats_the_seed_and_not_the_file() {
        let of = |words: &[&str]| -> String {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            of_comparison(&words, 77)
        };
        assert_eq!(
            of(&["stormeter", "compare", "/a", "/b c", "--output", "x.db", "--resume"]),
            "stormeter compare /a '/b c' --seed 77"
        );
        let options = ["--seed=5", "--html=x.html", "-ox.db", "--vms", "2"];
        let words: Vec<&str> =
            ["stormeter", "compare", "/a", "/b"].into_iter().chain(options).collect();
        assert_eq!(of(&words), "stormeter compare /a /b --vms 2 --seed 77");
    }

    #[test]
    fn a_study_is_repeated_into_another_file() {
        let words = ["stormeter", "run", "s.yaml", "-o", "s.db"].map(String::from);
        assert_eq!(of_study(&words), "stormeter run s.yaml --output again.db");
    }
}
