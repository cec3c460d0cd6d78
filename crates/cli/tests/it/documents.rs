//! The README and the pages in `docs/` do what they say.
//!
//! Owns how a page is run: in a world of its own, its blocks in their order, a line at a time.
//! Of a `sh` block every command works; a `console` block has commands behind `$` and below each
//! what it prints, where `…` stands for what does not matter. A `markdown` block is the plan that
//! the page speaks of, a `toml` block the settings. Behind `<!-- not run: why -->` a block is only
//! looked at. `FLAGPOST_DOCS=write` puts what was printed into the pages.

use std::{env, ffi::OsString, fs, os::unix::fs::symlink, path::PathBuf};

use flagpost_testkit::{
    clients::{self, Client, Installed},
    markdown::{Document, Fence},
    model_server::{ModelServer, Request, Step as Turn},
    repository::{self, TextFile},
    sealed::World,
};

use crate::schemas;

/// A command of a block, and what the page says that it prints.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    command: String,
    expected: String,
}

/// The commands of a console block.
fn steps(block: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                expected: String::new(),
            }),
            (None, Some(last)) if last.command.ends_with('\\') => {
                last.command += &format!("\n{line}");
            }
            (None, Some(last)) => last.expected += &format!("{line}\n"),
            (None, None) => panic!("an output without a command: {line}"),
        }
    }
    steps
}

/// Whether these lines are those, with anything in place of `…`.
fn fits(expected: &[String], actual: &[String]) -> bool {
    match (expected, actual) {
        ([], actual) => actual.is_empty(),
        ([line, rest @ ..], actual) if line == "…" => {
            (0..=actual.len()).any(|n| fits(rest, &actual[n..]))
        }
        ([_, ..], []) => false,
        ([line, rest @ ..], [first, others @ ..]) => line_fits(line, first) && fits(rest, others),
    }
}

fn line_fits(expected: &str, actual: &str) -> bool {
    let Some((begin, rest)) = expected.split_once('…') else {
        return expected == actual;
    };
    let Some(actual) = actual.strip_prefix(begin) else {
        return false;
    };
    let mut ends = actual
        .char_indices()
        .map(|(at, _)| at)
        .chain([actual.len()]);
    ends.any(|at| line_fits(rest, &actual[at..]))
}

/// The turn of a model that finds every task done: it says so, and is silent once it has.
fn says_done(request: &Request) -> Turn {
    let last = request.body["messages"]
        .as_array()
        .and_then(|all| all.last());
    match last.is_some_and(|last| last.to_string().contains("tool_result")) {
        true => Turn::text("Said."),
        false => {
            let call = clients::shell(Client::Claude, "flagpost done 'All is done'");
            Turn::calls([call])
        }
    }
}

/// A world in which a page is run. Its commands find `flagpost`, and the real Claude Code, whose model
/// says of every task that it is done.
struct Desk {
    world: World,
    path: OsString,
    _model: ModelServer,
}

impl Desk {
    /// None where Claude Code is not installed.
    fn new() -> Option<Self> {
        let claude = Installed::find(Client::Claude)?;
        let mut world = crate::world();
        let model = ModelServer::start();
        model.otherwise([Turn::by(says_done).for_ever()]);
        let home = world.outside().join("home");
        for (name, value) in clients::aim(Client::Claude, &model, &home) {
            world.set(name, value);
        }
        let bin = world.outside().join("bin");
        fs::create_dir(&bin).unwrap();
        let with_claude = claude.path(&world.outside().join("clients"));
        let mut dirs: Vec<PathBuf> = env::split_paths(&with_claude).collect();
        symlink(env!("CARGO_BIN_EXE_flagpost"), bin.join("flagpost")).unwrap();
        dirs.insert(0, bin);
        let path = env::join_paths(dirs).unwrap();
        Some(Self {
            world,
            path,
            _model: model,
        })
    }

    /// What a command prints, as a person sees it, and whether it worked.
    fn run(&self, command: &str) -> (String, bool) {
        let mut shell = self.world.command_of("sh");
        shell.args(["-c", command]).env("PATH", &self.path);
        let ran = self.world.run(&mut shell);
        schemas::check(&[], &ran.stdout);
        let told = (ran.stdout + &ran.stderr)
            .replace("[dir]/home/", "~/")
            .replace("[dir]/", "~/");
        (told, ran.code == 0)
    }

    /// Runs a block: what is wrong with it, and how it should be.
    fn block(&self, fence: &Fence) -> Option<Fault> {
        match fence.language.as_str() {
            "markdown" => fs::write(self.world.repository().join("PLAN.md"), &fence.text).unwrap(),
            "toml" => {
                fs::create_dir_all(self.world.home()).unwrap();
                fs::write(self.world.home().join("config.toml"), &fence.text).unwrap();
            }
            "sh" => return self.script(&fence.text),
            "console" => return self.console(&fence.text),
            _ => {}
        }
        None
    }

    fn script(&self, text: &str) -> Option<Fault> {
        let text = text.replace("\\\n", "");
        let broken = text.lines().find_map(|line| {
            let (told, worked) = self.run(line);
            (!worked).then(|| format!("{line} does not work\n{told}"))
        });
        broken.map(|what| Fault { what, mended: None })
    }

    fn console(&self, text: &str) -> Option<Fault> {
        let (mut what, mut mended) = (String::new(), String::new());
        for Step { command, expected } in steps(text) {
            let (told, _) = self.run(&command);
            let lines = |text: &'_ str| text.lines().map(str::to_owned).collect::<Vec<_>>();
            mended += &format!("$ {command}\n");
            if fits(&lines(&expected), &lines(&told)) {
                mended += &expected;
            } else {
                what += &format!("{command} prints\n{told}");
                mended += &told;
            }
        }
        let mended = Some(mended);
        (!what.is_empty()).then_some(Fault { what, mended })
    }
}

/// A page that is wrong in the middle never gets to where it ends the daemon.
impl Drop for Desk {
    fn drop(&mut self) {
        self.world.flagpost(["down"]);
    }
}

/// Where a page is wrong.
struct Fault {
    what: String,
    /// The block as it should be, where that is known.
    mended: Option<String>,
}

/// Runs a page: its faults, and the page as it should be.
fn run(page: &TextFile) -> (Vec<String>, String) {
    let Some(desk) = Desk::new() else {
        return (Vec::new(), page.text.clone());
    };
    let lines: Vec<&str> = page.text.lines().collect();
    let (mut faults, mut text) = (Vec::new(), page.text.clone());
    for fence in Document::parse(&page.text).fences {
        let above = fence.line.checked_sub(3).and_then(|at| lines.get(at));
        if above.is_some_and(|line| line.starts_with("<!-- not run: ")) {
            continue;
        }
        if let Some(Fault { what, mended }) = desk.block(&fence) {
            faults.push(format!("{}:{}: {what}", page.path, fence.line));
            if let Some(mended) = mended {
                text = text.replacen(&fence.text, &mended, 1);
            }
        }
    }
    (faults, text)
}

#[test]
fn every_page_does_what_it_says() {
    let pages = repository::texts(|path| {
        let is_page = path
            .strip_prefix("docs/")
            .is_some_and(|name| !name.contains('/'));
        path.ends_with(".md") && (is_page || path == "README.md")
    });
    assert!(pages.len() > 4, "{pages:?}");
    let mut faults = Vec::new();
    for page in &pages {
        let (found, mended) = run(page);
        if env::var_os("FLAGPOST_DOCS").is_some_and(|how| how == "write") && mended != page.text {
            fs::write(repository::root().join(&page.path), mended).unwrap();
        }
        faults.extend(found);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_page_that_is_wrong_is_caught() {
    let found = |text: &str| {
        let page = TextFile {
            path: "x.md".to_owned(),
            text: text.to_owned(),
        };
        run(&page)
    };
    for good in [
        "```sh\nflagpost add a # one\nflagpost \\\n  list\n```\n",
        "```console\n$ flagpost add a\nadded 1 a\n$ flagpost show 9\nflagpost: …\n…\n```\n",
        "```console\n$ flagpost add a --json\n{\"schema\":\"flagpost.task/1\",…}\n```\n",
        "```markdown\n- [ ] A\n```\n\n```sh\nflagpost import PLAN.md\n```\n",
        "<!-- not run: because -->\n```sh\nfalse\n```\n",
    ] {
        assert_eq!(found(good), (vec![], good.to_owned()));
    }
    for bad in ["flagpost add a\nflagpost done 2", "flagpost lst"] {
        let page = format!("```sh\n{bad}\n```\n");
        assert_eq!(found(&page).0.len(), 1, "{bad}");
    }
    for wrong in [
        "",
        "added 2 a\n",
        "added 1 a\nand more\n",
        "…b\n",
        "added 1\n",
    ] {
        let page = format!("# x\n\n```console\n$ flagpost add a\n{wrong}```\n");
        let (faults, mended) = found(&page);
        assert_eq!(faults.len(), 1, "{wrong}");
        assert_eq!(
            mended,
            "# x\n\n```console\n$ flagpost add a\nadded 1 a\n```\n"
        );
    }
}
