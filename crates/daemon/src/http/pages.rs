//! The pages: what a browser is shown.
//!
//! Owns the files below `pages/`, which are part of the program, and the headers that keep a page from
//! running anything else. They hold no data: what they show they ask for, and show both halves of their
//! session for it.

use axum::{
    http::{HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
};

/// A file of the pages.
#[derive(Debug)]
pub(crate) struct File {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The page of whoever is in.
pub(crate) const INDEX: File = File {
    name: "index.html",
    kind: HTML,
    text: include_str!("../pages/app/index.html"),
};
/// The page that makes a session of a link.
pub(crate) const LOGIN: File = File {
    name: "login.html",
    kind: HTML,
    text: include_str!("../pages/login/login.html"),
};
/// The page of whoever is not in.
const REFUSED: File = File {
    name: "refused.html",
    kind: HTML,
    text: include_str!("../pages/login/refused.html"),
};

/// What the page of a link needs, and that of whoever is not in.
const BESIDE_LOGIN: &[File] = &[
    File {
        name: "login.js",
        kind: SCRIPT,
        text: include_str!("../pages/login/login.js"),
    },
    File {
        name: "key.js",
        kind: SCRIPT,
        text: include_str!("../pages/login/key.js"),
    },
    File {
        name: "page.css",
        kind: STYLE,
        text: include_str!("../pages/login/page.css"),
    },
];

/// What the page of whoever is in needs.
const BESIDE_INDEX: &[File] = &[
    File {
        name: "now.js",
        kind: SCRIPT,
        text: include_str!("../pages/app/now.js"),
    },
    File {
        name: "stream.js",
        kind: SCRIPT,
        text: include_str!("../pages/app/stream.js"),
    },
];

/// What a page may do: run the scripts of this origin, ask this origin, and make no markup of a text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// A file beside the page of a link.
pub(crate) fn beside_login(name: &str) -> Option<&'static File> {
    BESIDE_LOGIN.iter().find(|it| it.name == name)
}

/// A file beside the page of whoever is in.
pub(crate) fn beside_index(name: &str) -> Option<&'static File> {
    BESIDE_INDEX.iter().find(|it| it.name == name)
}

/// The page that whoever is not in is shown, in place of one that needs it.
pub(crate) fn refused() -> Response {
    let mut page = REFUSED.answer();
    *page.status_mut() = StatusCode::UNAUTHORIZED;
    page
}

impl File {
    /// The file as an answer.
    pub(crate) fn answer(&self) -> Response {
        let own = HeaderName::from_static("cross-origin-resource-policy");
        let alone = HeaderName::from_static("cross-origin-opener-policy");
        let headers = [
            (header::CONTENT_TYPE, self.kind),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
            (own, "same-origin"),
            (alone, "same-origin"),
        ];
        (headers, self.text).into_response()
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn every_file_of_the_pages_is_served() {
        let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pages");
        let names = |dir: &str| -> BTreeSet<String> {
            let files = fs::read_dir(below.join(dir)).unwrap();
            let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
            names.collect()
        };
        let of = |files: &[&[File]]| -> BTreeSet<String> {
            let all = files.iter().copied().flatten();
            all.map(|it| it.name.to_owned()).collect()
        };
        assert_eq!(names("login"), of(&[BESIDE_LOGIN, &[LOGIN, REFUSED]]));
        assert_eq!(names("app"), of(&[BESIDE_INDEX, &[INDEX]]));
    }
}
