//! Completion, logging, paging, cancellation.

use serde_json::{Value, json};

use super::super::talk::Talk;
use super::super::{Check, Fault, Outcome, Site, both, ensure, skip, stdio};

const PARAMS: i64 = -32602;
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The completion of something that begins so, for a prompt of the public suite.
fn complete(talk: &mut Talk<'_>, start: &str) -> Result<Value, Fault> {
    let params = json!({"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": start}});
    let mut answer = talk.ask("completion/complete", params)?;
    match answer.get_mut("result") {
        Some(result) => Ok(result["completion"].take()),
        None => skip(format!("the prompt of the public suite has no completion: {answer}")),
    }
}

fn completing(site: &Site) -> Result<Talk<'_>, Fault> {
    site.with("completions")
}

/// Calls the tool of the public suite that logs, at a level.
fn logged(site: &Site, level: &str) -> Result<Vec<Value>, Fault> {
    let mut talk = site.with("logging")?;
    talk.result("logging/setLevel", json!({"level": level}))?;
    if talk.need("tools").is_err() {
        return skip("the server has no tools");
    }
    let tools = super::every(&mut talk, "tools/list", "tools")?;
    if !tools.iter().any(|tool| tool["name"] == "test_tool_with_logging") {
        return skip("there is no tool test_tool_with_logging");
    }
    talk.result("tools/call", json!({"name": "test_tool_with_logging"}))?;
    talk.lives()?;
    Ok(talk.heard_of("notifications/message").cloned().collect())
}

/// An unknown cursor is refused.
fn bad_cursor(site: &Site, capability: &str, method: &str, cursor: Value) -> Outcome {
    let mut talk = site.with(capability)?;
    talk.refused(method, json!({"cursor": cursor}), &[PARAMS])?;
    talk.lives()
}

pub(super) const CHECKS: &[Check] = &[
    both(
        "completion/values",
        &["COMPLETION-004"],
        "there are at most 100 values, all texts",
        |site| {
            let completion = complete(&mut completing(site)?, "")?;
            let values = completion["values"].as_array();
            let fits = values.is_some_and(|v| v.len() <= 100 && v.iter().all(Value::is_string));
            ensure(fits, || completion.to_string())
        },
    ),
    both("completion/prefix", &["COMPLETION-007"], "the values fit what was typed", |site| {
        let completion = complete(&mut completing(site)?, "par")?;
        let mut values = completion["values"].as_array().into_iter().flatten();
        let fit =
            values.all(|value| value.as_str().is_some_and(|v| v.to_lowercase().contains("par")));
        ensure(fit, || completion.to_string())
    }),
    both("completion/total", &["COMPLETION-005"], "a total is not less than the values", |site| {
        let completion = complete(&mut completing(site)?, "p")?;
        let count = completion["values"].as_array().map_or(0, Vec::len) as u64;
        let total = completion.get("total");
        ensure(total.is_none_or(|t| t.as_u64() >= Some(count)), || completion.to_string())
    }),
    both(
        "completion/has-more",
        &["COMPLETION-006"],
        "hasMore is a boolean that fits the total",
        |site| {
            let completion = complete(&mut completing(site)?, "p")?;
            let more = completion.get("hasMore");
            ensure(more.is_none_or(Value::is_boolean), || completion.to_string())?;
            let count = completion["values"].as_array().map_or(0, Vec::len) as u64;
            let all = completion["total"].as_u64() == Some(count);
            ensure(!(all && more == Some(&json!(true))), || completion.to_string())
        },
    ),
    both("completion/unknown-prompt", &["COMPLETION-009"], "an unknown prompt is -32602", |site| {
        let params = json!({"ref": {"type": "ref/prompt", "name": "no such"},
            "argument": {"name": "a", "value": ""}});
        completing(site)?.refused("completion/complete", params, &[PARAMS])
    }),
    both("completion/no-argument", &["COMPLETION-010"], "a missing argument is -32602", |site| {
        let params = json!({"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"}});
        completing(site)?.refused("completion/complete", params, &[PARAMS])
    }),
    both(
        "completion/bad-ref",
        &["COMPLETION-002", "COMPLETION-019"],
        "an unknown kind of reference is -32602",
        |site| {
            let params = json!({"ref": {"type": "ref/tool", "name": "x"},
            "argument": {"name": "a", "value": ""}});
            completing(site)?.refused("completion/complete", params, &[PARAMS])
        },
    ),
    both(
        "completion/value-number",
        &["COMPLETION-019"],
        "a value that is no text is -32602",
        |site| {
            let params = json!({"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": 5}});
            completing(site)?.refused("completion/complete", params, &[PARAMS])
        },
    ),
    both("completion/context", &["COMPLETION-003"], "earlier arguments may be given", |site| {
        let mut talk = completing(site)?;
        complete(&mut talk, "")?;
        let params = json!({"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
            "argument": {"name": "arg1", "value": "p"}, "context": {"arguments": {"arg2": "x"}}});
        talk.result("completion/complete", params).map(drop)
    }),
    both("logging/set-level", &["LOGGING-002"], "each of the eight levels can be set", |site| {
        let mut talk = site.with("logging")?;
        for level in LEVELS {
            let result = talk.result("logging/setLevel", json!({"level": level}))?;
            let empty = result.as_object().is_some_and(|r| r.keys().all(|key| key == "_meta"));
            ensure(empty, || result.to_string())?;
        }
        Ok(())
    }),
    both(
        "logging/bad-level",
        &["LOGGING-007"],
        "a level that there is none of is -32602",
        |site| {
            site.with("logging")?.refused("logging/setLevel", json!({"level": "loud"}), &[PARAMS])
        },
    ),
    both("logging/no-level", &["BASE-022", "LOGGING-007"], "no level is -32602", |site| {
        site.with("logging")?.refused("logging/setLevel", json!({}), &[PARAMS])
    }),
    both(
        "logging/messages",
        &["LOGGING-002", "LOGGING-006"],
        "messages have a level and data",
        |site| {
            let messages = logged(site, "debug")?;
            ensure(!messages.is_empty(), || "nothing was logged".to_owned())?;
            for message in messages {
                let params = &message["params"];
                let known = LEVELS.iter().any(|level| params["level"] == *level);
                ensure(known && params.get("data").is_some(), || message.to_string())?;
            }
            Ok(())
        },
    ),
    both("logging/logger", &["LOGGING-006"], "a logger is a text", |site| {
        for message in logged(site, "debug")? {
            let logger = message["params"].get("logger");
            ensure(logger.is_none_or(Value::is_string), || message.to_string())?;
        }
        Ok(())
    }),
    both("logging/threshold", &["LOGGING-004"], "nothing below the level is sent", |site| {
        for message in logged(site, "emergency")? {
            ensure(message["params"]["level"] == "emergency", || message.to_string())?;
        }
        Ok(())
    }),
    both("logging/undeclared", &["LOGGING-001"], "who logs has the capability", |site| {
        let mut talk = site.ready()?;
        if talk.need("logging").is_ok() || talk.need("tools").is_err() {
            // What the capability allows is looked at elsewhere.
            return skip("the server has logging, or no tools");
        }
        talk.ask("tools/call", json!({"name": "test_tool_with_logging"}))?;
        let odd = talk.heard_of("notifications/message").next();
        ensure(odd.is_none(), || format!("{odd:?}"))
    }),
    both(
        "paging/tools-cursor",
        &["PAGE-012", "PAGE-006"],
        "an unknown cursor of tools is -32602",
        |site| bad_cursor(site, "tools", "tools/list", json!("no such cursor")),
    ),
    both(
        "paging/resources-cursor",
        &["PAGE-012", "PAGE-006"],
        "an unknown cursor of resources is -32602",
        |site| bad_cursor(site, "resources", "resources/list", json!("no such cursor")),
    ),
    both(
        "paging/templates-cursor",
        &["PAGE-012", "PAGE-006"],
        "an unknown cursor of templates is -32602",
        |site| bad_cursor(site, "resources", "resources/templates/list", json!("no such cursor")),
    ),
    both(
        "paging/prompts-cursor",
        &["PAGE-012", "PAGE-006"],
        "an unknown cursor of prompts is -32602",
        |site| bad_cursor(site, "prompts", "prompts/list", json!("no such cursor")),
    ),
    both(
        "paging/cursor-number",
        &["PAGE-009", "BASE-022"],
        "a number as a cursor is -32602",
        |site| bad_cursor(site, "tools", "tools/list", json!(5)),
    ),
    both("paging/next-cursor", &["PAGE-003"], "nextCursor is a text that is taken back", |site| {
        let mut talk = site.with("tools")?;
        let first = talk.result("tools/list", json!({}))?;
        let Some(cursor) = first.get("nextCursor") else { return Ok(()) };
        ensure(cursor.is_string(), || first.to_string())?;
        let second = talk.result("tools/list", json!({"cursor": cursor}))?;
        ensure(second["tools"] != first["tools"], || "the same page again".to_owned())
    }),
    both(
        "cancel/unknown",
        &["CANCEL-015"],
        "a cancellation of an unknown request is ignored",
        |site| {
            let mut talk = site.ready()?;
            talk.tell("notifications/cancelled", json!({"requestId": 98_765, "reason": "x"}))?;
            talk.stays_silent()
        },
    ),
    both(
        "cancel/finished",
        &["CANCEL-016", "CANCEL-012"],
        "a cancellation of a finished request is ignored",
        |site| {
            let mut talk = site.ready()?;
            talk.lives()?;
            talk.tell("notifications/cancelled", json!({"requestId": 2}))?;
            talk.stays_silent()
        },
    ),
    stdio("cancel/malformed", &["CANCEL-017"], "a malformed cancellation is ignored", |site| {
        let mut talk = site.ready()?;
        talk.tell("notifications/cancelled", json!({"requestId": [1]}))?;
        talk.tell("notifications/cancelled", json!({}))?;
        talk.stays_silent()
    }),
    stdio(
        "cancel/running",
        &["CANCEL-005", "CANCEL-007"],
        "a cancelled call is not answered",
        |site| {
            let mut talk = site.with("tools")?;
            let tools = super::every(&mut talk, "tools/list", "tools")?;
            if !tools.iter().any(|tool| tool["name"] == "test_sampling") {
                return skip("there is no tool test_sampling");
            }
            // Its question is not answered, so it waits.
            talk.replies.insert("sampling/createMessage", Value::Null);
            talk.say(&json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call",
            "params": {"name": "test_sampling", "arguments": {"prompt": "x"}}}))?;
            let wait = talk.wait();
            while talk.heard_of("sampling/createMessage").next().is_none() {
                if talk.line(wait)?.is_none() {
                    return skip("the tool did not ask");
                }
            }
            talk.tell("notifications/cancelled", json!({"requestId": "slow"}))?;
            talk.stays_silent()
        },
    ),
    both("ping/often", &["PING-001"], "each of 50 pings is answered", |site| {
        let mut talk = site.ready()?;
        (0..50).try_for_each(|_| talk.lives())
    }),
    both("ping/null-meta", &["PING-001"], "a ping may have empty params", |site| {
        let mut talk = site.ready()?;
        talk.result("ping", json!({"_meta": {}})).map(drop)
    }),
];
