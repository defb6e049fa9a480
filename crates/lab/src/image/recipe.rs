//! What the images are made of.

/// The package with the kernel.
pub(super) const KERNEL: &str = "linux-image-amd64";

/// Packages with the storage guest's programs.
pub(super) const STORAGE: [&str; 7] =
    ["busybox-static", "nfs-kernel-server", "dmsetup", "lvm2", "mdadm", "e2fsprogs", "iproute2"];

/// Packages with a host's programs, in addition to those of the storage guest. The library is listed
/// because apt would otherwise choose a substitute for it.
pub(super) const HOST: [&str; 2] = ["open-iscsi", "libsystemd0"];

/// Packages with a router's programs.
pub(super) const ROUTING: [&str; 3] = ["frr", "libpam-modules", "ethtool"];

/// Dependencies that no guest uses: interpreters for package scripts, what manages an installed system, and
/// drivers for the graphics that Xvnc never draws.
pub(super) const WITHOUT: [&str; 36] = [
    "adduser",
    "coreutils",
    "cron",
    "cpio",
    "debconf",
    "dpkg",
    "fontconfig-config",
    "fonts-",
    "initramfs",
    "klibc",
    "libdrm",
    "libfile-",
    "libgl1-mesa-dri",
    "libglx-mesa",
    "libicu",
    "libklibc",
    "libllvm",
    "libnumber-",
    "libperl",
    "libpython",
    "libtext-",
    "libxcb-",
    "libxml2",
    "libz3",
    "linux-base",
    "logrotate",
    "lsof",
    "passwd",
    "perl",
    "procps",
    "python",
    "udev",
    "usrmerge",
    "x11-common",
    "xauth",
    "xbitmaps",
];

/// Modules of every guest: the bus, and the serial port for its control connection.
pub(super) const BASE: [&str; 2] = ["virtio_pci", "virtio_console"];

/// Modules of the worker guest, by the name with which they are requested: a controller of virtual
/// disks, and the disks behind it.
pub(super) const CONTROLLERS: [(&str, &[&str]); 6] = [
    ("virtio-blk", &["virtio_blk"]),
    ("virtio-scsi", &["virtio_scsi", "sd_mod"]),
    ("nvme", &["nvme"]),
    ("lsi", &["sym53c8xx", "sd_mod"]),
    ("pvscsi", &["vmw_pvscsi", "sd_mod"]),
    ("ide", &["ata_piix", "sd_mod"]),
];

/// Modules of the worker guest for its port to this machine.
pub(super) const UPLINK: [&str; 1] = ["virtio_net"];

/// Modules of the storage guest. The checksum modules are listed although nothing declares a
/// dependency on them: ext4 and iSCSI request them by algorithm.
pub(super) const SERVER: [&str; 29] = [
    "virtio_blk",
    "virtio_net",
    "crc32c_generic",
    "ext4",
    "nfsd",
    "iscsi_target_mod",
    "target_core_iblock",
    "target_core_file",
    "dm_mod",
    "dm_delay",
    "raid0",
    "raid1",
    "raid10",
    "raid456",
    "sch_netem",
    "sch_ingress",
    "cls_matchall",
    "cls_u32",
    "act_mirred",
    "act_gact",
    "ifb",
    "sd_mod",
    "fcoe",
    "tcm_fc",
    "nvmet",
    "nvmet_tcp",
    "bonding",
    "dm_cache",
    "dm_cache_smq",
];

/// Modules of a host: the clients for what storage guests serve.
pub(super) const CLIENT: [&str; 14] = [
    "virtio_net",
    "crc32c_generic",
    "nfs",
    "nfsv3",
    "nfsv4",
    "sd_mod",
    "iscsi_tcp",
    "fcoe",
    "nvme_tcp",
    "dm_mod",
    "dm_multipath",
    "dm_round_robin",
    "sch_netem",
    "bonding",
];

/// Programs of a host.
pub(super) const CLIENT_PROGRAMS: [&str; 6] =
    ["sbin/mount.nfs", "sbin/iscsid", "sbin/iscsiadm", "sbin/dmsetup", "sbin/tc", "bin/ip"];

/// Programs of the storage guest; the libraries that they load are found automatically.
pub(super) const PROGRAMS: [&str; 10] = [
    "sbin/rpcbind",
    "usr/sbin/rpc.nfsd",
    "usr/sbin/rpc.mountd",
    "usr/sbin/exportfs",
    "sbin/mdadm",
    "sbin/dmsetup",
    "sbin/lvm",
    "sbin/mke2fs",
    "sbin/tc",
    "bin/ip",
];

/// Files that they read. Without the first, rpcbind exits silently.
pub(super) const FILES: [&str; 5] =
    ["etc/netconfig", "etc/services", "etc/rpc", "etc/protocols", "etc/mke2fs.conf"];

/// What the inits with a shell share.
const CONTROL: (&str, u32, &str) = ("control.sh", 0o644, include_str!("control.sh"));

/// Our own files: path, permissions, contents.
pub(super) const OURS: [(&str, u32, &str); 7] = [
    ("init", 0o755, include_str!("storage-init.sh")),
    CONTROL,
    ("etc/exports", 0o644, ""),
    ("etc/lvm/lvm.conf", 0o644, include_str!("lvm.conf")),
    ("etc/passwd", 0o644, "root:x:0:0:root:/:/bin/sh\n_rpc:x:100:65534::/:/bin/false\n"),
    ("etc/group", 0o644, "root:x:0:\nnogroup:x:65534:\n"),
    ("etc/nsswitch.conf", 0o644, "passwd: files\ngroup: files\nhosts: files\n"),
];

/// Files that a host's programs read.
pub(super) const CLIENT_FILES: [&str; 5] =
    ["etc/netconfig", "etc/services", "etc/rpc", "etc/protocols", "etc/iscsi/iscsid.conf"];

/// Our own files on a host.
pub(super) const CLIENT_OURS: [(&str, u32, &str); 6] = [
    ("init", 0o755, include_str!("initiator-init.sh")),
    CONTROL,
    ("mounts.sh", 0o644, include_str!("mounts.sh")),
    ("etc/passwd", 0o644, "root:x:0:0:root:/:/bin/sh\n"),
    ("etc/group", 0o644, "root:x:0:\n"),
    ("etc/nsswitch.conf", 0o644, "passwd: files\ngroup: files\nhosts: files\n"),
];

/// Modules of a router. The label of a VPN leads to a VRF, and what stands in for a sham link is a tunnel (GRE).
pub(super) const ROUTER: [&str; 9] = [
    "virtio_net",
    "dummy",
    "vrf",
    "ip_gre",
    "mpls_router",
    "mpls_iptunnel",
    "mpls_gso",
    "sch_netem",
    "sch_ingress",
];

/// Programs of a router. `vtysh` asks PAM who may use it, and PAM loads its modules by name.
pub(super) const ROUTER_PROGRAMS: [&str; 10] = [
    "usr/lib/frr/zebra",
    "usr/lib/frr/ospfd",
    "usr/lib/frr/ldpd",
    "usr/lib/frr/bgpd",
    "usr/bin/vtysh",
    "sbin/ethtool",
    "lib/x86_64-linux-gnu/security/pam_rootok.so",
    "lib/x86_64-linux-gnu/security/pam_permit.so",
    "sbin/tc",
    "bin/ip",
];

/// Files that they read.
pub(super) const ROUTER_FILES: [&str; 2] = ["etc/services", "etc/protocols"];

/// Our own files on a router. FRR's daemons want a user and a group of their own.
pub(super) const ROUTER_OURS: [(&str, u32, &str); 7] = [
    ("init", 0o755, include_str!("router-init.sh")),
    CONTROL,
    ("etc/passwd", 0o644, "root:x:0:0:root:/:/bin/sh\nfrr:x:101:101::/:/bin/false\n"),
    ("etc/group", 0o644, "root:x:0:\nfrr:x:101:\nfrrvty:x:102:frr\n"),
    ("etc/nsswitch.conf", 0o644, "passwd: files\ngroup: files\nhosts: files\n"),
    ("etc/frr/vtysh.conf", 0o644, ""),
    ("etc/pam.d/frr", 0o644, "auth sufficient pam_rootok.so\naccount sufficient pam_permit.so\n"),
];
