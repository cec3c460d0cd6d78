//! Clients that are what they seem, and some that are not.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use flagpost_core::Home;
use flagpost_disk::fsx::{self, RealFs};
use flagpost_testkit::{
    clients::{self, Installed, TESTED},
    model_server::{ModelServer, Step},
    patience::{patience, under_a_limit},
    scratch::scratch,
};

use super::{answers::ask_patiently, *};

/// A program of this name that runs a script.
fn fake(dir: &Path, name: &str, script: &str) -> PathBuf {
    let program = dir.join(name);
    let text = format!("#!/bin/sh\n{script}\n");
    fsx::replace(&RealFs, &program, text.as_bytes()).unwrap();
    let file = fs::File::open(&program).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o700))
        .unwrap();
    program
}

/// A script that answers as Claude Code does, and has all options of its preset but this one.
fn like_claude(version: &str, without: &str) -> String {
    let help: String = CLAUDE
        .lines()
        .filter(|line| without.is_empty() || !line.contains(without))
        .map(|line| format!("{line}\n"))
        .collect();
    format!(
        "echo \"$*\" >> \"$0.asked\"\n\
         case $1 in\n--version) echo '{version} (Claude Code)';;\n\
         *) cat <<'END'\nUsage: claude [options]\n\n{help}END\n;;\nesac"
    )
}

const CLAUDE: &str = "  \
  -p, --print                   Print, unlike --permission-mode
  --output-format <format>      Format
  --verbose                     More
  --permission-mode <mode>      Mode
  --session-id <uuid>           Id
  -n, --name <name>             Name
  --allowedTools, --allowed-tools <tools...>
  --add-dir <directories...>    Directories
  --settings <file>             Settings
  --mcp-config <file>           Servers
  --input-format <format>       Turns
  --replay-user-messages        Echo
  -r, --resume [value]          Go on
  -h, --help                    Help
";

fn claude(dir: &Path, script: &str) -> CheckTarget {
    subject(Client::Claude, fake(dir, "claude", script))
}

fn subject(client: Client, program: PathBuf) -> CheckTarget {
    CheckTarget {
        name: client.to_string(),
        client,
        program,
        added: Vec::new(),
        env: Vec::new(),
    }
}

fn check(subject: &CheckTarget) -> Checked {
    check_all(std::slice::from_ref(subject)).remove(0)
}

fn ready(home: &Home, subject: &CheckTarget) -> Result<Checked> {
    let all = super::ready(home, std::slice::from_ref(subject));
    all.map(|mut all| all.remove(0))
}

fn unknown(option: &str, added: bool) -> ClientFault {
    ClientFault::Unknown {
        options: vec![option.to_owned()],
        added,
    }
}

/// How often a client that keeps count was asked something.
fn asked(subject: &CheckTarget) -> usize {
    let asked = fs::read_to_string(subject.program.with_extension("asked"));
    asked.map_or(0, |asked| asked.lines().count())
}

#[test]
fn a_client_that_knows_its_options_has_no_fault_and_tells_its_version() {
    let dir = scratch();
    let checked = check(&claude(dir.path(), &like_claude("2.1.330", "")));
    assert_eq!(checked.faults, []);
    assert_eq!(checked.notes, [] as [&str; 0]);
    assert_eq!(checked.title(), "claude 2.1.330");
    assert_eq!(checked.version_status(), VersionStatus::Tested);
}

#[test]
fn a_version_that_lacks_an_option_is_refused_with_what_to_do() {
    let dir = scratch();
    let subject = claude(dir.path(), &like_claude("2.0.9", "--session-id"));
    let checked = check(&subject);
    assert_eq!(checked.faults, [unknown("--session-id", false)]);
    assert_eq!(checked.version_status(), VersionStatus::Older);
    let home = Home::at(dir.path().join("home"));
    let error = ready(&home, &subject).unwrap_err();
    let Error::ClientUnfit { hint, .. } = &error else {
        panic!("{error}")
    };
    assert!(hint.contains("install version 2.1.330"), "{hint}");
    let told = error.to_string();
    assert!(
        told.contains("claude 2.0.9 does not know --session-id"),
        "{told}"
    );
}

#[test]
fn what_a_description_mentions_is_no_option() {
    let dir = scratch();
    let checked = check(&claude(
        dir.path(),
        &like_claude("2.1.330", "--permission-mode <"),
    ));
    assert_eq!(checked.faults, [unknown("--permission-mode", false)]);
}

#[test]
fn an_option_of_the_operators_that_help_keeps_quiet_about_is_told_of_and_no_fault() {
    let dir = scratch();
    let mut subject = claude(dir.path(), &like_claude("2.1.330", ""));
    subject.added = vec!["--max-turns=3".to_owned()];
    let checked = check(&subject);
    assert_eq!(checked.faults, []);
    let expected = "its help does not name --max-turns, which is in run.agents.claude.args";
    assert_eq!(checked.notes, [expected]);
}

#[test]
fn codex_has_the_last_word_on_its_whole_line() {
    let dir = scratch();
    for (said, fault) in [
        (
            "error: unexpected argument '--add-dir' found",
            Some(unknown("--add-dir", false)),
        ),
        (
            "error: unexpected argument '--modle' found",
            Some(unknown("--modle", true)),
        ),
        (
            "error: invalid value 'none' for '--sandbox <MODE>'",
            Some(ClientFault::Refused {
                said: "invalid value 'none' for '--sandbox <MODE>'".to_owned(),
            }),
        ),
        ("something else", None),
    ] {
        let script = format!(
            "[ \"$1\" = --version ] && echo codex-cli 0.169.0 && exit\n\
             echo WARNING: no aliases >&2; echo \"{said}\" >&2; exit 2"
        );
        let mut subject = subject(Client::Codex, fake(dir.path(), "codex", &script));
        subject.added = vec!["--modle".to_owned(), "x".to_owned()];
        let checked = check(&subject);
        assert_eq!(checked.faults, Vec::from_iter(fault), "{said}");
    }
}

#[test]
fn who_does_not_start_is_refused_and_who_answers_oddly_is_not() {
    let dir = scratch();
    let home = Home::at(dir.path().join("home"));
    for (script, told) in [
        ("no-such-interpreter", Some("not found")),
        ("exec /", Some("ermission")),
        ("echo hello", None),
        ("exit 1", None),
        ("true --help", None),
        ("kill -9 $$", None),
    ] {
        let subject = claude(dir.path(), script);
        match (ready(&home, &subject), told) {
            (Ok(checked), None) => assert!(!checked.notes.is_empty(), "{script}"),
            (Err(error), Some(told)) => {
                let error = error.to_string();
                assert!(error.contains(told), "{script}: {error}");
            }
            (got, _) => panic!("{script}: {got:?}"),
        }
    }
    let gone = subject(Client::Claude, dir.path().join("gone"));
    assert!(ready(&home, &gone).is_err());
}

#[test]
fn who_hangs_or_prints_without_end_costs_little_and_stops_nobody() {
    let dir = scratch();
    let hangs = claude(
        dir.path(),
        "[ $1 = --version ] && echo 2.1.330 || sleep 600",
    );
    let checked = under_a_limit(Duration::from_millis(500), |limit| {
        let checked = ask_patiently(&hangs, limit).into_checked(&hangs);
        checked.version.is_some().then_some(checked)
    });
    assert_eq!(checked.version.as_deref(), Some("2.1.330"));
    assert_eq!(checked.faults, []);
    assert_eq!(
        checked.notes,
        ["it gave no answer to 'claude --help' in time"]
    );
    let prints = claude(dir.path(), "exec cat /dev/zero");
    let checked = ask_patiently(&prints, patience()).into_checked(&prints);
    assert_eq!(checked.faults, []);
    assert_eq!(checked.notes.len(), 2, "{:?}", checked.notes);
    let is_late = |note: &String| note.contains("in time");
    assert!(!checked.notes.iter().any(is_late), "{:?}", checked.notes);
}

#[test]
fn a_second_run_asks_nothing_until_something_changes() {
    let dir = scratch();
    let at = |now: &str| {
        let now: jiff::Timestamp = now.parse().unwrap();
        Home::new(
            dir.path().join("home"),
            std::sync::Arc::new(RealFs),
            std::sync::Arc::new(now),
        )
    };
    let home = at("2026-12-01T09:00:00Z");
    fsx::make_dirs(&RealFs, home.root()).unwrap();
    let mut subject = claude(dir.path(), &like_claude("2.1.330", ""));
    let first = ready(&home, &subject).unwrap();
    let once = asked(&subject);
    assert!(once >= 2, "{once}");
    let second = ready(&at("2026-12-02T08:59:59Z"), &subject).unwrap();
    assert_eq!(asked(&subject), once);
    assert_eq!((second.version, second.notes), (first.version, first.notes));
    // Other words are another question, a day is long, and a new program is another one.
    subject.added = vec!["--verbose".to_owned()];
    ready(&home, &subject).unwrap();
    assert_eq!(asked(&subject), 2 * once);
    ready(&at("2026-12-02T09:00:00Z"), &subject).unwrap();
    assert_eq!(asked(&subject), 3 * once);
    claude(dir.path(), &like_claude("2.1.331", ""));
    let newer = ready(&home, &subject).unwrap();
    assert_eq!(newer.version.as_deref(), Some("2.1.331"));
    // Who is unfit is asked again each time, and what is kept can be anything.
    let unfit = claude(dir.path(), &like_claude("2.1.331", "--add-dir"));
    let before = asked(&unfit);
    for _ in 0..2 {
        ready(&home, &unfit).unwrap_err();
    }
    assert_eq!(asked(&unfit) - before, 2 * once);
    let file = home.root().join("clients.json");
    for odd in ["", "[]", "{\"a\": 3}", "\u{0}"] {
        fsx::replace(&RealFs, &file, odd.as_bytes()).unwrap();
        claude(dir.path(), &like_claude("2.1.330", ""));
        ready(&home, &subject).unwrap();
    }
}

#[test]
fn nothing_that_is_kept_is_a_value_of_a_variable() {
    let dir = scratch();
    let home = Home::at(dir.path().join("home"));
    fsx::make_dirs(&RealFs, home.root()).unwrap();
    let mut subject = claude(dir.path(), &like_claude("2.1.330", ""));
    subject.env = vec![("ANTHROPIC_API_KEY".to_owned(), "sk-hush".to_owned())];
    ready(&home, &subject).unwrap();
    let kept = fs::read_to_string(home.root().join("clients.json")).unwrap();
    assert!(kept.contains("2.1.330") && !kept.contains("hush"), "{kept}");
}

#[test]
fn a_version_is_compared_by_its_numbers() {
    let dir = scratch();
    let mut checked = check(&claude(dir.path(), "echo"));
    for (version, standing) in [
        (Some("2.1.330"), VersionStatus::Tested),
        (Some("2.1.99"), VersionStatus::Older),
        (Some("2.1.1000"), VersionStatus::Newer),
        (Some("3.0.0-beta.1"), VersionStatus::Newer),
        (None, VersionStatus::Untested),
    ] {
        checked.version = version.map(str::to_owned);
        assert_eq!(checked.version_status(), standing, "{version:?}");
    }
}

/// The clients that are installed, each with a directory of its own whose `bin` has it alone.
fn installed(dir: &Path) -> Vec<(CheckTarget, PathBuf)> {
    let installed = TESTED.into_iter().filter_map(Installed::find);
    let named = installed.map(|it| {
        let place = dir.join(it.client.as_str());
        let path = it.path(&place).into_string().unwrap();
        let mut subject = subject(it.client, place.join("bin").join(it.client.as_str()));
        let user = place.join("home");
        fsx::make_dirs(&RealFs, &user).unwrap();
        subject.env = vec![
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), user.display().to_string()),
        ];
        (subject, user)
    });
    named.collect()
}

#[test]
fn the_real_clients_know_their_presets_and_write_nothing_of_the_users() {
    let dir = scratch();
    let installed = installed(dir.path());
    let subjects: Vec<CheckTarget> = installed.iter().map(|(it, _)| it.clone()).collect();
    for (checked, (_, user)) in check_all(&subjects).into_iter().zip(&installed) {
        assert_eq!(checked.faults, [], "{checked:?}");
        assert_eq!(checked.notes, [] as [&str; 0], "{checked:?}");
        assert_eq!(
            checked.version_status(),
            VersionStatus::Tested,
            "{checked:?}"
        );
        let written: Vec<_> = fs::read_dir(user).unwrap().collect();
        assert!(written.is_empty(), "{}: {written:?}", checked.name);
    }
}

#[test]
fn the_real_codex_names_the_operators_word_that_it_does_not_know() {
    let dir = scratch();
    let installed = installed(dir.path()).into_iter();
    for (mut subject, _) in installed.filter(|(it, _)| it.client == Client::Codex) {
        for (added, fault) in [
            (&["--modle", "x"][..], Some(unknown("--modle", true))),
            (&["--full-auto"], Some(unknown("--full-auto", true))),
            (&["--model", "x"], None),
        ] {
            subject.added = added.iter().map(|it| (*it).to_owned()).collect();
            let checked = check(&subject);
            assert_eq!(checked.faults, Vec::from_iter(fault), "{added:?}");
            assert_eq!(checked.notes, [] as [&str; 0], "{added:?}");
        }
        // The subcommand that goes on with a conversation does not know it; it comes before that.
        subject.added = vec!["--oss".to_owned()];
        let checked = check(&subject);
        assert_eq!((checked.faults, checked.notes), (Vec::new(), Vec::new()));
        subject.added = ["--sandbox", "none"].map(str::to_owned).to_vec();
        let told = check(&subject).faults;
        assert!(
            matches!(told[..], [ClientFault::Refused { .. }]),
            "{told:?}"
        );
    }
}

/// A server whose agent writes this into the report that its prompt names, and ends.
fn server(client: Client, report: &'static str) -> ModelServer {
    let server = ModelServer::start();
    let write = move |request: &flagpost_testkit::model_server::Request| {
        let path = request.path_ending("out/report.md").unwrap_or_default();
        Step::calls([clients::write(client, &path, report)])
    };
    server.otherwise([Step::by(write), Step::text("It is written.")]);
    server
}

/// What leaves a client no variable of whoever runs the tests.
#[expect(
    clippy::disallowed_methods,
    reason = "what is to be left out has to be named"
)]
fn nothing_inherited() -> flagpost_core::Settings {
    flagpost_core::Settings {
        parent_agent: std::env::vars_os().map(|(name, _)| name).collect(),
        ..flagpost_core::Settings::default()
    }
}

#[test]
fn the_real_clients_write_a_report_when_they_are_tried() {
    let dir = scratch();
    for (mut subject, user) in installed(dir.path()) {
        for (report, is_there) in [("status: PASS\n", true), ("status: maybe\n", false)] {
            let server = server(subject.client, report);
            let own = subject.env.clone();
            for (name, value) in clients::aim(subject.client, &server, &user) {
                subject
                    .env
                    .push((name.to_owned(), value.into_string().unwrap()));
            }
            let tried = attempt(&subject, &nothing_inherited());
            assert_eq!(tried.is_ok(), is_there, "{}: {tried:?}", subject.name);
            subject.env = own;
        }
    }
}

#[test]
fn who_writes_no_report_says_why_in_its_last_words() {
    let dir = scratch();
    let settings = flagpost_core::Settings::default();
    let mute = claude(dir.path(), "cat > /dev/null; echo 'Not logged in'; exit 1");
    let why = attempt(&mute, &settings).unwrap_err();
    assert!(why.ends_with("Not logged in"), "{why}");
    let writes = "path=$(grep /report.md | sed 's/.* \\(\\/[^ ,]*report.md\\).*/\\1/')\n\
                  echo 'status: PASS' > \"$path\"; [ \"$path\" = \"$FLAGPOST_REPORT\" ]";
    let writes = claude(dir.path(), writes);
    assert_eq!(attempt(&writes, &settings), Ok(()));
}
