//! Every way in which a server can refuse.

use stormeter_nfs::{
    AuthStatus, GetAttributes, Mnt, MountStatus, NfsError, NfsStatus, Null, RpcError, decode_reply,
};

use crate::hex::hex;
use crate::{XID, reply};

fn null(bytes: &str) -> Result<(), NfsError> {
    decode_reply::<Null>(&hex(bytes), XID)
}

fn rpc(bytes: &str) -> RpcError {
    match null(bytes) {
        Err(NfsError::Rpc(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn by_the_rpc_layer() {
    let accepted = "11223344 00000001 00000000 00000000 00000000";
    assert_eq!(rpc(&format!("{accepted} 00000001")), RpcError::ProgramUnavailable);
    assert_eq!(
        rpc(&format!("{accepted} 00000002 00000002 00000004")),
        RpcError::ProgramMismatch { low: 2, high: 4 }
    );
    assert_eq!(rpc(&format!("{accepted} 00000003")), RpcError::ProcedureUnavailable);
    assert_eq!(rpc(&format!("{accepted} 00000004")), RpcError::GarbageArguments);
    assert_eq!(rpc(&format!("{accepted} 00000005")), RpcError::System);
    let denied = "11223344 00000001 00000001";
    assert_eq!(
        rpc(&format!("{denied} 00000000 00000003 00000004")),
        RpcError::RpcMismatch { low: 3, high: 4 }
    );
    let weak = rpc(&format!("{denied} 00000001 00000005"));
    assert_eq!(weak, RpcError::Auth(AuthStatus(5)));
    assert!(weak.to_string().contains("privileged port"), "{weak}");
}

#[test]
fn by_what_is_no_reply() {
    assert_eq!(
        null("11223345 00000001 00000000 00000000 00000000 00000000"),
        Err(NfsError::OtherReply { expected: XID, found: 0x1122_3345 })
    );
    for bytes in [
        "11223344 00000000 00000000 00000000 00000000 00000000", // a call
        "11223344 00000001 00000002 00000000 00000000 00000000", // neither accepted nor denied
        "11223344 00000001 00000000 00000000 00000000 00000006", // undefined acceptance status
        "11223344 00000001 00000001 00000002 00000000 00000000", // undefined reason for denial
        "11223344 00000001 00000000 00000000 00000191 00000000", // a verifier of 401 bytes
        "11223344 00000001 00000000 00000000 ffffffff 00000000", // and of 4 GiB
        "",
    ] {
        assert!(matches!(null(bytes), Err(NfsError::Xdr(_))), "{bytes}");
    }
    let verified = "11223344 00000001 00000000 00000006 00000005 \"abcde\" 000000 00000000";
    assert_eq!(null(verified), Ok(()));
}

#[test]
fn by_nfs_and_mount() {
    for code in [1, 2, 5, 6, 13, 17, 18, 19, 20, 21, 22, 27, 28, 30, 31, 63, 66, 69, 70, 71]
        .into_iter()
        .chain(10_001..=10_008)
    {
        let status = NfsStatus::from_code(code);
        assert!(!matches!(status, NfsStatus::Unknown(_)), "{code}");
        let found = reply::<GetAttributes>(&format!("{code:08x}"));
        assert_eq!(found, Err(NfsError::Status(status)));
    }
    assert_eq!(reply::<GetAttributes>("00000003"), Err(NfsError::Status(NfsStatus::Unknown(3))));
    assert_eq!(reply::<Mnt<'_>>("0000000d"), Err(NfsError::Mount(MountStatus::Access)));
    let stale = NfsStatus::Stale.to_string();
    assert!(stale.contains("NFS3ERR_STALE") && stale.contains("removed"), "{stale}");
}
