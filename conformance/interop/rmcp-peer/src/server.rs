//! A server on rmcp.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::json;

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
const NAMES: [&str; 3] = ["Alice", "Alan", "Bob"];
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Cancelled calls of `slow`, over all sessions.
static CANCELLED: AtomicU32 = AtomicU32::new(0);

/// One session.
struct Session {
    tools: ToolRouter<Self>,
    level: Mutex<usize>,
    subscribed: Mutex<HashSet<String>>,
    grown: AtomicBool,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Addends {
    a: f64,
    b: f64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Sum {
    sum: f64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Count {
    count: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Prompt {
    prompt: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Entry {
    level: String,
    message: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Uri {
    uri: String,
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Models have many fields and few constructors; JSON is shorter.
fn model<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

async fn report(
    context: &RequestContext<RoleServer>,
    progress: f64,
    total: Option<f64>,
) -> Result<(), ErrorData> {
    let Some(token) = context.meta.get_progress_token() else { return Ok(()) };
    let mut params = ProgressNotificationParam::new(token, progress);
    params.total = total;
    context.peer.notify_progress(params).await.map_err(internal)
}

#[tool_router(router = tool_router)]
impl Session {
    fn new() -> Self {
        Self {
            tools: Self::tool_router(),
            level: Mutex::new(0),
            subscribed: Mutex::default(),
            grown: AtomicBool::new(false),
        }
    }

    #[tool(description = "Says the text back")]
    async fn echo(&self, Parameters(Text { text }): Parameters<Text>) -> String {
        text
    }

    #[tool(description = "Adds two numbers")]
    async fn add(&self, Parameters(Addends { a, b }): Parameters<Addends>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(description = "Gives one of each kind of content")]
    async fn contents(&self) -> CallToolResult {
        CallToolResult::success(vec![
            ContentBlock::text("one of each"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::audio(WAV, "audio/wav"),
            ContentBlock::embedded_text("memo://one", "first memo"),
            ContentBlock::resource_link(Resource::new("memo://two", "two")),
        ])
    }

    #[tool(description = "Always fails")]
    async fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("this tool always fails")])
    }

    #[tool(description = "Reports progress")]
    async fn progress(
        &self,
        Parameters(Count { count }): Parameters<Count>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        for step in 1..=count {
            report(&context, step.into(), Some(count.into())).await?;
        }
        Ok("done".to_owned())
    }

    #[tool(description = "Asks the user for a name")]
    async fn ask(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        if context.peer.supported_elicitation_modes().is_empty() {
            return Ok("client cannot be asked".to_owned());
        }
        let question = model(json!({
            "mode": "form",
            "message": "What is your name?",
            "requestedSchema": {
                "type": "object",
                "properties": { "name": { "type": "string" } },
                "required": ["name"],
            },
        }))?;
        let answer = context.peer.create_elicitation(question).await.map_err(internal)?;
        let action = serde_json::to_value(&answer.action).map_err(internal)?;
        Ok(match (action.as_str(), answer.content) {
            (Some("accept"), Some(content)) => {
                format!("Hello, {}!", content["name"].as_str().unwrap_or_default())
            }
            (action, _) => format!("no answer: {}", action.unwrap_or_default()),
        })
    }

    #[tool(description = "Asks the client's model")]
    async fn sample(
        &self,
        Parameters(Prompt { prompt }): Parameters<Prompt>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        if context.peer.peer_info().is_none_or(|info| info.capabilities.sampling.is_none()) {
            return Ok("client cannot sample".to_owned());
        }
        let question =
            CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 50);
        let answer = context.peer.create_message(question).await.map_err(internal)?;
        let text = answer.message.content.first().and_then(|block| block.as_text());
        Ok(text.map(|text| text.text.clone()).unwrap_or_default())
    }

    #[tool(description = "Lists the client's roots")]
    async fn roots(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        if context.peer.peer_info().is_none_or(|info| info.capabilities.roots.is_none()) {
            return Ok("client has no roots".to_owned());
        }
        let answer = context.peer.list_roots().await.map_err(internal)?;
        Ok(answer.roots.into_iter().map(|root| root.uri).collect::<Vec<_>>().join("\n"))
    }

    #[tool(description = "Logs a message")]
    async fn log(
        &self,
        Parameters(Entry { level, message }): Parameters<Entry>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let severity = LEVELS.iter().position(|name| *name == level).unwrap_or(0);
        if severity >= *self.level.lock().map_err(internal)? {
            let entry = json!({ "level": level, "logger": "interop", "data": message });
            context.peer.notify_logging_message(model(entry)?).await.map_err(internal)?;
        }
        Ok("logged".to_owned())
    }

    #[tool(description = "Waits to be cancelled")]
    async fn slow(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        report(&context, 1.0, None).await?;
        tokio::select! {
            () = context.ct.cancelled() => { CANCELLED.fetch_add(1, Ordering::SeqCst); }
            () = tokio::time::sleep(Duration::from_secs(30)) => {}
        }
        Ok("done".to_owned())
    }

    #[tool(description = "Counts the cancelled calls of slow")]
    async fn cancelled(&self) -> String {
        CANCELLED.load(Ordering::SeqCst).to_string()
    }

    #[tool(description = "Says that a resource has changed")]
    async fn touch(
        &self,
        Parameters(Uri { uri }): Parameters<Uri>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        if self.subscribed.lock().map_err(internal)?.contains(&uri) {
            let update = ResourceUpdatedNotificationParam::new(uri);
            context.peer.notify_resource_updated(update).await.map_err(internal)?;
        }
        Ok("touched".to_owned())
    }

    #[tool(description = "Adds the tool grown")]
    async fn grow(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        self.grown.store(true, Ordering::SeqCst);
        context.peer.notify_tool_list_changed().await.map_err(internal)?;
        Ok("grown".to_owned())
    }

    #[tool(description = "Was added at run time")]
    async fn grown(&self) -> String {
        "grown".to_owned()
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("interop-server-rmcp", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.tools.list_all();
        tools.retain(|tool| tool.name != "grown" || self.grown.load(Ordering::SeqCst));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.tools.call(ToolCallContext::new(self, request, context)).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let one = Resource::new("memo://one", "one").with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![one]))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let memo = ResourceTemplate::new("memo://{name}", "memo").with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![memo]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let text = match request.uri.as_str() {
            "memo://one" => "first memo",
            "memo://two" => "second memo",
            _ => {
                let data = json!({ "uri": request.uri });
                return Err(ErrorData::resource_not_found("no such memo", Some(data)));
            }
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().map_err(internal)?.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.lock().map_err(internal)?.remove(&request.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let level = serde_json::to_value(request.level).map_err(internal)?;
        let severity = LEVELS.iter().position(|name| level == *name);
        *self.level.lock().map_err(internal)? = severity.unwrap_or(0);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let greet = model(json!({
            "name": "greet",
            "description": "Greets somebody",
            "arguments": [{ "name": "name", "required": true }],
        }))?;
        Ok(ListPromptsResult::with_all_items(vec![greet]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        match (request.name.as_str(), arguments.get("name").and_then(|name| name.as_str())) {
            ("greet", Some(name)) => {
                let greeting = format!("Please greet {name}.");
                let message = PromptMessage::new_text(Role::User, greeting);
                Ok(GetPromptResult::new(vec![message]).into())
            }
            _ => Err(ErrorData::invalid_params("no such prompt, or no name", None)),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let fitting = NAMES.iter().filter(|name| name.starts_with(&request.argument.value));
        let values = fitting.map(|name| (*name).to_owned()).collect();
        Ok(CompleteResult::new(CompletionInfo::with_all_values(values).map_err(internal)?))
    }
}

pub async fn run(http: bool) -> anyhow::Result<()> {
    if !http {
        Session::new().serve(stdio()).await?.waiting().await?;
        return Ok(());
    }
    let service = StreamableHttpService::new(
        || Ok(Session::new()),
        std::sync::Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router).await?;
    Ok(())
}
