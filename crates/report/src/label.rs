//! Short names for datastores: the user's words, cut to the width of a table.

use std::collections::HashMap;

use stormeter_study::{NamedDatastore, StudyPlan};

/// How many characters fit into the head of a column and next to a chart.
const LONGEST: usize = 26;

/// A label for each URL: the URL itself where it is short, otherwise the host and the end of the
/// path with `…` between. All labels differ: equal ones are numbered.
pub fn labels(urls: &[String]) -> Vec<String> {
    let mut short: Vec<String> = urls.iter().map(|url| shorten(url, LONGEST)).collect();
    // Where two differ only in their options, the options stay and the path is shortened.
    for (index, url) in urls.iter().enumerate() {
        let clashes = (0..urls.len()).any(|i| urls[i] != *url && short[i] == short[index]);
        if let (true, Some((place, options))) = (clashes, url.split_once('?')) {
            let room = LONGEST.saturating_sub(options.chars().count() + 1).max(8);
            short[index] = format!("{}?{options}", shorten(place, room));
        }
    }
    let mut times: HashMap<&str, usize> = HashMap::new();
    for label in &short {
        *times.entry(label).or_default() += 1;
    }
    let mut given: HashMap<&str, usize> = HashMap::new();
    short
        .iter()
        .map(|label| {
            if times[label.as_str()] == 1 {
                return label.clone();
            }
            let number = given.entry(label).or_default();
            *number += 1;
            format!("{label} ({number})")
        })
        .collect()
}

/// A label for each datastore of a plan: its name, or a short form of its URL where it was given none.
pub fn datastore_labels(plan: &StudyPlan) -> Vec<String> {
    // Without a name it is called by its URL, with a number where that comes twice.
    let is_url = |it: &NamedDatastore| {
        plan.is_from_options()
            && it
                .name
                .strip_prefix(&it.url)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let names = plan.datastores.iter().map(|it| if is_url(it) { &it.url } else { &it.name });
    labels(&names.cloned().collect::<Vec<_>>())
}

/// At most `longest` characters of a URL: options go first, then the middle.
pub(crate) fn shorten(url: &str, longest: usize) -> String {
    let url = url.strip_prefix("file://").unwrap_or(url);
    // A password should not get here; if one does, it is not shown.
    let url = match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}{}", &url[..scheme + 3], &url[at + 1..])
        }
        _ => url.to_string(),
    };
    let url = match url.split_once('?') {
        Some((place, _)) if url.chars().count() > longest => place,
        _ => url.as_str(),
    };
    match url.chars().count() > longest {
        true => target(url, longest).unwrap_or_else(|| elide(url, longest)),
        false => url.to_string(),
    }
}

/// The portal, the end of the target's name and the LUN of an iSCSI URL: the naming authority, which is most of
/// the name, is the same for all targets of a site.
fn target(url: &str, longest: usize) -> Option<String> {
    let (portal, rest) = url.strip_prefix("iscsi://")?.split_once('/')?;
    let (name, lun) = rest.rsplit_once('/')?;
    let (_, own) = name.rsplit_once(':')?;
    let (host, _) = portal.rsplit_once(':').unwrap_or((portal, ""));
    [portal, host]
        .map(|place| format!("iscsi:{place}/…:{own}/{lun}"))
        .into_iter()
        .find(|label| label.chars().count() <= longest)
}

/// Cuts out the middle. The end of a path says more than its start, so more of it is kept. A URL loses its
/// slashes first, then the part between host and end, then the host; the scheme stays.
pub(crate) fn elide(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_string();
    }
    let compact = text.replacen("://", ":", 1);
    let characters: Vec<char> = compact.chars().collect();
    if characters.len() <= longest {
        return compact;
    }
    let kept = longest.saturating_sub(1);
    let place = |sign: char| characters.iter().position(|&c| c == sign);
    let head = match (text.contains("://"), place('/'), place(':')) {
        (true, Some(host_end), _) if host_end <= kept / 2 => host_end,
        (true, _, Some(scheme_end)) if scheme_end < kept / 2 => scheme_end + 1,
        _ => kept / 3,
    };
    let tail = kept - head;
    let head: String = characters[..head].iter().collect();
    let tail: String = characters[characters.len() - tail..].iter().collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(urls: &[&str]) -> Vec<String> {
        labels(&urls.iter().map(|url| url.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn short_urls_stay_and_equal_ones_are_numbered() {
        assert_eq!(of(&["/srv/vm", "file:///mnt/nas"]), ["/srv/vm", "/mnt/nas"]);
        assert_eq!(of(&["/a", "/b", "/a"]), ["/a (1)", "/b", "/a (2)"]);
    }

    #[test]
    fn long_urls_are_cut_in_the_middle_and_lose_options_and_users() {
        let labels = of(&[
            "iscsi://joe%secret@nas1.example/iqn.2026-01.example:vm/0?sessions=4",
            "nfs://nas1/export/vm?version=3&connections=8",
        ]);
        assert!(
            !labels[0].contains("secret") && labels[0] == "iscsi:nas1.example/…:vm/0",
            "{labels:?}"
        );
        assert_eq!(labels[1], "nfs://nas1/export/vm");
        assert!(labels.iter().all(|label| label.chars().count() <= LONGEST));
    }

    #[test]
    fn of_network_urls_scheme_and_end_stay() {
        let labels = of(&[
            "nfs://127.0.0.1:34409/export?mountport=34409",
            "iscsi://127.0.0.1:21353/iqn.2026-01.test.stormeter:disk/1",
            "nfs://nas1/export/of/the/build/farm",
        ]);
        assert_eq!(labels[0], "nfs:127.0.0.1:34409/export");
        assert_eq!(labels[1], "iscsi:127.0.0.1/…:disk/1");
        assert_eq!(labels[2], "nfs:nas1…of/the/build/farm");
    }

    #[test]
    fn options_stay_where_only_they_tell_two_apart() {
        let labels = of(&["./stormeter-demo-files", "./stormeter-demo-files?direct=0"]);
        assert_eq!(labels, ["./stormeter-demo-files", "./sto…-demo-files?direct=0"]);
    }

    /// A name that a study file gives stays, even if it starts as the URL does.
    #[test]
    fn names_of_a_study_file_are_labels() {
        let plan = stormeter_study::parse_study("datastores: {local-ssd: local, nas-v4: nas}");
        assert_eq!(datastore_labels(&plan.unwrap()), ["local-ssd", "nas-v4"]);
    }

    #[test]
    fn labels_cut_to_the_same_text_still_differ() {
        let labels = of(&[
            "/srv/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/the-same-directory",
            "/srv/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/the-same-directory",
        ]);
        assert_ne!(labels[0], labels[1]);
    }
}
