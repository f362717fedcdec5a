//! What functions and methods as prompts expand to.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use mcp_jsonrpc::ErrorObject;
use mcp_types::{GetPromptResult, PromptArgument};

use super::Parameter;
use crate::extract::{FromRequest, RequestParts};
use crate::prompt::{IntoPromptResult, PromptEntry, PromptRequest};

/// An argument that must be given.
#[derive(Debug)]
pub enum Required {}

/// An argument that may be left out.
#[derive(Debug)]
pub enum Optional {}

/// A parameter that is made from the request.
#[derive(Debug)]
pub enum Taken {}

/// The request itself.
#[derive(Debug)]
pub enum Whole {}

/// A parameter that is none of these; there is an error at its type.
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

impl<T: FromRequest> Probe<T> {
    /// The first choice.
    pub const fn parameter(self) -> Parameter<Taken, T> {
        Parameter::NEW
    }
}

impl Probe<PromptRequest> {
    /// As good as the first choice.
    pub const fn parameter(self) -> Parameter<Whole, PromptRequest> {
        Parameter::NEW
    }
}

/// The second choice.
pub trait ProbeRequired<T>: Sized {
    /// An argument that must be given.
    fn parameter(self) -> Parameter<Required, T> {
        Parameter::NEW
    }
}

impl<T: FromStr<Err: Display>> ProbeRequired<T> for Probe<T> {}

/// As good as the second choice.
pub trait ProbeOptional<T>: Sized {
    /// An argument that may be left out.
    fn parameter(self) -> Parameter<Optional, T> {
        Parameter::NEW
    }
}

impl<T: FromStr<Err: Display>> ProbeOptional<T> for Probe<Option<T>> {}

/// What is left.
pub trait ProbeUnfit<T>: Sized {
    /// None of these, which is an error.
    fn parameter(self) -> Parameter<Unfit, T>
    where
        T: PromptParameter,
    {
        Parameter::NEW
    }
}

impl<T> ProbeUnfit<T> for &Probe<T> {}

/// Nothing implements it: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a prompt",
    label = "neither an argument nor something that a request holds",
    note = "the arguments of prompts are texts: types that implement `FromStr`, or an `Option` of one",
    note = "a request holds `Context`, `State<T>`, `SessionState<T>`, `Ext<T>`, an `Option` of these, `PromptRequest`, and types that implement `FromRequest`"
)]
pub trait PromptParameter {}

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

impl<T: FromRequest> ProbeUnnamed<T> {
    /// The only choice.
    pub const fn parameter(self) -> Parameter<Taken, T> {
        Parameter::NEW
    }
}

/// What is left for a parameter without a name.
pub trait ProbeUnfitUnnamed<T>: Sized {
    /// Not made from the request, which is an error.
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
    label = "without a name it can't be an argument, and no request holds it",
    note = "name the parameter, and take it apart in the function"
)]
pub trait UnnamedParameter {}

fn announced(name: &str, description: Option<&str>, required: bool) -> PromptArgument {
    let mut argument = PromptArgument::new(name);
    argument.description = description.map(str::to_owned);
    argument.required = required.then_some(true);
    argument
}

fn parse<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, ErrorObject> {
    value.parse().map_err(|error| {
        ErrorObject::invalid_params(format!("the argument `{name}` is not valid: {error}"))
    })
}

impl<T: FromStr<Err: Display>> Parameter<Required, T> {
    /// Announces the argument.
    #[must_use]
    pub fn announce(self, entry: PromptEntry, name: &str, text: Option<&str>) -> PromptEntry {
        entry.argument(announced(name, text, true))
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// `-32602` when it can't be parsed.
    pub fn take(self, request: &PromptRequest, name: &str) -> Result<T, ErrorObject> {
        // A request without it has been refused.
        parse(name, request.argument(name).unwrap_or_default())
    }
}

impl<T: FromStr<Err: Display>> Parameter<Optional, T> {
    /// Announces the argument.
    #[must_use]
    pub fn announce(self, entry: PromptEntry, name: &str, text: Option<&str>) -> PromptEntry {
        entry.argument(announced(name, text, false))
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// `-32602` when it can't be parsed.
    pub fn take(self, request: &PromptRequest, name: &str) -> Result<Option<T>, ErrorObject> {
        request.argument(name).map(|value| parse(name, value)).transpose()
    }
}

impl<T: FromRequest> Parameter<Taken, T> {
    /// There is nothing to announce.
    #[must_use]
    pub fn announce(self, entry: PromptEntry, _: &str, _: Option<&str>) -> PromptEntry {
        entry
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// Those of the type.
    pub fn take(self, request: &PromptRequest, _: &str) -> Result<T, ErrorObject> {
        T::from_request(&RequestParts::new(&request.context, &request.state))
    }
}

impl Parameter<Whole, PromptRequest> {
    /// There is nothing to announce.
    #[must_use]
    pub fn announce(self, entry: PromptEntry, _: &str, _: Option<&str>) -> PromptEntry {
        entry
    }

    /// The request.
    ///
    /// # Errors
    ///
    /// None.
    pub fn take(self, request: &PromptRequest, _: &str) -> Result<PromptRequest, ErrorObject> {
        Ok(request.clone())
    }
}

impl<T> Parameter<Unfit, T> {
    /// There is nothing to announce.
    #[must_use]
    pub fn announce(self, entry: PromptEntry, _: &str, _: Option<&str>) -> PromptEntry {
        entry
    }

    /// There is none; a program that asks for it isn't compiled.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn take(self, _: &PromptRequest, _: &str) -> Result<T, ErrorObject> {
        Err(ErrorObject::internal("the parameter has no value"))
    }
}

/// How a result of type `R` becomes messages.
pub type Output<R> = fn(R) -> Result<GetPromptResult, ErrorObject>;

/// The one place where the type of the result is held against what a prompt can be.
#[must_use]
pub const fn output<R: IntoPromptResult>() -> Output<R> {
    R::into_prompt_result
}
