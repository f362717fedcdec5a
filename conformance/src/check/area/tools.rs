//! Tools.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::talk::{Talk, filled, is_error};
use super::super::{Check, Fault, Outcome, Site, both, ensure, fail, skip};

/// The conversation, and every tool.
fn tools(site: &Site) -> Result<(Talk<'_>, Vec<Value>), Fault> {
    let mut talk = site.with("tools")?;
    let tools = super::every(&mut talk, "tools/list", "tools")?;
    if tools.is_empty() {
        return skip("there is no tool");
    }
    Ok((talk, tools))
}

/// Holds for each tool.
fn each(site: &Site, holds: fn(&Value) -> bool) -> Outcome {
    for tool in tools(site)?.1 {
        ensure(holds(&tool), || tool.to_string())?;
    }
    Ok(())
}

/// Calls a tool of the public suite, if there is one.
fn call<'s>(site: &'s Site, name: &str, arguments: Value) -> Result<(Talk<'s>, Value), Fault> {
    let (mut talk, tools) = tools(site)?;
    if !tools.iter().any(|tool| tool["name"] == name) {
        return skip(format!("there is no tool {name}"));
    }
    let params = json!({"name": name, "arguments": arguments});
    let result = talk.result("tools/call", params)?;
    Ok((talk, result))
}

/// The first block of this type that a tool of the public suite answers with.
fn block(site: &Site, tool: &str, kind: &str) -> Result<Value, Fault> {
    let result = call(site, tool, json!({}))?.1;
    let blocks = result["content"].as_array().cloned().unwrap_or_default();
    match blocks.into_iter().find(|block| block["type"] == kind) {
        Some(block) => Ok(block),
        None => fail(format!("there is no {kind} in {result}")),
    }
}

/// A tool with a property of a type, and a value that is not of that type.
fn misfit(tools: &[Value]) -> Option<(String, Value)> {
    tools.iter().find_map(|tool| {
        let properties = tool["inputSchema"]["properties"].as_object()?;
        let (name, wrong) =
            properties.iter().find_map(|(name, schema)| match schema["type"].as_str()? {
                "string" => Some((name, json!({"not": ["a", "string"]}))),
                "number" | "integer" => Some((name, json!("not a number"))),
                _ => None,
            })?;
        Some((tool["name"].as_str()?.to_owned(), json!({name: wrong})))
    })
}

fn is_base64(value: &Value) -> bool {
    value.as_str().is_some_and(super::is_base64)
}

pub(super) const CHECKS: &[Check] = &[
    both("tools/list", &["TOOLS-005"], "tools/list has a list of tools", |site| {
        let list = site.with("tools")?.result("tools/list", json!({}))?;
        ensure(list["tools"].is_array(), || list.to_string())
    }),
    both("tools/list-without-params", &["BASE-003"], "tools/list needs no params", |site| {
        let mut talk = site.with("tools")?;
        let answer = talk.exchange(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}))?;
        ensure(answer["result"]["tools"].is_array(), || answer.to_string())
    }),
    both("tools/name", &["TOOLS-023"], "each tool has a name of 1 to 128 characters", |site| {
        each(site, |tool| tool["name"].as_str().is_some_and(|n| (1..=128).contains(&n.len())))
    }),
    both(
        "tools/name-characters",
        &["TOOLS-025", "TOOLS-026"],
        "names have letters, digits, _ - .",
        |site| {
            each(site, |tool| {
                let name = tool["name"].as_str().unwrap_or_default();
                name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
            })
        },
    ),
    both("tools/name-unique", &["TOOLS-027"], "no name is there twice", |site| {
        let tools = tools(site)?.1;
        let names: BTreeSet<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        ensure(names.len() == tools.len(), || {
            format!("{} names, {} tools", names.len(), tools.len())
        })
    }),
    both("tools/input-schema", &["TOOLS-011"], "each tool has an input schema", |site| {
        each(site, |tool| tool["inputSchema"].is_object())
    }),
    both("tools/input-schema-type", &["TOOLS-012"], "the input schema is of type object", |site| {
        each(site, |tool| tool["inputSchema"]["type"] == "object")
    }),
    both(
        "tools/input-schema-valid",
        &["TOOLS-015", "SCHEMA-009", "SCHEMA-005"],
        "the input schema is one",
        |site| each(site, |tool| jsonschema::validator_for(&tool["inputSchema"]).is_ok()),
    ),
    both(
        "tools/output-schema-type",
        &["TOOLS-017"],
        "an output schema is of type object",
        |site| {
            each(site, |tool| {
                tool.get("outputSchema").is_none_or(|schema| schema["type"] == "object")
            })
        },
    ),
    both(
        "tools/output-schema-valid",
        &["TOOLS-015", "SCHEMA-009"],
        "an output schema is one",
        |site| {
            each(site, |tool| {
                tool.get("outputSchema").is_none_or(|s| jsonschema::validator_for(s).is_ok())
            })
        },
    ),
    both("tools/texts", &["TOOLS-005"], "title and description are texts", |site| {
        each(site, |tool| {
            ["title", "description"].iter().all(|n| tool.get(*n).is_none_or(Value::is_string))
        })
    }),
    both("tools/hints", &["TOOLS-020"], "hints are booleans", |site| {
        each(site, |tool| {
            let hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
            hints.iter().all(|n| tool["annotations"].get(*n).is_none_or(Value::is_boolean))
        })
    }),
    both("tools/task-support", &["TASK-006"], "taskSupport is one of three words", |site| {
        each(site, |tool| {
            tool["execution"].get("taskSupport").is_none_or(|word| {
                ["forbidden", "optional", "required"].iter().any(|known| word == known)
            })
        })
    }),
    both(
        "tools/list-again",
        &["PAGE-005"],
        "a list that did not change is the same again",
        |site| {
            let (mut talk, first) = tools(site)?;
            let second = super::every(&mut talk, "tools/list", "tools")?;
            ensure(first == second, || "the second list differs".to_owned())
        },
    ),
    both("tools/list-changed-flag", &["TOOLS-006"], "listChanged is a boolean", |site| {
        let talk = site.with("tools")?;
        let flag = talk.welcome["capabilities"]["tools"].get("listChanged");
        ensure(flag.is_none_or(Value::is_boolean), || format!("{flag:?}"))
    }),
    both("tools/unknown", &["TOOLS-038", "TOOLS-042"], "an unknown tool is -32602", |site| {
        let mut talk = site.with("tools")?;
        talk.refused("tools/call", json!({"name": "no such tool", "arguments": {}}), &[-32602])
    }),
    both("tools/case", &["TOOLS-024", "TOOLS-038"], "names of tools are case-sensitive", |site| {
        let (mut talk, tools) = tools(site)?;
        let name = tools.first().and_then(|t| t["name"].as_str()).unwrap_or_default();
        let other = name.to_ascii_uppercase();
        if tools.iter().any(|tool| tool["name"] == other) {
            return skip("that name is taken");
        }
        talk.refused("tools/call", json!({"name": other}), &[-32602])
    }),
    both(
        "tools/call-unknown-survived",
        &["TOOLS-038"],
        "after an unknown tool all goes on",
        |site| {
            let mut talk = site.with("tools")?;
            talk.ask("tools/call", json!({"name": "no such tool"}))?;
            talk.lives()
        },
    ),
    both(
        "tools/arguments-array",
        &["TOOLS-039"],
        "arguments that are a list are refused",
        |site| {
            let (mut talk, tools) = tools(site)?;
            let name = tools.first().map(|tool| tool["name"].clone());
            talk.refused("tools/call", json!({"name": name, "arguments": [1]}), &[-32602])
        },
    ),
    both(
        "tools/arguments-misfit",
        &["TOOLS-041", "TOOLS-046"],
        "a bad argument is an isError result",
        |site| {
            let (mut talk, tools) = tools(site)?;
            let Some((name, arguments)) = misfit(&tools) else {
                return skip("no tool has arguments");
            };
            let answer = talk.ask("tools/call", json!({"name": name, "arguments": arguments}))?;
            ensure(answer["result"]["isError"] == true, || answer.to_string())
        },
    ),
    both(
        "tools/arguments-missing",
        &["TOOLS-041", "TOOLS-046"],
        "a missing argument is an isError result",
        |site| {
            let (mut talk, tools) = tools(site)?;
            let has_required =
                |t: &&Value| t["inputSchema"]["required"].as_array().is_some_and(|r| !r.is_empty());
            let Some(tool) = tools.iter().find(has_required) else {
                return skip("no tool requires an argument");
            };
            let answer = talk.ask("tools/call", json!({"name": tool["name"], "arguments": {}}))?;
            ensure(answer["result"]["isError"] == true, || answer.to_string())
        },
    ),
    both("tools/content", &["TOOLS-028"], "a result has content", |site| {
        let result = call(site, "test_simple_text", json!({}))?.1;
        ensure(result["content"].is_array(), || result.to_string())
    }),
    both("tools/no-arguments", &["TOOLS-014"], "arguments may be left out", |site| {
        let (mut talk, _) = call(site, "test_simple_text", json!({}))?;
        let result = talk.result("tools/call", json!({"name": "test_simple_text"}))?;
        ensure(result["isError"] != true, || result.to_string())
    }),
    both("tools/text", &["TOOLS-029"], "a text has text", |site| {
        let block = block(site, "test_simple_text", "text")?;
        ensure(block["text"].is_string(), || block.to_string())
    }),
    both("tools/image", &["TOOLS-029"], "an image has a MIME type and Base64", |site| {
        let block = block(site, "test_image_content", "image")?;
        let typed = block["mimeType"].as_str().is_some_and(|kind| kind.starts_with("image/"));
        ensure(typed && is_base64(&block["data"]), || block.to_string())
    }),
    both("tools/audio", &["TOOLS-029"], "a sound has a MIME type and Base64", |site| {
        let block = block(site, "test_audio_content", "audio")?;
        let typed = block["mimeType"].as_str().is_some_and(|kind| kind.starts_with("audio/"));
        ensure(typed && is_base64(&block["data"]), || block.to_string())
    }),
    both(
        "tools/embedded",
        &["TOOLS-032"],
        "an embedded resource has a URI and text or a blob",
        |site| {
            let block = block(site, "test_embedded_resource", "resource")?;
            let resource = &block["resource"];
            let has = resource["text"].is_string() != resource["blob"].is_string();
            ensure(has && super::is_uri(&resource["uri"]), || block.to_string())
        },
    ),
    both(
        "tools/embedded-declared",
        &["TOOLS-033"],
        "who embeds resources has the capability",
        |site| {
            let (talk, result) = call(site, "test_embedded_resource", json!({}))?;
            ensure(talk.need("resources").is_ok(), || result.to_string())
        },
    ),
    both("tools/mixed", &["TOOLS-029"], "content may be of several types, in order", |site| {
        let result = call(site, "test_multiple_content_types", json!({}))?.1;
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let kinds: Vec<_> = blocks.iter().filter_map(|block| block["type"].as_str()).collect();
        ensure(kinds == ["text", "image", "resource"], || result.to_string())
    }),
    both("tools/is-error", &["TOOLS-040"], "a failing tool has an isError result", |site| {
        let result = call(site, "test_error_handling", json!({}))?.1;
        let text = result["content"][0]["text"].is_string();
        ensure(result["isError"] == true && text, || result.to_string())
    }),
    both("tools/is-error-not", &["TOOLS-043"], "a working tool has none", |site| {
        let result = call(site, "test_simple_text", json!({}))?.1;
        ensure(result.get("isError").is_none_or(|flag| flag == false), || result.to_string())
    }),
    both(
        "tools/structured",
        &["TOOLS-034", "TOOLS-035", "TOOLS-036"],
        "structured results fit the schema and are there as text",
        |site| {
            let (mut talk, tools) = tools(site)?;
            let Some(tool) = tools.iter().find(|tool| tool.get("outputSchema").is_some()) else {
                return skip("no tool has an output schema");
            };
            let required = tool["inputSchema"]["required"].as_array().into_iter().flatten();
            let arguments: serde_json::Map<_, _> = required
                .filter_map(Value::as_str)
                .map(|n| (n.to_owned(), filled(&tool["inputSchema"]["properties"][n])))
                .collect();
            let params = json!({"name": tool["name"], "arguments": arguments});
            let result = talk.result("tools/call", params)?;
            if result["isError"] == true {
                return skip(format!("the tool fails with {arguments:?}"));
            }
            let structured = &result["structuredContent"];
            ensure(structured.is_object(), || result.to_string())?;
            let Ok(schema) = jsonschema::validator_for(&tool["outputSchema"]) else {
                return fail("the output schema is none");
            };
            ensure(schema.is_valid(structured), || result.to_string())?;
            let texts = result["content"].as_array().cloned().unwrap_or_default();
            let is_twin = |block: &Value| {
                let text = block["text"].as_str().unwrap_or_default();
                serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured)
            };
            ensure(texts.iter().any(is_twin), || format!("the text differs: {result}"))
        },
    ),
    both(
        "tools/progress",
        &["PROGRESS-004", "PROGRESS-005", "PROGRESS-019"],
        "progress has the token and grows",
        |site| {
            for token in [json!("a token"), json!(17)] {
                let (mut talk, tools) = tools(site)?;
                if !tools.iter().any(|tool| tool["name"] == "test_tool_with_progress") {
                    return skip("there is no tool test_tool_with_progress");
                }
                let params = json!({"name": "test_tool_with_progress", "arguments": {},
                "_meta": {"progressToken": token}});
                talk.result("tools/call", params)?;
                let mut last = f64::MIN;
                for notice in talk.heard_of("notifications/progress") {
                    let params = &notice["params"];
                    let progress = params["progress"].as_f64().unwrap_or(f64::MIN);
                    ensure(params["progressToken"] == token, || notice.to_string())?;
                    ensure(progress > last, || format!("{notice} after {last}"))?;
                    last = progress;
                }
                ensure(last > f64::MIN, || "there was no progress".to_owned())?;
            }
            Ok(())
        },
    ),
    both(
        "tools/progress-unasked",
        &["PROGRESS-008"],
        "without a token there is no progress",
        |site| {
            let (mut talk, _) = call(site, "test_tool_with_progress", json!({}))?;
            talk.lives()?;
            let odd = talk.heard_of("notifications/progress").next();
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    both(
        "tools/progress-ends",
        &["PROGRESS-009", "PROGRESS-018"],
        "after the result there is no progress",
        |site| {
            let (mut talk, tools) = tools(site)?;
            if !tools.iter().any(|tool| tool["name"] == "test_tool_with_progress") {
                return skip("there is no tool test_tool_with_progress");
            }
            talk.result(
                "tools/call",
                json!({"name": "test_tool_with_progress",
            "_meta": {"progressToken": 5}}),
            )?;
            let count = talk.heard_of("notifications/progress").count();
            talk.stays_silent()?;
            ensure(talk.heard_of("notifications/progress").count() == count, || {
                "there is".to_owned()
            })
        },
    ),
    both(
        "tools/schema-kept",
        &["SCHEMA-003", "TOOLS-015"],
        "keywords of 2020-12 reach the client",
        |site| {
            let tools = tools(site)?.1;
            let Some(tool) = tools.iter().find(|tool| tool["name"] == "json_schema_2020_12_tool")
            else {
                return skip("there is no tool json_schema_2020_12_tool");
            };
            let schema = &tool["inputSchema"];
            let kept = schema["$schema"].is_string()
                && schema["$defs"]["address"].is_object()
                && schema["additionalProperties"] == false;
            ensure(kept, || schema.to_string())
        },
    ),
    both(
        "tools/sampling",
        &["SAMPLING-001", "LIFE-030"],
        "a tool asks the client's model",
        |site| {
            let (talk, result) = call(site, "test_sampling", json!({"prompt": "Say something"}))?;
            let asked = talk.heard_of("sampling/createMessage").next().cloned().unwrap_or_default();
            let params = &asked["params"];
            let fits = params["messages"].is_array() && params["maxTokens"].is_u64();
            ensure(fits, || format!("{asked}, then {result}"))?;
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            ensure(text.contains("a sampled answer"), || result.to_string())
        },
    ),
    both(
        "tools/sampling-undeclared",
        &["LIFE-030"],
        "a client without sampling is not asked",
        |site| {
            let (_, _) = call(site, "test_sampling", json!({"prompt": "x"}))?;
            let mut talk = site.open()?;
            talk.greet_with("2025-11-25", json!({}))?;
            let params = json!({"name": "test_sampling", "arguments": {"prompt": "x"}});
            talk.ask("tools/call", params)?;
            let odd = talk.heard_of("sampling/createMessage").next();
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    both(
        "tools/elicitation",
        &["ELICIT-011", "ELICIT-014", "ELICIT-015"],
        "a tool asks the user with a form",
        |site| {
            let (talk, _) = call(site, "test_elicitation", json!({"message": "Who are you?"}))?;
            let asked = talk.heard_of("elicitation/create").next().cloned().unwrap_or_default();
            let params = &asked["params"];
            let schema = &params["requestedSchema"];
            let fits = params["message"].is_string()
                && params.get("mode").is_none_or(|mode| mode == "form")
                && schema["type"] == "object";
            ensure(fits, || asked.to_string())?;
            let fields = schema["properties"].as_object().cloned().unwrap_or_default();
            let flat = fields.values().all(|field| {
                ["string", "number", "integer", "boolean", "array"]
                    .iter()
                    .any(|t| field["type"] == *t)
            });
            ensure(flat && !fields.is_empty(), || schema.to_string())
        },
    ),
    both(
        "tools/elicitation-undeclared",
        &["ELICIT-010", "LIFE-030"],
        "a client without elicitation is not asked",
        |site| {
            let (_, _) = call(site, "test_elicitation", json!({"message": "x"}))?;
            let mut talk = site.open()?;
            talk.greet_with("2025-11-25", json!({"sampling": {}}))?;
            talk.ask(
                "tools/call",
                json!({"name": "test_elicitation", "arguments": {"message": "x"}}),
            )?;
            let odd = talk.heard_of("elicitation/create").next();
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    both(
        "tools/elicitation-url-only",
        &["ELICIT-010"],
        "a client with URLs only gets no form",
        |site| {
            let (_, _) = call(site, "test_elicitation", json!({"message": "x"}))?;
            let mut talk = site.open()?;
            talk.greet_with("2025-11-25", json!({"elicitation": {"url": {}}}))?;
            talk.ask(
                "tools/call",
                json!({"name": "test_elicitation", "arguments": {"message": "x"}}),
            )?;
            let odd = talk.heard_of("elicitation/create").next();
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
    both("tools/elicitation-declined", &["ELICIT-038"], "no is an answer", |site| {
        for action in ["decline", "cancel"] {
            let (mut talk, tools) = tools(site)?;
            if !tools.iter().any(|tool| tool["name"] == "test_elicitation") {
                return skip("there is no tool test_elicitation");
            }
            talk.replies.insert("elicitation/create", json!({"result": {"action": action}}));
            let params = json!({"name": "test_elicitation", "arguments": {"message": "x"}});
            let answer = talk.ask("tools/call", params)?;
            ensure(answer.get("result").is_some(), || answer.to_string())?;
        }
        Ok(())
    }),
    both(
        "tools/elicitation-misfit",
        &["ELICIT-072"],
        "what does not fit the form is not taken",
        |site| {
            let (mut talk, tools) = tools(site)?;
            if !tools.iter().any(|tool| tool["name"] == "test_elicitation") {
                return skip("there is no tool test_elicitation");
            }
            let odd = json!({"result": {"action": "accept", "content": {"username": 5}}});
            talk.replies.insert("elicitation/create", odd);
            let params = json!({"name": "test_elicitation", "arguments": {"message": "x"}});
            let answer = talk.ask("tools/call", params)?;
            let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
            ensure(refused, || answer.to_string())
        },
    ),
    both("tools/client-error", &["BASE-015"], "an error of the client is no end", |site| {
        let (mut talk, tools) = tools(site)?;
        if !tools.iter().any(|tool| tool["name"] == "test_sampling") {
            return skip("there is no tool test_sampling");
        }
        talk.replies.insert(
            "sampling/createMessage",
            json!({"error": {"code": -1, "message": "User rejected sampling request"}}),
        );
        let params = json!({"name": "test_sampling", "arguments": {"prompt": "x"}});
        let answer = talk.ask("tools/call", params)?;
        if answer.get("error").is_some() {
            is_error(&answer, &[-1, -32603])?;
        }
        talk.lives()
    }),
];
