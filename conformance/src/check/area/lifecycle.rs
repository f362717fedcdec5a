//! The handshake, versions, capabilities.

use serde_json::{Value, json};

use super::super::talk::{REVISION, hello};
use super::super::{Check, Fault, Outcome, Site, both, ensure, fail, skip};

const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const CAPABILITIES: [&str; 7] =
    ["prompts", "resources", "tools", "logging", "completions", "tasks", "experimental"];

/// What a request to initialize with this version is answered with.
fn asked_for(site: &Site, version: &str) -> Result<Value, Fault> {
    site.open()?.result("initialize", hello(version, json!({})))
}

/// A server that can speak this revision does.
fn speaks(site: &Site, version: &str) -> Outcome {
    let agreed = asked_for(site, version)?;
    if agreed["protocolVersion"] == version {
        return Ok(());
    }
    // It may be one that does not know it, but then it says so each time, in the same way.
    let other = asked_for(site, "1999-01-01")?;
    ensure(agreed["protocolVersion"] == other["protocolVersion"], || agreed.to_string())?;
    skip(format!("the server does not speak {version}"))
}

/// Whoever has the capability serves the method; whoever has not, does not know it.
fn serves(site: &Site, capability: &str, method: &str, params: Value) -> Outcome {
    let mut talk = site.ready()?;
    let answer = talk.ask(method, params)?;
    let code = answer["error"]["code"].as_i64();
    match talk.need(capability) {
        Ok(()) => ensure(code != Some(-32601), || format!("{capability}, but {answer}")),
        Err(_) => ensure(code == Some(-32601), || format!("no {capability}, but {answer}")),
    }
}

pub(super) const CHECKS: &[Check] = &[
    both("lifecycle/initialize", &["LIFE-006", "BASE-001"], "initialize is answered", |site| {
        asked_for(site, REVISION).map(drop)
    }),
    both("lifecycle/server-info", &["LIFE-006"], "the server has a name and a version", |site| {
        let info = &asked_for(site, REVISION)?["serverInfo"];
        let text = |name| info[name].as_str().is_some_and(|text| !text.is_empty());
        ensure(text("name") && info["version"].is_string(), || info.to_string())
    }),
    both("lifecycle/capabilities-object", &["LIFE-006"], "capabilities is an object", |site| {
        let result = asked_for(site, REVISION)?;
        ensure(result["capabilities"].is_object(), || result.to_string())
    }),
    both("lifecycle/capability-names", &["LIFE-025"], "capabilities have known names", |site| {
        let result = asked_for(site, REVISION)?;
        let names = result["capabilities"].as_object().into_iter().flat_map(|c| c.keys());
        match names.into_iter().find(|name| !CAPABILITIES.contains(&name.as_str())) {
            Some(name) => fail(format!("there is no capability {name}")),
            None => Ok(()),
        }
    }),
    both("lifecycle/capability-objects", &["LIFE-025"], "each capability is an object", |site| {
        let result = asked_for(site, REVISION)?;
        let capabilities = result["capabilities"].as_object().cloned().unwrap_or_default();
        ensure(capabilities.values().all(Value::is_object), || result.to_string())
    }),
    both("lifecycle/instructions", &["LIFE-006"], "instructions are a text or absent", |site| {
        let result = asked_for(site, REVISION)?;
        let instructions = result.get("instructions");
        ensure(instructions.is_none_or(Value::is_string), || result.to_string())
    }),
    both("lifecycle/version-form", &["LIFE-021"], "the version is a date", |site| {
        let result = asked_for(site, REVISION)?;
        let version = result["protocolVersion"].as_str().unwrap_or_default();
        ensure(KNOWN.contains(&version) || version == REVISION, || result.to_string())
    }),
    both("lifecycle/version-2025-11-25", &["LIFE-014"], "2025-11-25 is agreed on", |site| {
        speaks(site, "2025-11-25")
    }),
    both("lifecycle/version-2025-06-18", &["LIFE-014"], "2025-06-18 is agreed on", |site| {
        speaks(site, "2025-06-18")
    }),
    both("lifecycle/version-2025-03-26", &["LIFE-014"], "2025-03-26 is agreed on", |site| {
        speaks(site, "2025-03-26")
    }),
    both("lifecycle/version-2024-11-05", &["LIFE-014"], "2024-11-05 is agreed on", |site| {
        speaks(site, "2024-11-05")
    }),
    both("lifecycle/version-future", &["LIFE-015"], "a future version gets another one", |site| {
        let result = asked_for(site, "2999-12-31")?;
        let version = result["protocolVersion"].as_str().unwrap_or_default();
        ensure(KNOWN.contains(&version), || result.to_string())
    }),
    both(
        "lifecycle/version-past",
        &["LIFE-015"],
        "an unknown old version gets another one",
        |site| {
            let result = asked_for(site, "2023-01-01")?;
            let version = result["protocolVersion"].as_str().unwrap_or_default();
            ensure(KNOWN.contains(&version), || result.to_string())
        },
    ),
    both(
        "lifecycle/version-garbage",
        &["LIFE-015"],
        "a version that is no date gets another one",
        |site| {
            let result = asked_for(site, "latest")?;
            let version = result["protocolVersion"].as_str().unwrap_or_default();
            ensure(KNOWN.contains(&version), || result.to_string())
        },
    ),
    both("lifecycle/version-newest", &["LIFE-016"], "the other version is the newest", |site| {
        let other = asked_for(site, "2999-12-31")?;
        let newest = asked_for(site, REVISION)?;
        let newest = newest["protocolVersion"].as_str().unwrap_or_default();
        ensure(other["protocolVersion"].as_str() >= Some(newest), || other.to_string())
    }),
    both(
        "lifecycle/version-missing",
        &["BASE-022", "LIFE-003"],
        "initialize without a version is refused",
        |site| {
            let params =
                json!({"capabilities": {}, "clientInfo": {"name": "check", "version": "1"}});
            site.open()?.refused("initialize", params, &[-32602])
        },
    ),
    both(
        "lifecycle/no-client-info",
        &["BASE-022", "LIFE-005"],
        "initialize without clientInfo is refused",
        |site| {
            let params = json!({"protocolVersion": REVISION, "capabilities": {}});
            site.open()?.refused("initialize", params, &[-32602])
        },
    ),
    both(
        "lifecycle/no-capabilities",
        &["BASE-022", "LIFE-004"],
        "initialize without capabilities is refused",
        |site| {
            let params = json!({"protocolVersion": REVISION,
            "clientInfo": {"name": "check", "version": "1"}});
            site.open()?.refused("initialize", params, &[-32602])
        },
    ),
    both(
        "lifecycle/unknown-capability",
        &["LIFE-024"],
        "unknown capabilities are no fault",
        |site| {
            let mut talk = site.open()?;
            talk.greet_with(
                REVISION,
                json!({"telepathy": {"range": 5}, "experimental": {"x": {}}}),
            )?;
            talk.lives()
        },
    ),
    both(
        "lifecycle/ping-after",
        &["BASE-001", "PING-001"],
        "ping is answered by an empty result",
        |site| {
            let result = site.ready()?.result("ping", json!({}))?;
            let empty = result.as_object().is_some_and(|r| r.keys().all(|key| key == "_meta"));
            ensure(empty, || result.to_string())
        },
    ),
    both(
        "lifecycle/again",
        &["LIFE-001"],
        "a second initialize does not end the session",
        |site| {
            let mut talk = site.ready()?;
            talk.ask("initialize", hello(REVISION, json!({})))?;
            talk.lives()
        },
    ),
    both(
        "lifecycle/tools-declared",
        &["LIFE-030", "BASE-033", "TOOLS-005"],
        "tools are served if declared",
        |site| serves(site, "tools", "tools/list", json!({})),
    ),
    both(
        "lifecycle/resources-declared",
        &["LIFE-030", "BASE-033", "RESOURCES-001"],
        "resources are served if declared",
        |site| serves(site, "resources", "resources/list", json!({})),
    ),
    both(
        "lifecycle/prompts-declared",
        &["LIFE-030", "BASE-033", "PROMPTS-001"],
        "prompts are served if declared",
        |site| serves(site, "prompts", "prompts/list", json!({})),
    ),
    both(
        "lifecycle/logging-declared",
        &["LIFE-030", "BASE-033", "LOGGING-001"],
        "levels are set if declared",
        |site| serves(site, "logging", "logging/setLevel", json!({"level": "info"})),
    ),
    both(
        "lifecycle/completions-declared",
        &["LIFE-030", "BASE-033", "COMPLETION-001"],
        "completions are served if declared",
        |site| {
            let params = json!({"ref": {"type": "ref/prompt", "name": "no such"},
            "argument": {"name": "a", "value": ""}});
            serves(site, "completions", "completion/complete", params)
        },
    ),
    both(
        "lifecycle/subscribe-declared",
        &["LIFE-030", "RESOURCES-003"],
        "subscriptions are served if declared",
        |site| serves(site, "resources.subscribe", "resources/subscribe", json!({"uri": "x://y"})),
    ),
    both("lifecycle/silent-server", &["LIFE-011"], "before initialized nothing is asked", |site| {
        let mut talk = site.open()?;
        talk.result("initialize", hello(REVISION, json!({"roots": {}, "sampling": {}})))?;
        talk.lives()?;
        let odd = talk
            .heard
            .iter()
            .find(|m| !matches!(m["method"].as_str(), Some("ping" | "notifications/message")));
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    both(
        "lifecycle/old-shapes",
        &["LIFE-029"],
        "with 2024-11-05 all is in the schema of that revision",
        |site| {
            let mut talk = site.open()?;
            talk.greet_with("2024-11-05", json!({}))?;
            if talk.welcome["protocolVersion"] != "2024-11-05" {
                return skip("the server does not speak it");
            }
            for (capability, method) in [
                ("tools", "tools/list"),
                ("resources", "resources/list"),
                ("prompts", "prompts/list"),
            ] {
                if talk.need(capability).is_ok() {
                    talk.result(method, json!({}))?;
                }
            }
            if talk.need("tools").is_ok() {
                // It knows no sounds.
                talk.ask("tools/call", json!({"name": "test_audio_content", "arguments": {}}))?;
            }
            let broken = site.take_broken();
            ensure(broken.is_empty(), || broken.join("; "))
        },
    ),
];
