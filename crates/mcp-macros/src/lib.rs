//! The attributes of [`mcp-server`](https://docs.rs/mcp-server): [`tool`](macro@tool),
//! [`prompt`](macro@prompt) and [`resource`](macro@resource) on functions and methods, and
//! [`offer`](macro@offer) on the `impl` block around methods.
//!
//! Use them through `mcp-server`, whose feature `macros` is on by default. They write what can
//! be written by hand with its public interface, once for each item, when the server is put
//! together: a call finds everything made.
//!
//! ```
//! use mcp_server::tool::Json;
//! use mcp_server::{Context, Server, ToolError, offer, tool};
//! use schemars::JsonSchema;
//! use serde::Serialize;
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Forecast {
//!     summary: String,
//! }
//!
//! struct Weather {
//!     service: String,
//! }
//!
//! #[offer]
//! impl Weather {
//!     /// Tells the weather of the next days.
//!     #[tool(read_only, open_world)]
//!     async fn forecast(
//!         &self,
//!         /// The city, as people there write it.
//!         city: String,
//!         /// How many days ahead.
//!         #[schemars(range(min = 1, max = 7))]
//!         days: Option<u8>,
//!         cx: Context,
//!     ) -> Result<Json<Forecast>, ToolError> {
//!         cx.progress().report(1.0, None).await;
//!         let days = days.unwrap_or(1);
//!         Ok(Json(Forecast { summary: format!("{}: sun in {city} for {days} days", self.service) }))
//!     }
//!
//!     /// The service that is asked.
//!     #[resource("weather://service")]
//!     fn service(&self) -> String {
//!         self.service.clone()
//!     }
//!
//!     /// Asks for advice on what to wear.
//!     #[prompt]
//!     fn clothes(&self, city: &str) -> String {
//!         format!("What do I wear in {city} today?")
//!     }
//! }
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> String {
//!     (a + b).to_string()
//! }
//!
//! let server = Server::new("weather", "1.0.0")
//!     .with(Weather { service: "the frog".into() })
//!     .with(add_tool());
//! ```
//!
//! # What a parameter is
//!
//! The compiler decides by trait, so a type may have any name. A parameter that implements
//! `FromCall` (for a tool) or `FromRequest` (for anything) is made from the request: `Context`,
//! `State<T>`, types of your own. Every other parameter is an argument, under its own name:
//!
//! | of a | an argument implements | and may be left out when it is |
//! |---|---|---|
//! | tool | `Deserialize` and `JsonSchema` | an `Option`, or has `#[serde(default)]` |
//! | prompt | `FromStr` | an `Option` |
//! | resource | `FromStr`, and is a variable of the URI template | an `Option` |
//!
//! A tool can also take all of its arguments together, as `Args<T>`. Doc comments of parameters
//! become descriptions; parameters of tools take the attributes of serde and schemars that fields
//! take. `&T`, `&str` and `&[T]` are lent what was parsed.
//!
//! # What is checked
//!
//! That names of tools keep the rules, that no two items of a block have one name, that URIs and
//! templates are such, and that their variables and parameters are the same. Errors point at
//! what is wrong and say what to do.

use proc_macro::TokenStream;

// Reading order: the attributes on functions, then on blocks, then each kind, then what all of
// them use.
mod free;

mod offer;

mod prompt;
mod resource;
mod tool;

mod function;

mod arguments;
mod docs;
mod errors;
mod template;

/// Makes a tool of a function, or of a method in a block with [`offer`](macro@offer).
///
/// A function `name` stays what it is, and `name_tool()` beside it gives the
/// `mcp_server::tool::ToolEntry`. The doc comment becomes the description.
///
/// The function may be `async` or not; it returns what implements `IntoToolResult`: texts,
/// contents, `Json<T>` for a structured result, and `Result` of these with any error. Calls run
/// at the same time, and in the task that serves the peer: what blocks a thread belongs into a
/// thread.
///
/// | argument | |
/// |---|---|
/// | `name = "…"` | the name, instead of that of the function |
/// | `title = "…"` | the name for people |
/// | `description = "…"` | instead of the doc comment |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | hints; each can be `= false` |
/// | `annotations = …` | all hints: a `ToolAnnotations` |
/// | `icons = …` | a `Vec<Icon>` |
/// | `input_schema = …`, `output_schema = …` | a `ToolSchema`, instead of that of the types |
/// | `task_support = "…"` | whether it runs as a task: `forbidden`, `optional` or `required` |
/// | `needs = "…"` | a label that the caller must have been granted; can be repeated |
/// | `crate = …` | the path to `mcp_server`, if it isn't that |
///
/// ```
/// use mcp_server::tool::State;
/// use mcp_server::{Server, ToolError, tool};
///
/// struct Limit(i64);
///
/// /// Divides one number by another.
/// #[tool(title = "Division", idempotent)]
/// async fn divide(
///     dividend: i64,
///     /// Anything but zero.
///     divisor: i64,
///     limit: State<Limit>,
/// ) -> Result<String, ToolError> {
///     if dividend > limit.0.0 {
///         return Err(ToolError::new("the number is too large"));
///     }
///     let quotient = dividend.checked_div(divisor).ok_or(ToolError::new("divided by zero"))?;
///     Ok(quotient.to_string())
/// }
///
/// let server = Server::new("calculator", "1.0.0").state(Limit(1000)).with(divide_tool());
/// ```
///
/// Specification: [Tools](https://modelcontextprotocol.io/specification/2025-11-25/server/tools).
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    free::expand(function::Kind::Tool, arguments.into(), item.into()).into()
}

/// Makes a prompt of a function, or of a method in a block with [`offer`](macro@offer).
///
/// A function `name` stays what it is, and `name_prompt()` beside it gives the
/// `mcp_server::prompt::PromptEntry`. The doc comment becomes the description; parameters become
/// arguments, parsed from their texts by `FromStr`. One that can't be parsed answers the request
/// with `-32602`.
///
/// The function may be `async` or not; it returns what implements `IntoPromptResult`: a text,
/// messages, `GetPromptResult`, and `Result` of these with any error.
///
/// | argument | |
/// |---|---|
/// | `name = "…"` | the name, instead of that of the function |
/// | `title = "…"` | the name for people |
/// | `description = "…"` | instead of the doc comment |
/// | `icons = …` | a `Vec<Icon>` |
/// | `needs = "…"` | a label that the asker must have been granted; can be repeated |
/// | `crate = …` | the path to `mcp_server`, if it isn't that |
///
/// ```
/// use mcp_server::{Server, prompt};
///
/// /// Asks for a review.
/// #[prompt(title = "Review")]
/// fn review(
///     /// What is to be reviewed.
///     code: &str,
///     /// How many remarks at most.
///     remarks: Option<u8>,
/// ) -> String {
///     format!("Review this, with {} remarks at most:\n{code}", remarks.unwrap_or(5))
/// }
///
/// let server = Server::new("reviewer", "1.0.0").with(review_prompt());
/// ```
///
/// Specification: [Prompts](https://modelcontextprotocol.io/specification/2025-11-25/server/prompts).
#[proc_macro_attribute]
pub fn prompt(arguments: TokenStream, item: TokenStream) -> TokenStream {
    free::expand(function::Kind::Prompt, arguments.into(), item.into()).into()
}

/// Makes a resource of a function, or of a method in a block with [`offer`](macro@offer): what
/// is read under a URI, or under those of a template.
///
/// A function `name` stays what it is, and `name_resource()` beside it gives the
/// `mcp_server::resource::ResourceEntry`, or a `TemplateEntry`. The doc comment becomes the
/// description. The variables of a template are parameters of the same name, parsed by `FromStr`
/// after percent-decoding; a URI whose variables can't be parsed names nothing, and is answered
/// like that. A function can also take all of them, as `Variables`.
///
/// The function may be `async` or not; it returns what implements `IntoReadResult`: texts,
/// bytes, contents, and `Result` of these with a `ResourceError`.
///
/// | argument | |
/// |---|---|
/// | `"…"` | the URI, or the template (RFC 6570, levels 1 to 3) |
/// | `name = "…"` | the name, instead of that of the function |
/// | `title = "…"` | the name for people |
/// | `description = "…"` | instead of the doc comment |
/// | `mime_type = "…"` | the MIME type of the contents |
/// | `size = …` | the size of the contents in bytes |
/// | `annotations = …` | an `Annotations` |
/// | `icons = …` | a `Vec<Icon>` |
/// | `needs = "…"` | a label that the reader must have been granted; can be repeated |
/// | `crate = …` | the path to `mcp_server`, if it isn't that |
///
/// ```
/// use mcp_server::resource::ResourceError;
/// use mcp_server::{Server, resource};
///
/// /// A note.
/// #[resource("note://{id}{?lang}", mime_type = "text/markdown")]
/// async fn note(id: u32, lang: Option<String>) -> Result<String, ResourceError> {
///     match (id, lang.as_deref()) {
///         (1, None | Some("en")) => Ok("# First".to_owned()),
///         (1, Some("de")) => Ok("# Erste".to_owned()),
///         _ => Err(ResourceError::NotFound),
///     }
/// }
///
/// let server = Server::new("notes", "1.0.0").with(note_resource());
/// ```
///
/// Specification: [Resources](https://modelcontextprotocol.io/specification/2025-11-25/server/resources).
#[proc_macro_attribute]
pub fn resource(arguments: TokenStream, item: TokenStream) -> TokenStream {
    free::expand(function::Kind::Resource, arguments.into(), item.into()).into()
}

/// Implements `mcp_server::Offer` for the type of an `impl` block: what the block's methods with
/// [`tool`](macro@tool), [`prompt`](macro@prompt) and [`resource`](macro@resource) are.
///
/// Methods take `&self` or `self: Arc<Self>`, or no `self` at all; the value is shared by all
/// calls. The block may be generic; a type has one such block. Methods under a `#[cfg]` are
/// offered under the same condition.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use mcp_server::{Server, offer};
///
/// trait Bell: Send + Sync + 'static {
///     fn sound(&self) -> String;
/// }
///
/// struct Tower<B> {
///     bell: B,
///     strokes: AtomicU64,
/// }
///
/// #[offer]
/// impl<B: Bell> Tower<B> {
///     /// Rings the bell.
///     #[tool]
///     fn ring(&self) -> String {
///         self.strokes.fetch_add(1, Ordering::Relaxed);
///         self.bell.sound()
///     }
///
///     /// How often the bell has been rung.
///     #[resource("tower://strokes")]
///     fn strokes(&self) -> String {
///         self.strokes.load(Ordering::Relaxed).to_string()
///     }
/// }
/// # struct Little;
/// # impl Bell for Little { fn sound(&self) -> String { "ding".into() } }
///
/// let tower = Tower { bell: Little, strokes: AtomicU64::new(0) };
/// let server = Server::new("tower", "1.0.0").with(tower);
/// ```
#[proc_macro_attribute]
pub fn offer(arguments: TokenStream, item: TokenStream) -> TokenStream {
    offer::expand(arguments.into(), item.into()).into()
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
