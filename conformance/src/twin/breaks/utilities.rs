use serde_json::{Value, json};

use super::{Break, answers, code, deal, message, messages, refuses, result, without};

/// Changes what completes something.
fn completion(asked: &Value, message: &mut Value, change: impl FnOnce(&mut Value)) {
    if let Some(result) = result(asked, message, "completion/complete") {
        change(&mut result["completion"]);
    }
}

/// Changes a log message.
fn log(message: &mut Value, change: impl FnOnce(&mut Value)) {
    if message["method"] == "notifications/message" {
        change(&mut message["params"]);
    }
}

/// Any cursor is taken, for the first page.
fn any_cursor(text: &str, method: &str, member: &str) -> super::Deal {
    answers(text, json!({member: []}), |r| {
        r["method"] == method && r["params"]["cursor"].is_string()
    })
}

const COMPLETE: &str = "completion/complete";

pub(super) const BREAKS: &[Break] = &[
    message("completes-by-101", "completion/values", |asked, m| {
        completion(asked, m, |c| c["values"] = json!(vec!["x"; 101]));
    }),
    message("completes-by-numbers", "completion/values", |asked, m| {
        completion(asked, m, |c| c["values"] = json!([1, 2]));
    }),
    message("completes-by-nothing", "completion/values", |asked, m| {
        completion(asked, m, |c| without(c, "values"));
    }),
    message("completes-by-anything", "completion/prefix", |asked, m| {
        completion(asked, m, |c| c["values"] = json!(["london", "paris"]));
    }),
    message("total-too-small", "completion/total", |asked, m| {
        completion(asked, m, |c| c["total"] = json!(0));
    }),
    message("total-as-text", "completion/total", |asked, m| {
        completion(asked, m, |c| c["total"] = json!("many"));
    }),
    message("has-more-as-number", "completion/has-more", |asked, m| {
        completion(asked, m, |c| c["hasMore"] = json!(1));
    }),
    message("has-more-always", "completion/has-more", |asked, m| {
        completion(asked, m, |c| {
            c["total"] = json!(c["values"].as_array().map_or(0, Vec::len));
            c["hasMore"] = json!(true);
        });
    }),
    message("unknown-prompt-completed-internal", "completion/unknown-prompt", |asked, m| {
        code(asked, m, COMPLETE, -32603);
    }),
    deal("unknown-prompt-completed", "completion/unknown-prompt", |text| {
        let empty = json!({"completion": {"values": []}});
        answers(text, empty, |r| r["params"]["ref"]["name"] == "no such")
    }),
    deal("completes-no-argument", "completion/no-argument", |text| {
        let empty = json!({"completion": {"values": []}});
        answers(text, empty, |r| r["method"] == COMPLETE && r["params"]["argument"].is_null())
    }),
    deal("completes-tools", "completion/bad-ref", |text| {
        let empty = json!({"completion": {"values": []}});
        answers(text, empty, |r| r["params"]["ref"]["type"] == "ref/tool")
    }),
    deal("completes-numbers", "completion/value-number", |text| {
        let empty = json!({"completion": {"values": []}});
        answers(text, empty, |r| r["params"]["argument"]["value"] == 5)
    }),
    deal("refuses-context", "completion/context", |text| {
        refuses(text, -32602, |r| r["params"].get("context").is_some())
    }),
    deal("knows-seven-levels", "logging/set-level", |text| {
        refuses(text, -32602, |r| r["params"]["level"] == "notice")
    }),
    message("set-level-says-more", "logging/set-level", |asked, m| {
        if let Some(result) = result(asked, m, "logging/setLevel") {
            result["level"] = asked["params"]["level"].clone();
        }
    }),
    deal("takes-any-level", "logging/bad-level", |text| {
        answers(text, json!({}), |r| r["params"]["level"] == "loud")
    }),
    message("bad-level-as-internal", "logging/bad-level", |asked, m| {
        code(asked, m, "logging/setLevel", -32603);
    }),
    deal("takes-no-level", "logging/no-level", |text| {
        answers(text, json!({}), |r| {
            r["method"] == "logging/setLevel" && r["params"]["level"].is_null()
        })
    }),
    message("logs-at-unknown-level", "logging/messages", |_, m| {
        log(m, |params| params["level"] = json!("warn"));
    }),
    message("logs-without-data", "logging/messages", |_, m| {
        log(m, |params| without(params, "data"))
    }),
    messages("logs-nothing", "logging/messages", |_, m| {
        if m["method"] == "notifications/message" { Vec::new() } else { vec![m] }
    }),
    message("logger-as-number", "logging/logger", |_, m| {
        log(m, |params| params["logger"] = json!(5));
    }),
    deal("level-is-ignored", "logging/threshold", |text| {
        answers(text, json!({}), |r| r["params"]["level"] == "emergency")
    }),
    messages("logs-below-the-level", "logging/threshold", |asked, m| {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": "alert", "data": "x"}});
        if asked["params"]["name"] == "test_tool_with_logging" { vec![notice, m] } else { vec![m] }
    }),
    messages("logs-undeclared", "logging/undeclared", |asked, mut m| {
        if let Some(result) = result(asked, &mut m, "initialize") {
            without(&mut result["capabilities"], "logging");
        }
        vec![m]
    }),
    deal("any-cursor-of-tools", "paging/tools-cursor", |text| {
        any_cursor(text, "tools/list", "tools")
    }),
    message("bad-cursor-as-internal", "paging/tools-cursor", |asked, m| {
        code(asked, m, "tools/list", -32603);
    }),
    deal("any-cursor-of-resources", "paging/resources-cursor", |text| {
        any_cursor(text, "resources/list", "resources")
    }),
    deal("any-cursor-of-templates", "paging/templates-cursor", |text| {
        any_cursor(text, "resources/templates/list", "resourceTemplates")
    }),
    deal("any-cursor-of-prompts", "paging/prompts-cursor", |text| {
        any_cursor(text, "prompts/list", "prompts")
    }),
    deal("cursor-as-number", "paging/cursor-number", |text| {
        answers(text, json!({"tools": []}), |r| r["params"]["cursor"].is_number())
    }),
    message("next-cursor-null", "paging/next-cursor", |asked, m| {
        if let Some(result) = result(asked, m, "tools/list") {
            result["nextCursor"] = Value::Null;
        }
    }),
    message("next-cursor-not-taken", "paging/next-cursor", |asked, m| {
        if let Some(result) = result(asked, m, "tools/list") {
            result["nextCursor"] = json!("more");
        }
    }),
    deal("unknown-cancellation-answered", "cancel/unknown", |text| {
        refuses(text, -32602, |r| r["params"]["requestId"] == 98_765)
    }),
];
