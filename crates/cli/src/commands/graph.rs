//! `graph`: what waits for what, drawn.

mod tree;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use flagpost_core::{Skipped, answers, drawings};
use flagpost_model::{
    ListRef, TaskId,
    drawing::{self, EdgeStyle, MARK, Picture},
    plan::{Excerpt, Graph, expected},
    view,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::list::no_tasks;
use crate::{
    context::Context, error::usage, output::Answer, screen::Screen, shape, terminal::counted,
};

/// Draw the tasks and their dependencies
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost graph --open --out plan.svg\n\n\
    In a tree, a task that waits for several is drawn under each, and in full under the first.\n\
    More than 40 levels deep, tasks stand below each other behind '…'.\n\n\
    The critical path is the chain of unfinished tasks with the greatest sum of estimates; a\n\
    task without one counts a minute, so without any it is the longest chain. SVG stands alone and\n\
    follows the reader's dark mode; DOT is for Graphviz, Mermaid for Markdown (most programs\n\
    that show Mermaid refuse more than 500 edges).")]
pub struct GraphArgs {
    /// Only this task and what waits for it
    id: Option<String>,
    /// Only what is neither completed nor cancelled
    #[arg(long)]
    open: bool,
    /// How to draw it [default: as the name of the file says, else tree]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write it into this file, which may be new or an earlier drawing and nothing else
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The kinds of drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Tree,
    Dot,
    Mermaid,
    Svg,
}

impl Format {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Tree),
            "dot" | "gv" => Some(Self::Dot),
            "mmd" | "mermaid" => Some(Self::Mermaid),
            "svg" => Some(Self::Svg),
            _ => None,
        }
    }
}

/// What waits for what.
///
/// After 'flagpost graph'.
#[derive(Serialize, JsonSchema)]
pub struct DrawnGraph<'a> {
    /// The list's name.
    list: &'a ListRef,
    nodes: Vec<answers::Outline<'a>>,
    edges: Vec<Edge<'a>>,
    /// The chain of unfinished tasks with the greatest sum of estimates, first task first.
    critical: &'a [&'a TaskId],
    unknown: Vec<Missing<'a>>,
    /// Tasks that wait for each other, the first one again at the end; null where none do.
    cycle: Option<&'a [TaskId]>,
    /// The drawing, where --format asks for one and --out does not put it elsewhere.
    text: Option<String>,
    /// The file that was drawn; null without --out.
    out: Option<Cow<'a, str>>,
    /// Files of the list that are no tasks and were passed over.
    skipped: &'a [Skipped],
}

view! {
    /// That a task waits for another.
    struct Edge<'a> {
        task: &'a TaskId,
        waits_for: &'a TaskId,
        /// Whether this edge is the one that closes a circle.
        closes_circle: bool,
    }

    /// That a task waits for one that does not exist.
    struct Missing<'a> {
        task: &'a TaskId,
        /// A task that does not exist.
        waits_for: &'a TaskId,
    }
}

/// Draws it.
pub fn run(context: &Context, args: &GraphArgs) -> anyhow::Result<Answer> {
    let out = args.out.as_deref().filter(|path| *path != Path::new("-"));
    let format = match (args.format, out) {
        (Some(format), _) => format,
        (None, None) => Format::Tree,
        (None, Some(path)) => Format::of(path).ok_or_else(|| {
            usage("--out names no .svg, .dot, .mmd or .txt: say with --format how to draw it")
        })?,
    };
    let list = context.list()?;
    let loaded = list.load()?;
    let whole = Graph::new(&loaded.outlines);
    let root = args.id.as_deref().map(|id| list.resolve(id)).transpose()?;
    let excerpt = Excerpt {
        root: root.as_ref(),
        only_unfinished: args.open,
    };
    let shown = excerpt.of(&loaded.outlines);
    let graph = Graph::new(&shown);
    let picture = Picture::new(list.id().as_str(), &graph, expected);
    let draw = |screen: Screen| match format {
        Format::Tree => tree::draw(&graph, screen, root.as_ref(), &shown),
        Format::Dot => drawing::dot(&picture),
        Format::Mermaid => drawing::mermaid(&picture),
        Format::Svg => drawing::svg(&picture),
    };
    let (mut text, mut within) = (String::new(), None);
    if let Some(path) = out {
        let drawn = draw(Screen::none());
        let drawn = match format {
            Format::Tree => format!("{}, {MARK}\n\n{drawn}", list.id()),
            Format::Dot | Format::Mermaid | Format::Svg => drawn,
        };
        drawings::keep(&context.home, &context.dir.join(path), &drawn)?;
        let tasks = counted(shown.len(), "task", "tasks");
        text = format!("drew {tasks} in {}", path.display());
    } else if context.globals.json {
        // Its nodes and edges say more, unless somebody asks for a drawing.
        if args.format.is_some() {
            within = Some(draw(Screen::none()));
        }
    } else if !context.globals.quiet {
        text = match (format, loaded.outlines.is_empty(), shown.is_empty()) {
            (Format::Tree, true, _) => no_tasks(&list, &loaded.skipped)?,
            (Format::Tree, _, true) => format!("nothing of {} is open", list.id()),
            _ => draw(Screen::of(context)),
        };
    }
    let edges = picture.edges.iter().map(|edge| {
        let (task, on) = (picture.tasks[edge.to], picture.tasks[edge.from]);
        Edge::new(&task.id, &on.id, edge.line == EdgeStyle::Closing)
    });
    let missing = whole.unknown().iter();
    let missing = missing.map(|(task, waits_for)| Missing::new(task, waits_for));
    let cycle = whole.cycle();
    let answer = DrawnGraph {
        list: list.id(),
        nodes: answers::each(&shown),
        edges: edges.collect(),
        critical: &picture.critical,
        unknown: missing.collect(),
        cycle: cycle.as_deref(),
        text: within,
        out: out.map(Path::to_string_lossy),
        skipped: &loaded.skipped,
    };
    let answer = Answer::of(&answer);
    let unknown = whole
        .unknown()
        .iter()
        .map(|(task, missing)| format!("task {task} waits for {missing}, which does not exist"));
    let cycle = cycle.as_ref().map(|path| {
        let path: Vec<_> = path.iter().map(TaskId::as_str).collect();
        format!("these wait for each other: {}", path.join(" → "))
    });
    Ok(answer
        .text(text)
        .ids(shown.iter().map(|task| &task.id))
        .notes(unknown.chain(cycle))
        .notes(shape::skipped_notes(&loaded.skipped)))
}
