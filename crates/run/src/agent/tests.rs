//! How agents are named, started and found.

use std::os::unix::ffi::OsStringExt;

use super::*;

#[test]
fn a_preset_is_a_name_and_everything_else_a_command_line() {
    let claude: Agent = "claude".parse().unwrap();
    assert_eq!(
        (claude.program.as_str(), claude.reads_stdin()),
        ("claude", true)
    );
    assert_eq!(claude.client, Some(Client::Claude));
    let aider: Agent = "aider".parse().unwrap();
    assert!(!aider.reads_stdin());
    let own: Agent = "./agent.sh --file={prompt_file} 'two words'"
        .parse()
        .unwrap();
    assert_eq!(own.args(Path::new("/p")), ["--file=/p", "two words"]);
    let twice: Agent = "sh -c 'wc {prompt_file}; cat {prompt_file}'"
        .parse()
        .unwrap();
    assert_eq!(twice.args(Path::new("/p")), ["-c", "wc /p; cat /p"]);
}

#[test]
fn what_is_configured_under_a_name_makes_an_agent_of_it() {
    let text = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect();
    let boxed = AgentSettings {
        command: Some("box claude".into()),
        like: Some(Client::Claude),
        args: text(&["--model", "opus"]),
        ..AgentSettings::default()
    };
    let agent = "mine".parse::<Agent>().unwrap().with(&boxed).unwrap();
    assert_eq!(
        (agent.program.as_str(), agent.client),
        ("box", Some(Client::Claude))
    );
    assert_eq!(agent.args(Path::new("/p")), ["claude"]);
    assert!(agent.subject(Path::new("/bin/box")).is_none());
    let named = AgentSettings {
        command: None,
        ..boxed
    };
    let agent = "mine".parse::<Agent>().unwrap().with(&named).unwrap();
    let subject = agent.subject(Path::new("/bin/claude")).unwrap();
    assert_eq!((subject.name.as_str(), subject.added.len()), ("mine", 2));
    let plain = AgentSettings {
        args: text(&["-k"]),
        ..AgentSettings::default()
    };
    let make = "make all".parse::<Agent>().unwrap().with(&plain).unwrap();
    assert_eq!(make.args(Path::new("/p")), ["all", "-k"]);
    for option in ["--session-id", "--output-format=text", "--settings"] {
        let settings = AgentSettings {
            args: text(&[option, "x"]),
            ..AgentSettings::default()
        };
        let claude = "claude".parse::<Agent>().unwrap().with(&settings);
        let error = claude.unwrap_err().to_string();
        assert!(error.contains(option), "{error}");
    }
}

#[test]
fn an_agent_is_spoken_to_by_its_protocol_where_its_command_is_known() {
    let settings = |command: Option<&str>, like| AgentSettings {
        command: command.map(str::to_owned),
        like,
        ..AgentSettings::default()
    };
    let acp = Some(Client::Acp);
    for (name, settings, line) in [
        ("acp:opencode", settings(None, None), "opencode acp"),
        ("acp:gemini", settings(None, None), "gemini --acp"),
        (
            "acp:kiro",
            settings(Some("kiro-cli acp"), None),
            "kiro-cli acp",
        ),
        ("kiro", settings(Some("kiro-cli acp"), acp), "kiro-cli acp"),
        ("opencode", settings(None, acp), "opencode acp"),
        (
            "acp:claude",
            settings(Some("claude-acp"), Some(Client::Claude)),
            "claude-acp",
        ),
    ] {
        let agent = name.parse::<Agent>().unwrap().with(&settings).unwrap();
        let words: Vec<&str> = std::iter::once(&agent.program)
            .chain(&agent.args)
            .map(String::as_str)
            .collect();
        assert_eq!((agent.client, words.join(" ").as_str()), (acp, line));
        assert!(agent.can_resume() && agent.reads_stdin());
        assert!(agent.subject(Path::new("/bin/x")).is_none());
    }
    let unknown = "acp:kiro".parse::<Agent>().unwrap();
    let error = unknown.with(&settings(None, None)).unwrap_err().to_string();
    assert!(error.contains("run.agents.kiro.command"), "{error}");
    assert!("acp".parse::<Agent>().is_err());
}

#[test]
fn a_script_does_not_hold_a_path_that_a_shell_takes_apart() {
    for (line, blank_is_fine) in [
        ("sh -c 'cat {prompt_file}'", false),
        (
            "env A=1 /bin/bash -o pipefail -lc 'cat {prompt_file} | agent'",
            false,
        ),
        ("bash --norc -c 'cat \"{prompt_file}\"'", false),
        ("sh -c 'cat \"$1\"' sh {prompt_file}", true),
        ("sh agent.sh -c {prompt_file}", true),
        ("agent -c {prompt_file}", true),
        ("agent --file={prompt_file} 'Read {prompt_file}'", true),
        ("sh -c 'cat'", true),
    ] {
        let agent: Agent = line.parse().unwrap();
        let fine = |dir: &str| agent.can_name(Path::new(dir)).is_ok();
        assert!(fine("/home/me/my-web_2.0/.claude/äöü"), "{line}");
        for odd in ["/home/my web", "/home/it's", "/home/$x", "/home/a;b"] {
            assert_eq!(fine(odd), blank_is_fine, "{line} {odd}");
        }
    }
}

#[test]
fn what_names_no_program_is_refused() {
    for bad in [
        "",
        "  ",
        "'' x",
        "sh -c 'open",
        "a | b",
        "make && make test",
    ] {
        assert!(bad.parse::<Agent>().is_err(), "{bad:?}");
    }
}

#[test]
fn an_entry_of_the_path_is_seen_from_where_the_agent_works() {
    let sh: Agent = "sh".parse().unwrap();
    for (path, dir) in [("bin", "/"), (":/nowhere", "/bin"), ("/nowhere:.", "/bin")] {
        let found = sh.locate(Some(path.as_ref()), Path::new(dir)).unwrap();
        assert!(found.is_absolute(), "{}", found.display());
    }
    let odd = OsString::from_vec(b"/\xff:/bin".to_vec());
    assert!(sh.locate(Some(&odd), Path::new("/")).is_ok());
}

#[test]
fn a_program_is_found_before_anything_starts() {
    let sh: Agent = "sh -c true".parse().unwrap();
    assert!(
        sh.locate(Some("/nowhere:/bin".as_ref()), Path::new("/"))
            .is_ok()
    );
    let none: Agent = "no-such-program-here".parse().unwrap();
    let error = none
        .locate(Some("/bin".as_ref()), Path::new("/"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no-such-program-here"), "{error}");
    assert!(
        "./etc"
            .parse::<Agent>()
            .unwrap()
            .locate(None, Path::new("/"))
            .is_err()
    );
}
