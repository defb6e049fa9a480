//! Reads workloads of desktops on demand: users, a broker, deployments and sessions.

use stormeter_trial::{
    Arrivals, BrokerRules, DesktopCopy, DesktopDeployment, DesktopLoad, DesktopSession, Resources,
    UserClass, Workload,
};
use stormeter_yaml::{Diagnostics, Keys, Node, Section, Value};

use super::{io, keys};

const MINUTE_NS: u64 = 60_000_000_000;
const HOUR_S: f64 = 3600.0;
/// More at once is no portal of one site.
const MOST_USERS: u32 = 100_000;
/// Each size is a workload of its own, whose cells are all measured.
const MOST_POOLS: usize = 50;

/// The loads of one mapping: one for each size of the pool, with that size where the file names several.
pub(super) fn loads(
    node: &Node,
    base: &Workload,
    diagnostics: &mut Diagnostics,
) -> Vec<(DesktopLoad, Option<u32>)> {
    let Some(section) = Section::open(node, "desktops", &keys::DESKTOPS, diagnostics) else {
        return Vec::new();
    };
    let (arrivals_per_s, users) = arrivals(&section, diagnostics);
    let class = class(&section, diagnostics);
    if arrivals_per_s == 0.0 && class.is_none() && diagnostics.is_empty() {
        diagnostics.error_at(
            section.place,
            "desktops have no users; write arrivals: {per-hour: 30}, or class: {users: 12}, or both",
        );
    }
    let Some(session) = session(&section, base, diagnostics) else { return Vec::new() };
    let Some(deployment) = deployment(&section, diagnostics) else { return Vec::new() };
    let (pools, is_list) = pools(&section, diagnostics);
    let broker = broker(&section, diagnostics);
    let of_pool = |pool: u32| {
        let load = DesktopLoad {
            arrivals_per_s,
            users,
            class,
            broker: BrokerRules { pool, ..broker },
            deployment,
            session: session.clone(),
        };
        (load, is_list.then_some(pool))
    };
    pools.into_iter().map(of_pool).collect()
}

fn arrivals(section: &Section<'_>, diagnostics: &mut Diagnostics) -> (f64, Option<u32>) {
    let Some(node) = section.get("arrivals") else { return (0.0, None) };
    let opened = Section::open(node, "arrivals", &keys::DESKTOP_ARRIVALS, diagnostics);
    let Some(arrivals) = opened else { return (0.0, None) };
    let per_hour = arrivals.number("per-hour", diagnostics).unwrap_or(0.0);
    if !(per_hour > 0.0 && per_hour <= 1e7) {
        diagnostics.error_at(
            arrivals.place_of("per-hour"),
            "arrivals say how many users come in an hour; write arrivals: {per-hour: 30}",
        );
    }
    let users = arrivals.count("users", 1, diagnostics);
    too_many(users, &arrivals, diagnostics);
    (per_hour / HOUR_S, users)
}

fn class(section: &Section<'_>, diagnostics: &mut Diagnostics) -> Option<UserClass> {
    let class = Section::open(section.get("class")?, "class", &keys::CLASS, diagnostics)?;
    let users = class.count("users", 1, diagnostics);
    if !class.has("users") {
        diagnostics.error_at(
            class.place,
            "a class has users who come at once; write class: {users: 12, at: 30s}",
        );
    }
    too_many(users, &class, diagnostics);
    Some(UserClass { users: users?, at_ns: class.duration("at", diagnostics).unwrap_or(0) })
}

fn too_many(users: Option<u32>, section: &Section<'_>, diagnostics: &mut Diagnostics) {
    if users.is_some_and(|users| users > MOST_USERS) {
        diagnostics
            .error_at(section.place_of("users"), format!("users are at most {MOST_USERS} in all"));
    }
}

/// Sizes of the pool, and whether they are a list.
fn pools(section: &Section<'_>, diagnostics: &mut Diagnostics) -> (Vec<u32>, bool) {
    let Some(node) = section.get("pool") else { return (vec![0], false) };
    let Value::List(items) = &node.value else {
        return (section.count("pool", 0, diagnostics).into_iter().collect(), false);
    };
    if items.is_empty() || items.len() > MOST_POOLS {
        diagnostics.error_at(
            node.place,
            format!("pool is a number of ready desktops, or 1 to {MOST_POOLS} of them; write pool: [0, 4, 8]"),
        );
    }
    let mut pools: Vec<u32> = Vec::new();
    for item in items {
        let size = item.text().and_then(|text| text.trim().parse().ok());
        match size {
            Some(size) if !pools.contains(&size) => pools.push(size),
            Some(size) => diagnostics
                .error_at(item.place, format!("a pool of {size} is there twice; keep one")),
            None => diagnostics.error_at(
                item.place,
                format!(
                    "a pool is a number of ready desktops, not {}; write pool: [0, 4, 8]",
                    item.found()
                ),
            ),
        }
    }
    (pools, true)
}

fn broker(section: &Section<'_>, diagnostics: &mut Diagnostics) -> BrokerRules {
    let unlimited = Resources { cpus: u64::MAX, memory_bytes: u64::MAX, storage_bytes: u64::MAX };
    let one = Resources { cpus: 1, memory_bytes: 2 << 30, storage_bytes: 0 };
    let patience_ns = section.duration("patience", diagnostics);
    if patience_ns == Some(0) {
        diagnostics.error_at(
            section.place_of("patience"),
            "users who do not wait at all are refused; write waiting: 0 for that, or patience: 5min",
        );
    }
    BrokerRules {
        pool: 0,
        deploying_most: section.count("at-once", 1, diagnostics).unwrap_or(u32::MAX),
        waiting_most: section.count("waiting", 0, diagnostics),
        patience_ns,
        deploy_most_ns: section.duration("give-up", diagnostics).unwrap_or(10 * MINUTE_NS).max(1),
        idle_ns: section.duration("idle", diagnostics).unwrap_or(30 * MINUTE_NS),
        capacity: resources(section, "capacity", &keys::CAPACITY, unlimited, diagnostics),
        desktop: resources(section, "desktop", &keys::DESKTOP, one, diagnostics),
    }
}

fn resources(
    section: &Section<'_>,
    key: &'static str,
    keys: &'static Keys,
    usual: Resources,
    diagnostics: &mut Diagnostics,
) -> Resources {
    let Some(node) = section.get(key) else { return usual };
    let Some(own) = Section::open(node, key, keys, diagnostics) else { return usual };
    Resources {
        cpus: own.count("cpus", 1, diagnostics).map_or(usual.cpus, u64::from),
        memory_bytes: own.size("memory", diagnostics).unwrap_or(usual.memory_bytes),
        storage_bytes: own.size("storage", diagnostics).unwrap_or(usual.storage_bytes),
    }
}

fn deployment(section: &Section<'_>, diagnostics: &mut Diagnostics) -> Option<DesktopDeployment> {
    let mut deployment = DesktopDeployment {
        copy: DesktopCopy::Full,
        copy_bytes: 1 << 20,
        outstanding: 4,
        setting_ns: 2_000_000_000,
        boot_reads: 2000,
        configure_writes: 200,
    };
    let Some(node) = section.get("deploy") else { return Some(deployment) };
    let own = Section::open(node, "deploy", &keys::DESKTOP_DEPLOY, diagnostics)?;
    let ways = DesktopCopy::ALL.map(|way| (way.name(), way));
    deployment.copy = own.choice("by", &ways, diagnostics).unwrap_or(deployment.copy);
    deployment.copy_bytes = own.request_size("copy", diagnostics).unwrap_or(deployment.copy_bytes);
    if !deployment.copy_bytes.is_multiple_of(4096) {
        diagnostics.error_at(own.place_of("copy"), "copy is a multiple of 4KiB; write copy: 1MiB");
    }
    if deployment.copy != DesktopCopy::Full {
        if own.has("copy") {
            diagnostics.error_at(
                own.place_of("copy"),
                "copy is the size of the reads and writes of a full copy; leave it out, or write by: full",
            );
        }
        deployment.copy_bytes = 0;
    }
    deployment.setting_ns = own.duration("setting", diagnostics).unwrap_or(deployment.setting_ns);
    deployment.boot_reads = own.count("boot", 0, diagnostics).unwrap_or(deployment.boot_reads);
    deployment.configure_writes =
        own.count("configure", 0, diagnostics).unwrap_or(deployment.configure_writes);
    deployment.outstanding =
        own.count("outstanding", 1, diagnostics).unwrap_or(deployment.outstanding);
    Some(deployment)
}

fn session(
    section: &Section<'_>,
    base: &Workload,
    diagnostics: &mut Diagnostics,
) -> Option<DesktopSession> {
    let named = |name: &str, read_percent, arrivals| Workload {
        name: name.into(),
        read_percent,
        arrivals,
        ..base.clone()
    };
    let log_on = named("log-on", 90.0, Arrivals::Closed { outstanding: 4 });
    let work = named("work", 30.0, Arrivals::Poisson { rate_per_s: 5.0 });
    let mut session = DesktopSession {
        log_on_requests: 500,
        log_on,
        work,
        length_ns: 10 * MINUTE_NS,
        idle_percent: 0.0,
    };
    let Some(node) = section.get("session") else { return Some(session) };
    let own = Section::open(node, "session", &keys::DESKTOP_SESSION, diagnostics)?;
    session.length_ns = own.duration("length", diagnostics).unwrap_or(session.length_ns);
    session.idle_percent = own.percent("idle", diagnostics).unwrap_or(0.0);
    session.log_on_requests =
        own.count("requests", 0, diagnostics).unwrap_or(session.log_on_requests);
    for (key, io) in [("log-on", &mut session.log_on), ("work", &mut session.work)] {
        let Some(node) = own.get(key) else { continue };
        let Some(section) = Section::open(node, key, &keys::DESKTOP_IO, diagnostics) else {
            continue;
        };
        *io = Workload { name: key.into(), ..io::pattern(&section, io, diagnostics) };
        let is_work = key == "work";
        if io.arrivals.rate_per_s().is_some() == is_work {
            continue;
        }
        let what = match is_work {
            true => "work is at a rate, as people's is; write work: {rate: 5}",
            false => "a log-on is done as soon as it can be; write log-on: {outstanding: 4}",
        };
        diagnostics.error_at(section.place, what);
    }
    Some(session)
}
