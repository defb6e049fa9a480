//! What a job file takes from outside: included files, the environment, the machine, sizes of what exists.
//!
//! Passed in, so that the translation computes only; also the variables in values, which fio's parser replaces first.

/// Where a job file is read.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The text of an included file, by its name as the file has it.
    pub include: &'a dyn Fn(&str) -> Option<String>,
    /// A variable of the environment (`${NAME}`), and fio's `ncpus`, `pagesize` (bytes) and `mb_memory`.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The size in bytes of a file or device that exists.
    pub size: &'a dyn Fn(&str) -> Option<u64>,
}

impl Surroundings<'static> {
    /// Nothing around: no included files, no variables, no files.
    pub const NONE: Self = Self { include: &|_| None, variable: &|_| None, size: &|_| None };
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Surroundings")
    }
}

/// The longest text that is computed, since each operator is a level of a recursion.
const LONGEST_SUM: usize = 256;

/// fio's own names for what the machine has.
const MACHINE: [&str; 3] = ["mb_memory", "pagesize", "ncpus"];

/// The value with its variables replaced; the name of a variable that is not set as an error.
pub(super) fn expand(value: &str, around: &Surroundings<'_>) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        text += before;
        text += &(around.variable)(name).ok_or_else(|| format!("${{{name}}}"))?;
        rest = behind;
    }
    text += rest;
    let mut of_machine = false;
    for name in MACHINE {
        let word = format!("${name}");
        if text.contains(&word) {
            let number = (around.variable)(name).ok_or_else(|| word.clone())?;
            text = text.replace(&word, &number);
            of_machine = true;
        }
    }
    let is_short = text.len() <= LONGEST_SUM;
    match (of_machine && is_short).then(|| computed(&text)).flatten() {
        Some(number) => Ok(format!("{number}")),
        None => Ok(text),
    }
}

/// The value of `8*4096/2+1`, from whole numbers and the four operators; `None` if it is anything else.
fn computed(text: &str) -> Option<i64> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if let Some(at) = compact.rfind(['+', '-']).filter(|at| *at > 0) {
        let (left, right) = (computed(&compact[..at])?, computed(&compact[at + 1..])?);
        return if compact[at..].starts_with('+') {
            left.checked_add(right)
        } else {
            left.checked_sub(right)
        };
    }
    if let Some(at) = compact.rfind(['*', '/']) {
        let (left, right) = (computed(&compact[..at])?, computed(&compact[at + 1..])?);
        return if compact[at..].starts_with('*') {
            left.checked_mul(right)
        } else {
            left.checked_div(right)
        };
    }
    compact.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_numbers_of_the_machine_computed() {
        let variable = |name: &str| match name {
            "SIZE" => Some("4g".into()),
            "ncpus" => Some("8".into()),
            "mb_memory" => Some("1024".into()),
            "pagesize" => Some("4096".into()),
            _ => None,
        };
        let around = Surroundings { variable: &variable, ..Surroundings::NONE };
        for (value, expanded) in [
            ("${SIZE}", "4g"),
            ("/a/${SIZE}/b", "/a/4g/b"),
            ("$ncpus", "8"),
            ("2*$mb_memory", "2048"),
            ("$pagesize+1*2", "4098"),
            ("100-$ncpus-2", "90"),
            ("${SIZE", "${SIZE"),
            ("t.$jobnum.$filenum", "t.$jobnum.$filenum"),
        ] {
            assert_eq!(expand(value, &around), Ok(expanded.into()), "{value}");
        }
        assert_eq!(expand("${NONE}", &around), Err("${NONE}".into()));
        assert_eq!(expand("$ncpus", &Surroundings::NONE), Err("$ncpus".into()));
    }
}
