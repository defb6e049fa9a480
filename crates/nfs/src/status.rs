//! The error codes of NFS and MOUNT servers, with explanations and advice.

use stormeter_disk::DeviceError;

macro_rules! statuses {
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[$variant_about:meta])* $variant:ident = $code:literal, $text:literal, $errno:literal, $words:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $text] $variant,)*
            /// A number that the protocol does not define.
            Unknown(u32),
        }

        impl $name {
            /// All codes that the protocol defines, except success.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// From the number on the wire, which must not be 0 (success).
            #[must_use]
            pub fn from_code(code: u32) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    other => Self::Unknown(other),
                }
            }

            /// The number on the wire.
            #[must_use]
            pub fn code(self) -> u32 {
                match self {
                    $(Self::$variant => $code,)*
                    Self::Unknown(code) => code,
                }
            }

            /// The closest `errno` of Linux.
            #[must_use]
            pub fn errno(self) -> DeviceError {
                DeviceError(match self {
                    $(Self::$variant => $errno,)*
                    Self::Unknown(_) => 5,
                })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant => f.write_str(concat!($words, " (", $text, ")")),)*
                    Self::Unknown(code) => {
                        write!(f, "the server answered with the unknown status {code}; see its log")
                    }
                }
            }
        }

        impl std::error::Error for $name {}
    };
}

statuses! {
    /// `nfsstat3` (RFC 1813 section 2.6), except success.
    NfsStatus {
        Perm = 1, "NFS3ERR_PERM", 1,
            "the server allows this to the owner or root only; check the uid and root_squash";
        NoEntry = 2, "NFS3ERR_NOENT", 2, "there is no such file on the server; check the path";
        Io = 5, "NFS3ERR_IO", 5, "the server's disk failed; see the server's log";
        NoDevice = 6, "NFS3ERR_NXIO", 6, "the server's device is not there; see the server's log";
        Access = 13, "NFS3ERR_ACCES", 13,
            "the server denies access; check uid and gid, the mode of the directory, and root_squash";
        Exists = 17, "NFS3ERR_EXIST", 17, "there is such a file already; choose another name";
        CrossDevice = 18, "NFS3ERR_XDEV", 18, "the names lie on different file systems of the server";
        NotDevice = 19, "NFS3ERR_NODEV", 19, "the server's device cannot do this";
        NotDirectory = 20, "NFS3ERR_NOTDIR", 20, "a part of the path is not a directory; check it";
        IsDirectory = 21, "NFS3ERR_ISDIR", 21, "this is a directory, a file is needed; check the path";
        Invalid = 22, "NFS3ERR_INVAL", 22, "the server calls the arguments invalid";
        TooLarge = 27, "NFS3ERR_FBIG", 27,
            "the file would be larger than the server allows; use smaller disks";
        NoSpace = 28, "NFS3ERR_NOSPC", 28,
            "the server's file system is full; make room or use smaller disks";
        ReadOnly = 30, "NFS3ERR_ROFS", 30,
            "the export is read-only; export it with rw or choose another";
        TooManyLinks = 31, "NFS3ERR_MLINK", 31, "there are too many links to the file";
        NameTooLong = 63, "NFS3ERR_NAMETOOLONG", 36, "the name is too long for the server; shorten it";
        NotEmpty = 66, "NFS3ERR_NOTEMPTY", 39, "the directory is not empty";
        Quota = 69, "NFS3ERR_DQUOT", 122,
            "the user's quota on the server is used up; raise it or use smaller disks";
        Stale = 70, "NFS3ERR_STALE", 116,
            "the file is gone on the server: the export was changed or the file removed; open it again";
        Remote = 71, "NFS3ERR_REMOTE", 66, "the file is on another server";
        BadHandle = 10001, "NFS3ERR_BADHANDLE", 116,
            "the server does not know the file handle: it was set up again or is another server; mount again";
        NotSync = 10002, "NFS3ERR_NOT_SYNC", 5, "the file changed on the server in the meantime";
        BadCookie = 10003, "NFS3ERR_BAD_COOKIE", 5,
            "the directory changed on the server while it was read; read it again";
        NotSupported = 10004, "NFS3ERR_NOTSUPP", 95, "the server does not support this";
        TooSmall = 10005, "NFS3ERR_TOOSMALL", 22, "the server finds the buffer or request too small";
        ServerFault = 10006, "NFS3ERR_SERVERFAULT", 121,
            "the server failed for a reason that NFS has no word for; see the server's log";
        BadType = 10007, "NFS3ERR_BADTYPE", 22, "the server does not support files of this type";
        Jukebox = 10008, "NFS3ERR_JUKEBOX", 11,
            "the server asks to wait and try again: it is busy fetching or recovering the file";
    }
}

statuses! {
    /// `mountstat3` (RFC 1813 section 5.1.5), except success.
    MountStatus {
        Perm = 1, "MNT3ERR_PERM", 1, "the server allows mounting to root or privileged ports only";
        NoEntry = 2, "MNT3ERR_NOENT", 2,
            "the server has no such directory; compare the path with its list of exports";
        Io = 5, "MNT3ERR_IO", 5, "the server's disk failed; see the server's log";
        Access = 13, "MNT3ERR_ACCES", 13,
            "the export is not for this client; check the server's list of exports and allowed hosts";
        NotDirectory = 20, "MNT3ERR_NOTDIR", 20, "the path is not a directory on the server";
        Invalid = 22, "MNT3ERR_INVAL", 22, "the server calls the path invalid";
        NameTooLong = 63, "MNT3ERR_NAMETOOLONG", 36, "the path is too long for the server";
        NotSupported = 10004, "MNT3ERR_NOTSUPP", 95, "the server does not support mounting";
        ServerFault = 10006, "MNT3ERR_SERVERFAULT", 121,
            "the server failed for a reason that MOUNT has no word for; see the server's log";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_goes_there_and_back() {
        for status in NfsStatus::ALL {
            assert_eq!(NfsStatus::from_code(status.code()), *status);
            assert!(status.to_string().contains("NFS3ERR_"), "{status}");
            assert!(status.errno().0 > 0);
        }
        assert_eq!(NfsStatus::ALL.len(), 28);
        for status in MountStatus::ALL {
            assert_eq!(MountStatus::from_code(status.code()), *status);
        }
        assert_eq!(MountStatus::ALL.len(), 9);
        assert_eq!(NfsStatus::from_code(4242), NfsStatus::Unknown(4242));
    }

    #[test]
    fn numbers_are_those_of_the_system() {
        assert_eq!(NfsStatus::from_code(69).errno(), DeviceError(122));
        assert_eq!(NfsStatus::from_code(70).errno(), DeviceError(116));
        assert_eq!(NfsStatus::from_code(28).errno(), DeviceError::NO_SPACE);
        assert_eq!(NfsStatus::Unknown(9).errno(), DeviceError::IO);
    }
}
