//! What is settled for one agent: `run.agents.NAME`.
//!
//! Owns which settings make up an agent's, and whose values are not for everybody's eyes. What they
//! mean for its command line is decided by the room that starts it.

use flagpost_model::client::Client;

use super::{
    Config,
    keys::{AGENT_ARGS, AGENT_COMMAND, AGENT_ENV, AGENT_LIKE},
    naming,
};
use crate::error::Result;

/// How names of variables end that hold what nobody is to read.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// What is settled for one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSettings {
    /// Words that are added to its options.
    pub args: Vec<String>,
    /// Variables of its environment, in the file's order.
    pub env: Vec<(String, String)>,
    /// Its command line; without one it is a client under this name, or under that of `like`.
    pub command: Option<String>,
    /// The client as which it is started, read and judged.
    pub like: Option<Client>,
}

impl Config<'_> {
    /// What is settled for the agent of this name: nothing where the file has nothing, or where no
    /// setting could have this name, as with a command line.
    pub fn agent(&self, name: &str) -> Result<AgentSettings> {
        if !naming::is_agent(name) {
            return Ok(AgentSettings::default());
        }
        let mut env = Vec::new();
        for path in self.document.names() {
            match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["run", "agents", of, "env", variable] if of == name => {
                    let setting = naming::name_of(AGENT_ENV.about.name, &[name, variable]);
                    // A variable that no process could have is told of among the unknown names.
                    if naming::path_of(AGENT_ENV.about.name, &setting).is_some()
                        && let Some(value) = self.chosen(&AGENT_ENV, &[name, variable])?
                    {
                        env.push((variable.to_owned(), value));
                    }
                }
                // Something else stands where the table should.
                ["run", "agents", of, "env"] if of == name => {
                    self.chosen(&AGENT_ENV, &[name, "VARIABLE"])?;
                }
                _ => {}
            }
        }
        Ok(AgentSettings {
            args: self.chosen(&AGENT_ARGS, &[name])?.unwrap_or_default(),
            env,
            command: self.chosen(&AGENT_COMMAND, &[name])?,
            like: self.chosen(&AGENT_LIKE, &[name])?,
        })
    }

    /// The names of all agents of which something is settled, in the file's order.
    pub fn agents(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for path in self.document.names() {
            if let [run, agents, name, _, ..] = &path[..]
                && (run.as_str(), agents.as_str()) == ("run", "agents")
                && naming::is_agent(name)
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
        names
    }
}

/// Whether the value of this setting is kept off screens: a variable of an agent that is called like
/// a secret.
pub fn is_secret(name: &str) -> bool {
    let path = naming::path_of(AGENT_ENV.about.name, name);
    let variable = path.and_then(|mut path| path.pop()).unwrap_or_default();
    let variable = variable.to_ascii_uppercase();
    SECRET.iter().any(|end| variable.ends_with(end))
}

#[cfg(test)]
mod tests {
    use flagpost_disk::fsx;

    use super::*;
    use crate::home::Home;

    fn with<T>(text: &str, look: impl Fn(&Config<'_>) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let path = dir.path().join("config.toml");
        fsx::replace(home.fs(), &path, text.as_bytes()).unwrap();
        look(&Config::read(&home).unwrap())
    }

    #[test]
    fn everything_of_one_agent_is_found_together() {
        let text = "[run.agents.opus]\nlike = 'claude'\ncommand = 'box claude -p'\n\
            args = ['--model', 'opus']\nenv = { B = 'two words', A = '' }\n\
            [run.agents.codex.env]\nA = 'x'\n";
        with(text, |config| {
            let opus = config.agent("opus").unwrap();
            let text = |text: &str| text.to_owned();
            let expected = AgentSettings {
                args: vec![text("--model"), text("opus")],
                env: vec![(text("B"), text("two words")), (text("A"), text(""))],
                command: Some(text("box claude -p")),
                like: Some(Client::Claude),
            };
            assert_eq!(opus, expected);
            assert_eq!(config.agents(), ["opus", "codex"]);
            for nobody in ["claude", "sh agent.sh {prompt_file}", "", "a.b"] {
                assert_eq!(config.agent(nobody).unwrap(), AgentSettings::default());
            }
        });
    }

    #[test]
    fn what_is_of_a_wrong_kind_is_named_with_its_line() {
        for (text, told) in [
            (
                "args = '--model opus'",
                "run.agents.x.args must be words, each",
            ),
            (
                "args = ['--port', 3]",
                "run.agents.x.args must be words, each",
            ),
            (
                "command = ''",
                "run.agents.x.command must be a text that is not",
            ),
            (
                "like = 'Claude'",
                "like must be claude, codex, gemini, opencode,",
            ),
            (
                "env = ['A=1']",
                "run.agents.x.env.VARIABLE must be a text; it is ['A",
            ),
            (
                "env.PORT = 8080",
                "run.agents.x.env.PORT must be a text; it is 8080",
            ),
            (
                "env.A_TOKEN = 8080",
                "A_TOKEN must be a text; it is something else,",
            ),
        ] {
            with(&format!("[run.agents.x]\n{text}\n"), |config| {
                let error = config.agent("x").unwrap_err();
                let error = crate::error::describe(&error);
                assert!(error.contains("line 2: "), "{error}");
                assert!(error.contains(told), "{error}");
                assert!(config.agent("y").is_ok(), "{error}");
            });
        }
    }

    #[test]
    fn a_variable_that_no_process_could_have_is_told_of_and_left_out() {
        with(
            "[run.agents.x]\nenv = { 'A B' = 'x', C = 'y' }\n",
            |config| {
                let env = config.agent("x").unwrap().env;
                assert_eq!(env, [("C".to_owned(), "y".to_owned())]);
                let unknown = config.unknown();
                assert_eq!(unknown[0].name, "run.agents.x.env.A B");
            },
        );
    }

    #[test]
    fn a_variable_is_a_secret_by_how_its_name_ends() {
        for (name, secret) in [
            ("run.agents.a.env.OPENAI_API_KEY", true),
            ("run.agents.a.env.gh_token", true),
            ("run.agents.a.env.SECRET", true),
            ("run.agents.a.env.KEYS", false),
            ("run.agents.a.env.HTTP_PROXY", false),
            ("run.agents.KEY.args", false),
            ("queries.KEY", false),
        ] {
            assert_eq!(is_secret(name), secret, "{name}");
        }
    }
}
