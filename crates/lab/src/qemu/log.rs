//! Extracts from a guest's console log what an error about the guest needs: the kernel's own report if the
//! kernel has crashed, otherwise the last lines.

/// Number of lines of a console that an error shows.
const TAIL: usize = 12;
/// Enough lines to include the instruction and the call trace.
const REPORT: usize = 40;

/// How Linux starts crash reports (`arch/x86/mm/fault.c`, `arch/x86/kernel/traps.c`,
/// `kernel/panic.c`).
const BEGINNINGS: [&str; 4] = ["BUG: ", "Oops: ", "general protection fault", "Kernel panic"];

/// The last lines of a console log.
pub(super) fn tail(console: &str) -> String {
    let lines: Vec<&str> = console.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// The kernel's crash report; `None` if it has not crashed.
pub(super) fn kernel_report(console: &str) -> Option<String> {
    let lines = console.lines().map(unstamped).filter(|line| !line.trim().is_empty());
    let report: Vec<&str> = lines
        .skip_while(|line| !BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)))
        .take(REPORT)
        .collect();
    (!report.is_empty()).then(|| report.join("\n"))
}

/// A line without the kernel's time stamp.
fn unstamped(line: &str) -> &str {
    match line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((time, said)) if time.trim().parse::<f64>().is_ok() => said,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONSOLE: &str = "host: up, waits for its set-up\n\
        [   18.550000] BUG: kernel NULL pointer dereference, address: 000000000000018a\n\
        [   18.550001] #PF: supervisor read access in kernel mode\n\
        [   18.550002] RIP: 0010:some_work+0x1a/0x200 [module]\n\
        \n\
        [   18.550003] Kernel panic - not syncing: Fatal exception\n";

    #[test]
    fn a_kernels_report_is_told_from_where_it_begins() {
        let report = kernel_report(CONSOLE).unwrap();
        assert_eq!(report.lines().count(), 4);
        assert!(report.starts_with("BUG: kernel NULL"), "{report}");
        let panicked = kernel_report("[    1.0] Kernel panic - not syncing: sysrq").unwrap();
        assert_eq!(panicked, "Kernel panic - not syncing: sysrq");
    }

    #[test]
    fn a_kernel_that_has_not_failed_has_no_report() {
        for console in ["", "[1.2] scsi host0: FCoE Driver\nno such thing as a BUG: here\n"] {
            assert_eq!(kernel_report(console), None);
        }
        assert_eq!(tail("a\n\nb\n"), "a\nb");
    }
}
