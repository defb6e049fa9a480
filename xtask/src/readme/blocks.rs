//! The blocks of commands in a Markdown file.

/// The commands between two fences.
#[derive(Debug, PartialEq)]
pub(crate) struct Block {
    /// What follows `run` if the commands are to be run.
    pub(crate) run: Option<String>,
    /// Each command with the number of its (first) line, counted from 1.
    pub(crate) commands: Vec<(usize, String)>,
}

/// All blocks marked `sh`.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    // In a block of another language there is nothing to collect.
    let mut open: Option<Option<Block>> = None;
    let mut continued: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        match (&mut open, trimmed.strip_prefix("```")) {
            (None, Some(info)) => open = Some(marked(info)),
            (None, None) => {}
            (Some(block), Some(_)) => {
                found.extend(block.take());
                open = None;
            }
            (Some(None), None) => {}
            (Some(Some(block)), None) => {
                let (number, mut command) = continued.take().unwrap_or((index + 1, String::new()));
                if let Some(start) = trimmed.strip_suffix('\\') {
                    continued = Some((number, command + start));
                    continue;
                }
                command.push_str(trimmed);
                if !command.is_empty() && !command.starts_with('#') {
                    block.commands.push((number, command));
                }
            }
        }
    }
    found
}

fn marked(info: &str) -> Option<Block> {
    let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
    if language != "sh" {
        return None;
    }
    let run = rest.trim().strip_prefix("run").map(|more| more.trim().to_owned());
    Some(Block { run, commands: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_commands_are_found_with_their_lines() {
        let text = "\
a
```sh
# a comment
b 1

c 2 \\
  3
```
```console
$ not this
```
```sh run --time-limit 5s
d
```
e";
        let found = blocks(text);
        let commands = [(4, "b 1".to_owned()), (6, "c 2 3".to_owned())];
        assert_eq!(found[0], Block { run: None, commands: commands.into() });
        let commands = vec![(13, "d".to_owned())];
        assert_eq!(found[1], Block { run: Some("--time-limit 5s".into()), commands });
        assert_eq!(found.len(), 2);
    }
}
