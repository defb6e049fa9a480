//! What files said when they were last listed.
//!
//! Concluding a study takes a tenth of a second to a second. What a file says depends on the file and on this program
//! only, so it is remembered with the file's length and time of writing, and forgotten when either changes or another
//! build of the program asks. A cache that cannot be read or written costs time and nothing else.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{Content, Kept, State};

/// What files said, by their full paths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// The build of the program that concluded.
    made_by: String,
    files: BTreeMap<PathBuf, Known>,
}

/// What one file said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Known {
    bytes: u64,
    modified_unix_ms: u64,
    content: Content,
}

impl Cache {
    /// The cache in a file, if it is of the same build; otherwise an empty one.
    pub fn read(path: &Path, made_by: &str) -> Self {
        let text = std::fs::read(path).unwrap_or_default();
        let read: Option<Self> = serde_json::from_slice(&text).ok();
        let empty = || Self { made_by: made_by.to_owned(), files: BTreeMap::new() };
        read.filter(|cache| cache.made_by == made_by).unwrap_or_else(empty)
    }

    /// What a file said, if it has not changed since.
    pub(crate) fn content(&self, file: &Kept) -> Option<&Content> {
        let known = self.files.get(&file.path.canonicalize().ok()?)?;
        let is_same = (known.bytes, known.modified_unix_ms) == (file.bytes, file.modified_unix_ms);
        is_same.then_some(&known.content)
    }

    /// Adds what these files say, except those that runs are writing, and forgets files that are gone.
    pub fn add(&mut self, all: &[Kept]) {
        self.files.retain(|path, _| path.exists());
        for Kept { path, bytes, modified_unix_ms, content, .. } in all {
            let (Ok(path), Ok(content)) = (path.canonicalize(), content) else { continue };
            let (bytes, modified_unix_ms) = (*bytes, *modified_unix_ms);
            if content.state != State::Running {
                let known = Known { bytes, modified_unix_ms, content: content.clone() };
                self.files.insert(path, known);
            }
        }
    }

    /// Writes it, so that another reader sees the old or the new one.
    ///
    /// # Errors
    /// The file or its directory cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", std::process::id()));
        std::fs::write(&name, serde_json::to_vec(self)?)?;
        std::fs::rename(&name, path)
    }
}
