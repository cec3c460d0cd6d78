//! The description of the interface, as OpenAPI 3.1.
//!
//! Owns nothing but the form: the routes are those that requests are dispatched on, the shapes those
//! that every answer keeps to.

use std::collections::BTreeSet;

use axum::http::Method;
use flagpost_core::operations::{Parameter, Presence, object_schema};
use serde_json::{Map, Value, json};

use super::{
    auth::{self, KEY},
    route::{ParamLocation, Route, RouteHandler, Verb},
    routes,
};
use crate::answers::schemas;

/// Where shapes are found in the description.
const SHAPES: &str = "#/components/schemas/";

/// The whole description.
pub fn description() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let mut names = BTreeSet::from(["error"]);
    for route in routes::all() {
        names.extend(route.shapes());
        let verb = match route.verb {
            Verb::Get => "get",
            Verb::Post => "post",
        };
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[verb] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Flagpost",
            "description": "The daemon of a Flagpost home. By the socket nothing has to be shown; over the loopback, on everything, the token or both halves of a browser's session.",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "flagpost-PORT",
                    "description": "What the browser has of its session; the name ends with the daemon's port."},
                "key": {"type": "apiKey", "in": "header", "name": KEY,
                    "description": "What the page has of its session."},
            },
            "schemas": shapes(&names),
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut inside = Vec::new();
    let mut outside = Vec::new();
    for (place, it) in route.parameters() {
        match place {
            ParamLocation::Path => outside.push(parameter("path", it)),
            ParamLocation::Query => outside.push(parameter("query", it)),
            ParamLocation::Header => outside.push(parameter("header", it)),
            ParamLocation::Body => inside.push(it),
        }
    }
    let answers = match route.work {
        RouteHandler::Entry(_) | RouteHandler::Own(..) => json!({
            "200": match route.shapes().as_slice() {
                [name] => json!({"description": "What was asked for.", "content": content(reference(name))}),
                names => json!({"description": "What was waited for, or that there is none.", "content":
                    content(json!({"oneOf": names.iter().map(|it| reference(it)).collect::<Vec<_>>()}))}),
            },
            "default": {"description": "What went wrong.", "content": content(reference("error"))},
        }),
        RouteHandler::Foreign(schema, _) => json!({
            "200": {"description": "What was asked for.", "content": content(schema())},
            "default": {"description": "What went wrong.", "content": {"application/json": {}}},
        }),
        RouteHandler::Stream(..) => json!({
            "200": {"description": "Events, for as long as somebody listens.", "content": {"text/event-stream": {}}},
            "default": {"description": "What went wrong.", "content": {"application/json": {}}},
        }),
        RouteHandler::Page(_) => json!({
            "default": {"description": "What was asked for, or what went wrong."},
        }),
    };
    let mut operation = json!({
        "summary": route.about,
        "parameters": outside,
        "security": security(route),
        "responses": answers,
    });
    if let RouteHandler::Entry(entry) = route.work {
        operation["operationId"] = entry.name().into();
    }
    if route.verb == Verb::Post {
        // An object, although it may say nothing: a page of somebody else cannot send one.
        operation["requestBody"] =
            json!({"required": true, "content": content(object_schema(&inside))});
    }
    operation
}

/// What has to be shown over the loopback: one of these.
fn security(route: &Route) -> Value {
    let method = match route.verb {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
    };
    match auth::RequiredAuth::of(&method, route.path) {
        auth::RequiredAuth::Nothing => json!([]),
        auth::RequiredAuth::Cookie => json!([{"token": []}, {"session": []}]),
        auth::RequiredAuth::All => json!([{"token": []}, {"session": [], "key": []}]),
    }
}

fn content(schema: Value) -> Value {
    json!({"application/json": {"schema": schema}})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("{SHAPES}{name}")})
}

fn parameter(place: &str, parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name, "in": place, "required": parameter.presence == Presence::Required,
        "description": parameter.about, "schema": parameter.kind.schema(),
    })
}

/// These shapes, and every part that they have in common.
fn shapes(names: &BTreeSet<&str>) -> Map<String, Value> {
    let mut all = Map::new();
    for schema in schemas().filter(|it| names.contains(it.name)) {
        let mut whole = schema.whole();
        if let Some(schema) = whole.as_object_mut() {
            // Here the document is the whole, and not each schema by itself.
            schema.shift_remove("$schema");
            schema.shift_remove("$id");
            if let Some(Value::Object(parts)) = schema.shift_remove("$defs") {
                for (name, part) in parts {
                    all.insert(part_name(&name), relocated(part));
                }
            }
        }
        all.insert(schema.name.to_owned(), relocated(whole));
    }
    all
}

fn part_name(part: &str) -> String {
    format!("part_{part}")
}

/// A schema whose references lead to where the parts are here.
fn relocated(schema: Value) -> Value {
    match schema {
        Value::String(text) => match text.strip_prefix("#/$defs/") {
            Some(part) => format!("{SHAPES}{}", part_name(part)).into(),
            None => text.into(),
        },
        Value::Array(items) => items.into_iter().map(relocated).collect(),
        Value::Object(map) => {
            let each = map
                .into_iter()
                .map(|(name, below)| (name, relocated(below)));
            Value::Object(each.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(map) => {
                    if let Some(Value::String(to)) = map.get("$ref") {
                        found.push(to.clone());
                    }
                    map.values().for_each(|it| references(it, found));
                }
                Value::Array(items) => items.iter().for_each(|it| references(it, found)),
                _ => {}
            }
        }
        let described = description();
        let mut found = Vec::new();
        references(&described, &mut found);
        assert!(found.len() > 20, "{found:?}");
        for to in found {
            let at = described.pointer(to.trim_start_matches('#'));
            assert!(at.is_some(), "{to}");
        }
    }

    #[test]
    fn every_route_says_what_it_is_asked_with() {
        for route in routes::all() {
            let varying = route.path.split('/').filter_map(|it| it.strip_prefix('{'));
            let varying: BTreeSet<&str> = varying.map(|it| it.trim_end_matches('}')).collect();
            let mut said = BTreeSet::new();
            let mut names = BTreeSet::new();
            for (place, it) in route.parameters() {
                assert!(
                    names.insert(it.name),
                    "{}: {} is there twice",
                    route.path,
                    it.name
                );
                if place == ParamLocation::Path {
                    said.insert(it.name);
                    assert_eq!(
                        it.presence,
                        Presence::Required,
                        "{}: {}",
                        route.path,
                        it.name
                    );
                }
            }
            assert_eq!(varying, said, "{}", route.path);
            for name in route.shapes() {
                let known = schemas().any(|it| it.name == name);
                assert!(known, "{}: there is no shape {name}", route.path);
            }
        }
    }
}
