//! Having a client write one report, to see that the way there is open.
//!
//! Owns the smallest task there is: a line in a file, in a directory that is gone afterwards. It is
//! done as tasks of a run are, with the client's own account and at its owner's cost.

use std::{ffi::OsString, path::Path, time::Duration};

use flagpost_core::Settings;
use flagpost_disk::fsx::{self, RealFs};
use flagpost_model::TaskId;

use super::{CheckTarget, answers::last_line, scratch::Scratch};
use crate::{
    ask::{self, ProgramCall, ProgramInput, ProgramOutput},
    client::{
        inject::Injected,
        opencode_config,
        preset::{self, Start, TemplateValues},
    },
};

/// How long a client may take to write one line.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the line is.
const PASSED: &str = "status: PASS";

/// Has a client write a report; an error says why there is none.
pub fn attempt(subject: &CheckTarget, settings: &Settings) -> Result<(), String> {
    let scratch = Scratch::new().map_err(|error| error.to_string())?;
    let dirs = ["project", "out"].map(|name| scratch.0.join(name));
    let put =
        |name: &str, text: &str| fsx::replace(&RealFs, &scratch.0.join(name), text.as_bytes());
    let [project, out] = &dirs;
    let report = out.join("report.md");
    let text = format!(
        "Write one line into the file {}, which is new:\n\n{PASSED}\n\nDo nothing else.\n",
        report.display()
    );
    let arranged = dirs
        .iter()
        .try_for_each(|dir| fsx::make_dirs(&RealFs, dir))
        .and_then(|()| put("prompt.md", &text))
        .and_then(|()| {
            let mut files = preset::files(subject.client, &Injected::NONE).into_iter();
            files.try_for_each(|(name, text)| put(name, &text))
        });
    arranged.map_err(|error| error.to_string())?;
    let task = TaskId::from(1);
    let places = TemplateValues {
        list: "doctor",
        task: &task,
        attempt: 1,
        prompt: &scratch.0.join("prompt.md"),
        text: &text,
        out,
        dir: &scratch.0,
        git: &[],
        inject: Injected::NONE,
    };
    let said = start(subject, settings, &places, project);
    let said = said.map_err(|error| error.to_string())?;
    let report = std::fs::read_to_string(&report).unwrap_or_default();
    match report.lines().any(|line| line.trim() == PASSED) {
        true => Ok(()),
        false if said.is_late => Err("it wrote no report in five minutes".to_owned()),
        false => Err(format!(
            "it wrote no report; the end of what it printed: {}",
            last_line(&said.text)
        )),
    }
}

fn start(
    subject: &CheckTarget,
    settings: &Settings,
    places: &TemplateValues<'_>,
    project: &Path,
) -> std::io::Result<ProgramOutput> {
    let id = uuid::Uuid::new_v4().to_string();
    let args = preset::arguments(subject.client, Start::New(&id), places, &subject.added);
    let report = places.out.join("report.md").into_os_string();
    let own = [("FLAGPOST_REPORT".to_owned(), report)].into_iter();
    let settled = subject.env.iter();
    let settled = settled.map(|(name, value)| (name.clone(), OsString::from(value)));
    let config = opencode_config::given(&subject.env, settings);
    let needed = preset::variables(subject.client, places, config).into_iter();
    let needed = needed.map(|(name, value)| (name.to_owned(), value));
    let set: Vec<(String, OsString)> = own.chain(settled).chain(needed).collect();
    ask::ask(ProgramCall {
        program: &subject.program,
        args: &args,
        set: &set,
        unset: &settings.parent_agent,
        stdin: match preset::reads_stdin(subject.client) {
            true => ProgramInput::File(places.prompt),
            false => ProgramInput::Nothing,
        },
        dir: project,
        patience: PATIENCE,
    })
}
