//! The board: what a browser is shown of the fleet.
//!
//! Owns the files of the pages, which are part of the program, and the name under which this version of them
//! is kept. They hold no data: what they show they ask the daemon for. Who may see them, and over which
//! routes, is the daemon's.

use std::{fmt::Write as _, sync::LazyLock};

use sha2::{Digest, Sha256};

/// A file of the pages.
#[derive(Debug)]
pub struct Asset {
    /// Its name.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($dir:literal: $($name:literal),+ $(,)?) => {
        &[$(Asset { name: $name, text: include_str!(concat!("../", $dir, "/", $name)) }),+]
    };
}

/// What the page of those who are in needs.
const APP: &[Asset] = files!(
    "assets":
    "aim.js",
    "api.js",
    "ask.js",
    "asked.js",
    "board.css",
    "board.js",
    "brief.js",
    "card.js",
    "change.js",
    "diff.js",
    "files.js",
    "filter.js",
    "fleet.js",
    "frame.css",
    "frame.js",
    "graph.js",
    "history.js",
    "inbox.js",
    "keys.js",
    "landing.js",
    "lanes.js",
    "list.js",
    "log.js",
    "machines.js",
    "main.js",
    "marked.js",
    "messages.js",
    "notices.js",
    "order.js",
    "others.js",
    "palette.js",
    "patch.js",
    "printed.js",
    "review.js",
    "route.js",
    "run.js",
    "screens.css",
    "settings.js",
    "shared.js",
    "sight.js",
    "state.js",
    "stream.js",
    "task.js",
    "theme.js",
    "timeline.js",
    "verbs.js",
    "view.js",
    "waits.js",
    "words.js",
);
/// The one file that is somebody else's.
const VENDOR: &[Asset] = files!("vendor": "preact.js");
/// The page of those who are in. It stands for every address below the board's.
const INDEX: Asset = Asset {
    name: "index.html",
    text: include_str!("../assets/index.html"),
};

/// What the page of a link needs, and that of those who are not in.
const LOGIN: &[Asset] = files!("login": "login.js", "key.js", "page.css", "refused.js");
/// The page that makes a session of a link.
pub const LINK: Asset = Asset {
    name: "login.html",
    text: include_str!("../login/login.html"),
};
/// The page of those who are not in.
pub const REFUSED: Asset = Asset {
    name: "refused.html",
    text: include_str!("../login/refused.html"),
};

/// What stands in the page for the place of its files, which has the version in it.
const PREFIX: &str = "{{app}}";

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for file in [&INDEX].into_iter().chain(APP).chain(VENDOR) {
        hash.update(file.name);
        hash.update([0]);
        hash.update(file.text);
        hash.update([0]);
    }
    short(&hash.finalize())
});

static PAGE: LazyLock<String> =
    LazyLock::new(|| INDEX.text.replace(PREFIX, &format!("/app/{}/", version())));

/// What this version of the board is called: 16 digits that another one has otherwise.
pub fn version() -> &'static str {
    &VERSION
}

/// The page of those who are in, as a text.
pub fn page() -> &'static str {
    &PAGE
}

/// A file beside the page of those who are in.
pub fn app(name: &str) -> Option<&'static Asset> {
    APP.iter().chain(VENDOR).find(|it| it.name == name)
}

/// A file beside the page of a link.
pub fn login(name: &str) -> Option<&'static Asset> {
    LOGIN.iter().find(|it| it.name == name)
}

impl Asset {
    /// What is in it.
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Its media type.
    pub fn kind(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        }
    }
}

fn short(hash: &[u8]) -> String {
    hash.iter().take(8).fold(String::new(), |mut text, byte| {
        // A text takes all that is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "the folder is compared with the table"
)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    fn names(dir: &str, kinds: &[&str]) -> BTreeSet<String> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
        let files = fs::read_dir(dir).unwrap();
        let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
        let is_served = |name: &String| kinds.iter().any(|kind| name.ends_with(kind));
        names.filter(is_served).collect()
    }

    fn of(files: &[&[Asset]]) -> BTreeSet<String> {
        let all = files.iter().copied().flatten();
        all.map(|it| it.name.to_owned()).collect()
    }

    #[test]
    fn every_file_of_the_pages_is_served() {
        let kinds = [".js", ".css", ".svg", ".html"];
        assert_eq!(names("assets", &kinds), of(&[APP, &[INDEX]]));
        assert_eq!(names("login", &kinds), of(&[LOGIN, &[LINK, REFUSED]]));
        assert_eq!(names("vendor", &[".js"]), of(&[VENDOR]));
    }

    #[test]
    fn the_page_finds_its_files_under_the_version() {
        assert_eq!(version().len(), 16);
        assert!(
            page().contains(&format!("/app/{}/", version())),
            "{}",
            page()
        );
        assert!(!page().contains(PREFIX));
    }

    #[test]
    fn what_is_not_ours_is_what_its_readme_says() {
        let said = include_str!("../vendor/README.md");
        for file in VENDOR {
            let hash = Sha256::digest(file.text);
            let hash = hash
                .iter()
                .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
            assert!(said.contains(&hash), "{}: {hash}", file.name);
        }
    }

    #[test]
    fn our_own_files_are_no_larger_than_they_may_be() {
        let bytes: usize = APP.iter().chain([&INDEX]).map(|it| it.text.len()).sum();
        // The review of work is the last that came, with 22 kB.
        assert!(bytes <= 297 * 1024, "{bytes}");
    }
}
