//! A VPN over routers that are guests: found, cut and found again, while a host reads and writes through it; and the
//! services of a host behind it.

use stormeter_lab::Faults;

use crate::place::Place;

/// Two sites with a way of their own, joined by a provider's edges; SAN and server are at the second edge.
const LAB: &str = "networks:\n  \
      core: {rate: 20Mb, delay: 500us}\n  \
      access-1: {rate: 20Mb}\n  \
      access-2: {rate: 20Mb}\n  \
      backup: {rate: 5Mb, delay: 5ms, cost: 100}\n  \
      site: {}\n  \
      servers: {vpn: blue}\n\
    routers:\n  \
      ce1: {role: customer-edge, vpn: blue, networks: [access-1, backup, site]}\n  \
      pe1: {role: provider-edge, networks: [access-1, core]}\n  \
      pe2: {role: provider-edge, networks: [core, access-2, servers]}\n  \
      ce2: {role: customer-edge, vpn: blue, networks: [access-2, backup]}\n\
    storage: {san: {networks: [servers], disks: {a: {size: 32MiB, iops: 150}}, luns: {a: a}}}\n\
    hosts:\n  \
      client: {networks: [site], mounts: {a: {datastore: san.a, network: servers}}}\n  \
      server: {networks: [servers], services: {ftp: {password-file: ftp.txt}, vnc: {password-file: vnc.txt}}}\n";

/// What answers at the server's ports, a file that goes there and comes back, and who may not have it.
const SERVED: [&str; 6] = [
    "echo QUIT | nc server 21 | grep '^220 '",
    "nc server 5900 < /dev/null | grep '^RFB 003'",
    "hostname > /tmp/up",
    "ftpput -u stormeter -p ftp-word server it /tmp/up",
    "ftpget -u stormeter -p ftp-word server /tmp/down it && cmp /tmp/up /tmp/down",
    "! ftpget -u stormeter -p vnc-word server /tmp/down it",
];

/// Every byte is checked; nothing passes for a while when the main way is cut.
const STUDY: &str = "hosts: {client: 'lab:client'}\n\
    datastores: {san: /dev/lab/a}\n\
    workloads: [{name: w, profile: vm-4k, rate: 10}]\n\
    load: {vms: [1]}\n\
    disk: {size: 2MiB}\n\
    measure: {ramp: 1s, duration: 12s, interval: 250ms, verify: true}\n\
    steps: [{at: 2s, do: link-down pe1.core}, {at: 11s, do: link-up pe1.core}]\n\
    design: {blocks: 1, metric: outage}\n\
    questions: [outage of san is at most 9s]\n";

/// Users of the server's services, at normal load.
const SESSIONS: &str = "hosts: {client: 'lab:client'}\n\
    datastores: {server: 'server://server'}\n\
    workloads:\n  \
      - {name: down, ftp: {direction: download, size: 64KiB, files: 2, password-file: ftp.txt}}\n  \
      - {name: desk, vnc: {pause: 200ms, keys-at: 624x260+0+156, fields: 8x4, password-file: vnc.txt}}\n\
    load: {vms: [2]}\n\
    measure: {ramp: 500ms, duration: 2s, interval: 500ms}\n\
    design: {blocks: 2}\n\
    questions: [iops of server is at least 0.01 everywhere, updates of server is at least 0.01 on desk]\n";

#[test]
fn a_vpn_is_cut_under_load_and_its_second_way_carries_on() {
    let Some(place) = Place::new() else { return };
    place.write("vnc.txt", "vnc-word\n");
    let (code, text) = place.try_up(LAB);
    assert!(code != Some(0) && text.contains("ftp.txt"), "{text}");
    place.write("ftp.txt", "ftp-word\n");
    place.up(LAB);
    let whole = || {
        let text = place.done(&["lab", "status"]);
        assert_eq!(text.matches("OSPF 3 of 3, LDP 1 of 1, BGP 1 of 1").count(), 2, "{text}");
        assert_eq!(text.matches("OSPF 2 of 2; ").count(), 2, "{text}");
        assert!(!text.contains(" 0 routes") && !text.contains("1 of 1; 0 labels"), "{text}");
        assert!(
            text.contains("ftp on port 21: up") && text.contains("vnc on port 5900: up"),
            "{text}"
        );
        assert!(!text.contains("-word"), "{text}");
    };
    whole();
    assert_eq!(place.script("client", &SERVED), "ready");
    // Packets of the largest size fit, although each gets labels and the tunnel's header on its way.
    assert_eq!(place.script("client", &["ping -c 1 -W 5 -s 1472 10.81.6.2"]), "ready");
    // The provider's way is the main one, although the customers' own is shorter.
    let way = |over: &str| format!("/bin/ip route get 10.81.6.2 | grep -q 'via {over}.'");
    assert_eq!(place.script("ce1", &[&way("10.81.1")]), "ready");

    place.write("study.yaml", STUDY);
    let text = place.ran(&["run", "study.yaml", "--output", "a.db"], "1 block");
    assert!(!text.contains("not what was written"), "{text}");
    // The study waited until all was as before.
    whole();
    every_guest_was_watched(&place);
    place.write("sessions.yaml", SESSIONS);
    let text = place.ran(&["run", "sessions.yaml", "--output", "b.db"], "2 blocks");
    assert!(text.contains("2 questions: 2 yes") && !text.contains("-word"), "{text}");
    let left = "test -z \"$(ls /srv/ftp | grep stormeter-)\"";
    assert_eq!(place.script("server", &[left]), "ready");

    let mut faults = Faults::open(&place.directory()).unwrap();
    let mut apply = |fault: &str| faults.apply(&fault.parse().unwrap());
    let refused = apply("link-down pe1.nowhere").unwrap_err().to_string();
    assert!(refused.contains("core") && refused.contains("access-1"), "{refused}");
    apply("link-down pe1.access-1").unwrap();
    let other_way = [
        "until ! /bin/ip route get 10.81.6.2 | grep -q 'via 10.81.1'; do usleep 50000; done",
        &way("10.81.3"),
    ];
    assert_eq!(place.script("ce1", &other_way), "ready");
    apply("kill pe2").unwrap();
    apply("kill server").unwrap();
    apply("link-loss ce1.backup 1%").unwrap();
    faults.restore().unwrap();
    whole();
    let works = "dd if=/dev/lab/a of=/dev/null bs=64k count=4 iflag=direct";
    assert_eq!(place.script("client", &[works]), "ready");
    assert_eq!(place.script("client", &SERVED), "ready");
    place.down();
}

/// Also those that drive nothing and have no agent.
fn every_guest_was_watched(place: &Place) {
    let text = place.done(&["report", "a.db", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let guests = report["guests"].as_array().unwrap();
    let named: Vec<_> = guests
        .iter()
        .map(|guest| [&guest["name"], &guest["kind"]].map(|it| it.as_str().unwrap()))
        .collect();
    let [ce1, pe1, pe2, ce2] = ["ce1", "pe1", "pe2", "ce2"].map(|name| [name, "router"]);
    let [client, server] = ["client", "server"].map(|name| [name, "host"]);
    assert_eq!(named, [ce1, pe1, pe2, ce2, ["san", "storage"], client, server]);
    for guest in guests {
        let figure = |name: &str| guest[name].as_f64().unwrap();
        assert!(figure("cpus_mean") > 0.0 && figure("cpus_most") < 64.0, "{guest}");
        assert!((0.0..=1.0).contains(&figure("waited_most")), "{guest}");
        assert!(figure("memory_most_bytes") > 1e6, "{guest}");
    }
    // Rows of a whole study: the page draws them.
    place.done(&["report", "a.db", "--html", "a.html"]);
    let page = std::fs::read_to_string(place.path("a.html")).unwrap();
    assert!(page.contains("id=\"guests-cpu-title\"") && page.contains("id=\"guests-disk-title\""));
    // The host's agent counts what passes over its links.
    let networks = page.split("id=\"guests-network-title\"").nth(1).unwrap();
    let networks = networks.split("</svg>").next().unwrap();
    assert!(networks.contains("client (host)") && !networks.contains("pe1"), "{networks}");
}
