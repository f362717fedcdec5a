//! What functions and methods as resources expand to.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use mcp_types::ReadResourceResult;

use super::Parameter;
use crate::extract::{FromRequest, RequestParts};
use crate::resource::{
    IntoReadResult, IntoResource, ReadRequest, ResourceError, TemplateEntry, Variables,
};

/// A variable that must have a value.
#[derive(Debug)]
pub enum Required {}

/// A variable that may have none.
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

/// Asks how a variable becomes a `T`.
pub struct ProbeVariable<T>(PhantomData<fn() -> T>);

/// Asks how a `T` is made from a request.
pub struct Probe<T>(PhantomData<fn() -> T>);

macro_rules! probes {
    ($($name:ident),*) => {$(
        impl<T> $name<T> {
            /// Asks.
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::new()
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}

probes!(Probe, ProbeVariable);

/// The first choice for a variable.
pub trait ProbeRequired<T>: Sized {
    /// A variable that must have a value.
    fn parameter(self) -> Parameter<Required, T> {
        Parameter::NEW
    }
}

impl<T: FromStr> ProbeRequired<T> for ProbeVariable<T> {}

/// As good as the first choice.
pub trait ProbeOptional<T>: Sized {
    /// A variable that may have none.
    fn parameter(self) -> Parameter<Optional, T> {
        Parameter::NEW
    }
}

impl<T: FromStr> ProbeOptional<T> for ProbeVariable<Option<T>> {}

/// What is left for a variable.
pub trait ProbeUnfitVariable<T>: Sized {
    /// Neither, which is an error.
    fn parameter(self) -> Parameter<Unfit, T>
    where
        T: ResourceVariable,
    {
        Parameter::NEW
    }
}

impl<T> ProbeUnfitVariable<T> for &ProbeVariable<T> {}

/// Nothing implements it: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "a variable of a URI can't become a `{Self}`",
    label = "can't be parsed from a text",
    note = "variables are types that implement `FromStr`, or an `Option` of one for those that a URI may leave out"
)]
pub trait ResourceVariable {}

/// What holds for types that are not the request.
pub trait Otherwise {
    /// It doesn't have all of the variables.
    const WHOLE: bool = false;
}

impl<T> Otherwise for Probe<T> {}

impl<T: FromRequest> Probe<T> {
    /// The first choice.
    pub const fn parameter(self) -> Parameter<Taken, T> {
        Parameter::NEW
    }
}

impl Probe<ReadRequest> {
    /// It has all of the variables.
    pub const WHOLE: bool = true;

    /// As good as the first choice.
    pub const fn parameter(self) -> Parameter<Whole, ReadRequest> {
        Parameter::NEW
    }
}

impl Probe<Variables> {
    /// It has all of the variables.
    pub const WHOLE: bool = true;

    /// As good as the first choice.
    pub const fn parameter(self) -> Parameter<Whole, Variables> {
        Parameter::NEW
    }
}

/// What is left.
pub trait ProbeUnfit<T>: Sized {
    /// None of these, which is an error.
    fn parameter(self) -> Parameter<Unfit, T>
    where
        T: ResourceParameter,
    {
        Parameter::NEW
    }
}

impl<T> ProbeUnfit<T> for &Probe<T> {}

/// Nothing implements it: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a resource",
    label = "the URI has no variable of this name, and no request holds this",
    note = "a variable is named like its parameter: `#[resource(\"note://{{id}}\")]` has `id`",
    note = "a request holds `Context`, `State<T>`, `SessionState<T>`, `Ext<T>`, an `Option` of these, `ReadRequest`, `Variables`, and types that implement `FromRequest`"
)]
pub trait ResourceParameter {}

impl<T: FromStr> Parameter<Required, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// A URI whose variable has no value, or one that can't be parsed, names nothing.
    pub fn take(self, request: &ReadRequest, name: &str) -> Result<T, ResourceError> {
        request.variables.parse(name).ok_or(ResourceError::NotFound)
    }
}

impl<T: FromStr> Parameter<Optional, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// A URI whose variable can't be parsed names nothing.
    pub fn take(self, request: &ReadRequest, name: &str) -> Result<Option<T>, ResourceError> {
        let value = request.variables.get(name).map(str::parse);
        value.transpose().map_err(|_| ResourceError::NotFound)
    }
}

impl<T: FromRequest> Parameter<Taken, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// Those of the type.
    pub fn take(self, request: &ReadRequest, _: &str) -> Result<T, ResourceError> {
        let parts = RequestParts::new(&request.context, &request.state);
        T::from_request(&parts).map_err(ResourceError::Protocol)
    }
}

impl Parameter<Whole, ReadRequest> {
    /// The request.
    ///
    /// # Errors
    ///
    /// None.
    pub fn take(self, request: &ReadRequest, _: &str) -> Result<ReadRequest, ResourceError> {
        Ok(request.clone())
    }
}

impl Parameter<Whole, Variables> {
    /// The variables.
    ///
    /// # Errors
    ///
    /// None.
    pub fn take(self, request: &ReadRequest, _: &str) -> Result<Variables, ResourceError> {
        Ok(request.variables.clone())
    }
}

impl<T> Parameter<Unfit, T> {
    /// There is none; a program that asks for it isn't compiled.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn take(self, _: &ReadRequest, _: &str) -> Result<T, ResourceError> {
        Err(ResourceError::NotFound)
    }
}

type Convert<R> = fn(R, &str, Option<&str>) -> Result<ReadResourceResult, ResourceError>;

/// How a result of type `R` becomes contents.
pub struct Output<R>(Convert<R>);

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

/// The one place where the type of the result is held against what contents can be.
#[must_use]
pub const fn output<R: IntoReadResult>() -> Output<R> {
    Output(R::into_read_result)
}

impl<R> Output<R> {
    /// What the function has returned.
    #[must_use]
    pub const fn contents(self, value: R) -> Contents<R> {
        Contents { value, convert: self.0 }
    }
}

/// What a function has returned, which is known to be contents.
#[derive(Debug)]
pub struct Contents<R> {
    value: R,
    convert: Convert<R>,
}

impl<R> IntoReadResult for Contents<R> {
    fn into_read_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, ResourceError> {
        (self.convert)(self.value, uri, mime_type)
    }
}

/// A template that the macro has read.
///
/// # Panics
///
/// When it is none, which the macro has ruled out.
#[expect(clippy::panic, reason = "the macro refuses what would get here")]
pub fn template<M>(template: &str, name: &str, resource: impl IntoResource<M>) -> TemplateEntry {
    match TemplateEntry::new(template, name, resource) {
        Ok(entry) => entry,
        Err(error) => panic!("`{template}`: {error}"),
    }
}
