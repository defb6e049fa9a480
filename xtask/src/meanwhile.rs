//! A program that runs while another step waits, with what that leaves of the CPUs.

use std::process::{Child, Command, Stdio};

/// See above; ended by [`Meanwhile::finish`].
pub(crate) struct Meanwhile {
    child: Option<Child>,
    line: String,
}

impl Meanwhile {
    /// Starts it. Where it cannot be started nothing runs: who needs its result starts it again.
    pub(crate) fn start(command: &Command) -> Self {
        let mut idle = Command::new("chrt");
        // SCHED_IDLE: whatever else is to run comes first (sched(7)).
        idle.args(["--idle", "0"]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => idle.env(name, value),
                None => idle.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            idle.current_dir(directory);
        }
        let line = format!("{idle:?}");
        Self { child: idle.stdin(Stdio::null()).spawn().ok(), line }
    }

    /// Waits for it. That it failed is said; who needs its result fails with the same.
    pub(crate) fn finish(mut self) {
        if let Some(child) = &mut self.child
            && let Ok(status) = child.wait()
            && !status.success()
        {
            println!("{}: {status}", self.line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_with_the_environment_and_the_directory_of_the_command() {
        let directory = std::env::temp_dir().join(format!("meanwhile-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo $WORD >here"]).env("WORD", "done").current_dir(&directory);
        Meanwhile::start(&command).finish();
        let text = std::fs::read_to_string(directory.join("here"));
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(text.unwrap(), "done\n");
    }
}
