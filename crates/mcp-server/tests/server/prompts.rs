use mcp_server::completion::{Completion, CompletionRequest};
use mcp_server::prompt::{PromptEntry, PromptRequest};
use mcp_server::{PromptError, Server};
use serde_json::json;

use crate::wire::Wire;

fn prompts() -> Server {
    Server::new("prompts", "1")
        .with_prompt(
            PromptEntry::new("greet", |request: PromptRequest| async move {
                let title = request.argument("title").unwrap_or("Dr.").to_owned();
                format!("Hello, {title} {}", request.argument("name").unwrap_or_default())
            })
            .description("Greets.")
            .required("name", "Whom")
            .optional("mood", "With what face")
            .optional("title", "How"),
        )
        .complete_prompt("greet", "name", |request: CompletionRequest| async move {
            Completion::by_prefix((0..250).map(|number| format!("n{number}")), &request)
        })
        .complete_prompt("greet", "title", |request: CompletionRequest| async move {
            Completion::new([format!("for {}", request.arguments["name"])]).with_total(7)
        })
}

// Shows: PROMPTS-001, PROMPTS-006
#[tokio::test]
async fn a_prompt_is_listed_and_made() {
    let mut wire = Wire::open(&prompts()).await;
    assert_eq!(
        wire.call("prompts/list", json!({})).await["result"]["prompts"],
        json!([{"name": "greet", "description": "Greets.", "arguments": [
            {"name": "name", "description": "Whom", "required": true},
            {"name": "mood", "description": "With what face"},
            {"name": "title", "description": "How"},
        ]}])
    );
    let made =
        wire.call("prompts/get", json!({"name": "greet", "arguments": {"name": "Who"}})).await;
    assert_eq!(
        made["result"],
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Hello, Dr. Who"}}]})
    );
}

// Shows: PROMPTS-008, PROMPTS-016, PROMPTS-017
#[tokio::test]
async fn an_unknown_prompt_or_a_missing_argument_is_invalid_params() {
    let mut wire = Wire::open(&prompts()).await;
    for params in [
        json!({"name": "none"}),
        json!({"name": "greet"}),
        json!({"name": "greet", "arguments": {"title": "Ms."}}),
        json!({"name": "greet", "arguments": {"name": 7}}),
    ] {
        let answer = wire.call("prompts/get", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}");
    }
}

// Shows: COMPLETION-004, COMPLETION-007, FC-044
#[tokio::test]
async fn at_most_a_hundred_values_are_sent() {
    let mut wire = Wire::open(&prompts()).await;
    let ask = |name: &str, value: &str| {
        json!({
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": name, "value": value},
            "context": {"arguments": {"name": "Ada"}},
        })
    };
    let all = wire.call("completion/complete", ask("name", "n")).await;
    let completion = &all["result"]["completion"];
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(250), &json!(true)));
    let few = wire.call("completion/complete", ask("name", "N24")).await;
    assert_eq!(few["result"]["completion"]["total"], 11);
    assert_eq!(few["result"]["completion"]["hasMore"], false);
    let context = wire.call("completion/complete", ask("title", "")).await;
    assert_eq!(
        context["result"]["completion"],
        json!({"values": ["for Ada"], "total": 7, "hasMore": true})
    );
    let none = wire.call("completion/complete", ask("mood", "")).await;
    assert_eq!(none["result"]["completion"], json!({"values": [], "total": 0, "hasMore": false}));
}

// Shows: COMPLETION-009
#[tokio::test]
async fn completion_of_what_is_not_there_is_invalid_params() {
    let mut wire = Wire::open(&prompts()).await;
    for reference in [
        json!({"type": "ref/prompt", "name": "none"}),
        json!({"type": "ref/resource", "uri": "x://{y}"}),
        json!({"type": "ref/tool", "name": "greet"}),
    ] {
        let params = json!({"ref": reference, "argument": {"name": "a", "value": ""}});
        assert_eq!(wire.call("completion/complete", params).await["error"]["code"], -32602);
    }
}

// Shows: PROMPTS-018, PROMPTS-019
#[tokio::test]
async fn a_handler_sees_the_arguments_that_it_declares_and_its_errors_stay_here() {
    let server = Server::new("s", "1")
        .with_prompt(
            PromptEntry::new("seen", |request: PromptRequest| async move {
                format!("{:?}", request.arguments)
            })
            .optional("a", "A"),
        )
        .prompt("broken", |_: PromptRequest| async {
            Ok::<_, PromptError>("x".parse::<u8>()?.to_string())
        })
        .prompt("refused", |_: PromptRequest| async {
            Err::<String, PromptError>(mcp_jsonrpc::ErrorObject::new(-32001, "not today").into())
        })
        .prompt("panics", |_: PromptRequest| -> std::future::Ready<String> { panic!("secret") });
    let mut wire = Wire::open(&server).await;
    let params = json!({"name": "seen", "arguments": {"a": "1", "b": "2"}});
    let made = wire.call("prompts/get", params).await;
    assert_eq!(made["result"]["messages"][0]["content"]["text"], r#"{"a": "1"}"#);
    for (name, code) in [("broken", -32603), ("refused", -32001), ("panics", -32603)] {
        let answer = wire.call("prompts/get", json!({"name": name})).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(!answer.to_string().contains("digit") && !answer.to_string().contains("secret"));
    }
}
