//! The services of a host, as lines of its set-up that use the commands of `services.sh` in its image; the names by which
//! hosts know other guests; and whether services listen.

use std::path::Path;
use std::time::Duration;

use super::directory::guest;
use super::routed::far_ends;
use super::secrets::Secrets;
use crate::links::{Node, links};
use crate::model::{Host, Lab};

/// How much of its memory a host keeps for everything but the files of its FTP server, in MiB.
const KEPT_MIB: u64 = 224;
/// How long a host may take to say which of its services listen.
const TELLS: Duration = Duration::from_secs(20);

/// Lines that start the services of a host.
pub(super) fn lines(host: &Host, secrets: &Secrets) -> Vec<String> {
    let services = &host.services;
    let mut lines = Vec::new();
    if !services.is_empty() {
        lines.push(". /services.sh".to_owned());
    }
    if let Some(ftp) = &services.ftp {
        let password = secrets.in_file(&ftp.password_file);
        let mebibytes = (host.memory_bytes >> 20).saturating_sub(KEPT_MIB).max(16);
        lines.push(format!("serve_ftp '{password}' {mebibytes}"));
    }
    if let Some(vnc) = &services.vnc {
        let password = secrets.in_file(&vnc.password_file);
        lines.push(format!("serve_vnc '{password}' {}", vnc.seed));
    }
    lines
}

/// Lines by which a host knows the guests that it reaches through routers, and itself, by name.
pub(super) fn names(lab: &Lab, index: usize) -> Vec<String> {
    let node = Node::Host(index);
    let own = links(lab).into_iter().find_map(|link| Some(link.address(link.side(node)?)));
    let own = own.map(|address| (lab.hosts[index].name.clone(), address));
    let mut named: Vec<(String, String)> = vec![("localhost".into(), "127.0.0.1".into())];
    for (name, address) in own.into_iter().chain(far_ends(lab, node)) {
        // One that is reached over several networks has the name at the first.
        if !named.iter().any(|(known, _)| *known == name) {
            named.push((name, address));
        }
    }
    let entry = |(name, address)| format!("echo {address} {name} >> /etc/hosts");
    std::iter::once(": > /etc/hosts".into()).chain(named.into_iter().map(entry)).collect()
}

/// What a host serves, and whether it does now, for people.
pub(super) fn told(directory: &Path, lab: &Lab, index: usize) -> Vec<String> {
    let host = &lab.hosts[index];
    let ports: Vec<(&str, u16)> = host.services.ports().collect();
    let listening = listening(directory, &host.name, &ports);
    let state = |place: usize| match listening.as_deref() {
        None => "does not answer",
        Some(all) => all.get(place).map_or("down", |up| if *up { "up" } else { "down" }),
    };
    let ports = ports.iter().enumerate();
    ports.map(|(place, (name, port))| format!("{name} on port {port}: {}", state(place))).collect()
}

/// Which of these ports have a server; `None` if the host does not answer.
fn listening(directory: &Path, name: &str, ports: &[(&str, u16)]) -> Option<Vec<bool>> {
    if ports.is_empty() {
        return None;
    }
    let guest = guest(directory, name);
    guest.process()?;
    let mut script = String::from(". /services.sh\n");
    for (_, port) in ports {
        script += &format!("listening {port} && echo up || echo down\n");
    }
    let said = guest.control_port().ok()?.ask(&script, TELLS).ok()?;
    Some(said.lines().map(|line| line == "up").collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse_lab;
    use crate::rack::mounts;
    use crate::wiring::channels;

    #[test]
    fn a_host_starts_its_services_with_their_passwords_and_others_know_it_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let text = format!(
            "networks: {{core: {{}}, one: {{}}, two: {{}}}}\n\
             routers:\n  \
               r1: {{role: provider, networks: [core, one]}}\n  \
               r2: {{role: provider, networks: [core, two]}}\n\
             hosts:\n  \
               server-1:\n    \
                 networks: [one]\n    \
                 services: {{ftp: {{password-file: {}}}, vnc: {{password-file: {}, seed: 7}}}}\n  \
               client: {{networks: [two]}}\n",
            file("ftp.txt", "secret-1\n"),
            file("vnc.txt", "secret-2\n"),
        );
        let lab = parse_lab(&text).unwrap();
        let secrets = Secrets::read(&lab).unwrap();
        let script = |index| mounts::script(&lab, index, &channels(&lab), &secrets);
        let (server, client) = (script(0), script(1));
        let has = |text: &str, line: &str| text.lines().any(|found| found == line);
        assert!(has(&server, "serve_ftp 'secret-1' 160"), "{server}");
        assert!(has(&server, "serve_vnc 'secret-2' 7"), "{server}");
        assert!(!client.contains("serve_"), "{client}");
        let address = links(&lab).iter().find_map(|l| Some(l.address(l.side(Node::Host(0))?)));
        let named = format!("echo {} server-1 >> /etc/hosts", address.unwrap());
        assert!(has(&server, &named) && has(&client, &named), "{named}\n{server}\n{client}");
        // Nothing of a lab that is kept or shown has them.
        let shown = format!("{}{lab:?}", serde_json::to_string(&lab).unwrap());
        assert!(!shown.contains("secret-1") && !shown.contains("secret-2"));
    }
}
