//! Resources, templates, subscriptions.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::talk::Talk;
use super::super::{Check, Fault, Outcome, Site, both, ensure, fail, skip};

const MISSING: i64 = -32002;
const PARAMS: i64 = -32602;

/// The conversation, and every resource.
fn resources(site: &Site) -> Result<(Talk<'_>, Vec<Value>), Fault> {
    let mut talk = site.with("resources")?;
    let resources = super::every(&mut talk, "resources/list", "resources")?;
    if resources.is_empty() {
        return skip("there is no resource");
    }
    Ok((talk, resources))
}

fn each(site: &Site, holds: fn(&Value) -> bool) -> Outcome {
    for resource in resources(site)?.1 {
        ensure(holds(&resource), || resource.to_string())?;
    }
    Ok(())
}

fn templates(site: &Site) -> Result<(Talk<'_>, Vec<Value>), Fault> {
    let mut talk = site.with("resources")?;
    let answer = talk.ask("resources/templates/list", json!({}))?;
    if answer["error"]["code"] == -32601 {
        return skip("there are no templates");
    }
    let templates = super::every(&mut talk, "resources/templates/list", "resourceTemplates")?;
    if templates.is_empty() {
        return skip("there is no template");
    }
    Ok((talk, templates))
}

/// The contents of every resource that is listed, with what the list says.
fn contents(site: &Site) -> Result<Vec<(Value, Value)>, Fault> {
    let (mut talk, resources) = resources(site)?;
    let mut all = Vec::new();
    for resource in resources.into_iter().take(20) {
        let result = talk.result("resources/read", json!({"uri": resource["uri"]}))?;
        let Some(contents) = result["contents"].as_array() else { return fail(result.to_string()) };
        all.extend(contents.iter().map(|content| (resource.clone(), content.clone())));
    }
    Ok(all)
}

fn read_each(site: &Site, holds: fn(&Value, &Value) -> bool) -> Outcome {
    for (resource, content) in contents(site)? {
        ensure(holds(&resource, &content), || format!("{resource}: {content}"))?;
    }
    Ok(())
}

fn subscribable(site: &Site) -> Result<(Talk<'_>, Value), Fault> {
    let (talk, resources) = resources(site)?;
    talk.need("resources.subscribe")?;
    let uri = resources.first().map(|resource| resource["uri"].clone());
    Ok((talk, uri.unwrap_or_default()))
}

pub(super) const CHECKS: &[Check] = &[
    both("resources/list", &["RESOURCES-001"], "resources/list has a list of resources", |site| {
        let list = site.with("resources")?.result("resources/list", json!({}))?;
        ensure(list["resources"].is_array(), || list.to_string())
    }),
    both("resources/name", &["RESOURCES-013"], "each resource has a name", |site| {
        each(site, |resource| resource["name"].as_str().is_some_and(|name| !name.is_empty()))
    }),
    both("resources/uri", &["RESOURCES-013", "RESOURCES-024"], "each resource has a URI", |site| {
        each(site, |resource| super::is_uri(&resource["uri"]))
    }),
    both("resources/uri-unique", &["RESOURCES-013"], "no URI is there twice", |site| {
        let resources = resources(site)?.1;
        let uris: BTreeSet<_> = resources.iter().filter_map(|r| r["uri"].as_str()).collect();
        ensure(uris.len() == resources.len(), || format!("{} of {}", uris.len(), resources.len()))
    }),
    both("resources/mime-type", &["RESOURCES-013"], "MIME types have a slash", |site| {
        each(site, |resource| {
            resource.get("mimeType").is_none_or(|k| k.as_str().is_some_and(|k| k.contains('/')))
        })
    }),
    both("resources/priority", &["RESOURCES-018"], "priorities lie in 0 to 1", |site| {
        each(site, |resource| {
            let priority = resource["annotations"].get("priority");
            priority.is_none_or(|p| p.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p)))
        })
    }),
    both(
        "resources/audience",
        &["RESOURCES-017"],
        "an audience is of users and assistants",
        |site| {
            each(site, |resource| {
                let audience = resource["annotations"]["audience"].as_array();
                audience.is_none_or(|roles| roles.iter().all(|r| r == "user" || r == "assistant"))
            })
        },
    ),
    both("resources/size", &["RESOURCES-014"], "a size is that of the bytes", |site| {
        for (resource, content) in contents(site)? {
            let Some(size) = resource["size"].as_u64() else { continue };
            let length = match (content["text"].as_str(), content["blob"].as_str()) {
                (Some(text), _) => text.len(),
                (_, Some(blob)) => blob.trim_end_matches('=').len() * 3 / 4,
                _ => 0,
            };
            ensure(size == length as u64, || format!("{resource} has {length} bytes"))?;
        }
        Ok(())
    }),
    both("resources/list-changed-flag", &["RESOURCES-001"], "its flags are booleans", |site| {
        let talk = site.with("resources")?;
        let capability = &talk.welcome["capabilities"]["resources"];
        let flags = ["listChanged", "subscribe"];
        let fits = flags.iter().all(|flag| capability.get(*flag).is_none_or(Value::is_boolean));
        ensure(fits, || capability.to_string())
    }),
    both(
        "resources/read",
        &["RESOURCES-015"],
        "each resource that is listed can be read",
        |site| {
            let (mut talk, resources) = resources(site)?;
            for resource in resources.iter().take(20) {
                let result = talk.result("resources/read", json!({"uri": resource["uri"]}))?;
                let some =
                    result["contents"].as_array().is_some_and(|contents| !contents.is_empty());
                ensure(some, || format!("{resource}: {result}"))?;
            }
            Ok(())
        },
    ),
    both("resources/content-uri", &["RESOURCES-015"], "contents have a URI", |site| {
        read_each(site, |_, content| super::is_uri(&content["uri"]))
    }),
    both(
        "resources/content-own-uri",
        &["RESOURCES-015"],
        "the URI is the one that was asked for, or below it",
        |site| {
            read_each(site, |resource, content| {
                let uri = resource["uri"].as_str().unwrap_or_default();
                content["uri"]
                    .as_str()
                    .is_some_and(|own| own.starts_with(uri.trim_end_matches('/')))
            })
        },
    ),
    both("resources/content-kind", &["RESOURCES-015"], "contents are a text or a blob", |site| {
        read_each(site, |_, content| content["text"].is_string() != content["blob"].is_string())
    }),
    both("resources/content-base64", &["RESOURCES-029"], "blobs are Base64", |site| {
        read_each(site, |_, content| {
            content.get("blob").is_none_or(|b| b.as_str().is_some_and(super::is_base64))
        })
    }),
    both(
        "resources/content-mime-type",
        &["RESOURCES-016"],
        "the MIME type is that of the list",
        |site| {
            read_each(site, |resource, content| {
                let (listed, read) = (resource.get("mimeType"), content.get("mimeType"));
                listed.is_none() || read.is_none() || listed == read
            })
        },
    ),
    both("resources/binary-as-blob", &["RESOURCES-016"], "images are no texts", |site| {
        read_each(site, |_, content| {
            let kind = content["mimeType"].as_str().unwrap_or_default();
            let is_image = kind.starts_with("image/") && !kind.contains("svg");
            !is_image || content["blob"].is_string()
        })
    }),
    both("resources/unknown", &["RESOURCES-025"], "an unknown resource is -32002", |site| {
        let mut talk = site.with("resources")?;
        talk.refused("resources/read", json!({"uri": "nowhere://no/such/thing"}), &[MISSING])
    }),
    both(
        "resources/unknown-survived",
        &["RESOURCES-025"],
        "after an unknown resource all goes on",
        |site| {
            let mut talk = site.with("resources")?;
            talk.ask("resources/read", json!({"uri": "nowhere://no/such/thing"}))?;
            talk.lives()
        },
    ),
    both("resources/no-uri", &["BASE-022"], "resources/read without a URI is -32602", |site| {
        site.with("resources")?.refused("resources/read", json!({}), &[PARAMS])
    }),
    both(
        "resources/uri-number",
        &["BASE-022", "RESOURCES-027"],
        "a number as a URI is -32602",
        |site| site.with("resources")?.refused("resources/read", json!({"uri": 5}), &[PARAMS]),
    ),
    both("resources/uri-invalid", &["RESOURCES-027"], "what is no URI is refused", |site| {
        let mut talk = site.with("resources")?;
        talk.refused("resources/read", json!({"uri": "no uri at all"}), &[PARAMS, MISSING, -32603])
    }),
    both(
        "resources/traversal",
        &["RESOURCES-027"],
        "a way out of a file tree is refused",
        |site| {
            let mut talk = site.with("resources")?;
            for uri in
                ["file:///../../../etc/passwd", "file:///etc/passwd", "file:///%2e%2e/etc/passwd"]
            {
                talk.refused("resources/read", json!({"uri": uri}), &[PARAMS, MISSING, -32603])?;
            }
            Ok(())
        },
    ),
    both(
        "resources/templates",
        &["RESOURCES-011"],
        "each template has a name and braces in pairs",
        |site| {
            for template in templates(site)?.1 {
                let text = template["uriTemplate"].as_str().unwrap_or_default();
                let mut depth = 0;
                for c in text.chars() {
                    depth += i32::from(c == '{') - i32::from(c == '}');
                    ensure((0..=1).contains(&depth), || template.to_string())?;
                }
                let named = template["name"].is_string() && text.contains(':') && depth == 0;
                ensure(named, || template.to_string())?;
            }
            Ok(())
        },
    ),
    both(
        "resources/template-read",
        &["RESOURCES-011", "RESOURCES-015"],
        "what a template stands for can be read",
        |site| {
            let (mut talk, templates) = templates(site)?;
            let known = "test://template/{id}/data";
            if !templates.iter().any(|template| template["uriTemplate"] == known) {
                return skip("the template of the public suite is not there");
            }
            let result =
                talk.result("resources/read", json!({"uri": "test://template/42/data"}))?;
            let content = &result["contents"][0];
            let text = content["text"].as_str().unwrap_or_default();
            let fits = content["uri"] == "test://template/42/data" && text.contains("42");
            ensure(fits, || result.to_string())
        },
    ),
    both(
        "resources/subscribe",
        &["RESOURCES-003"],
        "subscriptions begin and end with an empty result",
        |site| {
            let (mut talk, uri) = subscribable(site)?;
            for method in ["resources/subscribe", "resources/unsubscribe"] {
                let result = talk.result(method, json!({"uri": uri}))?;
                let empty = result.as_object().is_some_and(|r| r.keys().all(|key| key == "_meta"));
                ensure(empty, || result.to_string())?;
            }
            Ok(())
        },
    ),
    both(
        "resources/subscribe-no-uri",
        &["BASE-022"],
        "a subscription without a URI is -32602",
        |site| subscribable(site)?.0.refused("resources/subscribe", json!({}), &[PARAMS]),
    ),
    both(
        "resources/not-subscribed",
        &["RESOURCES-008"],
        "who did not subscribe is told nothing",
        |site| {
            let (mut talk, resources) = resources(site)?;
            for resource in resources.iter().take(5) {
                talk.result("resources/read", json!({"uri": resource["uri"]}))?;
            }
            talk.stays_silent()?;
            let odd = talk.heard_of("notifications/resources/updated").next();
            ensure(odd.is_none(), || format!("{odd:?}"))
        },
    ),
];
