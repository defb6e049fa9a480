//! Runs one measured process and returns its output and its cost.

use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::failure::Failure;

/// How often the memory of a running process is sampled.
const LOOK: Duration = Duration::from_millis(50);

/// The result of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) output: String,
    pub(crate) errors: String,
    /// User and system time of all its threads, including the kernel's io_uring workers.
    pub(crate) cpu_ns: u64,
    /// The largest resident memory among the samples.
    pub(crate) peak_memory_bytes: u64,
}

/// Runs a command to its end. One at a time: the CPU time is the difference of that of all children.
pub(crate) fn run(words: &[String]) -> Result<Ended, Failure> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let spelled = words.join(" ");
    let before_ns = children_ns()?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{program} could not be started ({error}): is it installed?"))?;
    let output = drain(child.stdout.take());
    let errors = drain(child.stderr.take());
    let mut peak_memory_bytes = 0;
    let status = loop {
        peak_memory_bytes = peak_memory_bytes.max(memory_of(&child));
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => thread::sleep(LOOK),
            Err(error) => return Err(format!("{spelled}: {error}")),
        }
    };
    let text = |handle: thread::JoinHandle<String>| handle.join().unwrap_or_default();
    let (output, errors) = (text(output), text(errors));
    if !status.success() {
        return Err(format!("{spelled}\nended with {status}:\n{errors}{output}"));
    }
    Ok(Ended { output, errors, cpu_ns: children_ns()? - before_ns, peak_memory_bytes })
}

/// Reads a pipe to its end on a separate thread, so that neither of two can fill up.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is better than nothing; the exit status shows the rest.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn memory_of(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
    status.ok().and_then(|text| high_water_bytes(&text)).unwrap_or(0)
}

/// `VmHWM` of a /proc status file (proc(5)), in bytes.
pub(crate) fn high_water_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn children_ns() -> Result<u64, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|errno| errno.to_string())?;
    let ns = |time: TimeVal| time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1000;
    Ok(ns(usage.user_time()) + ns(usage.system_time()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Ended, Failure> {
        run(&["sh".into(), "-c".into(), script.into()])
    }

    #[test]
    fn output_and_errors_are_kept_apart() {
        let ended = shell("echo out; echo err >&2").unwrap();
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("out\n", "err\n"));
    }

    #[test]
    fn a_failure_says_what_was_run_and_what_it_said() {
        let failure = shell("echo why >&2; exit 3").unwrap_err();
        assert!(failure.contains("exit 3") && failure.contains("why"), "{failure}");
        assert!(run(&["no-such-program-here".into()]).unwrap_err().contains("installed"));
    }

    #[test]
    fn work_costs_cpu_time_and_memory_is_read() {
        let ended = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").unwrap();
        assert!(ended.cpu_ns > 0);
        assert_eq!(high_water_bytes("VmPeak: 9 kB\nVmHWM:\t  12 kB\n"), Some(12_288));
    }
}
