//! What tests of pages look at: the elements, all closed in order.

/// Checks that every element is closed in order, and returns the names of all elements.
pub(crate) fn elements(page: &str) -> Vec<String> {
    const VOID: [&str; 1] = ["meta"];
    let body = page.strip_prefix("<!DOCTYPE html>").expect("a doctype");
    let mut names = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag without end");
        let tag = &rest[start + 1..end];
        let name: &str = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
        } else {
            names.push(name.to_string());
            if !tag.ends_with('/') {
                assert!(!VOID.contains(&name));
                open.push(name);
            }
        }
        rest = &rest[end + 1..];
        // A script is text of another language, up to its end.
        if name == "script" && !tag.starts_with('/') {
            rest = &rest[rest.find("</script>").expect("the end of the script")..];
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    names
}

/// Checks that the page runs its own script, alone and as its policy allows it, and fetches nothing.
pub(crate) fn fetches_nothing(page: &str, forbidden: &[&str]) {
    let names = elements(page);
    for name in
        forbidden.iter().chain(&["link", "img", "iframe", "object", "embed", "base", "form"])
    {
        assert_eq!(count(&names, name), 0, "{name}");
    }
    assert_eq!(count(&names, "script"), 1);
    assert!(page.contains("<script>") && page.contains("; script-src &#39;sha256-"));
    assert!(page.contains("content=\"default-src &#39;none&#39;; "));
    for fetching in ["url(", "@import", "http://", "https://", "src=", "fetch(", "import(", "eval("]
    {
        assert!(!page.contains(fetching), "{fetching}");
    }
}

/// How many elements of a name.
pub(crate) fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|found| *found == name).count()
}
