//! The passwords of services, from the files that workloads name: they go to whatever opens sessions, and into no plan,
//! result or message.

use std::path::Path;

use stormeter_study::StudyPlan;

use crate::exit::Failure;

/// The most characters of a password.
const MOST_CHARS: usize = 128;
/// The longest file that is looked at.
const MOST_BYTES: u64 = 4096;

/// Pairs of a file that a workload names and the password on its only line. Relative paths start at the working directory.
pub(crate) fn service_passwords(plan: &StudyPlan) -> Result<Vec<(String, String)>, Failure> {
    let mut passwords: Vec<(String, String)> = Vec::new();
    for load in plan.workloads.iter().filter_map(|workload| workload.kind.service()) {
        let file = load.password_file();
        if passwords.iter().all(|(known, _)| known != file) {
            passwords.push((file.into(), read(file)?));
        }
    }
    Ok(passwords)
}

fn read(file: &str) -> Result<String, Failure> {
    let wrong = |what: &str| {
        Failure::Usage(format!(
            "the password file {file} {what}; write the password of the service on its only line"
        ))
    };
    let found =
        std::fs::metadata(file).map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    if !found.is_file() || found.len() > MOST_BYTES {
        return Err(wrong("is no small file"));
    }
    let text = std::fs::read_to_string(Path::new(file))
        .map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    let password = text.strip_suffix('\n').unwrap_or(&text);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        return Err(wrong("is empty"));
    }
    if password.contains(char::is_control) || password.chars().count() > MOST_CHARS {
        return Err(wrong("has more than one line, or a very long one"));
    }
    Ok(password.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_only_line_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ftp.txt");
        let file = path.to_str().unwrap();
        for (text, password) in [("secret", Some("secret")), ("two words\r\n", Some("two words"))] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read(file).ok().as_deref(), password);
        }
        for text in ["", "\n", "a\nb\n", "a\tb", &"x".repeat(129)] {
            std::fs::write(&path, text).unwrap();
            let Err(Failure::Usage(message)) = read(file) else { panic!("{text:?}") };
            assert!(message.contains("ftp.txt") && message.contains("only line"), "{message}");
        }
        assert!(read(folder.path().join("none").to_str().unwrap()).is_err());
        assert!(read(folder.path().to_str().unwrap()).is_err() && read("/dev/zero").is_err());
    }
}
