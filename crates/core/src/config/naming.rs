//! Names of settings, where a part of them is the user's choice.
//!
//! Owns what may stand in the place of a word in capitals: for `NAME` what an id may be, for
//! `VARIABLE` what a shell takes for a variable. Only the last word of a name may hold dots.

use flagpost_model::ListId;

use super::{
    REPOSITORIES,
    keys::{AnySetting, KEYS},
};

/// What a person chooses.
const NAME: &str = "NAME";

/// The same, of a variable of the environment.
const VARIABLE: &str = "VARIABLE";

/// The path in the file of the setting `name`, where it is one of this pattern.
pub(super) fn path_of(pattern: &str, name: &str) -> Option<Vec<String>> {
    let wanted = pattern.split('.');
    let mut given = name.splitn(wanted.clone().count(), '.');
    let mut path = Vec::new();
    for word in wanted {
        let given = given.next().filter(|given| fits(word, given))?;
        path.push(given.to_owned());
    }
    Some(path)
}

/// The repository, and the setting that holds there only, which `repositories.NAME.…` names: one of a run or of a
/// landing. The repository's name may hold dots, since no setting's name begins in the middle of another.
pub(super) fn of_repository(name: &str) -> Option<(&str, &'static dyn AnySetting)> {
    let rest = name.strip_prefix(REPOSITORIES)?.strip_prefix('.')?;
    let of_work = |key: &&dyn AnySetting| {
        let name = key.about().name;
        name.starts_with("run.") || name.starts_with("land.")
    };
    KEYS.into_iter().filter(of_work).find_map(|key| {
        let repository = rest.strip_suffix(key.about().name)?.strip_suffix('.')?;
        fits(NAME, repository).then_some((repository, key))
    })
}

/// The name of this pattern with these words chosen.
pub(super) fn name_of(pattern: &str, chosen: &[&str]) -> String {
    let mut chosen = chosen.iter();
    let words = pattern.split('.').map(|word| match is_open(word) {
        true => *chosen.next().unwrap_or(&word),
        false => word,
    });
    words.collect::<Vec<_>>().join(".")
}

/// A name of this pattern that could be meant by another: with the same words chosen. There is none
/// where the user's name is not among them.
pub(super) fn like(pattern: &str, name: &str) -> Option<String> {
    let wanted = pattern.split('.');
    let mut given = name.splitn(wanted.clone().count(), '.');
    let mut words = Vec::new();
    for word in wanted {
        let given = given
            .next()
            .filter(|given| is_open(word) && fits(word, given));
        if word == NAME && given.is_none() {
            return None;
        }
        words.push(given.unwrap_or(word));
    }
    Some(words.join(".")).filter(|like| like != name)
}

/// How alike two names are, from 0 to 1. Whoever names a table means something in it.
pub(super) fn likeness(name: &str, known: &str) -> f64 {
    let within = known.strip_prefix(name).and_then(|it| it.strip_prefix('.'));
    match within {
        Some(VARIABLE) => 1.0,
        _ => strsim::jaro_winkler(name, known),
    }
}

/// Whether an agent can be called so in a setting.
pub(super) fn is_agent(name: &str) -> bool {
    !name.contains('.') && fits(NAME, name)
}

fn is_open(word: &str) -> bool {
    [NAME, VARIABLE].contains(&word)
}

fn fits(word: &str, given: &str) -> bool {
    match word {
        NAME => given.parse::<ListId>().is_ok(),
        VARIABLE => {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            given.chars().all(plain)
                && !given.starts_with(|c: char| c.is_ascii_digit())
                && !given.is_empty()
        }
        _ => word == given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chosen_word_stands_where_the_pattern_has_capitals() {
        let args = "run.agents.NAME.args";
        let env = "run.agents.NAME.env.VARIABLE";
        for (pattern, name, fits) in [
            ("run.retries", "run.retries", true),
            ("run.retries", "run.retries.x", false),
            ("run.retries", "run", false),
            ("queries.NAME", "queries.due.soon", true),
            ("queries.NAME", "queries.", false),
            ("queries.NAME", "queries.a b", false),
            (args, "run.agents.claude.args", true),
            (args, "run.agents.my-opus_2.args", true),
            (args, "run.agents.gpt.5.args", false),
            (args, "run.agents..args", false),
            (args, "run.agents.-x.args", false),
            (args, "run.agents.claude.arg", false),
            (env, "run.agents.claude.env.HTTP_PROXY", true),
            (env, "run.agents.claude.env._x", true),
            (env, "run.agents.claude.env.1X", false),
            (env, "run.agents.claude.env.A.B", false),
            (env, "run.agents.claude.env.", false),
            (env, "run.agents.claude.env", false),
        ] {
            assert_eq!(path_of(pattern, name).is_some(), fits, "{name:?}");
        }
        let path = path_of("queries.NAME", "queries.due.soon").unwrap();
        assert_eq!(path, ["queries", "due.soon"]);
        assert_eq!(name_of(env, &["codex", "A"]), "run.agents.codex.env.A");
    }

    #[test]
    fn a_repository_has_settings_of_its_own() {
        let read = |name| of_repository(name).map(|(it, key)| (it, key.about().name));
        let check = "land.check";
        assert_eq!(read("repositories.web.land.check"), Some(("web", check)));
        assert_eq!(
            read("repositories.my.app.land.check"),
            Some(("my.app", check))
        );
        for name in [
            "repositories.land.check",
            "repositories.web.check",
            "land.check",
            "repositories.web.ui.mouse",
        ] {
            assert_eq!(read(name), None, "{name:?}");
        }
    }

    #[test]
    fn another_name_is_like_one_that_has_the_same_words_chosen() {
        let env = "run.agents.NAME.env.VARIABLE";
        let like = |pattern, name| super::like(pattern, name).unwrap_or_default();
        let args = "run.agents.NAME.args";
        assert_eq!(like(args, "run.agents.opus.arg"), "run.agents.opus.args");
        assert_eq!(like(args, "run.agent.opus.args"), "run.agents.opus.args");
        assert_eq!(
            like(env, "run.agents.opus.env"),
            env.replace("NAME", "opus")
        );
        assert_eq!(like(env, "run.agents.o.envs.A"), "run.agents.o.env.A");
        assert_eq!(like("queries.NAME", "queries.a.b"), "");
        assert_eq!(like("queries.NAME", "queries.../x"), "");
    }
}
