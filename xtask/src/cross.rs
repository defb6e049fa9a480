//! The environment in which cargo builds a static binary for a target: the compiler of SQLite, which is C, the linker,
//! and paths that are left out of the binary.
//!
//! Debian has a compiler for 64-bit ARM, but musl's headers for it only in that architecture's own package. It is
//! unpacked below the target directory: a foreign architecture would change the machine's list of packages.

use std::path::Path;
use std::process::Command;

use crate::child::output;
use crate::repository::Repository;
use crate::target::{Target, X86_64};
use crate::unpacked::Unpacked;

/// The compiler for 64-bit ARM, which also links.
pub(crate) const COMPILER: &str = "aarch64-linux-gnu-gcc";

const HEADERS: Unpacked = Unpacked {
    variable: "STORMETER_MUSL_ARM64",
    package: "musl-dev",
    architecture: Some("arm64"),
    directory: "usr/include/aarch64-linux-musl",
    file: "stdio.h",
};

/// Sets the environment of a build for the target.
///
/// # Errors
/// The target is another machine's, and its compiler or headers cannot be had.
pub(crate) fn prepare(
    cargo: &mut Command,
    repository: &Repository,
    target: Target,
) -> Result<(), String> {
    let triple = target.triple.replace('-', "_");
    let places = places(repository)?;
    let mut c_flags: Vec<String> =
        places.iter().map(|(from, to)| format!("-ffile-prefix-map={from}={to}")).collect();
    if target == X86_64 {
        cargo.env(format!("CC_{triple}"), "musl-gcc");
    } else {
        cargo.env(format!("CC_{triple}"), COMPILER);
        cargo.env(format!("CARGO_TARGET_{}_LINKER", target.in_variables()), COMPILER);
        let headers = HEADERS.directory(repository)?;
        let own = output(repository.command(COMPILER).arg("-print-file-name=include"))?;
        // The compiler's usual headers are of another C library, and its functions for atomic operations as well.
        c_flags.extend(["-nostdinc", "-mno-outline-atomics"].map(str::to_owned));
        for directory in [&*headers.to_string_lossy(), own.trim()] {
            c_flags.extend(["-isystem".to_owned(), directory.to_owned()]);
        }
    }
    cargo.env(format!("CFLAGS_{triple}"), c_flags.join(" "));
    // At a fixed address it needs no table of relocations, a sixteenth of its size.
    let mut flags = String::from("-C\u{1f}relocation-model=static");
    for (from, to) in &places {
        flags.push_str(&format!("\u{1f}--remap-path-prefix={from}={to}"));
    }
    // Separated by a character that no path has; it replaces the flags of all other places, also the user's.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags);
    Ok(())
}

/// Directories of this machine, and what a binary names instead: the same commit makes the same binary anywhere.
fn places(repository: &Repository) -> Result<[(String, &'static str); 3], String> {
    let cargo_home = std::env::var("CARGO_HOME").or_else(|_| {
        let home = std::env::var("HOME").map_err(|error| format!("HOME: {error}"))?;
        Ok::<_, String>(format!("{home}/.cargo"))
    })?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    // The last that matches counts: the target directory is usually below the root.
    Ok([
        (cargo_home, "/cargo"),
        (text(&repository.root), "/stormeter"),
        (text(&repository.target), "/target"),
    ])
}
