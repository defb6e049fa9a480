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
    }
    assert!(open.is_empty(), "left open: {open:?}");
    names
}

/// How many elements of a name.
pub(crate) fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|found| *found == name).count()
}
