//! `--host`: a command that is carried out on another machine, by the real `ssh` and `sshd`.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use flagpost_testkit::sealed::{Ran, World};

use crate::world;

/// The server; it is in no user's PATH.
const SSHD: &str = "/usr/sbin/sshd";

/// A world whose `ssh` reaches another home, whatever the machine is called.
struct Place {
    world: World,
    ssh: PathBuf,
}

impl Place {
    /// None, and a line that says so, where no server is installed.
    fn new() -> Option<Self> {
        if !Path::new(SSHD).exists() {
            eprintln!("skipped: there is no {SSHD} (Debian: apt-get install openssh-server)");
            return None;
        }
        let mut world = world();
        let dir = world.outside().to_owned();
        let at = |name: &str| dir.join(name).to_str().unwrap().to_owned();
        for name in ["bin", "there", "there/bin", "there/app of mine"] {
            fs::create_dir(dir.join(name)).unwrap();
        }
        symlink(
            env!("CARGO_BIN_EXE_flagpost"),
            dir.join("there/bin/flagpost"),
        )
        .unwrap();
        for key in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]);
            assert!(keygen.status().unwrap().success());
        }
        let mut git = Command::new("git");
        git.args(["init", "--quiet", &at("there/app of mine")]);
        assert!(git.status().unwrap().success());
        let server = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPidFile none\nLogLevel QUIET\n\
             SetEnv \"PATH={}:/usr/bin:/bin\" \"FLAGPOST_HOME={}\"\n",
            at("host"),
            at("user.pub"),
            at("there/bin"),
            at("there/home"),
        );
        fs::write(dir.join("sshd_config"), server).unwrap();
        let ssh = dir.join("bin/ssh");
        let real = which("ssh");
        let script = format!(
            "#!/bin/sh\nexec {} -F none -o 'ProxyCommand={SSHD} -i -f {}' -o IdentityFile={} -o UserKnownHostsFile={} \
             -o StrictHostKeyChecking=accept-new -o BatchMode=yes -o ControlPath={} \"$@\"\n",
            real.display(),
            at("sshd_config"),
            at("user"),
            at("known"),
            at("%C"),
        );
        fs::write(&ssh, script).unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o700)).unwrap();
        let path = std::env::var("PATH").unwrap();
        world.set("PATH", format!("{}:{path}", at("bin")));
        Some(Self { world, ssh })
    }

    /// The address of a directory there.
    fn url(&self, dir: &str) -> String {
        format!("ssh://box{}/there/{dir}", self.world.outside().display())
    }

    /// Carries out a command there.
    fn there<const N: usize>(&self, args: [&str; N]) -> Ran {
        let url = self.url("app of mine");
        let own = ["--host", &url];
        self.world.flagpost(own.into_iter().chain(args))
    }
}

impl Drop for Place {
    /// Ends the connection that is kept for the next command.
    fn drop(&mut self) {
        let ended = Command::new(&self.ssh).args(["-O", "exit", "box"]).output();
        assert!(ended.is_ok(), "{ended:?}");
    }
}

fn which(program: &str) -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap();
    let mut all = std::env::split_paths(&paths).map(|dir| dir.join(program));
    all.find(|path| path.is_file()).unwrap()
}

#[test]
fn a_command_is_carried_out_there_and_leaves_nothing_here() {
    let Some(place) = Place::new() else { return };
    let words = "It's $(here) \"and\" `there`\t\\";
    let added = place.there(["add", words, "--json"]);
    assert_eq!(added.code, 0, "{added}");
    let shown = place.there(["show", "1", "--json"]);
    let task: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(task["subject"], words, "{shown}");
    assert!(!place.world.home().exists());
    // By the variable too, and what is read from stdin goes there.
    let mut world = place.world.command();
    world.env("FLAGPOST_HOST", place.url("app of mine"));
    let told = world.args(["list", "--quiet"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stdout), "1\n");
    let url = place.url("app of mine");
    let noted = place
        .world
        .feed(["note", "1", "-", "--host", &url], b"Read from stdin");
    assert_eq!(noted.code, 0, "{noted}");
    let shown = place.there(["show", "1"]);
    assert!(shown.stdout.contains("Read from stdin"), "{shown}");
}

#[test]
fn its_exit_code_and_who_acts_are_kept() {
    let Some(place) = Place::new() else { return };
    place.there(["add", "Write the parser"]);
    let gone = place.there(["show", "7"]);
    assert_eq!(gone.code, 3, "{gone}");
    assert!(gone.stderr.contains("there is no task 7"), "{gone}");
    let mut command = place.world.command();
    command.env("FLAGPOST_WORKER", "W3");
    let url = place.url("app of mine");
    command.args(["claim", "1", "--host", &url]);
    assert!(command.output().unwrap().status.success());
    let shown = place.there(["show", "1", "--json"]);
    let task: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(task["owner"], "W3", "{shown}");
}

#[test]
fn a_machine_that_is_not_reached_is_told_from_one_that_has_no_flagpost() {
    let Some(place) = Place::new() else { return };
    let url = place.url("nowhere");
    let ran = place.world.flagpost(["--host", &url, "list"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stderr.contains("box has no directory"), "{ran}");

    let there = place.world.outside().join("there/bin/flagpost");
    fs::remove_file(there).unwrap();
    let ran = place.there(["list"]);
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stderr.contains("ssh finds no flagpost on box"), "{ran}");
    assert!(ran.stderr.contains("/usr/local/bin"), "{ran}");

    let other = ["--host", "ssh://elsewhere", "list", "--json"];
    fs::write(place.world.outside().join("sshd_config"), "Nonsense\n").unwrap();
    let ran = place.world.flagpost(other);
    assert_eq!(ran.code, 5, "{ran}");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["kind"], "timed_out", "{ran}");

    for (url, words) in [
        ("box", "--host box: a machine is ssh://"),
        ("ssh://-oProxyCommand=id", "a machine is ssh://"),
        ("ssh://ann:secret@box", "no room for a password"),
    ] {
        let ran = place.world.flagpost(["--host", url, "list"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert!(ran.stderr.contains(words), "{ran}");
        assert!(!ran.stderr.contains("secret"), "{ran}");
    }
}
