//! Which lines of the source are the product: those with a token on them, so no comments, no blanks, no tests.
//!
//! Owns how the code of tests is told from the product: an item behind `#[cfg(test)]`, and the files of such a
//! module.

use std::{collections::BTreeSet, ops::RangeInclusive};

use flagpost_testkit::repository::{self, TextFile};

use crate::source::{Named, code_only, named_paths, tokens, without_comments};

/// A source file of the product.
pub struct Source {
    /// The directory of its crate.
    pub krate: String,
    /// How many lines of it have code on them.
    pub lines: usize,
    /// Its words and marks.
    pub tokens: Vec<String>,
}

/// Every source file of the product, and of what measures and tests it.
pub fn sources() -> Vec<Source> {
    files().iter().map(source).collect()
}

/// The paths that each of these files names, but for its tests.
pub fn paths() -> Vec<(String, Vec<Named>)> {
    let of_product = |file: TextFile| {
        let tests = test_items(&tokens(&code_only(&file.text)));
        let mut named = named_paths(&file.text);
        named.retain(|it| !tests.iter().any(|item| item.lines.contains(&it.line)));
        (file.path, named)
    };
    files().into_iter().map(of_product).collect()
}

fn files() -> Vec<TextFile> {
    let mut files = repository::texts(|path| {
        path.starts_with("crates/")
            && path.split('/').nth(2) == Some("src")
            && path.ends_with(".rs")
    });
    let modules = files.iter().flat_map(test_modules).collect();
    files.retain(|file| !is_in(file, &modules));
    files
}

/// The words and marks of the code that is no product, each with its line, by file: tests, and what they
/// share.
pub fn tests() -> Vec<(String, Vec<(usize, String)>)> {
    let files = repository::texts(|path| path.starts_with("crates/") && path.ends_with(".rs"));
    let modules = files.iter().flat_map(test_modules).collect();
    let of_tests = |file: &TextFile| {
        let whole = file.path.split('/').nth(2) == Some("tests")
            || file.path.starts_with("crates/testkit/")
            || is_in(file, &modules);
        let mut code = tokens(&code_only(&file.text));
        let items = test_items(&code);
        code.retain(|(line, _)| whole || items.iter().any(|item| item.lines.contains(line)));
        (file.path.clone(), code)
    };
    files.iter().map(of_tests).collect()
}

/// Whether a file is one of these modules, or below one.
fn is_in(file: &TextFile, modules: &BTreeSet<String>) -> bool {
    modules.iter().any(|module| {
        let below = file.path.strip_prefix(module.as_str());
        below.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    })
}

fn source(file: &TextFile) -> Source {
    let code = tokens(&code_only(&file.text));
    let tests: Vec<_> = test_items(&code)
        .into_iter()
        .map(|item| item.lines)
        .collect();
    let is_test = |line: usize| tests.iter().any(|lines| lines.contains(&line));
    let text = without_comments(&file.text);
    let lines = text.lines().zip(1..);
    let lines = lines.filter(|(text, line)| !text.trim().is_empty() && !is_test(*line));
    Source {
        krate: file.path.split('/').nth(1).unwrap_or_default().to_owned(),
        lines: lines.count(),
        tokens: code
            .into_iter()
            .filter(|(line, _)| !is_test(*line))
            .map(|(_, token)| token)
            .collect(),
    }
}

/// The modules that a file declares for tests only, as paths without an ending.
fn test_modules(file: &TextFile) -> Vec<String> {
    let own = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let dir = ["/mod", "/lib", "/main"]
        .iter()
        .find_map(|name| own.strip_suffix(name));
    let dir = dir.unwrap_or(own);
    let items = test_items(&tokens(&code_only(&file.text)));
    let modules = items.into_iter().filter_map(|item| item.module);
    modules.map(|name| format!("{dir}/{name}")).collect()
}

/// An item that only tests see.
struct TestItem {
    lines: RangeInclusive<usize>,
    /// Its name, where it is a module in a file of its own.
    module: Option<String>,
}

fn test_items(code: &[(usize, String)]) -> Vec<TestItem> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is_mark = |at: usize| {
        let here = code.get(at..at + MARK.len()).unwrap_or_default();
        here.iter().map(|(_, token)| token).eq(MARK)
    };
    let token = |at: usize| code.get(at).map_or("", |(_, token)| token.as_str());
    let mut items = Vec::new();
    let mut at = 0;
    while at < code.len() {
        if !is_mark(at) {
            at += 1;
            continue;
        }
        let begin = at;
        while token(at) == "#" {
            at = closed(code, at + 1) + 1;
        }
        let head = at;
        while at < code.len() && !matches!(token(at), ";" | "{") {
            at = closed(code, at) + 1;
        }
        let is_file = token(at) == ";";
        let module = (head..at)
            .find(|&it| token(it) == "mod")
            .map(|it| token(it + 1).to_owned());
        at = closed(code, at).min(code.len() - 1);
        items.push(TestItem {
            lines: code[begin].0..=code[at].0,
            module: module.filter(|_| is_file),
        });
        at += 1;
    }
    items
}

/// Where the bracket that opens here is closed; here, where none opens.
pub fn closed(code: &[(usize, String)], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, (_, token)) in code.iter().enumerate().skip(at) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TextFile {
        TextFile {
            path: "crates/a/src/b.rs".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn comments_blanks_and_tests_are_no_product() {
        let text = "//! What it is.\n\nfn f() {\n    // Why.\n    g(\"one\n  two // three\n\"); /* x */\n}\n\n\
                    #[cfg(test)]\n#[allow(x)]\nfn g(a: [u8; 2]) {\n    h()\n}\n\nconst X: u8 = 1;\n\n\
                    #[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let source = source(&file(text));
        assert_eq!((source.krate.as_str(), source.lines), ("a", 6));
        let has = |name: &str| source.tokens.iter().any(|token| token == name);
        assert_eq!(["f", "X", "h", "t"].map(has), [true, true, false, false]);
    }

    #[test]
    fn a_test_module_in_a_file_of_its_own_is_named() {
        let file = file("#[cfg(test)]\nmod tests;\nmod c;\n#[cfg(test)]\npub(crate) mod stage;\n");
        let expected = ["crates/a/src/b/tests", "crates/a/src/b/stage"];
        assert_eq!(test_modules(&file), expected);
    }
}
