use std::fmt;
use std::marker::PhantomData;

use super::extract::FromCall;
use super::output::IntoToolResult;
use super::{ToolCall, ToolOutcome};
use crate::schema::ToolSchema;
use crate::v1::{BoxFuture, Tool, ToolDefinition};

/// What can become a tool: an async function of up to six parameters that implement
/// [`FromCall`], or any [`Tool`].
///
/// `M` only tells the kinds apart; it is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a tool",
    label = "not a tool",
    note = "a tool is an `async` function or closure whose parameters implement `FromCall` (`Args<T>`, `Context`, `State<T>`, …) and whose result implements `IntoToolResult`"
)]
pub trait IntoTool<M> {
    /// The tool.
    type Tool: Tool;

    /// Makes the tool.
    fn into_tool(self) -> Self::Tool;
}

/// Marks what is a [`Tool`] already.
#[derive(Debug)]
#[non_exhaustive]
pub struct Already;

impl<T: Tool> IntoTool<Already> for T {
    type Tool = T;

    fn into_tool(self) -> T {
        self
    }
}

/// An async function as a tool.
pub struct ToolHandler<F, M> {
    function: F,
    marker: PhantomData<fn() -> M>,
}

impl<F, M> fmt::Debug for ToolHandler<F, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolHandler")
    }
}

macro_rules! functions {
    ($($param:ident),*) => {
        impl<F, Fut, $($param,)*> IntoTool<($($param,)*)> for F
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future + Send + 'static,
            Fut::Output: IntoToolResult,
            $($param: FromCall + Send + 'static,)*
        {
            type Tool = ToolHandler<F, ($($param,)*)>;

            fn into_tool(self) -> Self::Tool {
                ToolHandler { function: self, marker: PhantomData }
            }
        }

        impl<F, Fut, $($param,)*> Tool for ToolHandler<F, ($($param,)*)>
        where
            F: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future + Send + 'static,
            Fut::Output: IntoToolResult,
            $($param: FromCall + Send + 'static,)*
        {
            fn describe(&self) -> ToolDefinition {
                #[allow(unused_mut, reason = "a function without parameters says nothing")]
                let mut definition = ToolDefinition::new();
                $($param::describe(&mut definition);)*
                if !(false $(|| $param::READS_ARGUMENTS)*) {
                    definition.input = ToolSchema::no_members();
                    definition.typed_input = true;
                }
                <Fut::Output as super::output::ToolDescription>::describe(&mut definition);
                definition
            }

            fn call(&self, call: ToolCall) -> BoxFuture<'_, ToolOutcome> {
                $(
                    #[allow(non_snake_case, reason = "the type's name is all there is")]
                    let $param = match $param::from_call(&call) {
                        Ok(value) => value,
                        Err(rejection) => {
                            return Box::pin(std::future::ready(rejection.into_outcome(&call)));
                        }
                    };
                )*
                drop(call);
                let future = (self.function)($($param),*);
                Box::pin(async move { future.await.into_tool_result() })
            }
        }
    };
}

functions!();
functions!(A);
functions!(A, B);
functions!(A, B, C);
functions!(A, B, C, D);
functions!(A, B, C, D, E);
functions!(A, B, C, D, E, G);
