//! What opencode's agent may do beyond its project: it writes where it reports, and has our tools.
//!
//! Owns how both are added to the configuration that opencode reads from a variable, which may hold the
//! user's own already. Nothing of theirs is taken away, but that they forbid the report's directory. Pure.

use std::path::Path;

use flagpost_core::Settings;
use serde_json::{Map, Value, json};

/// The variable.
pub const VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// What opencode is configured with by the variable already: by its agent's settings, else by its user.
pub fn given<'a>(env: &'a [(String, String)], settings: &'a Settings) -> Option<&'a str> {
    let own = env.iter().find(|(name, _)| name == VARIABLE);
    let own = own.map(|(_, value)| value.as_str());
    own.or(settings.opencode_config.as_deref())
}

/// The configuration with leave to write below this directory, and with this server of tools unless its user
/// has one of that name; as it was, where it is none that we can read.
pub fn configured(given: Option<&str>, out: &Path, tools: Option<Value>) -> String {
    let given = given.filter(|text| !text.trim().is_empty());
    let mut config = match given.map(serde_json::from_str::<Map<String, Value>>) {
        None => Map::new(),
        Some(Ok(config)) => config,
        Some(Err(_)) => return given.unwrap_or_default().to_owned(),
    };
    let below = format!("{}/**", out.display());
    let permission = config.entry("permission").or_insert_with(|| json!({}));
    // One word is for all that it may do.
    if let Value::String(word) = permission {
        *permission = json!({"*": word});
    }
    if let Value::Object(permission) = permission {
        let all = permission.get("*").cloned();
        let places = permission
            .entry("external_directory")
            .or_insert_with(|| all.unwrap_or_else(|| json!({})));
        if let Value::String(word) = places {
            *places = json!({"*": word});
        }
        if let Value::Object(places) = places {
            // The last that fits counts.
            places.shift_remove(&below);
            places.insert(below, "allow".into());
        }
    }
    if let Some(tools) = tools
        && let Value::Object(servers) = config.entry("mcp").or_insert_with(|| json!({}))
    {
        servers.entry("flagpost").or_insert(tools);
    }
    Value::Object(config).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leave_is_added_to_whatever_the_user_has() {
        let leave = json!({"/out/**": "allow"});
        for (given, expected) in [
            (None, json!({"permission": {"external_directory": leave}})),
            (
                Some(" "),
                json!({"permission": {"external_directory": leave}}),
            ),
            (
                Some(r#"{"model":"a/b","permission":{"bash":"deny"}}"#),
                json!({"model": "a/b", "permission": {"bash": "deny", "external_directory": leave}}),
            ),
            (
                Some(r#"{"permission":{"external_directory":"deny"}}"#),
                json!({"permission": {"external_directory": {"*": "deny", "/out/**": "allow"}}}),
            ),
            (
                Some(r#"{"permission":"ask"}"#),
                json!({"permission": {"*": "ask", "external_directory": {"*": "ask", "/out/**": "allow"}}}),
            ),
        ] {
            let config = configured(given, Path::new("/out"), None);
            let config: Value = serde_json::from_str(&config).unwrap();
            assert_eq!(config, expected, "{given:?}");
        }
        assert_eq!(
            configured(Some("{ // mine"), Path::new("/out"), None),
            "{ // mine"
        );
    }

    #[test]
    fn our_tools_stand_beside_the_users_own() {
        let own = r#"{"mcp":{"mine":{"type":"local"}}}"#;
        let config = configured(Some(own), Path::new("/out"), Some(json!({"type": "x"})));
        let config: Value = serde_json::from_str(&config).unwrap();
        assert_eq!(
            config["mcp"],
            json!({"mine": {"type": "local"}, "flagpost": {"type": "x"}})
        );
    }
}
