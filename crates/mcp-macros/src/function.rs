//! A function or method as the attributes see it.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Ident, Pat, PatType, Path, Receiver, ReceiverKind, ReturnType, Safety,
    Signature, Type, parse_quote,
};

use crate::arguments::Known;
use crate::errors::Errors;
use crate::{docs, prompt, resource, tool};

/// What a function becomes, in the words of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    /// The name of the attribute.
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// The arguments of the attribute.
    pub(crate) const fn known(self) -> &'static [Known] {
        match self {
            Self::Tool => tool::KNOWN,
            Self::Prompt => prompt::KNOWN,
            Self::Resource => resource::KNOWN,
        }
    }
}

/// A function that becomes a tool, a prompt or a resource.
pub(crate) struct Function {
    pub(crate) ident: Ident,
    pub(crate) is_async: bool,
    /// Whether it is a method of a value.
    pub(crate) has_self: bool,
    /// The text of its doc comments.
    pub(crate) docs: Option<TokenStream>,
    pub(crate) parameters: Vec<Parameter>,
    /// The type of its result, or `_` where it can't be written down.
    pub(crate) output: Type,
    /// Where the type of its result is written.
    output_span: Span,
    /// Whether types may name parameters of an `impl`.
    is_generic: bool,
    receiver: Option<Receiver>,
    owner: Option<TokenStream>,
}

/// A parameter, apart from `self`.
pub(crate) struct Parameter {
    /// Its name, unless it is taken apart or left unnamed.
    pub(crate) name: Option<Ident>,
    /// The type of what is kept for it: what is behind the reference, if it is one.
    pub(crate) ty: Type,
    /// The text of its doc comments.
    pub(crate) docs: Option<TokenStream>,
    /// Attributes of `serde` and `schemars`.
    pub(crate) attributes: Vec<Attribute>,
    is_reference: bool,
    span: Span,
}

impl Function {
    /// Reads a function. What the compiler doesn't take at parameters is removed from
    /// `signature`.
    pub(crate) fn read(
        kind: Kind,
        attributes: &[Attribute],
        signature: &mut Signature,
        errors: &mut Errors,
    ) -> Self {
        shape(kind, signature, errors);
        let mut parameters = Vec::new();
        for input in &mut signature.inputs {
            if let FnArg::Typed(input) = input {
                parameters.push(Parameter::read(kind, input, errors));
            }
        }
        let output = match &signature.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, ty) => {
                if starts_with_impl_future(ty) && signature.asyncness.is_none() {
                    errors.add(ty, "write an `async fn` instead of naming the future");
                }
                if mentions(ty, |word| word == "impl") { parse_quote!(_) } else { (**ty).clone() }
            }
        };
        let output_span = match &signature.output {
            ReturnType::Default => signature.ident.span(),
            ReturnType::Type(_, ty) => ty.span(),
        };
        let receiver = signature.receiver().cloned();
        Self {
            ident: signature.ident.clone(),
            is_async: signature.asyncness.is_some(),
            has_self: receiver.is_some(),
            docs: docs::text(attributes),
            parameters,
            output,
            output_span,
            is_generic: false,
            receiver,
            owner: None,
        }
    }

    /// The same function as an item of an `impl` block.
    pub(crate) fn of_impl(mut self, generics: &syn::Generics, errors: &mut Errors) -> Self {
        self.owner = Some(quote!(Self::));
        self.is_generic = !generics.params.is_empty();
        let names: Vec<String> = generics
            .params
            .iter()
            .map(|param| match param {
                syn::GenericParam::Type(param) => param.ident.to_string(),
                syn::GenericParam::Const(param) => param.ident.to_string(),
                syn::GenericParam::Lifetime(param) => param.lifetime.ident.to_string(),
            })
            .collect();
        for parameter in &self.parameters {
            let outer = |word: &str| word == "Self" || names.iter().any(|name| name == word);
            if !parameter.attributes.is_empty() && mentions(&parameter.ty, outer) {
                errors.add(
                    &parameter.ty,
                    "a parameter with attributes can't have a type of the `impl` block: take a \
                     struct with these attributes, as `Args<T>`",
                );
            }
        }
        self
    }

    /// The name, as clients see it.
    pub(crate) fn name(&self) -> String {
        plain(&self.ident)
    }

    /// Where messages about the function as a whole point.
    pub(crate) fn span(&self) -> Span {
        self.ident.span().resolved_at(Span::mixed_site())
    }

    /// Where messages about the result point.
    pub(crate) fn output_span(&self) -> Span {
        self.output_span.resolved_at(Span::mixed_site())
    }

    /// A clone of the handle to `self`, where there is one.
    pub(crate) fn clone_self(&self) -> TokenStream {
        if self.has_self {
            let this = this();
            quote!(let #this = ::std::sync::Arc::clone(&#this);)
        } else {
            TokenStream::new()
        }
    }

    /// The call, with the variables of [`Parameter::value`].
    pub(crate) fn call(&self) -> TokenStream {
        let Self { ident, owner, .. } = self;
        let this = this();
        let receiver = self.receiver.as_ref().map(|receiver| match receiver.kind {
            ReceiverKind::Reference(..) => quote!(&#this,),
            _ => quote!(::std::sync::Arc::clone(&#this),),
        });
        let values = self.parameters.iter().enumerate().map(|(at, parameter)| {
            let value = parameter.value(at);
            if parameter.is_reference { quote!(&#value) } else { quote!(#value) }
        });
        let wait = self.is_async.then(|| quote!(.await));
        quote_spanned!(self.span()=> #owner #ident(#receiver #(#values),*) #wait)
    }
}

impl Parameter {
    fn read(kind: Kind, input: &mut PatType, errors: &mut Errors) -> Self {
        let docs = docs::text(&input.attrs);
        let (ours, theirs): (Vec<_>, Vec<_>) =
            std::mem::take(&mut input.attrs).into_iter().partition(is_ours);
        input.attrs = theirs;
        let attributes: Vec<Attribute> =
            ours.into_iter().filter(|attribute| !attribute.path().is_ident("doc")).collect();
        let name = match &*input.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => Some(pattern.ident.clone()),
            _ => None,
        };
        if let Some(attribute) = attributes.first() {
            if kind != Kind::Tool {
                errors.add(attribute, format!("a {} has no use for this", kind.attribute()));
            } else if name.is_none() {
                errors.add(attribute, "only a parameter with a name can be an argument");
            }
        }
        if mentions(&input.ty, |word| word == "impl") {
            errors.add(&input.ty, "a parameter needs a type that can be named: `impl` can't be");
        }
        let (ty, is_reference) = owned(&input.ty, errors);
        Self { name, ty, docs, attributes, is_reference, span: input.ty.span() }
    }

    /// The name, as clients see it.
    pub(crate) fn wire_name(&self) -> String {
        self.name.as_ref().map(plain).unwrap_or_default()
    }

    /// Where messages about the type point.
    pub(crate) fn span(&self) -> Span {
        self.span.resolved_at(Span::mixed_site())
    }

    /// The variable that holds what is known about the parameter.
    pub(crate) fn variable(&self, at: usize) -> Ident {
        format_ident!("__parameter{at}", span = Span::mixed_site())
    }

    /// The variable that holds the parameter's value during a call.
    pub(crate) fn value(&self, at: usize) -> Ident {
        format_ident!("__value{at}", span = Span::mixed_site())
    }
}

/// A variable of the expansion, which nobody else sees.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// The variable with the handle to `self`.
pub(crate) fn this() -> Ident {
    local("__this")
}

/// The module with what the attributes expand to.
pub(crate) fn private(krate: &Path) -> TokenStream {
    quote!(#krate::__private)
}

/// An assertion that is evaluated while the program is compiled. In generic code that is only
/// when the code is used, since an item can't name the parameters of the `impl` around it.
pub(crate) fn constant_check(function: &Function, span: Span, check: &TokenStream) -> TokenStream {
    if function.is_generic {
        quote_spanned!(span=> const { #check };)
    } else {
        quote_spanned!(span=> const _: () = #check;)
    }
}

fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// What is wrong with the shape of a function.
fn shape(kind: Kind, signature: &Signature, errors: &mut Errors) {
    let word = kind.attribute();
    if let Some(token) = &signature.constness {
        errors.add(token, format!("a {word} can't be `const`: remove it"));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.add(token, format!("a {word} can't be `unsafe`: any client may call it"));
    }
    if let Some(abi) = &signature.abi {
        errors.add(abi, format!("a {word} is a function of Rust: remove this"));
    }
    if !signature.generics.params.is_empty() {
        let generics = &signature.generics;
        errors.add(
            generics,
            format!("a {word} can't be generic: name the types, or make the `impl` block generic"),
        );
    }
    let Some(receiver) = signature.receiver() else { return };
    match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(_)) => errors.add(
            receiver,
            format!(
                "a {word} takes `&self`, since calls run at the same time: keep what changes \
                     in a `Mutex` or an atomic"
            ),
        ),
        ReceiverKind::Reference(..) => {}
        ReceiverKind::Typed(_, ty) if is_arc_of_self(ty) => {}
        _ => errors.add(
            receiver,
            format!("a {word} takes `&self` or `self: Arc<Self>`, since it is called many times"),
        ),
    }
}

fn is_arc_of_self(ty: &Type) -> bool {
    let text = ty.to_token_stream().to_string().replace(' ', "");
    text == "Arc<Self>" || text.ends_with("::Arc<Self>")
}

fn is_ours(attribute: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
}

/// The type of what is kept during a call for a parameter of type `ty`, and whether the function
/// is lent it.
fn owned(ty: &Type, errors: &mut Errors) -> (Type, bool) {
    let Type::Reference(reference) = ty else { return (ty.clone(), false) };
    if reference.mutability.is_some() {
        errors.add(ty, "a parameter can't be lent to be changed: take it by value");
    }
    if let Some(lifetime) = &reference.lifetime
        && lifetime.ident == "static"
    {
        errors.add(
            ty,
            "what a call holds doesn't live forever: take it by value, or without `'static`",
        );
    }
    let kept = match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => parse_quote!(::std::string::String),
        Type::Slice(slice) => {
            let element = &slice.elem;
            parse_quote!(::std::vec::Vec<#element>)
        }
        other => other.clone(),
    };
    (kept, true)
}

fn starts_with_impl_future(ty: &Type) -> bool {
    matches!(ty, Type::ImplTrait(_)) && mentions(ty, |word| word == "Future")
}

/// Whether a word for which `wanted` holds is among the tokens.
fn mentions(tokens: &impl ToTokens, wanted: impl Fn(&str) -> bool + Copy) -> bool {
    fn inside(tokens: TokenStream, wanted: impl Fn(&str) -> bool + Copy) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => wanted(&ident.to_string()),
            TokenTree::Group(group) => inside(group.stream(), wanted),
            _ => false,
        })
    }
    inside(tokens.to_token_stream(), wanted)
}

/// The word that says what an item is.
pub(crate) fn word_of(item: &syn::Item) -> TokenStream {
    let tokens = item.to_token_stream();
    let is_word = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word != "pub");
    let word = tokens.clone().into_iter().find(is_word);
    word.map(TokenStream::from).unwrap_or(tokens)
}
