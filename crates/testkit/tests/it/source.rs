//! Just enough of Rust's syntax to read the paths that a source file names.
//!
//! Owns what counts as code (comments and literals do not) and how `use` trees unfold. Macros and
//! renames are taken as written.

/// A path as named in a source file: `use a::{b, c::d}` names `a::b` and `a::c::d`.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// Counted from 1.
    pub line: usize,
    /// Its segments; the last is `*` for a glob.
    pub path: Vec<String>,
}

/// The text with comments and the content of literals blanked out, line for line.
pub fn code_only(text: &str) -> String {
    blanked(text, |_| true)
}

/// The text with comments blanked out, line for line.
pub fn without_comments(text: &str) -> String {
    blanked(text, |begins| begins.starts_with(&['/']))
}

/// The text without those comments and literals that are to go, by what they begin with.
fn blanked(text: &str, goes: impl Fn(&[char]) -> bool) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = blank_end(&chars, at);
        if end > at {
            let goes = goes(&chars[at..end]);
            let blank = |&c: &char| if goes && c != '\n' { ' ' } else { c };
            code.extend(chars[at..end].iter().map(blank));
            at = end;
        } else if is_word(chars[at]) {
            // A whole word, so that the `r` at the end of one never opens a raw string.
            while at < chars.len() && is_word(chars[at]) {
                code.push(chars[at]);
                at += 1;
            }
        } else {
            code.push(chars[at]);
            at += 1;
        }
    }
    code
}

/// Every path that the code names.
pub fn named_paths(text: &str) -> Vec<Named> {
    let tokens = tokens(&code_only(text));
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let word = tokens[at].1.as_str();
        // Before a path that starts with `::`, a keyword would look like its first segment.
        let keyword = matches!(word, "use" | "as" | "dyn" | "impl" | "mut" | "return");
        at = if word.starts_with(is_word) && !keyword {
            unfold(&tokens, at, &[], &mut found)
        } else {
            at + 1
        };
    }
    found
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where the comment or literal that starts here ends; `at` if none starts here.
fn blank_end(chars: &[char], at: usize) -> usize {
    let is = |offset: usize, c: char| chars.get(at + offset) == Some(&c);
    if is(0, '/') && is(1, '/') {
        return at + chars[at..].iter().take_while(|&&c| c != '\n').count();
    }
    if is(0, '/') && is(1, '*') {
        return block_comment_end(chars, at);
    }
    if is(0, '"') {
        return quoted_end(chars, at, '"');
    }
    // 'x' and '\n' are literals, 'x without a closing mark is a lifetime.
    if is(0, '\'') && (is(1, '\\') || is(2, '\'')) {
        return quoted_end(chars, at, '\'');
    }
    let prefix = usize::from(is(0, 'b') || is(0, 'c'));
    if is(prefix, 'r') {
        let hashes = chars[at + prefix + 1..]
            .iter()
            .take_while(|&&c| c == '#')
            .count();
        if is(prefix + 1 + hashes, '"') {
            return raw_end(chars, at + prefix + 2 + hashes, hashes);
        }
    }
    at
}

fn block_comment_end(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < chars.len() {
        match chars[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(chars.len())
}

fn quoted_end(chars: &[char], start: usize, mark: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != mark {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(chars.len())
}

fn raw_end(chars: &[char], mut at: usize, hashes: usize) -> usize {
    while at < chars.len() {
        let closed =
            chars[at] == '"' && chars[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
        if closed {
            return at + 1 + hashes;
        }
        at += 1;
    }
    at
}

/// Words, `::` and single marks of what [`code_only`] left, each with its line.
pub fn tokens(code: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let len = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push((index + 1, rest[..len].to_owned()));
            rest = rest[len..].trim_start();
        }
    }
    tokens
}

/// Reads one path or tree of paths that starts with the word at `at`; returns where to go on.
fn unfold(
    tokens: &[(usize, String)],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<Named>,
) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |(_, text)| text.as_str());
    let line = tokens[at].0;
    let mut path = prefix.to_vec();
    // `{self}` in a tree names the tree's own prefix.
    if text(at) != "self" || prefix.is_empty() {
        path.push(text(at).to_owned());
    }
    at += 1;
    while text(at) == "::" {
        match text(at + 1) {
            "{" => {
                at += 2;
                while at < tokens.len() && text(at) != "}" {
                    at = match text(at) {
                        "as" => at + 2,
                        word if word.starts_with(is_word) => unfold(tokens, at, &path, found),
                        "*" => {
                            let line = tokens[at].0;
                            let glob = [path.as_slice(), &["*".to_owned()]].concat();
                            found.push(Named { line, path: glob });
                            at + 1
                        }
                        _ => at + 1,
                    };
                }
                return at + 1;
            }
            next if next == "*" || next.starts_with(is_word) => {
                path.push(next.to_owned());
                at += 2;
            }
            // A turbofish.
            _ => break,
        }
    }
    found.push(Named { line, path });
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str) -> Vec<String> {
        named_paths(text)
            .into_iter()
            .map(|named| named.path.join("::"))
            .filter(|path| path.contains("::"))
            .collect()
    }

    #[test]
    fn use_trees_unfold() {
        let text = "use a::{self as s, b, c::{d, e::*}, *};\nuse ::f::g as h;";
        let wanted = ["a::b", "a::c::d", "a::c::e::*", "a::*", "f::g"];
        assert_eq!(paths(text), wanted);
        assert!(named_paths(text).iter().any(|n| n.path == ["a"]));
    }

    #[test]
    fn paths_in_expressions_and_types_count() {
        let text = "fn f() -> x::Y { Vec::<p::Q>::new(); m::n!(); s.t(u::v) }";
        assert_eq!(paths(text), ["x::Y", "p::Q", "m::n", "u::v"]);
    }

    #[test]
    fn comments_and_literals_do_not() {
        let text = r####"// a::b
            /* c::d /* e::f */ g::h */ 'x'; '\''; "i::j \" k::l"; r#"m::n " o::p"#; br"q::r";
            fn f<'a>(x: &'a str, y: for_r) {} let r#type = s::t;"####;
        assert_eq!(paths(text), ["s::t"]);
    }

    #[test]
    fn lines_are_counted_through_what_is_blanked() {
        let text = "/*\n*/ \"\n\" a::b";
        assert_eq!(named_paths(text)[0].line, 3);
        assert_eq!(code_only(text).lines().count(), text.lines().count());
    }
}
