use serde_json::{Value, json};

use super::{
    Break, Deal, answers, deal, items, message, messages, refuses, result, said, takes_for, without,
};

/// Changes what `initialize` is answered with.
fn welcome(asked: &Value, message: &mut Value, change: impl FnOnce(&mut Value)) {
    if let Some(result) = result(asked, message, "initialize") {
        change(result);
    }
}

fn wanted(asked: &Value) -> &Value {
    &asked["params"]["protocolVersion"]
}

/// Agrees on another version than this one.
fn evades(asked: &Value, message: &mut Value, version: &str, other: &str) {
    if wanted(asked) == version {
        welcome(asked, message, |result| result["protocolVersion"] = json!(other));
    }
}

/// Hides a capability that is served.
fn hides(asked: &Value, message: &mut Value, capability: &str) {
    welcome(asked, message, |result| without(&mut result["capabilities"], capability));
}

fn is_call(request: &Value, method: &str) -> bool {
    request["method"] == method
}

pub(super) const BREAKS: &[Break] = &[
    deal("initialize-is-unknown", "lifecycle/initialize", |text| {
        refuses(text, -32601, |r| is_call(r, "initialize"))
    }),
    message("no-server-info", "lifecycle/server-info", |asked, m| {
        welcome(asked, m, |result| without(result, "serverInfo"));
    }),
    message("no-server-version", "lifecycle/server-info", |asked, m| {
        welcome(asked, m, |result| without(&mut result["serverInfo"], "version"));
    }),
    message("no-server-name", "lifecycle/server-info", |asked, m| {
        welcome(asked, m, |result| result["serverInfo"]["name"] = json!(""));
    }),
    message("no-capabilities", "lifecycle/capabilities-object", |asked, m| {
        welcome(asked, m, |result| without(result, "capabilities"));
    }),
    message("capabilities-as-list", "lifecycle/capabilities-object", |asked, m| {
        welcome(asked, m, |result| result["capabilities"] = json!(["tools"]));
    }),
    message("unknown-capability", "lifecycle/capability-names", |asked, m| {
        welcome(asked, m, |result| result["capabilities"]["telepathy"] = json!({}));
    }),
    message("capability-as-boolean", "lifecycle/capability-objects", |asked, m| {
        welcome(asked, m, |result| result["capabilities"]["tools"] = json!(true));
    }),
    message("instructions-as-list", "lifecycle/instructions", |asked, m| {
        welcome(asked, m, |result| result["instructions"] = json!(["do"]));
    }),
    message("version-as-number", "lifecycle/version-form", |asked, m| {
        welcome(asked, m, |result| result["protocolVersion"] = json!(1));
    }),
    message("version-as-semver", "lifecycle/version-form", |asked, m| {
        welcome(asked, m, |result| result["protocolVersion"] = json!("1.0.0"));
    }),
    message("evades-2025-11-25", "lifecycle/version-2025-11-25", |asked, m| {
        evades(asked, m, "2025-11-25", "2025-06-18");
    }),
    message("evades-2025-06-18", "lifecycle/version-2025-06-18", |asked, m| {
        evades(asked, m, "2025-06-18", "2025-03-26");
    }),
    message("evades-2025-03-26", "lifecycle/version-2025-03-26", |asked, m| {
        evades(asked, m, "2025-03-26", "2024-11-05");
    }),
    message("evades-2024-11-05", "lifecycle/version-2024-11-05", |asked, m| {
        evades(asked, m, "2024-11-05", "2025-03-26");
    }),
    deal("future-version-refused", "lifecycle/version-future", |text| {
        refuses(text, -32602, |r| wanted(r) == "2999-12-31")
    }),
    message("future-version-echoed", "lifecycle/version-future", |asked, m| {
        evades(asked, m, "2999-12-31", "2999-12-31");
    }),
    message("past-version-echoed", "lifecycle/version-past", |asked, m| {
        evades(asked, m, "2023-01-01", "2023-01-01");
    }),
    message("garbage-version-echoed", "lifecycle/version-garbage", |asked, m| {
        evades(asked, m, "latest", "latest");
    }),
    deal("garbage-version-refused", "lifecycle/version-garbage", |text| {
        refuses(text, -32602, |r| wanted(r) == "latest")
    }),
    message("other-version-is-the-oldest", "lifecycle/version-newest", |asked, m| {
        evades(asked, m, "2999-12-31", "2024-11-05");
    }),
    deal("version-is-optional", "lifecycle/version-missing", |text| {
        takes_for(
            text,
            |r| is_call(r, "initialize") && wanted(r).is_null(),
            |r| {
                r["params"]["protocolVersion"] = json!("2025-11-25");
            },
        )
    }),
    deal("client-info-is-optional", "lifecycle/no-client-info", |text| {
        takes_for(
            text,
            |r| is_call(r, "initialize") && r["params"]["clientInfo"].is_null(),
            |r| {
                r["params"]["clientInfo"] = json!({"name": "x", "version": "1"});
            },
        )
    }),
    deal("client-capabilities-are-optional", "lifecycle/no-capabilities", |text| {
        takes_for(
            text,
            |r| is_call(r, "initialize") && r["params"]["capabilities"].is_null(),
            |r| {
                r["params"]["capabilities"] = json!({});
            },
        )
    }),
    deal("unknown-client-capability-refused", "lifecycle/unknown-capability", |text| {
        refuses(text, -32602, |r| r["params"]["capabilities"].get("telepathy").is_some())
    }),
    message("ping-says-pong", "lifecycle/ping-after", |asked, m| {
        if let Some(result) = result(asked, m, "ping") {
            result["pong"] = json!(true);
        }
    }),
    deal("ping-is-unknown", "lifecycle/ping-after", |text| {
        refuses(text, -32601, |r| is_call(r, "ping"))
    }),
    deal("second-initialize-kills", "lifecycle/again", |text| {
        let request = said(text);
        if is_call(&request, "initialize") && request["id"] == 2 { Deal::Die } else { Deal::Pass }
    }),
    message("tools-are-hidden", "lifecycle/tools-declared", |asked, m| hides(asked, m, "tools")),
    deal("tools-are-promised", "lifecycle/tools-declared", |text| {
        refuses(text, -32601, |r| is_call(r, "tools/list"))
    }),
    message("resources-are-hidden", "lifecycle/resources-declared", |asked, m| {
        hides(asked, m, "resources");
    }),
    deal("resources-are-promised", "lifecycle/resources-declared", |text| {
        refuses(text, -32601, |r| is_call(r, "resources/list"))
    }),
    message("prompts-are-hidden", "lifecycle/prompts-declared", |asked, m| {
        hides(asked, m, "prompts");
    }),
    deal("prompts-are-promised", "lifecycle/prompts-declared", |text| {
        refuses(text, -32601, |r| is_call(r, "prompts/list"))
    }),
    message("logging-is-hidden", "lifecycle/logging-declared", |asked, m| {
        hides(asked, m, "logging")
    }),
    deal("logging-is-promised", "lifecycle/logging-declared", |text| {
        refuses(text, -32601, |r| is_call(r, "logging/setLevel"))
    }),
    message("completions-are-hidden", "lifecycle/completions-declared", |asked, m| {
        hides(asked, m, "completions");
    }),
    deal("completions-are-promised", "lifecycle/completions-declared", |text| {
        refuses(text, -32601, |r| is_call(r, "completion/complete"))
    }),
    message("subscriptions-are-hidden", "lifecycle/subscribe-declared", |asked, m| {
        welcome(asked, m, |result| without(&mut result["capabilities"]["resources"], "subscribe"));
    }),
    deal("subscriptions-are-promised", "lifecycle/subscribe-declared", |text| {
        refuses(text, -32601, |r| is_call(r, "resources/subscribe"))
    }),
    messages("asks-at-once", "lifecycle/silent-server", |asked, m| {
        let ask = json!({"jsonrpc": "2.0", "id": "early", "method": "roots/list"});
        if asked["method"] == "ping" { vec![ask, m] } else { vec![m] }
    }),
    message("old-clients-get-sounds", "lifecycle/old-shapes", |asked, m| {
        if asked["params"]["name"] == "test_audio_content"
            && let Some(result) = result(asked, m, "tools/call")
        {
            let sound = json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"});
            result["content"] = json!([sound]);
        }
    }),
    message("old-clients-get-tools-without-schema", "lifecycle/old-shapes", |asked, m| {
        items(asked, m, "tools/list", "tools").for_each(|tool| without(tool, "inputSchema"));
    }),
    deal("a-ping-in-fifty-fails", "ping/often", |text| {
        refuses(text, -32603, |r| is_call(r, "ping") && r["id"] == 40)
    }),
    deal("ping-without-meta-only", "ping/null-meta", |text| {
        refuses(text, -32602, |r| is_call(r, "ping") && r["params"].get("_meta").is_some())
    }),
    deal("two-answers-to-a-cancelled-one", "cancel/finished", |text| {
        answers(text, json!({}), |r| r["params"]["requestId"] == 2)
    }),
];
