//! Settings of what a worktree gets: patterns, paths and ports.
//!
//! Owns what each may hold. A path stays within its working tree and out of git's own directory.

use std::path::{Component, Path, PathBuf};

use super::{SettingKind, SettingValue, items};

/// Patterns as a `.gitignore` has them, one for each line there.
#[derive(Debug)]
pub struct Patterns;

/// Paths below the top of a working tree.
#[derive(Debug)]
pub struct TreePaths;

/// Ports for those who work side by side.
#[derive(Debug)]
pub struct PortRange;

/// As many ports for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortBlocks {
    /// The first port of the first block.
    pub first: u16,
    /// How many ports are in a block; from 1.
    pub each: u16,
}

impl PortBlocks {
    /// The first port of a block, counted from 0; none beyond the last port that there is.
    pub fn port(self, block: usize) -> Option<u16> {
        let before = u16::try_from(block).ok()?.checked_mul(self.each)?;
        self.first.checked_add(before)
    }
}

impl SettingKind for Patterns {
    type Value = Vec<String>;

    fn allowed(&self) -> String {
        "patterns as in a .gitignore, such as [\".env*\", \"*.local\"]".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<Vec<String>> {
        let is_line = |it: &String| !it.trim().is_empty() && !it.contains(['\0', '\n']);
        match stored {
            SettingValue::Texts(lines) if lines.iter().all(is_line) => Some(lines.clone()),
            _ => None,
        }
    }

    fn typed(&self, variable: &str) -> Vec<String> {
        items(variable)
    }

    fn is_many(&self) -> bool {
        true
    }
}

impl SettingKind for TreePaths {
    type Value = Vec<PathBuf>;

    fn allowed(&self) -> String {
        "paths below the repository's top, such as [\"node_modules\"]".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<Vec<PathBuf>> {
        let SettingValue::Texts(paths) = stored else {
            return None;
        };
        let path = |text: &String| {
            let is_name =
                |it: Component<'_>| matches!(it, Component::Normal(name) if name != ".git");
            let path = Path::new(text.trim_end_matches('/'));
            let is_below = path.components().all(is_name) && path.components().next().is_some();
            (is_below && !text.contains(char::is_control)).then(|| path.to_owned())
        };
        paths.iter().map(path).collect()
    }

    fn typed(&self, variable: &str) -> Vec<String> {
        items(variable)
    }

    fn is_many(&self) -> bool {
        true
    }
}

impl SettingKind for PortRange {
    type Value = PortBlocks;

    fn allowed(&self) -> String {
        "a first port from 1024, and how many each agent gets, such as \"3000+10\"".to_owned()
    }

    fn read(&self, stored: &SettingValue) -> Option<PortBlocks> {
        let text = match stored {
            SettingValue::Text(text) => text.clone(),
            SettingValue::Number(first) => first.to_string(),
            _ => return None,
        };
        let (first, each) = text.split_once('+').unwrap_or((&text, "1"));
        let (first, each) = (first.parse().ok()?, each.parse().ok()?);
        let blocks = PortBlocks { first, each };
        // A landing has the first, and one agent the second.
        let has_room = each > 0 && blocks.port(1)?.checked_add(each - 1).is_some();
        (first >= 1024 && has_room).then_some(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(all: &[&str]) -> SettingValue {
        SettingValue::Texts(all.iter().map(|&it| it.to_owned()).collect())
    }

    #[test]
    fn a_path_stays_in_its_working_tree() {
        let read = |text: &str| TreePaths.read(&texts(&[text]));
        for text in ["node_modules", "web/node_modules/", ".cache"] {
            assert!(read(text).is_some(), "{text:?}");
        }
        for text in [
            "",
            "/",
            ".",
            "../x",
            "a/../../x",
            "/etc",
            ".git",
            "web/.git/x",
            "a\0",
            "a\n*",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_pattern_is_a_line() {
        assert!(Patterns.read(&texts(&[".env*", "!.env.example"])).is_some());
        for text in ["", " ", "a\nb", "a\0"] {
            assert_eq!(Patterns.read(&texts(&[text])), None, "{text:?}");
        }
    }

    #[test]
    fn each_block_of_ports_follows_the_one_before() {
        let read = |text: &str| PortRange.read(&SettingValue::Text(text.to_owned()));
        let blocks = read("3000+10").unwrap();
        assert_eq!((blocks.port(0), blocks.port(3)), (Some(3000), Some(3030)));
        assert_eq!(blocks.port(6254), None);
        let port = PortRange.read(&SettingValue::Number(3000));
        assert_eq!(port, read("3000"));
        assert_eq!(read("3000").and_then(|it| it.port(2)), Some(3002));
        for text in [
            "",
            "80",
            "3000+0",
            "3000+",
            "+10",
            "70000",
            "3000+10+1",
            "3000-3010",
            "65530+10",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
