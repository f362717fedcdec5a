//! Prompts.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::talk::Talk;
use super::super::{Check, Fault, Outcome, Site, both, ensure, skip};

const PARAMS: i64 = -32602;

fn prompts(site: &Site) -> Result<(Talk<'_>, Vec<Value>), Fault> {
    let mut talk = site.with("prompts")?;
    let prompts = super::every(&mut talk, "prompts/list", "prompts")?;
    if prompts.is_empty() {
        return skip("there is no prompt");
    }
    Ok((talk, prompts))
}

fn each(site: &Site, holds: fn(&Value) -> bool) -> Outcome {
    for prompt in prompts(site)?.1 {
        ensure(holds(&prompt), || prompt.to_string())?;
    }
    Ok(())
}

/// Arguments for every name that a prompt has.
fn arguments(prompt: &Value) -> Map<String, Value> {
    let names = prompt["arguments"].as_array().into_iter().flatten();
    names.filter_map(|a| Some((a["name"].as_str()?.to_owned(), json!("test://value")))).collect()
}

/// Holds for each message of each prompt.
fn each_message(site: &Site, holds: fn(&Value) -> bool) -> Outcome {
    let (mut talk, prompts) = prompts(site)?;
    for prompt in prompts.iter().take(20) {
        let params = json!({"name": prompt["name"], "arguments": arguments(prompt)});
        let result = talk.result("prompts/get", params)?;
        let messages = result["messages"].as_array();
        ensure(messages.is_some_and(|m| m.iter().all(holds)), || format!("{prompt}: {result}"))?;
    }
    Ok(())
}

/// Holds for the content of the messages that are of this type.
fn content(message: &Value, kind: &str, holds: impl FnOnce(&Value) -> bool) -> bool {
    message["content"]["type"] != kind || holds(&message["content"])
}

pub(super) const CHECKS: &[Check] = &[
    both("prompts/list", &["PROMPTS-001"], "prompts/list has a list of prompts", |site| {
        let list = site.with("prompts")?.result("prompts/list", json!({}))?;
        ensure(list["prompts"].is_array(), || list.to_string())
    }),
    both("prompts/name", &["PROMPTS-006"], "each prompt has a name", |site| {
        each(site, |prompt| prompt["name"].as_str().is_some_and(|name| !name.is_empty()))
    }),
    both("prompts/name-unique", &["PROMPTS-007"], "no name is there twice", |site| {
        let prompts = prompts(site)?.1;
        let names: BTreeSet<_> = prompts.iter().filter_map(|p| p["name"].as_str()).collect();
        ensure(names.len() == prompts.len(), || format!("{} of {}", names.len(), prompts.len()))
    }),
    both("prompts/arguments", &["PROMPTS-006"], "arguments have names", |site| {
        each(site, |prompt| {
            let arguments = prompt["arguments"].as_array();
            prompt.get("arguments").is_none()
                || arguments.is_some_and(|all| all.iter().all(|a| a["name"].is_string()))
        })
    }),
    both("prompts/required", &["PROMPTS-006"], "required is a boolean", |site| {
        each(site, |prompt| {
            let mut arguments = prompt["arguments"].as_array().into_iter().flatten();
            arguments.all(|a| a.get("required").is_none_or(Value::is_boolean))
        })
    }),
    both("prompts/list-changed-flag", &["PROMPTS-002"], "listChanged is a boolean", |site| {
        let talk = site.with("prompts")?;
        let flag = talk.welcome["capabilities"]["prompts"].get("listChanged");
        ensure(flag.is_none_or(Value::is_boolean), || format!("{flag:?}"))
    }),
    both("prompts/get", &["PROMPTS-009"], "each prompt can be had", |site| {
        each_message(site, |_| true)
    }),
    both("prompts/role", &["PROMPTS-009"], "messages are of users and assistants", |site| {
        each_message(site, |message| message["role"] == "user" || message["role"] == "assistant")
    }),
    both("prompts/one-block", &["PROMPTS-009"], "a message has one content block", |site| {
        each_message(site, |message| {
            message["content"].is_object() && message["content"]["type"].is_string()
        })
    }),
    both("prompts/text", &["PROMPTS-009"], "a text has text", |site| {
        each_message(site, |message| content(message, "text", |c| c["text"].is_string()))
    }),
    both("prompts/image", &["PROMPTS-010"], "an image is Base64 and has its type", |site| {
        each_message(site, |message| {
            content(message, "image", |c| {
                let typed = c["mimeType"].as_str().is_some_and(|kind| kind.starts_with("image/"));
                typed && c["data"].as_str().is_some_and(super::is_base64)
            })
        })
    }),
    both("prompts/embedded-uri", &["PROMPTS-012"], "an embedded resource has a URI", |site| {
        each_message(site, |message| {
            content(message, "resource", |c| super::is_uri(&c["resource"]["uri"]))
        })
    }),
    both(
        "prompts/embedded-kind",
        &["PROMPTS-014"],
        "an embedded resource has text or a blob",
        |site| {
            each_message(site, |message| {
                content(message, "resource", |c| {
                    c["resource"]["text"].is_string() != c["resource"]["blob"].is_string()
                })
            })
        },
    ),
    both("prompts/substituted", &["PROMPTS-008"], "arguments reach the prompt", |site| {
        let (mut talk, prompts) = prompts(site)?;
        if !prompts.iter().any(|prompt| prompt["name"] == "test_prompt_with_arguments") {
            return skip("there is no prompt test_prompt_with_arguments");
        }
        let params = json!({"name": "test_prompt_with_arguments",
            "arguments": {"arg1": "first ü", "arg2": "second \"2\""}});
        let result = talk.result("prompts/get", params)?;
        let text = result["messages"][0]["content"]["text"].as_str().unwrap_or_default();
        let has = text.contains("first ü") && text.contains("second \"2\"");
        ensure(has, || result.to_string())
    }),
    both("prompts/unknown", &["PROMPTS-016"], "an unknown prompt is -32602", |site| {
        site.with("prompts")?.refused("prompts/get", json!({"name": "no such"}), &[PARAMS])
    }),
    both("prompts/no-name", &["BASE-022"], "prompts/get without a name is -32602", |site| {
        site.with("prompts")?.refused("prompts/get", json!({}), &[PARAMS])
    }),
    both(
        "prompts/argument-missing",
        &["PROMPTS-017"],
        "a missing required argument is -32602",
        |site| {
            let (mut talk, prompts) = prompts(site)?;
            let requires = |prompt: &&Value| {
                let mut arguments = prompt["arguments"].as_array().into_iter().flatten();
                arguments.any(|a| a["required"] == true)
            };
            let Some(prompt) = prompts.iter().find(requires) else {
                return skip("no prompt requires an argument");
            };
            talk.refused("prompts/get", json!({"name": prompt["name"]}), &[PARAMS])
        },
    ),
    both(
        "prompts/argument-number",
        &["PROMPTS-008", "PROMPTS-019"],
        "an argument that is no string is -32602",
        |site| {
            let (mut talk, prompts) = prompts(site)?;
            let Some(prompt) = prompts.iter().find(|prompt| !arguments(prompt).is_empty()) else {
                return skip("no prompt has arguments");
            };
            let all: Map<_, _> =
                arguments(prompt).into_iter().map(|(n, _)| (n, json!(5))).collect();
            let params = json!({"name": prompt["name"], "arguments": all});
            talk.refused("prompts/get", params, &[PARAMS])
        },
    ),
    both(
        "prompts/unknown-survived",
        &["PROMPTS-016"],
        "after an unknown prompt all goes on",
        |site| {
            let mut talk = site.with("prompts")?;
            talk.ask("prompts/get", json!({"name": "no such"}))?;
            talk.lives()
        },
    ),
];
