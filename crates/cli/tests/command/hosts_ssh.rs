//! A host that is reached by ssh: a real sshd on this machine's loopback, with keys of its own.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, not_run, until};
use crate::results::{rows, trials};

/// An sshd that lets this user in, and a way for ssh to it.
struct Sshd {
    child: Child,
    port: u16,
    directory: PathBuf,
}

impl Sshd {
    /// `None` where the machine has no sshd.
    fn start(place: &Place) -> Option<Self> {
        let programs = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"];
        let Some(program) = programs.iter().find(|path| Path::new(path).exists()) else {
            not_run("there is no sshd (package openssh-server)");
            return None;
        };
        let directory = place.make("ssh");
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        for key in ["host-key", "user-key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(directory.join(key))
                .status()
                .unwrap();
            assert!(made.success());
        }
        fs::copy(directory.join("user-key.pub"), directory.join("authorized")).unwrap();
        if nix::unistd::Uid::effective().is_root() {
            // sshd wants an empty directory of root's for its own use, which a running service makes.
            fs::create_dir_all("/run/sshd").unwrap();
        }
        // Free a moment ago; sshd says so if it no longer is.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = directory.display();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {at}/host-key\nPidFile none\n\
             AuthorizedKeysFile {at}/authorized\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             SetEnv XDG_CACHE_HOME={at}/cache\nPermitRootLogin prohibit-password\n"
        );
        fs::write(directory.join("sshd_config"), config).unwrap();
        fs::write(
            directory.join("ssh_config"),
            format!(
                "Host *\nIdentityFile {at}/user-key\nIdentitiesOnly yes\n\
                 UserKnownHostsFile {at}/known\nStrictHostKeyChecking accept-new\nLogLevel ERROR\n"
            ),
        )
        .unwrap();
        let log = fs::File::create(directory.join("log")).unwrap();
        let child = Command::new(program)
            .args(["-D", "-e", "-f"])
            .arg(directory.join("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let sshd = Self { child, port, directory };
        until("sshd to listen", || sshd.log().contains("Server listening").then_some(()));
        Some(sshd)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap()
    }

    fn user() -> String {
        let user = nix::unistd::User::from_uid(nix::unistd::Uid::effective()).unwrap();
        user.unwrap().name
    }

    /// The program that calls ssh with our keys.
    fn command(&self, place: &Place, arguments: &str) -> Command {
        let mut command = place.command(arguments);
        let config = self.directory.join("ssh_config");
        command.env("STORMETER_SSH", format!("ssh -F {}", config.display()));
        command
    }

    fn write(&self, place: &Place, measure: &str) {
        // Over there the working directory is the user's home.
        let a = place.path("a");
        let text = format!(
            "datastores: {{a: {}}}\nhosts: {{far: \"ssh:{}@127.0.0.1:{}\", here: local}}\n\
             workloads: [{{name: w, profile: vm-4k, rate: 200}}]\nload: {{vms: [2]}}\n\
             disk: {{size: 4MiB}}\n{measure}\n",
            a.display(),
            Self::user(),
            self.port
        );
        fs::write(place.path("s.yaml"), text).unwrap();
    }

    /// The copies of the program that were made, with their times.
    fn copies(&self) -> Vec<(PathBuf, std::time::SystemTime)> {
        let Ok(entries) = fs::read_dir(self.directory.join("cache/stormeter")) else {
            return vec![];
        };
        let copies = entries.flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap());
        copies
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.path(), entry.metadata().unwrap().modified().unwrap()))
            .collect()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Processes that run a copy of the program.
fn running_copies(sshd: &Sshd) -> Vec<i32> {
    let Some((path, _)) = sshd.copies().pop() else { return vec![] };
    let entries = fs::read_dir("/proc").unwrap();
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == path))
        .collect()
}

#[test]
fn the_program_is_copied_once_and_a_lost_connection_leaves_nothing() {
    let place = Place::new();
    let Some(sshd) = Sshd::start(&place) else { return };
    // Nothing is there, and what could be sent needs libraries unless it is static.
    sshd.write(
        &place,
        "measure: {ramp: 20ms, duration: 200ms, interval: 50ms}\ndesign: {blocks: 1, metric: latency-mean}",
    );
    let binary = env!("CARGO_BIN_EXE_stormeter");
    let run = format!("run s.yaml --output s.db --agent-binary {binary}");
    let outcome = place.spawn(sshd.command(&place, &run)).wait().expect(&[0, 4, 5]);
    assert!(outcome.stderr.contains("copied to host far"), "{outcome:?} {}", sshd.log());
    let copies = sshd.copies();
    assert_eq!(copies.len(), 1, "{copies:?}");
    let far = "SELECT operations FROM host_share WHERE name = 'far' AND operations > 0";
    assert!(!rows(&place.path("s.db"), far, |row| row.get::<_, i64>(0)).is_empty());
    assert!(place.folders("a").is_empty());
    // The next run finds it.
    fs::remove_file(place.path("s.db")).unwrap();
    let outcome = place.spawn(sshd.command(&place, &run)).wait().expect(&[0, 4, 5]);
    assert!(!outcome.stderr.contains("copied"), "{outcome:?}");
    assert_eq!(sshd.copies(), copies);

    // The way is cut in the middle of a trial.
    fs::remove_file(place.path("s.db")).unwrap();
    sshd.write(
        &place,
        "measure: {ramp: 20ms, duration: 3s, interval: 100ms}\ndesign: {blocks: 3, metric: latency-mean}",
    );
    let mut running = place.spawn(sshd.command(&place, &run));
    running.until("a trial", || (!trials(&place.path("s.db")).is_empty()).then_some(()));
    let agents = running_copies(&sshd);
    assert_eq!(agents.len(), 1, "{}", sshd.log());
    // The parent of the agent is sshd's process of the session.
    let status = fs::read_to_string(format!("/proc/{}/status", agents[0])).unwrap();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    kill(Pid::from_raw(parent.trim().parse().unwrap()), Signal::SIGKILL).unwrap();
    running.wait().expect(&[0, 4, 5]);
    let failed: Vec<String> =
        rows(&place.path("s.db"), "SELECT reason FROM trial WHERE outcome = 'failed'", |row| {
            row.get(0)
        });
    assert!(failed.iter().any(|reason| reason.contains("host far is gone")), "{failed:?}");
    assert_eq!(trials(&place.path("s.db")).last().unwrap().outcome, "measured");
    until("the agents to leave", || running_copies(&sshd).is_empty().then_some(()));
    assert!(place.folders("a").is_empty());
}

#[test]
fn a_refused_login_is_reported_in_sshs_words() {
    let place = Place::new();
    let Some(sshd) = Sshd::start(&place) else { return };
    fs::write(sshd.directory.join("authorized"), "").unwrap();
    sshd.write(&place, "");
    let run = format!("run s.yaml --agent-binary {}", env!("CARGO_BIN_EXE_stormeter"));
    let outcome = place.spawn(sshd.command(&place, &run)).wait().expect(&[1]);
    assert!(outcome.stderr.contains("Permission denied"), "{outcome:?}");
    assert!(outcome.stderr.contains("host far"), "{outcome:?}");
}
