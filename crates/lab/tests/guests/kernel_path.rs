//! A host's own kernel as the client of a storage guest: the agent on the host reads and writes over every
//! protocol.

use stormeter_lab::Faults;

use crate::place::Place;

const EXAMPLE: &str = include_str!("../../../../examples/lab/kernel-path.yaml");

/// For each datastore of the example: some writes and reads.
const STUDY: &str = "hosts: {esx: 'lab:esx'}\n\
    datastores:\n  \
      nfs3: /lab/nfs3\n  \
      nfs4: /lab/nfs4\n  \
      iscsi: /dev/lab/iscsi\n  \
      fixed: /dev/lab/fc-fixed\n  \
      turns: /dev/lab/fc-round-robin\n  \
      nvme: /dev/lab/nvme\n\
    load: {vms: [1], outstanding: 4}\n\
    disk: {size: 4MiB}\n\
    measure: {ramp: 200ms, duration: 1s, interval: 200ms}\n\
    design: {blocks: 1}\n";

const BLOCKS: [&str; 4] =
    ["/dev/lab/iscsi", "/dev/lab/fc-fixed", "/dev/lab/fc-round-robin", "/dev/lab/nvme"];

/// The host writes there and reads it back.
fn uses(place: &Place, path: &str) {
    let written = [
        &format!("dd if=/bin/busybox of={path} bs=64k count=4 oflag=direct"),
        &format!("dd if={path} of=/tmp/back bs=64k count=4 iflag=direct"),
        "cmp -n 262144 /bin/busybox /tmp/back",
    ];
    assert_eq!(place.script("esx", &written), "ready", "{path}");
}

/// Fails the script unless the multipath map of a mount was written over the expected number of
/// paths.
fn paths_written(mount: &str, expected: &str) -> String {
    // The seventh field of a disk's statistics is the number of sectors written.
    format!(
        "name=$(grep -lx fc-{mount} /sys/block/dm-*/dm/name); used=0; \
         for path in ${{name%/dm/name}}/slaves/*; do \
         set -- $(cat $path/stat); [ $7 = 0 ] || used=$((used + 1)); done; \
         [ $used = {expected} ] || {{ echo {mount} was written over $used paths; exit 1; }}"
    )
}

/// Lines that give a disk of a storage guest another latency.
fn disk_latency(disk: &str, milliseconds: u32) -> [String; 2] {
    [
        format!("/sbin/dmsetup table {disk} | sed 's/ [0-9]*$/ {milliseconds}/' > /tmp/table"),
        format!(
            "/sbin/dmsetup suspend {disk}; /sbin/dmsetup load {disk} /tmp/table; /sbin/dmsetup resume {disk}"
        ),
    ]
}

#[test]
fn a_study_runs_on_every_protocol_of_a_hosts_kernel() {
    let Some(place) = Place::new() else { return };
    place.up(EXAMPLE);
    place.write("study.yaml", STUDY);
    let text = place.done(&["lab", "status"]);
    for path in BLOCKS.iter().chain(&["/lab/nfs3", "/lab/nfs4"]) {
        assert!(text.contains(path), "{path}: {text}");
    }
    // The lab's own devices may be written without further permission.
    place.ran(&["run", "study.yaml", "--output", "a.db"], "1 block");

    // A failing script's output is reported, and the port keeps serving.
    let said = place.script("esx", &["echo no such thing", "false"]);
    assert_eq!(said, "failed no such thing");
    let mounted = ["grep -q '/lab/nfs3 nfs .*vers=3' /proc/mounts"];
    assert_eq!(place.script("esx", &mounted), "ready");
    let mounted = ["grep -q '/lab/nfs4 nfs4 .*vers=4.2' /proc/mounts"];
    assert_eq!(place.script("esx", &mounted), "ready");
    assert_eq!(place.script("esx", &[&paths_written("fc-round-robin", "2")]), "ready");
    assert_eq!(place.script("esx", &[&paths_written("fc-fixed", "1")]), "ready");

    // The host continues over the other path under both policies, and uses the first again when it is
    // back.
    let mut faults = Faults::open(&place.directory()).unwrap();
    faults.apply(&"path-down esx.fc-fixed 0".parse().unwrap()).unwrap();
    for mount in ["fc-fixed", "fc-round-robin"] {
        uses(&place, &format!("/dev/lab/{mount}"));
        let failed = format!("dmsetup status fc-{mount} | grep -q '[0-9]*:[0-9]* F'");
        assert_eq!(place.script("esx", &[&failed]), "ready", "{mount}");
    }
    faults.restore().unwrap();
    for mount in ["fc-fixed", "fc-round-robin"] {
        let whole = format!("! dmsetup status fc-{mount} | grep -q '[0-9]*:[0-9]* F'");
        assert_eq!(place.script("esx", &[&whole]), "ready", "{mount}");
    }

    // A path is cut repeatedly while the storage guest answers: it comes back each time, even when the disk is so
    // slow that the guest is silent for long with requests outstanding.
    let load = "while [ ! -e /tmp/enough ]; do dd if=/bin/busybox of=/dev/lab/fc-round-robin bs=64k count=16 \
                oflag=direct; done > /dev/null 2>&1";
    let begin = [
        &format!("echo '{load}' > /tmp/load.sh"),
        "for i in 1 2 3 4; do setsid sh /tmp/load.sh < /dev/null > /dev/null 2>&1 & done",
    ];
    assert_eq!(place.script("esx", &begin), "ready");
    for milliseconds in [5, 2000, 5] {
        let slow = disk_latency("disk3", milliseconds);
        assert_eq!(place.script("nas", &slow.each_ref().map(String::as_str)), "ready");
        faults.apply(&"path-down esx.fc-round-robin 0".parse().unwrap()).unwrap();
        // Restore the path while the other one is being written, which is when this one was given
        // up.
        uses(&place, "/dev/lab/fc-fixed");
        faults.restore().unwrap();
    }
    assert_eq!(place.script("esx", &["touch /tmp/enough"]), "ready");

    // A running host reconnects to a restarted storage guest.
    let files = ["/lab/nfs3/file", "/lab/nfs4/file"];
    faults.apply(&"restart nas".parse().unwrap()).unwrap();
    BLOCKS.iter().chain(&files).for_each(|path| uses(&place, path));
    // A host whose kernel crashes ends at once. An action that failed on it was not half done: its
    // path is there when it is restarted.
    place.crash("esx");
    let refused =
        faults.apply(&"path-down esx.fc-fixed 0".parse().unwrap()).unwrap_err().to_string();
    assert!(refused.contains("its kernel has failed") && refused.contains("sysrq"), "{refused}");
    faults.apply(&"restart esx".parse().unwrap()).unwrap();
    uses(&place, "/dev/lab/fc-fixed");
    // Both are restored, in the order that they need.
    for action in ["kill nas", "kill esx"] {
        faults.apply(&action.parse().unwrap()).unwrap();
    }
    faults.restore().unwrap();
    BLOCKS.iter().chain(&files).for_each(|path| uses(&place, path));

    place.down();
}

#[test]
fn chap_lets_in_who_knows_the_password_and_tells_who_does_not() {
    let Some(place) = Place::new() else { return };
    place.write("right", "rightpassword1\n");
    place.write("wrong", "wrongpassword1\n");
    let lab = |file: &str| {
        let chap = |file: &str| {
            let path = place.path(file);
            format!("chap: {{user: esx, password-file: \"{}\"}}", path.display())
        };
        let (ours, theirs) = (chap("right"), chap(file));
        format!(
            "networks: {{lan: {{aggregation: {{ports: 2, mode: 802.3ad}}, loss: 0.1%, mtu: 9000}}}}\n\
             storage: {{nas: {{network: lan, disks: {{slow: {{size: 32MiB, iops: 300}}}}, luns: \
             {{vm: {{disks: slow, {ours}}}}}}}}}\n\
             hosts: {{esx: {{mounts: {{vm: {{datastore: nas.vm, {theirs}}}}}}}}}\n"
        )
    };
    let (code, text) = place.try_up(&lab("wrong"));
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("esx") && text.contains("authorization"), "{text}");
    assert!(!place.directory().exists(), "what was started is ended again");

    place.up(&lab("right"));
    let written = [
        "dd if=/bin/busybox of=/dev/lab/vm bs=64k count=4 oflag=direct",
        "dd if=/dev/lab/vm of=/tmp/back bs=64k count=4 iflag=direct",
        "cmp -n 262144 /bin/busybox /tmp/back",
        "grep -q 'Number of ports: 2' /proc/net/bonding/bond1",
    ];
    assert_eq!(place.script("esx", &written), "ready");
    place.down();
}

/// Two hosts with two kernels on one storage guest, compared as two datastores of one study.
#[test]
fn hosts_with_two_kernels_are_compared_on_the_same_storage() {
    let Some(place) = Place::new() else { return };
    let lab = "storage: {nas: {disks: {a: {size: 32MiB}, b: {size: 32MiB}, c: {size: 32MiB}}, exports: {files: a}, \
               luns: {old: b, new: c}}}\n\
               hosts:\n  \
                 old: {mounts: {nfs: {datastore: nas.files}, iscsi: {datastore: nas.old}}}\n  \
                 new: {system: trixie, mounts: {nfs: {datastore: nas.files}, iscsi: {datastore: nas.new}}}\n";
    let (code, text) = place.try_up(lab);
    // Until its kernel has been fetched, the lab says how to.
    if code != Some(0) {
        assert!(text.contains("trixie") && text.contains("lab build"), "{text}");
        place.done(&["lab", "build", "trixie"]);
        place.up(lab);
    }
    let release = |host: &str| place.script(host, &["uname -r", "false"]);
    let (old, new) = (release("old"), release("new"));
    assert_ne!(old, new);
    let status = place.done(&["lab", "status"]);
    let shown = new.trim_start_matches("failed ");
    assert!(status.contains(&format!("Linux {shown}, of trixie")), "{new}: {status}");
    place.write(
        "study.yaml",
        "hosts: {old: 'lab:old', new: 'lab:new'}\n\
         datastores:\n  \
           nfs-old: {url: /lab/nfs, hosts: [old]}\n  \
           nfs-new: {url: /lab/nfs, hosts: [new]}\n  \
           iscsi-old: {url: /dev/lab/iscsi, hosts: [old]}\n  \
           iscsi-new: {url: /dev/lab/iscsi, hosts: [new]}\n\
         load: {vms: [2], outstanding: 2}\n\
         disk: {size: 4MiB}\n\
         measure: {ramp: 200ms, duration: 1s, interval: 200ms}\n\
         design: {blocks: 1}\n\
         questions: [nfs-new costs less host cpu per io than nfs-old]\n",
    );
    place.ran(&["run", "study.yaml", "--output", "a.db"], "1 block");
    place.down();
}
