use serde_json::{Value, json};

use super::{
    Break, Deal, answers, code, deal, items, message, messages, refuses, result, said, takes_for,
    without,
};

/// Changes every resource of a list.
fn listed(asked: &Value, message: &mut Value, change: impl FnMut(&mut Value)) {
    items(asked, message, "resources/list", "resources").for_each(change);
}

fn templates(asked: &Value, message: &mut Value, change: impl FnMut(&mut Value)) {
    items(asked, message, "resources/templates/list", "resourceTemplates").for_each(change);
}

/// Changes what is read.
fn read(asked: &Value, message: &mut Value, change: impl FnMut(&mut Value)) {
    items(asked, message, "resources/read", "contents").for_each(change);
}

fn prompts(asked: &Value, message: &mut Value, change: impl FnMut(&mut Value)) {
    items(asked, message, "prompts/list", "prompts").for_each(change);
}

/// Changes every message of a prompt.
fn got(asked: &Value, message: &mut Value, change: impl FnMut(&mut Value)) {
    items(asked, message, "prompts/get", "messages").for_each(change);
}

/// Changes the content of a message if it is of this type.
fn content(message: &mut Value, kind: &str, change: impl FnOnce(&mut Value)) {
    if message["content"]["type"] == kind {
        change(&mut message["content"]);
    }
}

fn uri(request: &Value) -> &str {
    request["params"]["uri"].as_str().unwrap_or_default()
}

/// A flag of a capability that is no boolean.
fn flag(asked: &Value, message: &mut Value, capability: &str) {
    if let Some(result) = result(asked, message, "initialize") {
        result["capabilities"][capability]["listChanged"] = json!("true");
    }
}

fn is_of(request: &Value, method: &str) -> bool {
    request["method"] == method
}

pub(super) const BREAKS: &[Break] = &[
    message("resources-as-object", "resources/list", |asked, m| {
        if let Some(result) = result(asked, m, "resources/list") {
            result["resources"] = json!({});
        }
    }),
    message("resource-without-name", "resources/name", |asked, m| {
        listed(asked, m, |resource| without(resource, "name"));
    }),
    message("resource-without-uri", "resources/uri", |asked, m| {
        listed(asked, m, |resource| without(resource, "uri"));
    }),
    message("resource-with-a-path", "resources/uri", |asked, m| {
        listed(asked, m, |resource| resource["uri"] = json!("/home/me/file"));
    }),
    message("resource-uri-twice", "resources/uri-unique", |asked, m| {
        listed(asked, m, |resource| resource["uri"] = json!("test://static-text"));
    }),
    message("resource-type-without-slash", "resources/mime-type", |asked, m| {
        listed(asked, m, |resource| resource["mimeType"] = json!("text"));
    }),
    message("resource-priority-of-five", "resources/priority", |asked, m| {
        listed(asked, m, |resource| resource["annotations"] = json!({"priority": 5}));
    }),
    message("resource-for-admins", "resources/audience", |asked, m| {
        listed(asked, m, |resource| resource["annotations"] = json!({"audience": ["admin"]}));
    }),
    message("resource-size-wrong", "resources/size", |asked, m| {
        listed(asked, m, |resource| resource["size"] = json!(1));
    }),
    message("resources-list-changed-as-text", "resources/list-changed-flag", |asked, m| {
        flag(asked, m, "resources");
    }),
    deal("listed-resource-is-gone", "resources/read", |text| {
        refuses(text, -32002, |r| is_of(r, "resources/read"))
    }),
    deal("resource-without-contents", "resources/read", |text| {
        answers(text, json!({"contents": []}), |r| is_of(r, "resources/read"))
    }),
    message("content-without-uri", "resources/content-uri", |asked, m| {
        read(asked, m, |content| without(content, "uri"));
    }),
    message("content-of-another-uri", "resources/content-own-uri", |asked, m| {
        read(asked, m, |content| content["uri"] = json!("test://another"));
    }),
    message("content-of-nothing", "resources/content-kind", |asked, m| {
        read(asked, m, |content| {
            without(content, "text");
            without(content, "blob");
        });
    }),
    message("content-of-both", "resources/content-kind", |asked, m| {
        read(asked, m, |content| {
            content["text"] = json!("");
            content["blob"] = json!("");
        });
    }),
    message("blob-in-hex", "resources/content-base64", |asked, m| {
        read(asked, m, |content| {
            if content["blob"].is_string() {
                content["blob"] = json!("0x89504e47");
            }
        });
    }),
    message("content-of-another-type", "resources/content-mime-type", |asked, m| {
        read(asked, m, |content| content["mimeType"] = json!("application/octet-stream"));
    }),
    message("image-as-text", "resources/binary-as-blob", |asked, m| {
        read(asked, m, |content| {
            if let Some(blob) = content.get("blob").cloned() {
                without(content, "blob");
                content["text"] = blob;
            }
        });
    }),
    message("unknown-resource-as-params", "resources/unknown", |asked, m| {
        code(asked, m, "resources/read", -32603);
    }),
    deal("unknown-resource-is-empty", "resources/unknown", |text| {
        answers(text, json!({"contents": []}), |r| uri(r).starts_with("nowhere:"))
    }),
    deal("unknown-resource-kills", "resources/unknown-survived", |text| {
        if text.contains("nowhere:") { Deal::Die } else { Deal::Pass }
    }),
    message("no-uri-as-not-found", "resources/no-uri", |asked, m| {
        code(asked, m, "resources/read", -32002);
    }),
    deal("takes-uri-as-number", "resources/uri-number", |text| {
        answers(text, json!({"contents": []}), |r| r["params"]["uri"] == 5)
    }),
    deal("takes-any-text-as-uri", "resources/uri-invalid", |text| {
        answers(text, json!({"contents": []}), |r| uri(r).contains(' '))
    }),
    deal("reads-the-whole-disk", "resources/traversal", |text| {
        let contents = json!({"contents": [{"uri": "file:///etc/passwd", "text": "root"}]});
        answers(text, contents, |r| uri(r) == "file:///etc/passwd")
    }),
    deal("reads-what-is-encoded", "resources/traversal", |text| {
        let contents = json!({"contents": [{"uri": "file:///etc/passwd", "text": "root"}]});
        answers(text, contents, |r| uri(r).contains("%2e"))
    }),
    message("template-without-name", "resources/templates", |asked, m| {
        templates(asked, m, |template| without(template, "name"));
    }),
    message("template-left-open", "resources/templates", |asked, m| {
        templates(asked, m, |template| template["uriTemplate"] = json!("test://{id"));
    }),
    message("template-nested", "resources/templates", |asked, m| {
        templates(asked, m, |template| template["uriTemplate"] = json!("test://{{id}}"));
    }),
    deal("template-is-not-read", "resources/template-read", |text| {
        refuses(text, -32002, |r| uri(r).starts_with("test://template/"))
    }),
    message("template-answers-by-itself", "resources/template-read", |asked, m| {
        read(asked, m, |content| content["uri"] = json!("test://template/{id}/data"));
    }),
    message("subscription-says-more", "resources/subscribe", |asked, m| {
        if let Some(result) = result(asked, m, "resources/subscribe") {
            result["subscribed"] = json!(true);
        }
    }),
    deal("no-way-to-unsubscribe", "resources/subscribe", |text| {
        refuses(text, -32601, |r| is_of(r, "resources/unsubscribe"))
    }),
    deal("subscribes-to-nothing", "resources/subscribe-no-uri", |text| {
        answers(text, json!({}), |r| {
            is_of(r, "resources/subscribe") && r["params"]["uri"].is_null()
        })
    }),
    messages("tells-everybody", "resources/not-subscribed", |asked, m| {
        let notice = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated",
            "params": {"uri": asked["params"]["uri"]}});
        if is_of(asked, "resources/read") { vec![notice, m] } else { vec![m] }
    }),
    message("prompts-as-object", "prompts/list", |asked, m| {
        if let Some(result) = result(asked, m, "prompts/list") {
            result["prompts"] = json!({});
        }
    }),
    message("prompt-without-name", "prompts/name", |asked, m| {
        prompts(asked, m, |prompt| without(prompt, "name"));
    }),
    message("prompt-name-twice", "prompts/name-unique", |asked, m| {
        prompts(asked, m, |prompt| prompt["name"] = json!("same"));
    }),
    message("prompt-arguments-as-object", "prompts/arguments", |asked, m| {
        prompts(asked, m, |prompt| prompt["arguments"] = json!({"a": "b"}));
    }),
    message("prompt-argument-without-name", "prompts/arguments", |asked, m| {
        prompts(asked, m, |prompt| prompt["arguments"] = json!([{"description": "x"}]));
    }),
    message("prompt-required-as-text", "prompts/required", |asked, m| {
        prompts(asked, m, |prompt| {
            prompt["arguments"] = json!([{"name": "a", "required": "yes"}]);
        });
    }),
    message("prompts-list-changed-as-text", "prompts/list-changed-flag", |asked, m| {
        flag(asked, m, "prompts");
    }),
    deal("listed-prompt-is-gone", "prompts/get", |text| {
        refuses(text, -32602, |r| is_of(r, "prompts/get"))
    }),
    message("prompt-without-messages", "prompts/get", |asked, m| {
        if let Some(result) = result(asked, m, "prompts/get") {
            without(result, "messages");
        }
    }),
    message("prompt-of-the-system", "prompts/role", |asked, m| {
        got(asked, m, |message| message["role"] = json!("system"));
    }),
    message("prompt-with-list-of-blocks", "prompts/one-block", |asked, m| {
        got(asked, m, |message| message["content"] = json!([message["content"].clone()]));
    }),
    message("prompt-as-bare-text", "prompts/one-block", |asked, m| {
        got(asked, m, |message| message["content"] = json!("Hello"));
    }),
    message("prompt-text-without-text", "prompts/text", |asked, m| {
        got(asked, m, |message| content(message, "text", |c| without(c, "text")));
    }),
    message("prompt-image-without-type", "prompts/image", |asked, m| {
        got(asked, m, |message| content(message, "image", |c| without(c, "mimeType")));
    }),
    message("prompt-image-not-base64", "prompts/image", |asked, m| {
        got(asked, m, |message| content(message, "image", |c| c["data"] = json!("?")));
    }),
    message("prompt-embeds-no-uri", "prompts/embedded-uri", |asked, m| {
        got(asked, m, |message| {
            content(message, "resource", |c| c["resource"]["uri"] = json!("nothing"));
        });
    }),
    message("prompt-embeds-nothing", "prompts/embedded-kind", |asked, m| {
        got(asked, m, |message| {
            content(message, "resource", |c| without(&mut c["resource"], "text"));
        });
    }),
    deal("prompt-forgets-arguments", "prompts/substituted", |text| {
        let given = |r: &Value| r["params"]["name"] == "test_prompt_with_arguments";
        takes_for(text, given, |r| r["params"]["arguments"]["arg2"] = json!(""))
    }),
    message("unknown-prompt-as-not-found", "prompts/unknown", |asked, m| {
        code(asked, m, "prompts/get", -32002);
    }),
    deal("unknown-prompt-is-empty", "prompts/unknown", |text| {
        answers(text, json!({"messages": []}), |r| r["params"]["name"] == "no such")
    }),
    message("no-prompt-name-as-internal", "prompts/no-name", |asked, m| {
        code(asked, m, "prompts/get", -32603);
    }),
    deal("prompt-arguments-are-optional", "prompts/argument-missing", |text| {
        let missing = |r: &Value| is_of(r, "prompts/get") && r["params"]["arguments"].is_null();
        answers(text, json!({"messages": []}), missing)
    }),
    deal("prompt-arguments-of-any-type", "prompts/argument-number", |text| {
        answers(text, json!({"messages": []}), |r| {
            let arguments = r["params"]["arguments"].as_object();
            arguments.is_some_and(|a| is_of(r, "prompts/get") && a.values().any(Value::is_number))
        })
    }),
    deal("unknown-prompt-kills", "prompts/unknown-survived", |text| {
        if said(text)["params"]["name"] == "no such" { Deal::Die } else { Deal::Pass }
    }),
];
