//! Converts file attributes from the kernel's to NFS's form, and applies the changes that clients
//! may make.

use std::fs::{File, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;

use crate::nfs3::{Attributes, DIRECTORY, REGULAR, Status, Time};
use crate::xdr::{Garbage, Reader};

/// The mode bits that clients see and set: none that would grant other rights.
const MODE_BITS: u32 = 0o777;

impl From<&Metadata> for Attributes {
    fn from(metadata: &Metadata) -> Self {
        let time = |seconds: i64, nanoseconds: i64| Time {
            seconds: u32::try_from(seconds).unwrap_or(0),
            nanoseconds: u32::try_from(nanoseconds).unwrap_or(0),
        };
        Self {
            kind: if metadata.is_dir() { DIRECTORY } else { REGULAR },
            mode: metadata.mode() & MODE_BITS,
            links: u32::try_from(metadata.nlink()).unwrap_or(u32::MAX),
            owner: metadata.uid(),
            group: metadata.gid(),
            size_bytes: metadata.size(),
            used_bytes: metadata.blocks() * 512,
            filesystem: metadata.dev(),
            inode: metadata.ino(),
            accessed: time(metadata.atime(), metadata.atime_nsec()),
            modified: time(metadata.mtime(), metadata.mtime_nsec()),
            changed: time(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// A time that a client wants set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewTime {
    Keep,
    Now,
    At(Time),
}

/// The changes that a client requests (RFC 1813 section 2.5, `sattr3`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) mode: Option<u32>,
    owner: Option<u32>,
    group: Option<u32>,
    pub(crate) size_bytes: Option<u64>,
    accessed: NewTime,
    modified: NewTime,
}

impl Change {
    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self, Garbage> {
        let optional = |from: &mut Reader<'_>| from.flag()?.then(|| from.u32()).transpose();
        Ok(Self {
            mode: optional(from)?.map(|mode| mode & MODE_BITS),
            owner: optional(from)?,
            group: optional(from)?,
            size_bytes: from.flag()?.then(|| from.u64()).transpose()?,
            accessed: NewTime::read(from)?,
            modified: NewTime::read(from)?,
        })
    }

    /// Applies attributes to a file that has just been created, or opened by a CREATE that found it
    /// (then without a mode: only the size of an existing file is changed). New files belong to the
    /// server's user.
    pub(crate) fn apply_after_creation(
        &self,
        file: &File,
        mode: Option<u32>,
    ) -> Result<(), Status> {
        let times = |time| if mode.is_some() { time } else { NewTime::Keep };
        Self {
            mode,
            owner: None,
            group: None,
            size_bytes: self.size_bytes,
            accessed: times(self.accessed),
            modified: times(self.modified),
        }
        .apply(file)
    }

    /// Changes a file or directory. Only files have a size that can be set.
    pub(crate) fn apply(&self, file: &File) -> Result<(), Status> {
        let metadata = file.metadata()?;
        let other = |wanted: Option<u32>, is: u32| wanted.is_some_and(|wanted| wanted != is);
        if other(self.owner, metadata.uid()) || other(self.group, metadata.gid()) {
            return Err(Status::NotPermitted);
        }
        if let Some(size_bytes) = self.size_bytes {
            if !metadata.is_file() {
                return Err(Status::Invalid);
            }
            file.set_len(size_bytes)?;
        }
        if let Some(mode) = self.mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        if (self.accessed, self.modified) != (NewTime::Keep, NewTime::Keep) {
            futimens(file, &self.accessed.spec(), &self.modified.spec())?;
        }
        Ok(())
    }
}

impl NewTime {
    fn read(from: &mut Reader<'_>) -> Result<Self, Garbage> {
        Ok(match from.u32()? {
            0 => Self::Keep,
            1 => Self::Now,
            2 => Self::At(Time { seconds: from.u32()?, nanoseconds: from.u32()? }),
            _ => return Err(Garbage),
        })
    }

    fn spec(self) -> TimeSpec {
        match self {
            Self::Keep => TimeSpec::UTIME_OMIT,
            Self::Now => TimeSpec::UTIME_NOW,
            Self::At(time) => {
                // The kernel interprets some nanosecond values as commands.
                TimeSpec::new(i64::from(time.seconds), i64::from(time.nanoseconds % 1_000_000_000))
            }
        }
    }
}
