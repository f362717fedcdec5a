//! A calculator on stdio.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::{
    CallToolResult, ContentBlock, Implementation, ProgressNotificationParam, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, schemars, tool, tool_handler, tool_router,
};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, schemars::JsonSchema)]
struct Addends {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Operands {
    /// What is divided.
    dividend: i64,
    /// By what.
    #[schemars(range(min = 1))]
    divisor: i64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Division {
    quotient: i64,
    remainder: i64,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Last {
    /// The last number.
    to: u32,
}

struct Calculator {
    limit: i64,
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Calculator {
    fn new(limit: i64) -> Self {
        Self { limit, tool_router: Self::tool_router() }
    }

    /// Adds two numbers.
    #[tool(annotations(read_only_hint = true))]
    fn add(&self, Parameters(Addends { a, b }): Parameters<Addends>) -> CallToolResult {
        match a.checked_add(b).filter(|sum| *sum <= self.limit) {
            Some(sum) => CallToolResult::success(vec![ContentBlock::text(sum.to_string())]),
            None => CallToolResult::error(vec![ContentBlock::text("the sum is too large")]),
        }
    }

    /// Divides, and keeps the remainder.
    #[tool(annotations(read_only_hint = true))]
    fn divide(
        &self,
        Parameters(Operands { dividend, divisor }): Parameters<Operands>,
    ) -> Result<Json<Division>, ErrorData> {
        if divisor < 1 {
            return Err(ErrorData::invalid_params("the divisor is at least 1", None));
        }
        Ok(Json(Division { quotient: dividend / divisor, remainder: dividend % divisor }))
    }

    /// Counts, and says how far it is.
    #[tool(annotations(read_only_hint = true))]
    async fn count(
        &self,
        Parameters(Last { to }): Parameters<Last>,
        context: RequestContext<RoleServer>,
    ) -> String {
        if let Some(token) = context.meta.get_progress_token() {
            for number in 1..=to {
                let mut report = ProgressNotificationParam::new(token.clone(), number.into());
                report.total = Some(to.into());
                let _ = context.peer.notify_progress(report).await;
            }
        }
        "done".to_owned()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Calculator {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("calculator", "1.0.0"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Calculator::new(1_000_000).serve(stdio()).await?.waiting().await?;
    Ok(())
}
