//! What every page starts and ends with: its head, the policy that forbids it everything, its script.

use sha2::{Digest, Sha256};

use crate::markup::Markup;

/// The only script: values under the pointer, legends that hide, tables that sort. A page says everything
/// without it.
const SCRIPT: &str = include_str!("page.js");

/// A page says within this number of bytes what made it.
pub const HEAD_BYTES: usize = 2048;

/// Starts a page, up to the open `body`.
pub(crate) fn start(page: &mut Markup, title: &str, styles: &[&'static str], class: &str) {
    start_with(page, title, styles, class, &policy(SCRIPT, ""));
}

/// Starts the page of a run in progress: its script reads from where the page came from.
pub(crate) fn start_live(page: &mut Markup, title: &str, styles: &[&'static str], script: &str) {
    let policy = policy(script, "; connect-src 'self'; base-uri 'none'; form-action 'none'");
    start_with(page, title, styles, "live study", &policy);
}

fn start_with(page: &mut Markup, title: &str, styles: &[&'static str], class: &str, policy: &str) {
    page.tag("html").at("lang", "en").open();
    page.tag("head").open();
    page.tag("meta").at("charset", "utf-8").empty();
    page.tag("meta").at("http-equiv", "Content-Security-Policy").at("content", policy).empty();
    page.tag("meta")
        .at("name", "viewport")
        .at("content", "width=device-width, initial-scale=1")
        .empty();
    page.tag("meta").at("name", "color-scheme").at("content", "light dark").empty();
    page.tag("meta").at("name", "generator").at("content", "stormeter").empty();
    page.leaf("title", title);
    page.style(include_str!("page.css"));
    styles.iter().for_each(|style| page.style(style));
    page.close();
    page.tag("body").at("class", class).open();
}

/// Whether the start of a text is that of a page of this program, which may be replaced by a newer one.
pub fn is_page(text: &[u8]) -> bool {
    const MARK: &[u8] = b"<meta name=\"generator\" content=\"stormeter\"/>";
    let head = &text[..text.len().min(HEAD_BYTES)];
    head.windows(MARK.len()).any(|part| part == MARK)
}

/// Ends a page whose `main` is open, naming what made it from which run.
pub(crate) fn end(page: Markup, stormeter_version: &str, run_id: &str) -> String {
    end_with(page, &format!("Made by stormeter {stormeter_version} from run {run_id}."))
}

/// Ends a page whose `main` is open with a line about itself.
pub(crate) fn end_with(page: Markup, line: &str) -> String {
    end_live(page, line, SCRIPT)
}

/// The same with another script, the one that it was started with.
pub(crate) fn end_live(mut page: Markup, line: &str, script: &'static str) -> String {
    page.tag("footer").open();
    page.leaf("p", line);
    page.close();
    page.close();
    page.script(script);
    format!("<!DOCTYPE html>\n{}", page.finish())
}

/// A security policy that forbids everything but the page's own styles and its one script: should a text
/// ever slip through unescaped, it can neither run nor fetch.
fn policy(script: &str, further: &str) -> String {
    let hash = base64(&Sha256::digest(script.as_bytes()));
    format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'{further}")
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for place in 0..4 {
            text.push(match place <= chunk.len() {
                true => char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_the_vectors_of_the_rfc() {
        let encoded = ["", "f", "fo", "foo", "foobar"].map(|text| base64(text.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]);
    }

    #[test]
    fn the_policy_allows_the_script_of_the_page_and_nothing_else() {
        let mut page = Markup::default();
        start(&mut page, "", &[], "");
        page.tag("main").open();
        let page = end(page, "1.2.3", "run");
        let (_, script) = page.split_once("<script>").unwrap();
        let (script, _) = script.split_once("</script>").unwrap();
        let hash = base64(&Sha256::digest(script.as_bytes()));
        assert!(is_page(page.as_bytes()) && !is_page(b"<html>"));
        assert!(page.contains(&format!("script-src &#39;sha256-{hash}&#39;")), "{page}");
        assert!(!policy(SCRIPT, "").replace("style-src 'unsafe-inline'", "").contains("unsafe"));
    }
}
