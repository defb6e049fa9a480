//! The image for containers: nothing but the static binary, for both machines, as an archive of the OCI image layout.
//!
//! Written here: it is a few JSON objects that name each other by their sums, and needs no builder of images.
//! Source: OCI Image Format Specification 1.1, image-layout.md, image-index.md, manifest.md, config.md, layer.md.

use serde_json::{Value, json};

use super::checksums::sha256;
use super::documents::Documents;
use super::file::{File, gzip};
use super::release::Release;
use super::tarball::archive;
use crate::target::Target;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
/// Where results go: the caller mounts a directory there.
const WORK: &str = "/work";
/// Directories of the image; anyone may write to the last two, since a container may run as any user.
const DIRECTORIES: [(&str, u32); 4] =
    [("usr/", 0o755), ("usr/bin/", 0o755), ("tmp/", 0o1777), ("work/", 0o1777)];

/// The name of the archive.
pub(crate) fn name(release: &Release) -> String {
    format!("{}.oci.tar", release.stem())
}

/// The archive with an image for each binary.
///
/// # Errors
/// A part does not fit into an archive.
pub(crate) fn pack(
    release: &Release,
    documents: &Documents,
    binaries: &[(Target, Vec<u8>)],
) -> Result<Vec<u8>, String> {
    let mut blobs = Blobs::default();
    let mut manifests = Vec::new();
    for (target, binary) in binaries {
        let mut manifest = image(&mut blobs, release, documents, (*target, binary))?;
        manifest["platform"] = json!({"architecture": target.architecture, "os": "linux"});
        manifests.push(manifest);
    }
    let all = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
    let mut all = blobs.add_json(INDEX, &all);
    // One entry with a name, which podman gives the image when it loads the archive.
    all["annotations"] = json!({
        "org.opencontainers.image.ref.name": format!("localhost/stormeter:{}", release.version),
    });
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [all]});
    let mut files = vec![
        File::new("oci-layout", json!({"imageLayoutVersion": "1.0.0"}).to_string()),
        File::new("index.json", index.to_string()),
    ];
    files.append(&mut blobs.files);
    archive(&[("blobs/", 0o755), ("blobs/sha256/", 0o755)], &files, release.date.epoch)
}

/// The descriptor of the image for one machine.
fn image(
    blobs: &mut Blobs,
    release: &Release,
    documents: &Documents,
    (target, binary): (Target, &[u8]),
) -> Result<Value, String> {
    let mut files = vec![File::program("usr/bin/stormeter", binary)];
    let licences = documents.licences.iter().chain([&documents.third_party]);
    files.extend(
        licences.map(|file| file.at(format!("usr/share/licenses/stormeter/{}", file.name()))),
    );
    let layer = archive(&DIRECTORIES, &files, release.date.epoch)?;
    let config = json!({
        "created": release.date.machine,
        "architecture": target.architecture,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/stormeter"],
            "Cmd": ["--help"],
            "WorkingDir": WORK,
            "Env": ["PATH=/usr/bin", format!("STORMETER_RESULTS={WORK}")],
            "Labels": labels(release),
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", sha256(&layer))]},
        "history": [{"created": release.date.machine, "created_by": "cargo xtask dist"}],
    });
    let layer = blobs.add(LAYER, gzip(&layer)?);
    let config = blobs.add_json(CONFIG, &config);
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer],
        "annotations": labels(release),
    });
    Ok(blobs.add_json(MANIFEST, &manifest))
}

/// The labels that the specification names (annotations.md).
fn labels(release: &Release) -> Value {
    json!({
        "org.opencontainers.image.title": "stormeter",
        "org.opencontainers.image.description": "Compare datastores for virtual machines",
        "org.opencontainers.image.created": release.date.machine,
        "org.opencontainers.image.version": release.version,
        "org.opencontainers.image.revision": release.commit,
        "org.opencontainers.image.source": release.repository,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
    })
}

/// The contents of an image layout, each at its sum.
#[derive(Default)]
struct Blobs {
    files: Vec<File>,
}

impl Blobs {
    /// Adds bytes; returns their descriptor.
    fn add(&mut self, kind: &str, bytes: Vec<u8>) -> Value {
        let sum = sha256(&bytes);
        let descriptor =
            json!({"mediaType": kind, "digest": format!("sha256:{sum}"), "size": bytes.len()});
        let file = File::new(format!("blobs/sha256/{sum}"), bytes);
        if !self.files.contains(&file) {
            self.files.push(file);
        }
        descriptor
    }

    fn add_json(&mut self, kind: &str, value: &Value) -> Value {
        self.add(kind, value.to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use super::super::release::tests::release;
    use super::*;
    use crate::target::ALL;

    fn parts() -> BTreeMap<String, Vec<u8>> {
        let documents = Documents {
            pages: Vec::new(),
            completions: Vec::new(),
            changelog: File::new("CHANGELOG.md", ""),
            licences: vec![File::new("LICENSE-MIT", "MIT")],
            third_party: File::new("THIRD-PARTY.txt", "notices"),
            readme: File::new("README.md", ""),
        };
        let binaries = ALL.map(|target| (target, target.machine.as_bytes().to_vec()));
        let bytes = pack(&release(), &documents, &binaries).unwrap();
        assert_eq!(bytes, pack(&release(), &documents, &binaries).unwrap());
        let mut archive = tar::Archive::new(bytes.as_slice());
        let mut parts = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            parts.insert(path, bytes);
        }
        parts
    }

    /// What a descriptor names.
    fn named(parts: &BTreeMap<String, Vec<u8>>, descriptor: &Value) -> Vec<u8> {
        let digest = descriptor["digest"].as_str().unwrap().replace(':', "/");
        let bytes = parts[&format!("blobs/{digest}")].clone();
        assert_eq!(digest, format!("sha256/{}", sha256(&bytes)));
        assert_eq!(descriptor["size"], bytes.len());
        bytes
    }

    #[test]
    fn the_index_leads_to_the_binary_of_each_machine() {
        let parts = parts();
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let top = read(&parts["index.json"]);
        let name = &top["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"];
        assert_eq!(name, "localhost/stormeter:1.2.3");
        let all = read(&named(&parts, &top["manifests"][0]));
        for (index, target) in ALL.iter().enumerate() {
            let descriptor = &all["manifests"][index];
            assert_eq!(descriptor["platform"]["architecture"], target.architecture);
            let manifest = read(&named(&parts, descriptor));
            let config = read(&named(&parts, &manifest["config"]));
            assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/stormeter");
            let packed = named(&parts, &manifest["layers"][0]);
            let mut layer = Vec::new();
            flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut layer).unwrap();
            let sum = format!("sha256:{}", sha256(&layer));
            assert_eq!(config["rootfs"]["diff_ids"][0], sum.as_str());
            let mut layer = tar::Archive::new(layer.as_slice());
            let mut binary = String::new();
            let mut entries = layer.entries().unwrap().map(Result::unwrap);
            let mut entry =
                entries.find(|entry| entry.path().unwrap().ends_with("stormeter")).unwrap();
            entry.read_to_string(&mut binary).unwrap();
            assert_eq!(binary, target.machine);
        }
    }
}
