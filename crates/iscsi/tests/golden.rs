//! Every PDU against bytes laid out by hand after the figures of RFC 7143 §11.

use stormeter_iscsi::pdu::{
    AsyncMessage, Bhs, DataIn, DataOut, LoginRequest, LoginResponse, LogoutRequest, LogoutResponse,
    NO_TAG, NopIn, NopOut, R2t, Reject, ScsiCommand, ScsiResponse, TextRequest, TextResponse,
    flags,
};
use stormeter_iscsi::scsi::cdb;

/// Twelve words of four bytes, as the figures show them.
fn words(words: [u32; 12]) -> [u8; 48] {
    let mut bytes = [0; 48];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

macro_rules! golden {
    ($type:ident, $pdu:expr, $words:expr) => {{
        let (pdu, bytes): ($type, [u8; 48]) = ($pdu, words($words));
        assert_eq!(pdu.encode().0, bytes, stringify!($type));
        assert_eq!($type::decode(&Bhs(bytes)), pdu, stringify!($type));
        assert_eq!(Bhs(bytes).opcode(), $type::OPCODE, stringify!($type));
    }};
}

const LUN: u64 = 1 << 48;
const F: u8 = flags::FINAL;

#[test]
fn what_an_initiator_says() {
    golden!(
        NopOut,
        NopOut {
            immediate: true,
            flags: F,
            lun: LUN,
            task_tag: 0x11,
            transfer_tag: NO_TAG,
            cmd_sn: 5,
            exp_stat_sn: 6,
            data_bytes: 3
        },
        [0x4080_0000, 3, 0x0001_0000, 0, 0x11, NO_TAG, 5, 6, 0, 0, 0, 0]
    );
    golden!(
        ScsiCommand,
        ScsiCommand {
            immediate: false,
            flags: F | flags::WRITE | flags::SIMPLE,
            lun: LUN,
            task_tag: 0x0002_0003,
            expected_bytes: 4096,
            cmd_sn: 7,
            exp_stat_sn: 8,
            cdb: cdb::write(0x0102_0304, 8),
            data_bytes: 4096,
        },
        [
            0x01a1_0000,
            4096,
            0x0001_0000,
            0,
            0x0002_0003,
            4096,
            7,
            8,
            0x2a00_0102,
            0x0304_0000,
            0x0800_0000,
            0
        ]
    );
    golden!(
        LoginRequest,
        LoginRequest {
            immediate: true,
            flags: 0x87,
            isid: [0x80, 1, 2, 3, 4, 5],
            tsih: 6,
            task_tag: 7,
            cid: 8,
            cmd_sn: 9,
            exp_stat_sn: 10,
            data_bytes: 100,
            ..LoginRequest::default()
        },
        [0x4387_0000, 100, 0x8001_0203, 0x0405_0006, 7, 0x0008_0000, 9, 10, 0, 0, 0, 0]
    );
    golden!(
        TextRequest,
        TextRequest {
            immediate: false,
            flags: F,
            lun: 0,
            task_tag: 1,
            transfer_tag: NO_TAG,
            cmd_sn: 2,
            exp_stat_sn: 3,
            data_bytes: 16
        },
        [0x0480_0000, 16, 0, 0, 1, NO_TAG, 2, 3, 0, 0, 0, 0]
    );
    golden!(
        DataOut,
        DataOut {
            flags: F,
            lun: LUN,
            task_tag: 1,
            transfer_tag: 2,
            exp_stat_sn: 3,
            data_sn: 4,
            buffer_offset: 5,
            data_bytes: 512
        },
        [0x0580_0000, 512, 0x0001_0000, 0, 1, 2, 0, 3, 0, 4, 5, 0]
    );
    golden!(
        LogoutRequest,
        LogoutRequest {
            immediate: true,
            flags: F,
            task_tag: 1,
            cid: 2,
            cmd_sn: 3,
            exp_stat_sn: 4,
            data_bytes: 0
        },
        [0x4680_0000, 0, 0, 0, 1, 0x0002_0000, 3, 4, 0, 0, 0, 0]
    );
}

#[test]
fn what_a_target_says() {
    golden!(
        NopIn,
        NopIn {
            flags: F,
            lun: LUN,
            task_tag: NO_TAG,
            transfer_tag: 2,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            data_bytes: 0
        },
        [0x2080_0000, 0, 0x0001_0000, 0, NO_TAG, 2, 3, 4, 5, 0, 0, 0]
    );
    golden!(
        ScsiResponse,
        ScsiResponse {
            flags: F | flags::UNDERFLOW,
            response: 0,
            status: 2,
            task_tag: 1,
            snack_tag: 2,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            exp_data_sn: 6,
            bidirectional_residual_bytes: 7,
            residual_bytes: 8,
            data_bytes: 20,
        },
        [0x2182_0002, 20, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    );
    golden!(
        LoginResponse,
        LoginResponse {
            flags: 0x87,
            isid: [0x80, 1, 2, 3, 4, 5],
            tsih: 6,
            task_tag: 7,
            stat_sn: 8,
            exp_cmd_sn: 9,
            max_cmd_sn: 10,
            status_class: 2,
            status_detail: 3,
            data_bytes: 1,
            ..LoginResponse::default()
        },
        [0x2387_0000, 1, 0x8001_0203, 0x0405_0006, 7, 0, 8, 9, 10, 0x0203_0000, 0, 0]
    );
    golden!(
        TextResponse,
        TextResponse {
            flags: flags::CONTINUE,
            lun: LUN,
            task_tag: 1,
            transfer_tag: 2,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            data_bytes: 0x01_0203
        },
        [0x2440_0000, 0x01_0203, 0x0001_0000, 0, 1, 2, 3, 4, 5, 0, 0, 0]
    );
    golden!(
        DataIn,
        DataIn {
            flags: F | flags::STATUS,
            status: 0x28,
            lun: 0,
            task_tag: 1,
            transfer_tag: NO_TAG,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            data_sn: 6,
            buffer_offset: 7,
            residual_bytes: 8,
            data_bytes: 512,
        },
        [0x2581_0028, 512, 0, 0, 1, NO_TAG, 3, 4, 5, 6, 7, 8]
    );
    golden!(
        LogoutResponse,
        LogoutResponse {
            flags: F,
            response: 1,
            task_tag: 1,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            time2wait_s: 2,
            time2retain_s: 20,
            data_bytes: 0
        },
        [0x2680_0100, 0, 0, 0, 1, 0, 3, 4, 5, 0, 0x0002_0014, 0]
    );
    golden!(
        R2t,
        R2t {
            flags: F,
            lun: LUN,
            task_tag: 1,
            transfer_tag: 2,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            r2t_sn: 6,
            buffer_offset: 7,
            desired_bytes: 8,
            data_bytes: 0
        },
        [0x3180_0000, 0, 0x0001_0000, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    );
    golden!(
        AsyncMessage,
        AsyncMessage {
            flags: F,
            lun: LUN,
            task_tag: NO_TAG,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            event: 1,
            vendor_code: 2,
            parameter1: 3,
            parameter2: 4,
            parameter3: 5,
            data_bytes: 0,
        },
        [0x3280_0000, 0, 0x0001_0000, 0, NO_TAG, 0, 3, 4, 5, 0x0102_0003, 0x0004_0005, 0]
    );
    golden!(
        Reject,
        Reject {
            flags: F,
            reason: 4,
            task_tag: NO_TAG,
            stat_sn: 3,
            exp_cmd_sn: 4,
            max_cmd_sn: 5,
            data_sn: 6,
            data_bytes: 48
        },
        [0x3f80_0400, 48, 0, 0, NO_TAG, 0, 3, 4, 5, 6, 0, 0]
    );
}
