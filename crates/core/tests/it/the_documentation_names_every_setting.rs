//! `docs/configuration.md` against the table of settings.

use flagpost_core::config::keys::{AnySetting, KEYS, PATTERNS};

/// The row that a setting has in the documentation.
fn row(known: &dyn AnySetting) -> String {
    let about = known.about();
    let code = |text: Option<&str>| text.map(|text| format!("`{text}`")).unwrap_or_default();
    let allowed = known.allowed();
    format!(
        "| `{}` | {} | {allowed} | {} | {} | {} |\n",
        about.name,
        about.text,
        code(about.default),
        code(about.variable.map(|name| format!("${name}")).as_deref()),
        code(about.option),
    )
}

#[test]
fn in_its_own_words() {
    let document = include_str!("../../../../docs/configuration.md");
    let rows: String = KEYS.into_iter().chain(PATTERNS).map(row).collect();
    assert!(
        document.contains(&rows),
        "docs/configuration.md needs:\n{rows}"
    );
}
