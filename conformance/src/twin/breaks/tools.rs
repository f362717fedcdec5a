use serde_json::{Value, json};

use super::{
    Break, answers, code, deal, items, message, messages, refuses, result, takes_for, without,
};

/// Changes every tool of a list.
fn each(asked: &Value, message: &mut Value, change: impl FnMut(&mut Value)) {
    items(asked, message, "tools/list", "tools").for_each(change);
}

/// Changes the result of this tool.
fn of(asked: &Value, message: &mut Value, tool: &str, change: impl FnOnce(&mut Value)) {
    if asked["params"]["name"] == tool
        && let Some(result) = result(asked, message, "tools/call")
    {
        change(result);
    }
}

/// Changes the content blocks of this tool.
fn blocks(asked: &Value, message: &mut Value, tool: &str, mut change: impl FnMut(&mut Value)) {
    of(asked, message, tool, |result| {
        result["content"].as_array_mut().into_iter().flatten().for_each(&mut change);
    });
}

/// Changes a notice of progress.
fn progress(message: &mut Value, change: impl FnOnce(&mut Value)) {
    if message["method"] == "notifications/progress" {
        change(&mut message["params"]);
    }
}

/// Changes a question of the server.
fn question(message: &mut Value, method: &str, change: impl FnOnce(&mut Value)) {
    if message["method"] == method {
        change(&mut message["params"]);
    }
}

fn is_call(request: &Value, tool: &str) -> bool {
    request["method"] == "tools/call" && request["params"]["name"] == tool
}

/// Asks before it answers, whatever the client can.
fn asks(asked: &Value, message: Value, tool: &str, method: &str) -> Vec<Value> {
    let ask = json!({"jsonrpc": "2.0", "id": "unwelcome", "method": method, "params": {}});
    if is_call(asked, tool) { vec![ask, message] } else { vec![message] }
}

const PROGRESS: &str = "test_tool_with_progress";

pub(super) const BREAKS: &[Break] = &[
    message("tools-as-object", "tools/list", |asked, m| {
        if let Some(result) = result(asked, m, "tools/list") {
            result["tools"] = json!({});
        }
    }),
    deal("tools-list-needs-params", "tools/list-without-params", |text| {
        refuses(text, -32602, |r| r["method"] == "tools/list" && r.get("params").is_none())
    }),
    message("tool-without-name", "tools/name", |asked, m| each(asked, m, |t| without(t, "name"))),
    message("tool-with-long-name", "tools/name", |asked, m| {
        each(asked, m, |tool| tool["name"] = json!("x".repeat(129)));
    }),
    message("tool-with-empty-name", "tools/name", |asked, m| {
        each(asked, m, |tool| tool["name"] = json!(""));
    }),
    message("tool-name-with-space", "tools/name-characters", |asked, m| {
        each(asked, m, |tool| tool["name"] = json!("my tool"));
    }),
    message("tool-name-with-comma", "tools/name-characters", |asked, m| {
        each(asked, m, |tool| tool["name"] = json!("a,b"));
    }),
    message("tool-name-twice", "tools/name-unique", |asked, m| {
        each(asked, m, |tool| tool["name"] = json!("same"));
    }),
    message("tool-without-input-schema", "tools/input-schema", |asked, m| {
        each(asked, m, |tool| without(tool, "inputSchema"));
    }),
    message("input-schema-null", "tools/input-schema", |asked, m| {
        each(asked, m, |tool| tool["inputSchema"] = Value::Null);
    }),
    message("input-schema-without-type", "tools/input-schema-type", |asked, m| {
        each(asked, m, |tool| without(&mut tool["inputSchema"], "type"));
    }),
    message("input-schema-of-string", "tools/input-schema-type", |asked, m| {
        each(asked, m, |tool| tool["inputSchema"]["type"] = json!("string"));
    }),
    message("input-schema-invalid", "tools/input-schema-valid", |asked, m| {
        each(asked, m, |tool| tool["inputSchema"]["properties"] = json!({"a": {"type": "word"}}));
    }),
    message("output-schema-of-list", "tools/output-schema-type", |asked, m| {
        each(asked, m, |tool| tool["outputSchema"] = json!({"type": "array"}));
    }),
    message("output-schema-invalid", "tools/output-schema-valid", |asked, m| {
        each(asked, m, |tool| {
            tool["outputSchema"] = json!({"type": "object", "required": "all"});
        });
    }),
    message("tool-title-as-number", "tools/texts", |asked, m| {
        each(asked, m, |tool| tool["title"] = json!(5));
    }),
    message("tool-description-null", "tools/texts", |asked, m| {
        each(asked, m, |tool| tool["description"] = Value::Null);
    }),
    message("tool-hint-as-text", "tools/hints", |asked, m| {
        each(asked, m, |tool| tool["annotations"] = json!({"readOnlyHint": "yes"}));
    }),
    message("task-support-unknown", "tools/task-support", |asked, m| {
        each(asked, m, |tool| tool["execution"] = json!({"taskSupport": "maybe"}));
    }),
    message("list-turns-round", "tools/list-again", |asked, m| {
        if asked["id"].as_i64() > Some(2)
            && let Some(result) = result(asked, m, "tools/list")
            && let Some(tools) = result["tools"].as_array_mut()
        {
            tools.reverse();
        }
    }),
    message("tools-list-changed-as-text", "tools/list-changed-flag", |asked, m| {
        if let Some(result) = result(asked, m, "initialize") {
            result["capabilities"]["tools"]["listChanged"] = json!("true");
        }
    }),
    deal("unknown-tool-as-result", "tools/unknown", |text| {
        let result = json!({"content": [], "isError": true});
        answers(text, result, |r| is_call(r, "no such tool"))
    }),
    message("unknown-tool-as-no-method", "tools/unknown", |asked, m| {
        code(asked, m, "tools/call", -32601);
    }),
    deal("tools-without-case", "tools/case", |text| {
        let upper = |r: &Value| {
            let name = r["params"]["name"].as_str().unwrap_or_default();
            r["method"] == "tools/call" && name == name.to_ascii_uppercase()
        };
        takes_for(text, upper, |r| {
            let name = r["params"]["name"].as_str().unwrap_or_default().to_ascii_lowercase();
            r["params"]["name"] = json!(name);
        })
    }),
    deal("unknown-tool-kills", "tools/call-unknown-survived", |text| {
        if text.contains("no such tool") { super::Deal::Die } else { super::Deal::Pass }
    }),
    deal("takes-arguments-as-list", "tools/arguments-array", |text| {
        answers(text, json!({"content": []}), |r| r["params"]["arguments"].is_array())
    }),
    deal("bad-argument-as-error", "tools/arguments-misfit", |text| {
        let object = |r: &Value| r["params"]["arguments"].as_object().is_some_and(|a| a.len() == 1);
        refuses(text, -32602, |r| r["method"] == "tools/call" && object(r))
    }),
    message("bad-argument-works", "tools/arguments-misfit", |asked, m| {
        if let Some(result) = result(asked, m, "tools/call") {
            without(result, "isError");
        }
    }),
    message("missing-argument-works", "tools/arguments-missing", |asked, m| {
        if let Some(result) = result(asked, m, "tools/call") {
            result["isError"] = json!(false);
        }
    }),
    message("result-without-content", "tools/content", |asked, m| {
        of(asked, m, "test_simple_text", |result| without(result, "content"));
    }),
    message("content-as-text", "tools/content", |asked, m| {
        of(asked, m, "test_simple_text", |result| result["content"] = json!("text"));
    }),
    deal("arguments-are-compulsory", "tools/no-arguments", |text| {
        refuses(text, -32602, |r| {
            r["method"] == "tools/call" && r["params"].get("arguments").is_none()
        })
    }),
    message("text-without-text", "tools/text", |asked, m| {
        blocks(asked, m, "test_simple_text", |block| without(block, "text"));
    }),
    message("text-of-unknown-type", "tools/text", |asked, m| {
        blocks(asked, m, "test_simple_text", |block| block["type"] = json!("markdown"));
    }),
    message("image-without-type", "tools/image", |asked, m| {
        blocks(asked, m, "test_image_content", |block| without(block, "mimeType"));
    }),
    message("image-as-url", "tools/image", |asked, m| {
        blocks(asked, m, "test_image_content", |block| block["data"] = json!("data:image/png,x"));
    }),
    message("audio-as-image", "tools/audio", |asked, m| {
        blocks(asked, m, "test_audio_content", |block| block["mimeType"] = json!("image/png"));
    }),
    message("audio-not-base64", "tools/audio", |asked, m| {
        blocks(asked, m, "test_audio_content", |block| block["data"] = json!("a-b_c"));
    }),
    message("embedded-without-uri", "tools/embedded", |asked, m| {
        blocks(asked, m, "test_embedded_resource", |block| without(&mut block["resource"], "uri"));
    }),
    message("embedded-without-content", "tools/embedded", |asked, m| {
        blocks(asked, m, "test_embedded_resource", |b| without(&mut b["resource"], "text"));
    }),
    message("embedded-without-capability", "tools/embedded-declared", |asked, m| {
        if let Some(result) = result(asked, m, "initialize") {
            without(&mut result["capabilities"], "resources");
        }
    }),
    message("blocks-out-of-order", "tools/mixed", |asked, m| {
        of(asked, m, "test_multiple_content_types", |result| {
            if let Some(content) = result["content"].as_array_mut() {
                content.reverse();
            }
        });
    }),
    message("failure-without-flag", "tools/is-error", |asked, m| {
        of(asked, m, "test_error_handling", |result| without(result, "isError"));
    }),
    deal("failure-as-protocol-error", "tools/is-error", |text| {
        refuses(text, -32603, |r| is_call(r, "test_error_handling"))
    }),
    message("success-as-failure", "tools/is-error-not", |asked, m| {
        of(asked, m, "test_simple_text", |result| result["isError"] = json!(true));
    }),
    message("structured-left-out", "tools/structured", |asked, m| {
        if let Some(result) = result(asked, m, "tools/call") {
            without(result, "structuredContent");
        }
    }),
    message("structured-as-list", "tools/structured", |asked, m| {
        if let Some(result) = result(asked, m, "tools/call") {
            result["structuredContent"] = json!([result["structuredContent"].clone()]);
        }
    }),
    message("structured-misfit", "tools/structured", |asked, m| {
        if let Some(result) = result(asked, m, "tools/call") {
            result["structuredContent"] = json!({"unheard": "of"});
        }
    }),
    message("structured-without-text", "tools/structured", |asked, m| {
        if let Some(result) = result(asked, m, "tools/call") {
            result["content"] = json!([]);
        }
    }),
    message("progress-token-as-text", "tools/progress", |_, m| {
        progress(m, |params| {
            let token = params["progressToken"].to_string();
            params["progressToken"] = json!(token);
        });
    }),
    message("progress-without-token", "tools/progress", |_, m| {
        progress(m, |params| without(params, "progressToken"));
    }),
    message("progress-stands-still", "tools/progress", |_, m| {
        progress(m, |params| params["progress"] = json!(1));
    }),
    message("progress-goes-back", "tools/progress", |_, m| {
        progress(m, |params| {
            let progress = params["progress"].as_f64().unwrap_or_default();
            params["progress"] = json!(100.0 - progress);
        });
    }),
    messages("progress-is-silent", "tools/progress", |_, m| {
        if m["method"] == "notifications/progress" { Vec::new() } else { vec![m] }
    }),
    messages("progress-unasked", "tools/progress-unasked", |asked, m| {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": 0, "progress": 1}});
        if is_call(asked, PROGRESS) { vec![notice, m] } else { vec![m] }
    }),
    messages("progress-goes-on", "tools/progress-ends", |asked, m| {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": 5, "progress": 1000}});
        if asked["method"] == "ping" { vec![notice, m] } else { vec![m] }
    }),
    message("schema-loses-defs", "tools/schema-kept", |asked, m| {
        each(asked, m, |tool| without(&mut tool["inputSchema"], "$defs"));
    }),
    message("schema-loses-dialect", "tools/schema-kept", |asked, m| {
        each(asked, m, |tool| without(&mut tool["inputSchema"], "$schema"));
    }),
    message("schema-loses-additional", "tools/schema-kept", |asked, m| {
        each(asked, m, |tool| without(&mut tool["inputSchema"], "additionalProperties"));
    }),
    message("sampling-without-tokens", "tools/sampling", |_, m| {
        question(m, "sampling/createMessage", |params| without(params, "maxTokens"));
    }),
    message("sampling-without-messages", "tools/sampling", |_, m| {
        question(m, "sampling/createMessage", |params| without(params, "messages"));
    }),
    message("sampled-answer-unused", "tools/sampling", |asked, m| {
        blocks(asked, m, "test_sampling", |block| block["text"] = json!("nothing"));
    }),
    messages("samples-whom-it-may-not", "tools/sampling-undeclared", |asked, m| {
        asks(asked, m, "test_sampling", "sampling/createMessage")
    }),
    message("form-without-message", "tools/elicitation", |_, m| {
        question(m, "elicitation/create", |params| without(params, "message"));
    }),
    message("form-without-schema", "tools/elicitation", |_, m| {
        question(m, "elicitation/create", |params| without(params, "requestedSchema"));
    }),
    message("form-of-unknown-mode", "tools/elicitation", |_, m| {
        question(m, "elicitation/create", |params| params["mode"] = json!("dialog"));
    }),
    message("form-with-objects", "tools/elicitation", |_, m| {
        question(m, "elicitation/create", |params| {
            params["requestedSchema"]["properties"]["address"] = json!({"type": "object"});
        });
    }),
    messages("elicits-whom-it-may-not", "tools/elicitation-undeclared", |asked, m| {
        asks(asked, m, "test_elicitation", "elicitation/create")
    }),
    messages("elicits-in-other-mode", "tools/elicitation-url-only", |asked, m| {
        asks(asked, m, "test_elicitation", "elicitation/create")
    }),
    message("decline-is-an-error", "tools/elicitation-declined", |asked, m| {
        if is_call(asked, "test_elicitation") {
            without(m, "result");
            m["error"] = json!({"code": -32603, "message": "declined"});
        }
    }),
    message("misfit-answer-taken", "tools/elicitation-misfit", |asked, m| {
        if is_call(asked, "test_elicitation") {
            without(m, "error");
            m["result"] = json!({"content": []});
        }
    }),
    message("client-error-as-unknown", "tools/client-error", |asked, m| {
        if is_call(asked, "test_sampling") {
            without(m, "result");
            m["error"] = json!({"code": -32601, "message": "no"});
        }
    }),
];
