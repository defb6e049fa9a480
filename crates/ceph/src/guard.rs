//! A cluster that ends when its owner does, however that happens: for tests.
//!
//! A shell in between holds the other end of a pipe that closes when our process ends, even by
//! SIGKILL, and then kills the cluster's daemons. It has its own process group, so that signals from
//! a terminal or a supervisor to our group do not end it. The kernel's own mechanism
//! (`PR_SET_PDEATHSIG`) follows the thread that forked, and a test's thread ends before its process.

use std::ops::Deref;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::CephError;
use crate::cluster::Cluster;
use crate::options::ClusterOptions;
use crate::program::SHELL;

/// Reads until the pipe is closed, then kills whatever has the configuration file as an argument, and unmounts disks.
/// The file's name is in the environment, so that the shell does not find itself.
const GUARD: &str = "cat >/dev/null 2>&1
cd /proc
for pid in [0-9]*; do
  if tr '\\0' '\\n' <$pid/cmdline | grep -qxF \"$CLUSTER_CONF\"; then kill -9 $pid; fi
done 2>/dev/null
while read -r _ place _; do
  case $place in \"${CLUSTER_CONF%/*}\"/disks/*) umount -l \"$place\" || fusermount3 -u -z \"$place\";; esac
done </proc/self/mounts 2>/dev/null
";

/// A cluster that is ended and removed when it is dropped, and whose daemons end with this process.
#[derive(Debug)]
pub struct GuardedCluster {
    cluster: Cluster,
    shell: Child,
}

impl GuardedCluster {
    /// Starts a cluster: see [`Cluster::up`].
    ///
    /// # Errors
    /// As for [`Cluster::up`].
    pub fn up(directory: &Path, options: &ClusterOptions) -> Result<Self, CephError> {
        let path = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        // The parent exists, and only it can have links in it that the daemons do not see.
        let path = match (path.parent().map(Path::canonicalize), path.file_name()) {
            (Some(Ok(parent)), Some(name)) => parent.join(name),
            _ => path,
        };
        let mut shell = Command::new(SHELL.path()?)
            .args(["-c", GUARD])
            .env("CLUSTER_CONF", path.join("ceph.conf"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|source| CephError::Start { program: SHELL.name.into(), source })?;
        match Cluster::up(directory, options) {
            Ok(cluster) => Ok(Self { cluster, shell }),
            Err(error) => {
                end(&mut shell);
                Err(error)
            }
        }
    }
}

impl Deref for GuardedCluster {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

impl Drop for GuardedCluster {
    fn drop(&mut self) {
        // A test may have ended it. A failure cannot be reported here, but the guard still kills.
        let _ = self.cluster.down();
        end(&mut self.shell);
    }
}

/// Lets the guard do its work, which is bounded.
fn end(shell: &mut Child) {
    drop(shell.stdin.take());
    let _ = shell.wait();
}
