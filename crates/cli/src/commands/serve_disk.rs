//! `stormeter serve-disk`: a disk with a computed speed, for the embedded datastores of a study.

use std::fs::File;
use std::io::sink;

use stormeter_timed_disk::{Content, DISK, Raid10, ServeOptions, Spindle, serve};

use crate::arguments::ServeDiskOptions;
use crate::exit::{Exit, Failure};
use crate::output::print;

pub(crate) fn run(options: &ServeDiskOptions) -> Result<Exit, Failure> {
    let ServeDiskOptions { store, directory, bytes, speed, pairs, .. } = options;
    let stored = |error: std::io::Error| Failure::File(format!("{}: {error}", store.display()));
    // A killed run may have left one.
    let _ = std::fs::remove_file(store);
    let file = File::options().create_new(true).read(true).write(true).open(store);
    let content = Content::file(file.map_err(stored)?, *bytes).map_err(stored)?;
    let ready = || {
        let url = format!("file://{}\n", directory.join(DISK).display());
        print(&url).map_err(|failure| std::io::Error::other(failure.to_string()))
    };
    // A broken input counts as ended.
    let until = |()| drop(std::io::copy(&mut std::io::stdin(), &mut sink()));
    let how = ServeOptions::default();
    let served = match *pairs {
        0 => serve(Spindle::new(*speed), content, directory, how, ready, until),
        pairs => serve(Raid10::new(*speed, pairs), content, directory, how, ready, until),
    };
    served.map_err(|error| {
        Failure::File(format!(
            "{} cannot be served over FUSE, for which root or fusermount3 (Debian: fuse3) is needed: {error}",
            directory.display()
        ))
    })?;
    Ok(Exit::Done)
}
