//! Circles of files: files of a crate that name each other, so that none can be read or changed alone.
//!
//! An edge leads from a file to the file that defines what it names, by `use` or by a path in its text.
//! Re-exports are followed to the definition: a `mod.rs` that re-exports what its children define does not
//! depend on them. Tests are left out. Methods are not paths, so calls of them are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::finding::Finding;
use super::source::{Source, is_at};
use super::token::Token;

/// The most re-exports of re-exports that are followed.
const MOST_REEXPORTS: usize = 8;

/// Words before the name of an item.
const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union"];

/// A file as a module of its crate.
#[derive(Default)]
struct Module {
    file: String,
    /// Its path from the root of the crate.
    path: Vec<String>,
    /// Names of the items in it.
    defines: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in its text, other than imports.
    mentions: BTreeSet<Vec<String>>,
}

/// A name that a file imports.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    /// The name that it has in the file; `*` for all names of a module.
    name: String,
    /// Whether other files can reach it here.
    is_public: bool,
}

/// Checks all crates. `for_tests` are the modules, without `.rs`, that are included for tests only.
pub(super) fn check(sources: &[Source], for_tests: &[PathBuf]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<Module>> = BTreeMap::new();
    for source in sources {
        let is_for_tests = for_tests
            .iter()
            .any(|test| Path::new(&source.name).with_extension("").starts_with(test));
        let Some((name, rest)) = source.name.split_once("/src/").filter(|_| !is_for_tests) else {
            continue;
        };
        crates.entry(name).or_default().push(module(source, rest));
    }
    crates
        .iter()
        .flat_map(|(name, modules)| {
            circles(modules).into_iter().map(|circle| finding(name, &circle))
        })
        .collect()
}

fn finding(name: &str, circle: &Circle) -> Finding {
    let text = format!(
        "{} files name each other in a circle; move what they share to a file of its own: {}",
        circle.files.len(),
        circle.names.join(", ")
    );
    Finding::in_file(name, 1, text)
}

/// A file of a crate as a module; `rest` is its name below `src`.
fn module(source: &Source, rest: &str) -> Module {
    let mut path: Vec<String> =
        rest.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod") || rest == "lib.rs" || rest == "main.rs" {
        path.pop();
    }
    let mut module = Module { file: source.name.clone(), path, ..Module::default() };
    let tokens: Vec<Token> = (0..source.tokens.len())
        .filter(|at| !source.is_for_tests(*at))
        .map(|at| source.tokens[at].clone())
        .collect();
    let mut at = 0;
    while at < tokens.len() {
        let word = tokens[at].text.as_str();
        let next = tokens.get(at + 1).map_or("", |token| token.text.as_str());
        // Not the `use<…>` of a type.
        if word == "use" && next != "<" {
            let is_public = is_public(&tokens[..at]);
            at = imports(&tokens, at + 1, &mut Vec::new(), is_public, &mut module.imports);
            continue;
        }
        if ITEMS.contains(&word) && is_name(next) {
            module.defines.insert(next.to_owned());
        } else if word == "macro_rules" {
            module.defines.extend(tokens.get(at + 2).map(|name| name.text.clone()));
        }
        if !is_name(word) || at > 0 && tokens[at - 1].text == ":" {
            at += 1;
            continue;
        }
        let mut path = vec![word.to_owned()];
        at += 1;
        while is_at(&tokens, at, &[":", ":"])
            && let Some(name) = tokens.get(at + 2).filter(|token| is_name(&token.text))
        {
            path.push(name.text.clone());
            at += 3;
        }
        module.mentions.insert(path);
    }
    module
}

/// Whether the tokens before `use` make it a re-export.
fn is_public(before: &[Token]) -> bool {
    before.last().is_some_and(|token| matches!(token.text.as_str(), "pub" | ")"))
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads a tree of imports from a position on; returns the position after it.
fn imports(
    tokens: &[Token],
    mut at: usize,
    before: &mut Vec<String>,
    is_public: bool,
    found: &mut Vec<Import>,
) -> usize {
    let length = before.len();
    let mut name = None;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.text.as_str() {
            ":" => {}
            "{" => {
                while tokens.get(at).is_some_and(|token| !matches!(token.text.as_str(), "}" | ";"))
                {
                    at = imports(tokens, at, before, is_public, found);
                    at += usize::from(is_at(tokens, at, &[","]));
                }
                at += 1;
                name = None;
                break;
            }
            "as" => {
                name = tokens.get(at).map(|token| token.text.clone());
                at += 1;
            }
            "," | "}" | ";" => {
                at -= 1;
                break;
            }
            "*" => name = Some("*".into()),
            "self" if before.len() > length || length > 0 => name = before.last().cloned(),
            word => {
                before.push(word.to_owned());
                name = Some(word.to_owned());
            }
        }
    }
    if let Some(name) = name {
        found.push(Import { path: before.clone(), name, is_public });
    }
    before.truncate(length);
    at
}

/// Files that reach each other by what they name.
struct Circle {
    files: Vec<String>,
    /// What they name of each other: `a.rs -> b.rs (B)`.
    names: Vec<String>,
}

/// All circles, their files in the order of the modules.
fn circles(modules: &[Module]) -> Vec<Circle> {
    let by_path: BTreeMap<&[String], usize> =
        modules.iter().enumerate().map(|(at, module)| (module.path.as_slice(), at)).collect();
    let modules = Modules { modules, by_path };
    let edges: Vec<BTreeMap<usize, String>> =
        (0..modules.modules.len()).map(|at| modules.edges(at)).collect();
    let file = |at: usize| modules.modules[at].file.as_str();
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|at| reached(&edges, at)).collect();
    let mut circles = Vec::new();
    let mut seen = BTreeSet::new();
    for at in 0..edges.len() {
        if !reached[at].contains(&at) || !seen.insert(at) {
            continue;
        }
        let circle: Vec<usize> =
            reached[at].iter().copied().filter(|other| reached[*other].contains(&at)).collect();
        seen.extend(&circle);
        let within = circle.iter().flat_map(|at| edges[*at].iter().map(move |edge| (*at, edge)));
        let within = within.filter(|(_, (to, _))| circle.contains(to));
        circles.push(Circle {
            files: circle.iter().map(|at| file(*at).to_owned()).collect(),
            names: within
                .map(|(at, (to, name))| format!("{} -> {} ({name})", file(at), file(*to)))
                .collect(),
        });
    }
    circles
}

fn reached(edges: &[BTreeMap<usize, String>], from: usize) -> BTreeSet<usize> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(at) = next.pop() {
        next.extend(edges[at].keys().filter(|to| reached.insert(**to)));
    }
    reached
}

/// The modules of a crate.
struct Modules<'m> {
    modules: &'m [Module],
    by_path: BTreeMap<&'m [String], usize>,
}

impl Modules<'_> {
    /// The files that define what a file names, each with one of these names.
    fn edges(&self, at: usize) -> BTreeMap<usize, String> {
        let module = &self.modules[at];
        let imported = module.imports.iter().filter(|import| {
            // A re-export is used here only if the text has it.
            !import.is_public
                || module.mentions.iter().any(|path| path.first() == Some(&import.name))
        });
        let imported = imported.filter_map(|import| {
            let to = match import.name.as_str() {
                "*" => self.absolute(at, &import.path).and_then(|path| self.module_at(&path)),
                _ => self.definition(at, &import.path, 0),
            };
            Some((to?, import.name.clone()))
        });
        let mentioned = module.mentions.iter().filter(|path| path.len() > 1);
        let mentioned =
            mentioned.filter_map(|path| Some((self.definition(at, path, 0)?, path.join("::"))));
        imported.chain(mentioned).filter(|(to, _)| *to != at).collect()
    }

    fn module_at(&self, path: &[String]) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// A path as it stands in a file, from the root of the crate; `None` if it leads out of the crate.
    fn absolute(&self, at: usize, path: &[String]) -> Option<Vec<String>> {
        let own = &self.modules[at].path;
        let ups = path.iter().take_while(|word| *word == "super").count();
        let base = match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => return Some([own, &path[1..]].concat()),
            "super" => own.get(..own.len().checked_sub(ups)?)?,
            first => {
                let child = [own.as_slice(), &[first.to_owned()]].concat();
                let is_import = || self.modules[at].imports.iter().any(|one| one.name == first);
                (self.module_at(&child).is_some() || is_import()).then_some(own.as_slice())?
            }
        };
        Some([base, &path[ups..]].concat())
    }

    /// The file that defines what a path in a file leads to; `None` for modules and for what is not of this
    /// crate.
    fn definition(&self, at: usize, path: &[String], depth: usize) -> Option<usize> {
        let path = self.absolute(at, path)?;
        let modules = (0..=path.len()).take_while(|end| self.module_at(&path[..*end]).is_some());
        let end = modules.last()?;
        let (module, name) = (self.module_at(&path[..end])?, path.get(end)?);
        let Module { defines, imports, .. } = &self.modules[module];
        if defines.contains(name) {
            return Some(module);
        }
        if depth == MOST_REEXPORTS {
            return None;
        }
        let named = imports.iter().find(|import| import.name == *name);
        let all = imports.iter().filter(|import| import.name == "*");
        let named = named.map(|import| [&import.path, &path[end + 1..]].concat());
        let all = all.map(|import| [&import.path, &path[end..]].concat());
        named.into_iter().chain(all).find_map(|path| {
            let is_itself = module == at && path.first() == Some(name);
            (!is_itself).then(|| self.definition(module, &path, depth + 1)).flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate with these files.
    fn circles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(name, text)| Source::new(&format!("crates/a/src/{name}"), text))
            .collect();
        let modules: Vec<Module> =
            files.iter().zip(&sources).map(|((name, _), source)| module(source, name)).collect();
        let short = |file: &String| file.trim_start_matches("crates/a/src/").to_owned();
        circles(&modules).iter().map(|circle| circle.files.iter().map(short).collect()).collect()
    }

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use std::{fmt, io}; pub struct B; fn b() { super::c::c() }"),
            ("c.rs", "use super::{a::{self, A as One}, b}; pub fn c() {}"),
        ];
        assert_eq!(circles_of(&files), [["a.rs", "b.rs", "c.rs"]]);
        let without = files.map(|(name, text)| (name, text.replace("super::c::c()", "")));
        let without = without.each_ref().map(|(name, text)| (*name, text.as_str()));
        assert!(circles_of(&without).is_empty());
    }

    #[test]
    fn a_parent_that_only_reexports_is_none() {
        let files = [
            ("lib.rs", "mod a; pub use a::{B, C};"),
            ("a/mod.rs", "mod b; mod c; pub use b::B; pub(crate) use c::*;"),
            ("a/b.rs", "use crate::C; pub struct B;"),
            ("a/c.rs", "pub struct C;"),
        ];
        assert!(circles_of(&files).is_empty());
        let back = [files[0], files[1], files[2], ("a/c.rs", "use super::B; pub struct C;")];
        assert_eq!(circles_of(&back), [["a/b.rs", "a/c.rs"]]);
    }

    #[test]
    fn a_parent_that_uses_its_child_and_is_named_by_it_is_one() {
        let child = ("a/b.rs", "use super::A; pub struct B;");
        for parent in [
            "mod b; use b::B; pub struct A;",
            "mod b; pub struct A; fn a() { b::B; }",
            "mod b; pub use b::B; pub struct A(B);",
            "mod b; pub struct A; use self::b::{B as Other};",
        ] {
            let files = [("main.rs", "mod a;"), ("a/mod.rs", parent), child];
            assert_eq!(circles_of(&files), [["a/mod.rs", "a/b.rs"]], "{parent}");
        }
        for parent in ["mod b; pub use b::B; pub struct A;", "mod b; pub struct A; fn b() {}"] {
            let files = [("main.rs", "mod a;"), ("a/mod.rs", parent), child];
            assert!(circles_of(&files).is_empty(), "{parent}");
        }
    }

    #[test]
    fn tests_and_other_crates_are_left_out() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use other::a::A; pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert!(circles_of(&files).is_empty());
        let sources = files.map(|(name, text)| Source::new(&format!("crates/a/src/{name}"), text));
        assert!(check(&sources, &[]).is_empty());
    }

    #[test]
    fn a_circle_is_a_finding_that_says_what_ties_it() {
        let files = [
            ("lib.rs", "mod b; mod c;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use crate::b::B; pub struct C;"),
        ];
        let sources = files.map(|(name, text)| Source::new(&format!("crates/a/src/{name}"), text));
        let found: Vec<String> = check(&sources, &[]).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("crates/a/src/b.rs -> crates/a/src/c.rs (C)"), "{found:?}");
    }
}
