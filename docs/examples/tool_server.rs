//! A calculator on stdio.

use mcp_server::tool::Json;
use mcp_server::{Context, Server, ToolError, offer};
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, JsonSchema)]
struct Division {
    quotient: i64,
    remainder: i64,
}

struct Calculator {
    limit: i64,
}

#[offer]
impl Calculator {
    /// Adds two numbers.
    #[tool(read_only)]
    fn add(
        &self,
        /// The first number.
        a: i64,
        /// The second number.
        b: i64,
    ) -> Result<String, ToolError> {
        let sum = a.checked_add(b).filter(|sum| *sum <= self.limit);
        Ok(sum.ok_or(ToolError::new("the sum is too large"))?.to_string())
    }

    /// Divides, and keeps the remainder.
    #[tool(read_only)]
    fn divide(
        &self,
        /// What is divided.
        dividend: i64,
        /// By what.
        #[schemars(range(min = 1))]
        divisor: i64,
    ) -> Json<Division> {
        Json(Division { quotient: dividend / divisor, remainder: dividend % divisor })
    }

    /// Counts, and says how far it is.
    #[tool(read_only)]
    async fn count(
        &self,
        /// The last number.
        to: u32,
        cx: Context,
    ) -> String {
        let progress = cx.progress();
        for number in 1..=to {
            progress.report(number.into(), Some(to.into())).await;
        }
        "done".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("calculator", "1.0.0").with(Calculator { limit: 1_000_000 });
    Ok(server.serve(mcp_transport_stdio::stdio()).await?)
}
