//! The five studies that are built into the program, so that it needs no file to replicate them.

/// Name and text of each study.
pub const STUDIES: [(&str, &str); 5] = [
    ("nfs-datastore", include_str!("../../../studies/nfs-datastore/published.yaml")),
    ("tr3808", include_str!("../../../studies/tr3808/published.yaml")),
    ("vsan", include_str!("../../../studies/vsan/published.yaml")),
    ("virtual-physical", include_str!("../../../studies/virtual-physical/published.yaml")),
    ("mpls-servers", include_str!("../../../studies/mpls-servers/published.yaml")),
];

/// The text of the study with this name.
pub fn embedded(name: &str) -> Option<&'static str> {
    STUDIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
