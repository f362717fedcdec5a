//! What functions and methods as tools expand to.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use mcp_jsonrpc::ErrorObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, Visitor};
use serde_json::Value;

use super::Parameter;
use crate::schema::ToolSchema;
use crate::tool::{FromCall, IntoToolResult, Rejection, ToolCall, ToolOutcome};
use crate::v1::{BoxFuture, Tool, ToolDefinition};

/// A parameter that is a member of the arguments.
#[derive(Debug)]
pub enum Argument {}

/// A parameter that is made from the call.
#[derive(Debug)]
pub enum Taken {}

/// A parameter that is neither; there is an error at its type.
#[derive(Debug)]
pub enum Unfit {}

/// Asks what kind of parameter a `T` is.
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T> Probe<T> {
    /// Asks.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for Probe<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Probe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Probe")
    }
}

impl<T: FromCall> Probe<T> {
    /// Whether it is made from all of the arguments.
    pub const READS: bool = T::READS_ARGUMENTS;
    /// Whether it is one of the arguments.
    pub const NAMED: bool = false;

    /// The first choice.
    pub const fn parameter(self) -> Parameter<Taken, T> {
        Parameter::NEW
    }
}

/// The second choice.
pub trait ProbeArgument<T>: Sized {
    /// A member of the arguments.
    fn parameter(self) -> Parameter<Argument, T> {
        Parameter::NEW
    }
}

impl<T: DeserializeOwned + JsonSchema> ProbeArgument<T> for Probe<T> {}

/// What is left.
pub trait ProbeUnfit<T>: Sized {
    /// Neither, which is an error.
    fn parameter(self) -> Parameter<Unfit, T>
    where
        T: ToolParameter,
    {
        Parameter::NEW
    }
}

impl<T> ProbeUnfit<T> for &Probe<T> {}

/// What holds for types that are not made from calls.
pub trait Otherwise {
    /// Not made from all of the arguments.
    const READS: bool = false;
    /// One of the arguments.
    const NAMED: bool = true;
}

impl<T> Otherwise for Probe<T> {}

/// Nothing implements it: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a tool",
    label = "neither an argument nor something that a call holds",
    note = "arguments implement `Deserialize` and `JsonSchema`: derive both for a type of your own",
    note = "a call holds `Context`, `State<T>`, `SessionState<T>`, `Ext<T>`, an `Option` of these, `Args<T>`, `RawArgs`, and types that implement `FromRequest` or `FromCall`"
)]
pub trait ToolParameter {}

/// Asks the same about a parameter without a name, which is no argument.
pub struct ProbeUnnamed<T>(PhantomData<fn() -> T>);

impl<T> ProbeUnnamed<T> {
    /// Asks.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for ProbeUnnamed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for ProbeUnnamed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProbeUnnamed")
    }
}

impl<T: FromCall> ProbeUnnamed<T> {
    /// The only choice.
    pub const fn parameter(self) -> Parameter<Taken, T> {
        Parameter::NEW
    }
}

/// What is left for a parameter without a name.
pub trait ProbeUnfitUnnamed<T>: Sized {
    /// Not made from the call, which is an error.
    fn parameter(self) -> Parameter<Unfit, T>
    where
        T: UnnamedParameter,
    {
        Parameter::NEW
    }
}

impl<T> ProbeUnfitUnnamed<T> for &ProbeUnnamed<T> {}

/// Nothing implements it: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "a parameter of type `{Self}` needs a name",
    label = "without a name it can't be an argument, and no call holds it",
    note = "name the parameter, and take it apart in the function"
)]
pub trait UnnamedParameter {}

/// A parameter that is known to be an argument, because attributes say more about it.
#[must_use]
pub const fn argument<T>() -> Parameter<Argument, T> {
    Parameter::NEW
}

/// A parameter as the tool's definition sees it.
pub trait Describe {
    /// Adds to the definition; true when the parameter is one of the arguments.
    fn describe(&self, definition: &mut ToolDefinition) -> Kind;
}

/// What a parameter has to do with the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is one of them.
    Named,
    /// It is made from all of them.
    Reads,
    /// Nothing.
    None,
}

impl<T> Describe for Parameter<Argument, T> {
    fn describe(&self, _: &mut ToolDefinition) -> Kind {
        Kind::Named
    }
}

impl<T: FromCall> Describe for Parameter<Taken, T> {
    fn describe(&self, definition: &mut ToolDefinition) -> Kind {
        T::describe(definition);
        if T::READS_ARGUMENTS { Kind::Reads } else { Kind::None }
    }
}

impl<T> Describe for Parameter<Unfit, T> {
    fn describe(&self, _: &mut ToolDefinition) -> Kind {
        Kind::None
    }
}

impl<T> Parameter<Argument, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// None.
    pub fn take(self, field: T, _: &ToolCall) -> Result<T, Rejection> {
        Ok(field)
    }
}

impl<T: FromCall> Parameter<Taken, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// Those of the type.
    pub fn take(self, _: Absent, call: &ToolCall) -> Result<T, Rejection> {
        T::from_call(call)
    }
}

impl<T> Parameter<Unfit, T> {
    /// There is none; a program that asks for it isn't compiled.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn take(self, _: Absent, _: &ToolCall) -> Result<T, Rejection> {
        Err(Rejection::Protocol(ErrorObject::internal("the parameter has no value")))
    }
}

/// The member of the arguments of a parameter that is none of them.
#[derive(Clone, Copy, Debug)]
pub struct Absent;

/// Marks the schema of such a member.
const ABSENT: &str = "x-absent";

impl<'de> Deserialize<'de> for Absent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nothing;

        impl<'de> Visitor<'de> for Nothing {
            type Value = Absent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_none<E>(self) -> Result<Absent, E> {
                Ok(Absent)
            }

            fn visit_unit<E>(self) -> Result<Absent, E> {
                Ok(Absent)
            }

            fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Absent, D::Error> {
                IgnoredAny::deserialize(inner).map(|_| Absent)
            }
        }

        // What is missing counts as none; what a client sends under this name is not for us.
        deserializer.deserialize_option(Nothing)
    }
}

impl JsonSchema for Absent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Absent")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ ABSENT: true })
    }
}

/// The arguments `A` without the members that are absent.
struct Present<A>(PhantomData<fn() -> A>);

impl<A: JsonSchema> JsonSchema for Present<A> {
    fn schema_name() -> Cow<'static, str> {
        A::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = A::json_schema(generator);
        let mut absent = Vec::new();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.retain(|name, property| {
                let is_absent = property.get(ABSENT).is_some();
                if is_absent {
                    absent.push(name.clone());
                }
                !is_absent
            });
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| absent.iter().all(|absent| name != absent));
            if required.is_empty() {
                schema.remove("required");
            }
        }
        schema
    }
}

/// How a result of type `R` becomes the outcome of a call.
pub struct Output<R> {
    /// Converts it.
    pub convert: fn(R) -> ToolOutcome,
    /// Adds to the definition.
    pub describe: fn(&mut ToolDefinition),
}

impl<R> Clone for Output<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Output<R> {}

impl<R> fmt::Debug for Output<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// The one place where the type of the result is held against what a tool can answer with, so
/// that there is one error.
#[must_use]
pub const fn output<R: IntoToolResult>() -> Output<R> {
    Output { convert: R::into_tool_result, describe: R::describe }
}

/// A function whose parameters are parts of the arguments `A`, or made from the call.
pub struct Handler<A, F> {
    definition: ToolDefinition,
    has_arguments: bool,
    function: F,
    marker: PhantomData<fn() -> A>,
}

impl<A, F> fmt::Debug for Handler<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handler")
    }
}

/// Makes a tool of a function.
#[must_use]
pub fn handler<A, F, Fut>(
    parameters: &[&dyn Describe],
    describe_output: fn(&mut ToolDefinition),
    function: F,
) -> Handler<A, F>
where
    A: DeserializeOwned + JsonSchema + 'static,
    F: Fn(A, &ToolCall) -> Result<Fut, Rejection> + Send + Sync + 'static,
    Fut: Future<Output = ToolOutcome> + Send + 'static,
{
    let mut definition = ToolDefinition::new();
    let kinds: Vec<Kind> =
        parameters.iter().map(|parameter| parameter.describe(&mut definition)).collect();
    let has_arguments = kinds.contains(&Kind::Named);
    if has_arguments {
        definition.input = ToolSchema::of::<Present<A>>();
        definition.typed_input = true;
    } else if !kinds.contains(&Kind::Reads) {
        definition.input = ToolSchema::no_members();
        definition.typed_input = true;
    }
    describe_output(&mut definition);
    Handler { definition, has_arguments, function, marker: PhantomData }
}

impl<A, F, Fut> Tool for Handler<A, F>
where
    A: DeserializeOwned + 'static,
    F: Fn(A, &ToolCall) -> Result<Fut, Rejection> + Send + Sync + 'static,
    Fut: Future<Output = ToolOutcome> + Send + 'static,
{
    fn describe(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call(&self, call: ToolCall) -> BoxFuture<'_, ToolOutcome> {
        let arguments = if self.has_arguments {
            call.parse_arguments()
        } else {
            serde_json::from_str("{}").map_err(|error| Rejection::from_json(&error))
        };
        let future = arguments.and_then(|arguments| (self.function)(arguments, &call));
        match future {
            Ok(future) => Box::pin(future),
            Err(rejection) => Box::pin(std::future::ready(rejection.into_outcome(&call))),
        }
    }
}
