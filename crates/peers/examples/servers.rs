//! Servers for trying a comparison, running until standard input ends: NFS-Ganesha on a directory, and
//! tgt with a LUN that requires CHAP, both on files below `servers/` in the working directory.
//!
//! `cargo run -p stormeter-peers --example servers`, then paste the command that it prints.

use std::io::Read;
use std::path::PathBuf;

use stormeter_peers::{Chap, Ganesha, GaneshaOptions, PeerError, Storage, Tgt, TgtOptions};

const USER: &str = "user";
const SECRET: &str = "pass-of-twelve";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let below = PathBuf::from("servers");
    let [local, export] = ["local", "export"].map(|name| below.join(name));
    for directory in [&local, &export] {
        std::fs::create_dir_all(directory)?;
    }
    let (ganesha, tgt) = start(export.canonicalize()?, below.canonicalize()?)?;
    let address = tgt.address();
    println!(
        "stormeter compare {} '{}' 'iscsi://{USER}%{SECRET}@{address}/{}/1' --verify --size 64MiB \
         --time-limit 30s",
        local.display(),
        ganesha.url(),
        tgt.target_name()
    );
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn start(export: PathBuf, units: PathBuf) -> Result<(Ganesha, Tgt), PeerError> {
    let ganesha = Ganesha::start(&GaneshaOptions {
        storage: Storage::Directory(export),
        ..GaneshaOptions::default()
    })?;
    let tgt = Tgt::start(&TgtOptions {
        units_bytes: vec![256 << 20],
        chap: Some(Chap { user: USER.into(), secret: SECRET.into() }),
        directory: Some(units),
        ..TgtOptions::default()
    })?;
    Ok((ganesha, tgt))
}
