//! The machine of a run, and lists of names with values.

use stormeter_results::Environment;
use stormeter_units::format_bytes;

use super::typographic;
use crate::markup::Markup;
use crate::phrases::environment_note;
use crate::wording::plural;

/// The machine, as names with values.
pub(crate) fn environment(
    environment: &Environment,
    stormeter_version: &str,
) -> Vec<(&'static str, String)> {
    let joined = |parts: &[String]| (!parts.is_empty()).then(|| parts.join("; "));
    let notes: Vec<String> = environment.notes.iter().map(environment_note).collect();
    let load = environment.load_average.map(|[one, five, fifteen]| {
        format!("{one:.2}, {five:.2}, {fifteen:.2} over 1, 5 and 15 minutes at the start")
    });
    let memory = (environment.memory_bytes > 0).then(|| format_bytes(environment.memory_bytes));
    let cpu = environment.cpu_model.clone().unwrap_or_else(|| environment.architecture.clone());
    let rows = [
        ("Host", environment.hostname.clone()),
        ("Kernel", Some(environment.kernel.clone())),
        ("System", environment.operating_system.clone()),
        ("Virtual machine", environment.virtualization.as_deref().map(hypervisor)),
        ("CPU", Some(format!("{cpu}, {}", plural(u64::from(environment.cpus), "CPU")))),
        ("Governor", environment.governor.clone()),
        ("Memory", memory),
        ("Clock", environment.clock_source.clone()),
        ("I/O engine", environment.engine.clone()),
        ("Load average", load),
        ("Mitigations", joined(&environment.mitigations)),
        ("Notes", joined(&notes)),
        ("Stormeter", Some(stormeter_version.to_string())),
    ];
    rows.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// The hypervisor; a results file says "yes" for one that does not name itself.
fn hypervisor(name: &str) -> String {
    if name == "yes" { "yes, of an unnamed hypervisor".into() } else { name.into() }
}

pub(crate) fn list(page: &mut Markup, rows: &[(&'static str, String)]) {
    page.tag("dl").open();
    for (name, value) in rows {
        page.leaf("dt", name);
        page.leaf("dd", &typographic(value));
    }
    page.close();
}
