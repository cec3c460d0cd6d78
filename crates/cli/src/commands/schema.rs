//! `schema`: what the JSON answers look like.

use flagpost_core::answers::Schema;
use flagpost_model::view;
use serde_json::{Map, Value};

use crate::{context::Context, error::Unknown, output::Answer, screen::Screen};

/// Print the JSON Schema of an answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: flagpost schema task > task.schema.json\n\n\
    Every answer under --json names its schema: \"flagpost.task/1\" is what 'flagpost schema task'\n\
    prints. docs/json.md tells what all answers have in common.")]
pub struct SchemaArgs {
    /// Whose [default: the list of those there are]
    #[arg(value_name = "NAME")]
    schema: Option<String>,
}

/// Prints it.
pub fn run(context: &Context, all: &[Schema], args: &SchemaArgs) -> anyhow::Result<Answer> {
    let Some(name) = args.schema.as_deref() else {
        return list(context, all);
    };
    // As it stands in an answer, too.
    let bare = name.strip_prefix("flagpost.").unwrap_or(name);
    let bare = bare.strip_suffix("/1").unwrap_or(bare);
    let names = all.iter().map(|schema| schema.name);
    let Some(schema) = all.iter().find(|schema| schema.name == bare) else {
        return Err(Unknown::new("schema", bare, names).into());
    };
    let whole = schema.whole();
    let text = serde_json::to_string_pretty(&whole)?;
    let answer = OneSchema::new(schema.name, &whole);
    Ok(Answer::of(&answer).text(text).ids([schema.name]))
}

view! {
    /// The schema of an answer.
    ///
    /// After 'flagpost schema NAME --json'; without --json the schema stands alone.
    pub struct OneSchema<'a> {
        /// Whose: task is for flagpost.task/1.
        name: &'a str,
        /// JSON Schema, draft 2020-12, complete in itself.
        #[schemars(with = "Map<String, Value>")]
        json_schema: &'a Value,
    }

    /// The answers that have a schema.
    ///
    /// After 'flagpost schema'.
    pub struct Schemas {
        schemas: Vec<Titled>,
    }

    /// An answer that has a schema.
    struct Titled {
        /// What 'flagpost schema' takes.
        name: &'static str,
        title: String,
    }
}

fn list(context: &Context, all: &[Schema]) -> anyhow::Result<Answer> {
    let (mut rows, mut each) = (Vec::new(), Vec::new());
    for schema in all {
        let title = schema.title();
        rows.push(vec![schema.name.to_owned(), title.clone()]);
        each.push(Titled::new(schema.name, title));
    }
    Ok(Answer::of(&Schemas::new(each))
        .text(Screen::of(context).table(&["NAME", "ANSWERS WITH"], rows))
        .ids(all.iter().map(|schema| schema.name)))
}
