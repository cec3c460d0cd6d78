//! Names of files that are still being written.
//!
//! Owns the form `.{name}.tmp-{pid}-{random}` (`tree.md` §0): a dotfile that no reader globs,
//! unique to its writer, from which a sweep can tell whether that writer still lives.

use std::path::{Path, PathBuf};

use super::Fs;

/// A fresh temporary name beside `target`.
pub(super) fn temporary_path(fs: &dyn Fs, target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let random = fs.random_id().simple();
    target.with_file_name(format!(".{name}.tmp-{}-{random}", std::process::id()))
}

/// The writer's pid, when `name` is a temporary name.
pub(super) fn writer(name: &str) -> Option<u32> {
    let (_, tail) = name.strip_prefix('.')?.rsplit_once(".tmp-")?;
    let (pid, random) = tail.split_once('-')?;
    let ours = random.len() == 32 && random.bytes().all(|b| b.is_ascii_hexdigit());
    ours.then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{super::RealFs, *};

    #[test]
    fn trap_07_a_temporary_is_a_dotfile_that_no_reader_globs() {
        let path = temporary_path(&RealFs, Path::new("/list/21.json"));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(".21.json.tmp-"), "{name}");
        assert!(
            ![".json", ".md", ".txt"]
                .iter()
                .any(|end| name.ends_with(end)),
            "{name}"
        );
        assert_eq!(writer(name), Some(std::process::id()));
    }

    #[test]
    fn foreign_names_have_no_writer() {
        for name in [
            ".lock",
            "21.tmp.json",
            ".x.tmp-12-short",
            ".x.tmp-y-00000000000000000000000000000000",
        ] {
            assert_eq!(writer(name), None, "{name}");
        }
    }
}
