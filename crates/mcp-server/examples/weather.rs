//! Tools: a forecast, typed on both sides, over stdio; with `--http ADDR`, the same server over
//! Streamable HTTP.
//!
//! ```sh
//! cargo run --example weather                       # for a host that starts it
//! cargo run --example weather -- --http 127.0.0.1:0 # says where it listens
//! ```
#![allow(clippy::print_stderr, reason = "a program says there where it listens")]

use mcp_server::tool::Json;
use mcp_server::{Context, Server, ToolError, tool};
use mcp_transport_http::server::{Endpoint, Listener};
use schemars::JsonSchema;
use serde::Serialize;

/// What is to come.
#[derive(Serialize, JsonSchema)]
struct Forecast {
    city: String,
    /// One value a day, in °C.
    highs: Vec<f64>,
}

/// Says how warm it will be.
#[tool(read_only = true)]
async fn forecast(
    /// Where, by name.
    city: String,
    /// For how many days, up to 7.
    days: Option<u8>,
    cx: Context,
) -> Result<Json<Forecast>, ToolError> {
    let days = days.unwrap_or(3);
    if !(1..=7).contains(&days) {
        // The model reads this, and can do better.
        return Err(ToolError::new("days goes from 1 to 7"));
    }
    let mut highs = Vec::new();
    for day in 0..days {
        highs.push(f64::from(18 + day % 4));
        cx.progress().report(f64::from(day + 1), Some(f64::from(days))).await;
    }
    Ok(Json(Forecast { city, highs }))
}

pub(crate) fn server() -> Server {
    Server::new("weather", "1.0.0")
        .instructions("Forecasts for up to 7 days.")
        .with(forecast_tool())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--http") {
        let address = arguments.next().unwrap_or_else(|| "127.0.0.1:0".to_owned());
        let listener = Listener::bind(Endpoint::builder(server()).build(), &*address).await?;
        eprintln!("listening on http://{}/mcp", listener.local_addr());
        listener.run(std::future::pending()).await;
        return Ok(());
    }
    server().serve(mcp_transport_stdio::stdio()).await?;
    Ok(())
}
