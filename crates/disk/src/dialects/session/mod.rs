//! The files of a session (`tree.md` §3, seed 000).
//!
//! ```text
//! {repository}/.claude/sessions/
//! ├── __live_session__/        the session that runs
//! │   ├── .lock                who runs it                      lock
//! │   ├── execution_plan.md    what was meant to run            plan
//! │   ├── execution_context.md what tasks learn from each other context
//! │   ├── task_log.md          a row per task that ended        task_log
//! │   ├── progress.md          how far it is                    progress
//! │   ├── progress.jsonl       the same as events, appended
//! │   ├── context-task-5.md    what task 5 learned              context
//! │   ├── result-task-5.md     how task 5 ended                 result
//! │   ├── tasks/5.json         task 5 when it was completed
//! │   └── logs/ prompts/       ours: agents' output and input
//! ├── user-auth-20260205-143022/       archived: the same and session_summary.md  summary
//! └── interrupted-20260206-091500-4f2a/    what a dead session left
//! ```
//!
//! | file | written by | read by |
//! |---|---|---|
//! | `.lock` | the runner | whoever starts a session; other programs' runners |
//! | `progress.md`, `progress.jsonl` | the runner | screens, among them digits-only readers of other programs |
//! | `task_log.md`, `execution_plan.md`, `session_summary.md` | the runner | people, screens |
//! | `execution_context.md` | the runner, and agents of other programs | agents |
//! | `context-task-{id}.md`, `result-task-{id}.md` | agents | the runner |
//!
//! Samples stand at the head of each file's module. This module holds text formats only: it opens
//! no file. Invariants: a subject never breaks a line format, whatever is in it; readers accept
//! any text and return what they understood; `write(read(x)) = x` for the shared context in our
//! own form.
//!
//! **Unknown content.** In the shared context it stays, as prose where it stood or as a section
//! of its own behind ours. In a task's notes it becomes part of that task's history. In every
//! other file the reader skips it: those files are written anew or appended to by us alone, and
//! are archived as they are.

pub mod context;
mod duration;
pub mod layout;
mod line;
pub mod lock;
mod markdown;
pub mod plan;
pub mod progress;
pub mod result;
pub mod summary;
pub mod task_log;

pub use duration::render as render_duration;
