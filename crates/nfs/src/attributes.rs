//! File attributes, as servers report them (`fattr3`) and clients set them (`sattr3`), RFC 1813
//! section 2.6.

use crate::xdr::{Decoder, XdrError};

/// `fattr3` on the wire.
pub(crate) const ATTRIBUTES_BYTES: usize = 84;
/// `wcc_attr` on the wire: size, mtime, ctime.
pub(crate) const BEFORE_BYTES: usize = 24;

/// A time on the server's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970.
    pub seconds: u32,
    /// Nanoseconds within the second.
    pub nanoseconds: u32,
}

impl Time {
    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, XdrError> {
        Ok(Self { seconds: decoder.u32("seconds")?, nanoseconds: decoder.u32("nanoseconds")? })
    }
}

/// The type of a file (`ftype3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum FileType {
    /// A regular file.
    Regular = 1,
    /// A directory.
    Directory = 2,
    /// A block device.
    Block = 3,
    /// A character device.
    Character = 4,
    /// A symbolic link.
    Link = 5,
    /// A socket.
    Socket = 6,
    /// A named pipe.
    Pipe = 7,
}

/// A file's attributes (`fattr3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// The type of the file.
    pub file_type: FileType,
    /// Permission bits.
    pub mode: u32,
    /// Number of hard links.
    pub links: u32,
    /// User id of the owner.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Space used on the server's disk, in bytes.
    pub used_bytes: u64,
    /// Major and minor number, for devices.
    pub device: (u32, u32),
    /// The server's id of the file system.
    pub file_system: u64,
    /// The file's id within the file system.
    pub file_number: u64,
    /// Time of the last read.
    pub accessed: Time,
    /// Time of the last write.
    pub modified: Time,
    /// Time of the last change to the attributes.
    pub changed: Time,
}

impl Attributes {
    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, XdrError> {
        Ok(Self {
            file_type: match decoder.u32("the file's type")? {
                1 => FileType::Regular,
                2 => FileType::Directory,
                3 => FileType::Block,
                4 => FileType::Character,
                5 => FileType::Link,
                6 => FileType::Socket,
                7 => FileType::Pipe,
                value => return Err(XdrError::Undefined { what: "the file's type", value }),
            },
            mode: decoder.u32("the mode")?,
            links: decoder.u32("the count of links")?,
            uid: decoder.u32("the owner")?,
            gid: decoder.u32("the group")?,
            size_bytes: decoder.u64("the size")?,
            used_bytes: decoder.u64("the space used")?,
            device: (decoder.u32("the major number")?, decoder.u32("the minor number")?),
            file_system: decoder.u64("the file system's number")?,
            file_number: decoder.u64("the file's number")?,
            accessed: Time::decode(decoder)?,
            modified: Time::decode(decoder)?,
            changed: Time::decode(decoder)?,
        })
    }

    /// `post_op_attr`: attributes that the server may leave out.
    pub(crate) fn decode_optional(decoder: &mut Decoder<'_>) -> Result<Option<Self>, XdrError> {
        decoder.optional("attributes", Self::decode)
    }
}

/// `wcc_data`: a file's attributes before and after a change. Useful for caches; only those after
/// the change are kept.
pub(crate) fn decode_change(decoder: &mut Decoder<'_>) -> Result<Option<Attributes>, XdrError> {
    if decoder.bool("attributes before")? {
        decoder.skip(BEFORE_BYTES, "attributes before")?;
    }
    Attributes::decode_optional(decoder)
}
