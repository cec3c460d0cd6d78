//! Clients that print what no client should, and agents that say what is not theirs to say.
//!
//! Owns the cases that real clients cannot be made to do; each is a script that is declared to be like one.

use std::{fs, os::unix::fs::MetadataExt};

use flagpost_testkit::{
    background::{Background, Ended},
    race,
};
use serde_json::Value;

use crate::run_stage::{Stage, lines};

/// What such a script can say beside the words of all scripts.
const WORDS: &str = r#"
out=${FLAGPOST_REPORT%/report.md}
case "$*" in *--resume*) resumed=yes ;; *) resumed=no ;; esac
# says JSON: a line of the stream.
says() { printf '%s\n' "$1"; }
begins() { says '{"type":"system","subtype":"init","session_id":"s-'"$task"'"}'; }
ends() {
    says '{"type":"assistant","message":{"content":[{"type":"text","text":"'"$1"'"}]}}'
    says '{"type":"result","subtype":"success","is_error":false,"result":"'"$1"'"}'
}
"#;

struct Odd {
    stage: Stage,
    events: Vec<Value>,
    ended: Ended,
}

/// Runs a plan with a client that does this.
fn run(plan: &str, body: &str, args: &[&str]) -> Odd {
    let (stage, running) = begin(plan, body, args);
    Odd::of(stage, running)
}

/// Begins to.
fn begin(plan: &str, body: &str, args: &[&str]) -> (Stage, Background) {
    let stage = Stage::in_world(crate::world().with("FLAGPOST_CLOCK", ""), plan);
    let line = stage.agent(&format!("{WORDS}{body}"));
    for (key, value) in [("command", line.as_str()), ("like", "claude")] {
        let key = format!("run.agents.odd.{key}");
        stage.world.ok(["config", "set", &key, value]);
    }
    let mut command = stage.world.command();
    command.args(["run", "--json", "--agent", "odd"]).args(args);
    let running = Background::start(&mut command);
    (stage, running)
}

impl Odd {
    fn of(stage: Stage, running: Background) -> Self {
        let ended = running.end();
        let events = lines(&ended.stdout);
        Self {
            stage,
            events,
            ended,
        }
    }

    /// It exited with this code, and the attempts of task 1 ended so.
    #[track_caller]
    fn came_to(&self, code: i32, ends: &[&str]) {
        let came = (self.ended.code, self.ends("1"));
        assert_eq!(came, (code, ends.to_vec()), "{}", self.ended);
    }

    fn ends(&self, task: &str) -> Vec<&str> {
        let of_task = |it: &&Value| it["event"] == "task.ended" && it["task"] == task;
        let ended = self.events.iter().filter(of_task);
        ended.map(|it| it["outcome"].as_str().unwrap()).collect()
    }

    fn notices(&self) -> String {
        let notices = self
            .events
            .iter()
            .filter(|it| it["event"] == "session.notice");
        notices.map(|it| format!("{}\n", it["words"])).collect()
    }
}

const ONE: &str = "- [ ] Write the parser\n";
const ONCE: &[&str] = &["--retries", "1"];

#[test]
fn a_client_that_prints_no_json_never_passes() {
    let odd = run(ONE, "echo 'All is well.'", ONCE);
    odd.came_to(1, &["STUCK"]);
    assert_eq!(odd.stage.state("1"), "stuck");
    let asked = odd
        .events
        .iter()
        .filter(|it| it["event"] == "task.unreported");
    assert_eq!(asked.count(), 1, "{}", odd.ended);
}

#[test]
fn why_a_client_failed_is_told_in_words() {
    let odd = run(
        ONE,
        r#"begins
        says '{"type":"assistant","message":{"content":[{"type":"text","text":"I try."}]}}'
        printf '\033[91mError:\033[0m no such table\n' >&2; exit 3"#,
        ONCE,
    );
    let ended = odd.events.iter().find(|it| it["event"] == "task.ended");
    let words = ended.unwrap()["words"].as_str().unwrap();
    let first = "it exited with code 3: Error: no such table\n";
    assert!(words.starts_with(first), "{words}");
    assert!(words.ends_with("I try.\nError: no such table"), "{words}");
    assert!(!words.contains("\"type\""), "{words}");
}

#[test]
fn who_cannot_be_asked_how_it_ended_is_asked_about() {
    let odd = run(
        ONE,
        r#"[ $resumed = no ] || { echo 'no such conversation' >&2; exit 2; }
        begins; ends 'I am done.'"#,
        &["--retries", "2"],
    );
    assert_eq!(odd.ends("1"), ["PARTIAL", "STUCK"], "{}", odd.ended);
    let asks = odd.events.iter().find(|it| it["event"] == "task.asks");
    let question = asks.unwrap()["question"].as_str().unwrap();
    assert!(
        question.contains("Its last words: I am done."),
        "{question}"
    );
}

#[test]
fn half_a_line_and_unknown_events_are_passed_over() {
    let odd = run(
        ONE,
        r#"says '{"type":"system","subtype":"init","sess'
        says '{"type":"marvel","of":[1,2,{"a":null}]}'
        says '{"type":"assistant","message":7}'
        says '[]'; says '"x"'; says 'null'; says '{'
        printf '\377\376\000\n'
        begins
        flagpost done "$task" Written > /dev/null
        printf '{"type":"result","is_err'"#,
        ONCE,
    );
    odd.came_to(0, &["PASS"]);
}

#[test]
fn a_gigabyte_on_one_line_costs_no_memory() {
    let odd = run(
        ONE,
        r#"begins; truncate -s 1G /dev/stdout
        flagpost done "$task" Written > /dev/null; says ''; ends Written"#,
        ONCE,
    );
    odd.came_to(0, &["PASS"]);
    assert!(odd.ended.peak_kib < 64 << 10, "{} KiB", odd.ended.peak_kib);
}

/// The beginning and the end of a log stay, and how much is left out between them is told.
#[test]
fn a_log_takes_up_no_more_than_its_bound() {
    const MOST: u64 = 64 << 20;
    let print = r#"echo 'The very beginning'
        yes "$(head -c 100000 /dev/zero | tr '\0' x)" | head -c 200M; echo
        echo 'The very end'"#;
    let log = |stage: &Stage| {
        let path = stage.ended()[0].join("logs/task-1-attempt-1.log");
        let file = fs::metadata(path).unwrap();
        assert!(file.len() > 200_000_000, "{}", file.len());
        assert!(file.blocks() * 512 <= MOST + (1 << 20), "{}", file.blocks());
        let shown = stage.world.ok(["logs", "1", "--raw"]);
        let kept = shown.len() as u64;
        assert!((32 << 20..MOST + (1 << 20)).contains(&kept), "{kept}");
        assert!(!shown.contains('\0'));
        let said = |line: &&str| line.contains("bytes of this log are left out here");
        let said: Vec<&str> = shown.lines().filter(said).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        let left_out = said[0].split(' ').nth(1).unwrap().parse::<u64>().unwrap();
        assert!(left_out + kept >= file.len(), "{left_out} {kept}");
        (said[0].to_owned(), shown)
    };
    let odd = run(
        ONE,
        &format!(r#"begins; {print}; flagpost done "$task" Written > /dev/null; ends Written"#),
        ONCE,
    );
    assert_eq!(odd.ends("1"), ["PASS"], "{}", odd.ended);
    assert!(odd.ended.peak_kib < 64 << 10, "{} KiB", odd.ended.peak_kib);
    let (_, shown) = log(&odd.stage);
    assert!(shown.contains("The very beginning\n") && shown.contains("The very end\n"));
    assert!(shown.contains(r#""result":"Written""#));

    let plain = Stage::new(ONE);
    let ran = plain.run(print, ONCE);
    assert_eq!(ran.code, 0, "{ran}");
    let (said, shown) = log(&plain);
    assert!(shown.starts_with("The very beginning\n") && shown.ends_with("The very end\n"));
    let rendered = plain.world.ok(["logs", "1"]);
    assert!(rendered.contains(&said) && rendered.ends_with("The very end\n"));
}

#[test]
fn nobody_reports_on_the_task_of_another() {
    let odd = run(
        "- [ ] First\n- [ ] Second (after: 1)\n",
        r#"begins
        if [ $task = 1 ]; then
            flagpost done 2 'In its name' > /dev/null 2>&1 && mark spoke
            for out in "$out" "${out%/1-1/out}/2-1/out"; do
                mkdir -p "$out"; printf 'status: PASS\n' > "$out/report.md"
            done
        fi
        ends 'I am done.'"#,
        ONCE,
    );
    assert_eq!(
        (odd.ends("1"), odd.ends("2")),
        (vec!["PASS"], vec!["STUCK"]),
        "{}",
        odd.ended
    );
    assert!(!odd.stage.marked("spoke"));
}

#[test]
fn a_report_before_a_question_says_nothing_of_what_comes_after() {
    let (stage, running) = begin(
        ONE,
        r#"begins
        if [ $resumed = no ]; then
            printf 'status: PASS\n' > "$FLAGPOST_REPORT"
            flagpost stuck "$task" 'LL or LR?' > /dev/null
        fi
        ends 'I am done.'"#,
        &["--retries", "1", "--wait-for-answers"],
    );
    race::until("it asks", || running.stdout().contains("session.stays"));
    stage.world.ok(["answer", "1", "LL"]);
    race::until("it asks again", || {
        running.stdout().matches("task.asks").count() == 2
    });
    stage.world.ok(["task", "cancel", "1"]);
    let odd = Odd::of(stage, running);
    assert_eq!(odd.ends("1"), ["STUCK", "STUCK"], "{}", odd.ended);
    let asks = odd.events.iter().filter(|it| it["event"] == "task.asks");
    let asks: Vec<&str> = asks.map(|it| it["question"].as_str().unwrap()).collect();
    let silent = "It ended without saying how. Its last words: I am done.";
    assert_eq!(asks, ["LL or LR?", silent], "{}", odd.ended);
}

#[test]
fn a_verdict_that_is_none_is_asked_about() {
    let odd = run(
        ONE,
        r#"begins
        if [ $resumed = no ]; then word=GREAT; else word=PASS; fi
        printf 'status: %s\n' $word > "$FLAGPOST_REPORT"; ends 'I am done.'"#,
        ONCE,
    );
    odd.came_to(0, &["PASS"]);
}

#[test]
fn a_word_is_taken_up_for_who_said_it_and_no_other() {
    let odd = run(
        "- [ ] First\n- [ ] Second\n",
        r#"begins
        word() {
            printf '{"operation":"task.note","list":"%s","task":"2","worker":"%s","token":null,"text":"%s"}' \
                "$2" "$3" "$1" > "$out/word-$1.json"
        }
        if [ $task = 1 ]; then
            word mine web "$FLAGPOST_WORKER"
            word theirs web ann
            word elsewhere other "$FLAGPOST_WORKER"
            printf '{' > "$out/word-half.json"
            mkfifo "$out/word-pipe.json"
            ln -s /dev/zero "$out/word-endless.json"
            mkdir "$out/word-dir.json"
        fi
        flagpost done "$task" Written > /dev/null; ends Written"#,
        ONCE,
    );
    assert_eq!(odd.ended.code, 0, "{}", odd.ended);
    let notes = odd.stage.task("2")["metadata"]["notes"].to_string();
    assert!(notes.contains("mine"), "{notes}");
    assert!(
        !notes.contains("theirs") && !notes.contains("elsewhere"),
        "{notes}"
    );
    let notices = odd.notices();
    assert!(
        notices.contains("in the name of ann") && notices.contains("list other"),
        "{notices}"
    );
}

#[test]
fn an_answer_where_nothing_is_asked_is_refused() {
    let odd = run(ONE, r#"flagpost done "$task" Written"#, ONCE);
    let before = fs::read(odd.stage.world.list("web").join("1.json")).unwrap();
    let refused = odd.stage.world.flagpost(["answer", "1", "LL"]);
    assert_eq!(refused.code, 4, "{refused}");
    assert_eq!(
        fs::read(odd.stage.world.list("web").join("1.json")).unwrap(),
        before
    );
}
