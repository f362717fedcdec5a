//! A client on rmcp that checks a server.
//!
//! `client [--strict] [--auto] [--require SET,SET] stdio COMMAND ARG... | http URL | oauth URL`
//!
//! It starts with the handshake or, with `--auto`, by asking whether the server knows a revision
//! without one.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rmcp::model::*;
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ErrorData, RoleClient, ServiceError,
    serve_client_with_lifecycle,
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::login::Login;

const WAIT: Duration = Duration::from_secs(10);

/// The user's and the host's part, and what the server has said unasked.
#[derive(Clone, Default)]
struct Host(Arc<State>);

#[derive(Default)]
struct State {
    inbox: Mutex<Vec<(&'static str, Value)>>,
    changed: Notify,
    answers: Mutex<Answers>,
}

#[derive(Default)]
struct Answers {
    sample: String,
    elicit: Value,
    roots: Value,
    /// The last thing the server has asked.
    asked: Value,
}

impl Host {
    fn push(&self, kind: &'static str, params: impl Serialize) {
        let params = serde_json::to_value(params).unwrap_or_default();
        self.0.inbox.lock().unwrap_or_else(PoisonError::into_inner).push((kind, params));
        self.0.changed.notify_waiters();
    }

    fn clear(&self) {
        self.0.inbox.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn of(&self, kind: &str) -> Vec<Value> {
        let inbox = self.0.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.iter().filter(|(other, _)| *other == kind).map(|(_, params)| params.clone()).collect()
    }

    /// Waits until `count` notifications of a kind satisfy `wanted`.
    async fn until(
        &self,
        kind: &str,
        count: usize,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>> {
        let waiting = async {
            loop {
                let changed = self.0.changed.notified();
                let mut changed = std::pin::pin!(changed);
                changed.as_mut().enable();
                let mut found = self.of(kind);
                found.retain(&wanted);
                if found.len() >= count {
                    return found;
                }
                changed.await;
            }
        };
        tokio::time::timeout(WAIT, waiting).await.with_context(|| format!("no {count} × {kind}"))
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, Answers> {
        self.0.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_sampling()
            .enable_elicitation()
            .enable_roots()
            .build();
        ClientConfig::new(capabilities, Implementation::new("interop-rmcp", "1.0.0"))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let mut answers = self.answers();
        answers.asked = serde_json::to_value(params).map_err(internal)?;
        let message = SamplingMessage::assistant_text(answers.sample.clone());
        Ok(CreateMessageResult::new(message, "fake".to_owned()))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let mut answers = self.answers();
        answers.asked = serde_json::to_value(params).map_err(internal)?;
        serde_json::from_value(answers.elicit.clone()).map_err(internal)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        serde_json::from_value(json!({ "roots": self.answers().roots })).map_err(internal)
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.push("progress", params);
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.push("message", params);
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.push("updated", params);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.push("list_changed", ());
    }
}

struct Checks {
    client: RunningService<RoleClient, Host>,
    login: Option<Login>,
    host: Host,
    strict: bool,
    failures: u32,
    tools: Vec<Tool>,
}

fn same(actual: &Value, expected: Value) -> Result<()> {
    ensure!(*actual == expected, "expected {expected}, got {actual}");
    Ok(())
}

fn text(result: &Value) -> Result<&str> {
    let content = result["content"].as_array().context("no content")?;
    ensure!(content.len() == 1 && content[0]["type"] == "text", "not one text: {result}");
    content[0]["text"].as_str().context("no text")
}

fn says(result: &Value, expected: &str) -> Result<()> {
    same(&json!(text(result)?), json!(expected))
}

/// The code and data of a protocol error.
fn refused<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> Result<ErrorData> {
    match result {
        Err(ServiceError::McpError(error)) => Ok(error),
        other => bail!("expected a protocol error, got {other:?}"),
    }
}

impl Checks {
    fn report(&mut self, name: &str, outcome: Result<Value>) {
        let mut line = json!({ "check": name, "ok": outcome.is_ok() });
        match outcome {
            Ok(Value::Object(details)) => {
                for (key, value) in details {
                    line[key] = value;
                }
            }
            Ok(_) => {}
            Err(error) => {
                self.failures += 1;
                line["detail"] = json!(format!("{error:#}"));
            }
        }
        println!("{line}");
    }

    async fn check(&mut self, name: &str, run: impl AsyncFnOnce(&Self) -> Result<()>) {
        let limit = Duration::from_secs(60);
        let outcome = tokio::time::timeout(limit, run(self)).await;
        let outcome = outcome.context("took too long").and_then(|outcome| outcome);
        self.report(name, outcome.map(|()| Value::Null));
    }

    /// A check of one tool, which only strict runs insist on.
    async fn tool(&mut self, tool: &str, name: &str, run: impl AsyncFnOnce(&Self) -> Result<()>) {
        if self.has(tool) {
            self.check(name, run).await;
        } else if self.strict {
            self.report(name, Err(anyhow::anyhow!("the server does not offer {tool}")));
        }
    }

    fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    fn params(name: &str, arguments: Value) -> CallToolRequestParams {
        let params = CallToolRequestParams::new(name.to_owned());
        match arguments {
            Value::Object(arguments) => params.with_arguments(arguments),
            _ => params,
        }
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value> {
        let result = self.client.call_tool(Self::params(name, arguments)).await?;
        Ok(serde_json::to_value(result)?)
    }

    /// A call whose progress is wanted: its result, and its notifications' (progress, total).
    async fn call_with_progress(
        &self,
        name: &str,
        arguments: Value,
        count: usize,
    ) -> Result<(Value, Value)> {
        let request = CallToolRequest::new(Self::params(name, arguments));
        let handle = self
            .client
            .send_request_with_option(request.into(), PeerRequestOptions::no_options())
            .await?;
        let token = serde_json::to_value(&handle.progress_token)?;
        let result = serde_json::to_value(handle.await_response().await?)?;
        let seen =
            self.host.until("progress", count, |item| item["progressToken"] == token).await?;
        let seen = seen.iter().map(|item| json!([item["progress"], item["total"]])).collect();
        Ok((result, seen))
    }

    async fn read(&self, uri: &str) -> Result<Value, ServiceError> {
        let result = self.client.read_resource(ReadResourceRequestParams::new(uri)).await?;
        Ok(serde_json::to_value(result.contents).unwrap_or_default())
    }

    async fn prompt(&self, name: &str, arguments: Value) -> Result<Value, ServiceError> {
        let mut params = GetPromptRequestParams::new(name);
        if let Value::Object(arguments) = arguments {
            params = params.with_arguments(arguments);
        }
        let result = self.client.get_prompt(params).await?;
        Ok(serde_json::to_value(result.messages).unwrap_or_default())
    }

    async fn complete(&self, prompt: &str, argument: &str, value: &str) -> Result<Value> {
        let params = CompleteRequestParams::new(
            Reference::for_prompt(prompt),
            ArgumentInfo::new(argument, value),
        );
        Ok(serde_json::to_value(self.client.complete(params).await?.completion.values)?)
    }

    async fn set_level(&self, level: &str) -> Result<()> {
        let params = serde_json::from_value(json!({ "level": level }))?;
        Ok(self.client.set_level(params).await?)
    }

    async fn run(&mut self, require: &[String]) {
        let server = self.client.peer_info();
        let details = server.map(|info| {
            let name = info.server_info.as_ref().map(|server| server.name.clone());
            json!({ "revision": info.protocol_version, "server": name })
        });
        self.report("initialize", details.context("the server did not introduce itself"));
        self.check("ping", async |this| {
            let request =
                PingRequest { method: PingRequestMethod, extensions: Extensions::default() };
            this.client.send_request(request.into()).await?;
            Ok(())
        })
        .await;
        match self.client.list_all_tools().await {
            Ok(tools) => {
                self.tools = tools;
                self.report("tools/list", Ok(json!({ "tools": self.tools.len() })));
            }
            Err(error) => self.report("tools/list", Err(error.into())),
        }

        let everything = self.has("test_simple_text");
        let interop = self.has("echo");
        if everything {
            self.everything().await;
        }
        if interop {
            self.interop().await;
        }
        for (set, offered) in [("everything", everything), ("interop", interop)] {
            if !offered && require.iter().any(|name| name == set) {
                let missing = anyhow::anyhow!("the server does not offer the tools of this set");
                self.report(&format!("profile {set}"), Err(missing));
            }
        }
        if !everything && !interop {
            self.report("profile", Err(anyhow::anyhow!("no known set of tools")));
        }

        self.check("unknown tool is an error", async |this| {
            match this.client.call_tool(Self::params("no_such_tool", json!({}))).await {
                Ok(result) => ensure!(!this.strict && result.is_error == Some(true), "{result:?}"),
                Err(error) => {
                    let error = refused::<()>(Err(error))?;
                    ensure!(!this.strict || error.code.0 == -32602, "{error:?}");
                }
            }
            Ok(())
        })
        .await;
        self.check("unknown method is an error", async |this| {
            let request = CustomRequest::new("no/such/method", None);
            let answer = this.client.send_request(ClientRequest::CustomRequest(request)).await;
            let error = refused(answer)?;
            ensure!(error.code.0 == -32601, "{error:?}");
            Ok(())
        })
        .await;
    }

    /// The fixtures of the public conformance suite.
    async fn everything(&mut self) {
        self.check("tools/call text", async |this| {
            let result = this.call("test_simple_text", Value::Null).await?;
            says(&result, "This is a simple text response for testing.")
        })
        .await;
        self.check("tools/call image", async |this| {
            let content = &this.call("test_image_content", json!({})).await?["content"][0];
            same(&content["type"], json!("image"))?;
            same(&content["mimeType"], json!("image/png"))?;
            ensure!(content["data"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo")));
            Ok(())
        })
        .await;
        self.check("tools/call audio", async |this| {
            let content = &this.call("test_audio_content", json!({})).await?["content"][0];
            same(&content["type"], json!("audio"))?;
            same(&content["mimeType"], json!("audio/wav"))?;
            ensure!(content["data"].as_str().is_some_and(|data| data.starts_with("UklGR")));
            Ok(())
        })
        .await;
        self.check("tools/call embedded resource", async |this| {
            let result = this.call("test_embedded_resource", json!({})).await?;
            same(
                &result["content"],
                json!([{
                    "type": "resource",
                    "resource": {
                        "uri": "test://embedded-resource",
                        "mimeType": "text/plain",
                        "text": "This is an embedded resource content.",
                    },
                }]),
            )
        })
        .await;
        self.check("tools/call mixed content", async |this| {
            let result = this.call("test_multiple_content_types", json!({})).await?;
            let kinds: Value = result["content"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|content| content["type"].clone())
                .collect();
            same(&kinds, json!(["text", "image", "resource"]))
        })
        .await;
        self.check("tools/call error", async |this| {
            let result = this.call("test_error_handling", json!({})).await?;
            same(&result["isError"], json!(true))?;
            says(&result, "This tool intentionally returns an error for testing")
        })
        .await;
        self.check("tools/call progress", async |this| {
            let (_, seen) =
                this.call_with_progress("test_tool_with_progress", json!({}), 3).await?;
            same(&seen, json!([[0.0, 100.0], [50.0, 100.0], [100.0, 100.0]]))
        })
        .await;
        self.check("logging", async |this| {
            this.set_level("debug").await?;
            this.host.clear();
            let result = this.call("test_tool_with_logging", json!({})).await?;
            says(&result, "Tool with logging executed successfully")?;
            let wanted =
                ["Tool execution started", "Tool processing data", "Tool execution completed"];
            let ours = |item: &Value| wanted.iter().any(|text| item["data"] == *text);
            let logs = this.host.until("message", 3, ours).await?;
            let data: Value = logs.iter().map(|item| item["data"].clone()).collect();
            same(&data, json!(wanted))
        })
        .await;
        self.check("sampling", async |this| {
            this.host.answers().sample = "a fake answer".to_owned();
            let result = this.call("test_sampling", json!({ "prompt": "say something" })).await?;
            says(&result, "LLM response: a fake answer")?;
            let asked = this.host.answers().asked.clone();
            same(&asked["maxTokens"], json!(100))?;
            same(&asked["messages"][0]["content"]["text"], json!("say something"))
        })
        .await;
        self.check("elicitation", async |this| {
            let content =
                json!({ "username": "ada", "email": "ada@example.com", "response": "ada" });
            let content = if this.strict {
                json!({ "username": content["username"], "email": content["email"] })
            } else {
                content
            };
            this.host.answers().elicit = json!({ "action": "accept", "content": content });
            let result = this.call("test_elicitation", json!({ "message": "Who?" })).await?;
            let answer = text(&result)?;
            ensure!(answer.starts_with("User response: action=accept, content="), "{answer}");
            same(&this.host.answers().asked["message"], json!("Who?"))?;
            this.host.answers().elicit = json!({ "action": "decline" });
            let result = this.call("test_elicitation", json!({ "message": "Who?" })).await?;
            ensure!(text(&result)?.starts_with("User response: action=decline"), "{result}");
            Ok(())
        })
        .await;
        self.check("elicitation with defaults", async |this| {
            let content = json!({
                "name": "Jane Smith", "age": 25, "score": 88.5, "status": "inactive", "verified": false,
            });
            this.host.answers().elicit = json!({ "action": "accept", "content": content });
            let result = this.call("test_elicitation_sep1034_defaults", json!({})).await?;
            let answer = text(&result)?;
            let start = answer.find('{').context("no content")?;
            same(&serde_json::from_str(&answer[start..])?, content)?;
            let asked = this.host.answers().asked.clone();
            let properties = &asked["requestedSchema"]["properties"];
            same(&properties["name"]["default"], json!("John Doe"))?;
            same(&properties["age"]["default"], json!(30))?;
            same(&properties["score"]["default"], json!(95.5))?;
            same(&properties["status"]["default"], json!("active"))?;
            same(&properties["verified"]["default"], json!(true))
        })
        .await;
        self.check("elicitation with enums", async |this| {
            let content = json!({
                "untitledSingle": "option1",
                "titledSingle": "value1",
                "legacyEnum": "opt1",
                "untitledMulti": ["option1", "option2"],
                "titledMulti": ["value1", "value2"],
            });
            this.host.answers().elicit = json!({ "action": "accept", "content": content });
            let result = this.call("test_elicitation_sep1330_enums", json!({})).await?;
            let answer = text(&result)?;
            let start = answer.find('{').context("no content")?;
            same(&serde_json::from_str(&answer[start..])?, content)
        })
        .await;
        self.check("resources", async |this| {
            let listed = this.client.list_all_resources().await?;
            for uri in ["test://static-text", "test://static-binary", "test://watched-resource"] {
                ensure!(listed.iter().any(|item| item.uri == uri), "{uri} is not listed");
            }
            let templates = this.client.list_all_resource_templates().await?;
            ensure!(templates.iter().any(|item| item.uri_template == "test://template/{id}/data"));
            let contents = this.read("test://static-text").await?;
            let expected = "This is the content of the static text resource.";
            same(&contents[0]["text"], json!(expected))?;
            let contents = this.read("test://static-binary").await?;
            ensure!(
                contents[0]["blob"].as_str().is_some_and(|data| data.starts_with("iVBORw0KGgo"))
            );
            let contents = this.read("test://template/123/data").await?;
            let content: Value =
                serde_json::from_str(contents[0]["text"].as_str().context("no text")?)?;
            same(&content["data"], json!("Data for ID: 123"))?;
            let error = refused(this.read("test://no/such/thing").await)?;
            ensure!(!this.strict || error.code.0 == -32002, "{error:?}");
            this.client.subscribe(SubscribeRequestParams::new("test://watched-resource")).await?;
            this.client
                .unsubscribe(UnsubscribeRequestParams::new("test://watched-resource"))
                .await?;
            Ok(())
        })
        .await;
        self.check("prompts", async |this| {
            let listed = this.client.list_all_prompts().await?;
            ensure!(listed.iter().any(|prompt| prompt.name == "test_simple_prompt"));
            let messages = this.prompt("test_simple_prompt", Value::Null).await?;
            same(&messages[0]["content"]["text"], json!("This is a simple prompt for testing."))?;
            let arguments = json!({ "arg1": "hello", "arg2": "world" });
            let messages = this.prompt("test_prompt_with_arguments", arguments).await?;
            let expected = "Prompt with arguments: arg1='hello', arg2='world'";
            same(&messages[0]["content"]["text"], json!(expected))?;
            let arguments = json!({ "resourceUri": "test://example-resource" });
            let messages = this.prompt("test_prompt_with_embedded_resource", arguments).await?;
            let uri = &messages[0]["content"]["resource"]["uri"];
            same(uri, json!("test://example-resource"))?;
            let messages = this.prompt("test_prompt_with_image", Value::Null).await?;
            same(&messages[0]["content"]["mimeType"], json!("image/png"))?;
            let error = refused(this.prompt("no_such_prompt", Value::Null).await)?;
            ensure!(!this.strict || error.code.0 == -32602, "{error:?}");
            Ok(())
        })
        .await;
        self.check("completion", async |this| {
            let values = this.complete("test_prompt_with_arguments", "arg1", "par").await?;
            if this.strict {
                same(&values, json!(["paris", "park", "party"]))?;
            }
            Ok(())
        })
        .await;
    }

    /// The set that the peers' own servers offer too.
    async fn interop(&mut self) {
        self.tool("echo", "echo", async |this| {
            for sample in ["hello", "", "quotes \" and \\ and \n lines", "snow ☃ and 🎉 and \0"]
            {
                says(&this.call("echo", json!({ "text": sample })).await?, sample)?;
            }
            Ok(())
        })
        .await;
        self.tool("echo", "echo of a large text", async |this| {
            let sample = "0123456789 äöü 🎉\n".repeat(20_000);
            let result = this.call("echo", json!({ "text": sample })).await?;
            ensure!(text(&result)? == sample, "the text came back changed");
            Ok(())
        })
        .await;
        self.tool("echo", "calls at the same time", async |this| {
            let mut calls = tokio::task::JoinSet::new();
            for index in 0..50 {
                let peer = this.client.peer().clone();
                calls.spawn(async move {
                    let sample = format!("call {index}");
                    let params = Self::params("echo", json!({ "text": sample }));
                    let result = serde_json::to_value(peer.call_tool(params).await?)?;
                    says(&result, &sample)
                });
            }
            while let Some(outcome) = calls.join_next().await {
                outcome??;
            }
            Ok(())
        })
        .await;
        self.tool("echo", "missing argument is an error", async |this| {
            match this.client.call_tool(Self::params("echo", json!({}))).await {
                Ok(result) => ensure!(result.is_error == Some(true), "{result:?}"),
                Err(error) => ensure!(!this.strict, "{error}"),
            }
            Ok(())
        })
        .await;
        self.tool("add", "structured output", async |this| {
            let result = this.call("add", json!({ "a": 2, "b": 3.5 })).await?;
            same(&result["structuredContent"], json!({ "sum": 5.5 }))?;
            same(&serde_json::from_str(text(&result)?)?, json!({ "sum": 5.5 }))
        })
        .await;
        self.tool("fail", "tool error", async |this| {
            let result = this.call("fail", json!({})).await?;
            same(&result["isError"], json!(true))?;
            ensure!(text(&result)?.contains("this tool always fails"), "{result}");
            Ok(())
        })
        .await;
        self.tool("progress", "progress", async |this| {
            let (result, seen) =
                this.call_with_progress("progress", json!({ "count": 5 }), 5).await?;
            says(&result, "done")?;
            same(&seen, (1..=5).map(|step| json!([f64::from(step), 5.0])).collect())
        })
        .await;
        self.tool("ask", "elicitation", async |this| {
            this.host.answers().elicit =
                json!({ "action": "accept", "content": { "name": "Ada" } });
            says(&this.call("ask", json!({})).await?, "Hello, Ada!")?;
            same(&this.host.answers().asked["message"], json!("What is your name?"))?;
            this.host.answers().elicit = json!({ "action": "cancel" });
            says(&this.call("ask", json!({})).await?, "no answer: cancel")
        })
        .await;
        self.tool("sample", "sampling", async |this| {
            this.host.answers().sample = "forty-two".to_owned();
            says(&this.call("sample", json!({ "prompt": "how many?" })).await?, "forty-two")?;
            same(&this.host.answers().asked["maxTokens"], json!(50))
        })
        .await;
        self.tool("roots", "roots", async |this| {
            this.host.answers().roots =
                json!([{ "uri": "file:///one", "name": "one" }, { "uri": "file:///two" }]);
            says(&this.call("roots", json!({})).await?, "file:///one\nfile:///two")
        })
        .await;
        self.tool("log", "logging", async |this| {
            this.set_level("warning").await?;
            this.host.clear();
            let quiet = json!({ "level": "info", "message": "too quiet" });
            says(&this.call("log", quiet).await?, "logged")?;
            let loud = json!({ "level": "error", "message": "loud" });
            says(&this.call("log", loud).await?, "logged")?;
            let seen = this.host.until("message", 1, |item| item["data"] == "loud").await?;
            same(&seen[0]["level"], json!("error"))?;
            ensure!(this.host.of("message").len() == 1, "a message below the level was sent");
            this.set_level("debug").await
        })
        .await;
        self.tool("slow", "cancellation", async |this| {
            let before: u32 = text(&this.call("cancelled", json!({})).await?)?.parse()?;
            let request = CallToolRequest::new(Self::params("slow", json!({})));
            let handle = this
                .client
                .send_cancellable_request(request.into(), PeerRequestOptions::no_options())
                .await?;
            let token = serde_json::to_value(&handle.progress_token)?;
            this.host.until("progress", 1, |item| item["progressToken"] == token).await?;
            handle.cancel(Some("no longer needed".to_owned())).await?;
            tokio::time::timeout(WAIT, async {
                loop {
                    let now: u32 = text(&this.call("cancelled", json!({})).await?)?.parse()?;
                    if now == before + 1 {
                        return anyhow::Ok(());
                    }
                }
            })
            .await
            .context("the server's handler was never cancelled")?
        })
        .await;
        self.tool("touch", "resource updates", async |this| {
            this.host.clear();
            this.client.subscribe(SubscribeRequestParams::new("memo://one")).await?;
            this.call("touch", json!({ "uri": "memo://one" })).await?;
            this.host.until("updated", 1, |item| item["uri"] == "memo://one").await?;
            Ok(this.client.unsubscribe(UnsubscribeRequestParams::new("memo://one")).await?)
        })
        .await;
        self.tool("grow", "list changes", async |this| {
            this.host.clear();
            this.call("grow", json!({})).await?;
            this.host.until("list_changed", 1, |_| true).await?;
            let tools = this.client.list_all_tools().await?;
            ensure!(tools.iter().any(|tool| tool.name == "grown"), "grown is not listed");
            Ok(())
        })
        .await;
        self.check("memos", async |this| {
            let listed = this.client.list_all_resources().await?;
            ensure!(listed.iter().any(|item| item.uri == "memo://one" && item.name == "one"));
            let templates = this.client.list_all_resource_templates().await?;
            ensure!(templates.iter().any(|item| item.uri_template == "memo://{name}"));
            same(&this.read("memo://one").await?[0]["text"], json!("first memo"))?;
            same(&this.read("memo://two").await?[0]["text"], json!("second memo"))?;
            let error = refused(this.read("memo://three").await)?;
            ensure!(!this.strict || error.code.0 == -32002, "{error:?}");
            Ok(())
        })
        .await;
        self.check("greeting", async |this| {
            let messages = this.prompt("greet", json!({ "name": "Ada" })).await?;
            same(&messages[0]["role"], json!("user"))?;
            same(&messages[0]["content"]["text"], json!("Please greet Ada."))?;
            same(&this.complete("greet", "name", "Al").await?, json!(["Alice", "Alan"]))
        })
        .await;
    }
}

/// The checks of our protected server; see `conformance/src/everything/protected.rs` for its tools.
impl Checks {
    fn login(&self) -> Result<&Login> {
        self.login.as_ref().context("nobody is logged in")
    }

    async fn whoami(&self) -> Result<Value> {
        let result = self.call("whoami", json!({})).await?;
        Ok(serde_json::from_str(text(&result)?)?)
    }

    async fn authorization(&mut self) {
        self.check("authorization refused", async |this| this.login()?.refused().await).await;
        self.check("authorization login", async |this| {
            let (_, client) = this.login()?.kept().await?;
            same(&this.whoami().await?, json!({ "client": client, "scopes": ["mcp:use"] }))
        })
        .await;
        self.check("authorization renewal", async |this| {
            let login = this.login()?;
            login.spoil().await?;
            same(&this.whoami().await?["scopes"], json!(["mcp:use"]))?;
            ensure!(login.kept().await?.0 != "spoiled", "the token is the old one");
            ensure!(login.visits.load(Ordering::Relaxed) == 1, "a person was asked");
            Ok(())
        })
        .await;
        self.check("authorization step-up", async |this| {
            match this.call("restricted", json!({})).await {
                Err(error) if format!("{error:#}").contains("insufficient_scope") => {}
                other => bail!("{other:?}"),
            }
            this.login()?.step_up("mcp:admin").await?;
            says(&this.call("restricted", json!({})).await?, "allowed")?;
            let mut scopes: Vec<String> =
                serde_json::from_value(this.whoami().await?["scopes"].clone())?;
            scopes.sort();
            ensure!(scopes == ["mcp:admin", "mcp:use"], "{scopes:?}");
            Ok(())
        })
        .await;
    }
}

pub async fn run(arguments: Vec<String>) -> Result<ExitCode> {
    let mut strict = false;
    let mut lifecycle = ClientLifecycleMode::Initialize;
    let mut require = Vec::new();
    let mut rest = arguments.into_iter().peekable();
    while let Some(flag) = rest.next_if(|argument| argument.starts_with("--")) {
        match flag.as_str() {
            "--strict" => strict = true,
            "--auto" => {
                lifecycle = ClientLifecycleMode::Auto {
                    preferred_versions: vec![ProtocolVersion::LATEST],
                    legacy_version: Some(ProtocolVersion::V_2025_11_25),
                };
            }
            "--require" => {
                let sets = rest.next().context("--require needs a list")?;
                require = sets.split(',').map(str::to_owned).collect();
            }
            _ => bail!("unknown flag {flag}"),
        }
    }
    let host = Host::default();
    let mut login = None;
    let client = match (rest.next().as_deref(), rest.next()) {
        (Some("stdio"), Some(program)) => {
            let mut command = tokio::process::Command::new(program);
            command.args(rest);
            let transport = TokioChildProcess::new(command)?;
            serve_client_with_lifecycle(host.clone(), transport, lifecycle).await?
        }
        (Some("http"), Some(url)) => {
            let transport = StreamableHttpClientTransport::from_uri(url);
            serve_client_with_lifecycle(host.clone(), transport, lifecycle).await?
        }
        (Some("oauth"), Some(url)) => {
            let (started, transport) = Login::start(&url).await?;
            login = Some(started);
            serve_client_with_lifecycle(host.clone(), transport, lifecycle).await?
        }
        _ => bail!("usage: client [FLAG]... stdio COMMAND ARG... | http URL | oauth URL"),
    };
    let mut checks = Checks { client, login, host, strict, failures: 0, tools: Vec::new() };
    checks.run(&require).await;
    if checks.login.is_some() {
        checks.authorization().await;
    }
    let failures = checks.failures;
    checks.client.cancel().await?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
