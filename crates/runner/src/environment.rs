//! The machine as it is at the start of a run.

use std::fs;

use stormeter_datastore::RealClock;
use stormeter_results::Environment;

use crate::machine::{allowed_cpus, line_of, load_average, memory_bytes};

/// Reads what can be read; the rest stays empty.
pub fn environment(clock: &RealClock) -> Environment {
    let cpu_info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    Environment {
        hostname: line_of("/proc/sys/kernel/hostname"),
        kernel: line_of("/proc/sys/kernel/osrelease").unwrap_or_default(),
        operating_system: fs::read_to_string("/etc/os-release")
            .ok()
            .and_then(|text| value_of(&text, "PRETTY_NAME", '=')),
        architecture: std::env::consts::ARCH.into(),
        cpu_model: value_of(&cpu_info, "model name", ':'),
        cpus: allowed_cpus().len() as u32,
        memory_bytes: memory_bytes("MemTotal").unwrap_or(0),
        clock_source: Some(clock.source()),
        governor: governor(),
        mitigations: mitigations(),
        load_average: load_average(),
        virtualization: virtualization(&cpu_info),
        engine: None,
        notes: Vec::new(),
        hosts: Vec::new(),
    }
}

/// The frequency governor of the first CPU; virtual machines have none.
pub(crate) fn governor() -> Option<String> {
    line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

fn mitigations() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else {
        return Vec::new();
    };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let state = line_of(entry.path().to_str()?)?;
            let name = entry.file_name().into_string().ok()?;
            state.starts_with("Mitigation").then(|| format!("{name}: {state}"))
        })
        .collect();
    found.sort();
    found
}

/// The hypervisor's vendor if the firmware names one; otherwise only that there is one.
pub(crate) fn virtualization(cpu_info: &str) -> Option<String> {
    if let Some(kind) = line_of("/sys/hypervisor/type") {
        return Some(kind);
    }
    let flags = value_of(cpu_info, "flags", ':')?;
    flags
        .split_whitespace()
        .any(|flag| flag == "hypervisor")
        .then(|| line_of("/sys/class/dmi/id/sys_vendor").unwrap_or_else(|| "yes".into()))
}

fn value_of(text: &str, name: &str, separator: char) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name_and_stripped() {
        let text = "NAME=x\nPRETTY_NAME=\"Some Linux 12\"\n";
        assert_eq!(value_of(text, "PRETTY_NAME", '='), Some("Some Linux 12".into()));
        assert_eq!(value_of(text, "PRETTY", '='), None);
        assert_eq!(value_of("model name\t: EPYC\n", "model name", ':'), Some("EPYC".into()));
    }

    #[test]
    fn this_machine_is_described() {
        let environment = environment(&RealClock::new());
        assert!(!environment.kernel.is_empty());
        assert!(environment.cpus > 0 && environment.memory_bytes > 0);
        assert!(environment.clock_source.is_some());
    }
}
