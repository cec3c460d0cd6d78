//! What Codex' own configuration says of accounts and of the folder it works in.
//!
//! Owns the reading of the few keys of `config.toml` that matter before it starts. What cannot be
//! read says nothing: Codex itself tells of that.

use std::path::Path;

use toml_edit::{DocumentMut, Item};

/// What the configuration says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Configured {
    /// A provider other than OpenAI is used; by this variable it is signed in to, where it needs one.
    pub provider: Option<Option<String>>,
    /// The folder is marked as one that is not trusted.
    pub is_untrusted: bool,
}

/// What `config.toml` in this directory says of work in `folder`.
pub(super) fn configured(dir: &Path, folder: &Path) -> Configured {
    let text = std::fs::read_to_string(dir.join("config.toml")).unwrap_or_default();
    let Ok(config) = text.parse::<DocumentMut>() else {
        return Configured::default();
    };
    let text = |item: Option<&Item>| Some(item?.as_str()?.to_owned());
    let of = |names: [&str; 3]| {
        let first = config.get(names[0])?.get(names[1])?;
        text(first.get(names[2]))
    };
    let folder = folder.to_string_lossy();
    Configured {
        provider: text(config.get("model_provider"))
            .filter(|name| name != "openai")
            .map(|name| of(["model_providers", &name, "env_key"])),
        is_untrusted: of(["projects", &folder, "trust_level"]).as_deref() == Some("untrusted"),
    }
}

#[cfg(test)]
mod tests {
    use flagpost_disk::fsx::{self, RealFs};

    use super::*;

    fn of(text: &str) -> Configured {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fsx::replace(&RealFs, &path, text.as_bytes()).unwrap();
        configured(dir.path(), Path::new("/srv/web"))
    }

    #[test]
    fn a_provider_and_its_key_are_read() {
        let own = "model_provider = 'x'\n[model_providers.x]\nenv_key = 'X_KEY'\n";
        assert_eq!(of(own).provider, Some(Some("X_KEY".to_owned())));
        assert_eq!(of("model_provider = 'x'\n").provider, Some(None));
        assert_eq!(of("model_provider = 'openai'\n").provider, None);
        for odd in [
            "",
            "model_provider = 3\n",
            "not toml",
            "model_providers = 1\n",
        ] {
            assert_eq!(of(odd), Configured::default(), "{odd:?}");
        }
    }

    #[test]
    fn an_untrusted_folder_is_told_of() {
        let untrusted = "[projects.'/srv/web']\ntrust_level = 'untrusted'\n";
        assert!(of(untrusted).is_untrusted);
        assert!(!of(&untrusted.replace("untrusted", "trusted")).is_untrusted);
        assert!(!of(&untrusted.replace("web", "api")).is_untrusted);
    }
}
