//! `#[offer]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, ImplItem, ItemImpl, Meta, parse2};

use crate::arguments::{Arguments, literal};
use crate::errors::Errors;
use crate::function::{Function, Kind, local, this, word_of};
use crate::{prompt, resource, tool};

/// Expands the attribute. On errors the block stays, and an offer of nothing, so that whoever
/// uses them has no errors of their own.
pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut block: ItemImpl = match parse2(item.clone()) {
        Ok(block) => block,
        Err(error) => {
            let error = match parse2::<syn::Item>(item.clone()) {
                Ok(other) => syn::Error::new_spanned(
                    word_of(&other),
                    "`#[offer]` goes on an `impl` block; a function needs `#[tool]`, `#[prompt]` \
                     or `#[resource]` only",
                ),
                Err(_) => error,
            };
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let arguments = Arguments::read(attribute, &[], &mut errors);
    if let Some(first) = &arguments.first {
        errors.add(first, "`#[offer]` takes no text: name and version are given to `Server::new`");
    }
    if let Some((path, _)) = &block.trait_ {
        errors.add(path, "`#[offer]` goes on an `impl` block of the type itself");
    }
    let steps = steps(&mut block, &arguments, &mut errors);
    if steps.is_empty() && errors.is_empty() {
        errors.add(
            &block.self_ty,
            "there is nothing to offer: put `#[tool]`, `#[prompt]` or `#[resource]` on a method",
        );
    }
    let offer = if block.trait_.is_some() {
        TokenStream::new()
    } else {
        implementation(&block, &arguments, &steps, errors.is_empty())
    };
    let errors = errors.into_tokens();
    quote!(#block #offer #errors)
}

fn implementation(
    block: &ItemImpl,
    arguments: &Arguments,
    steps: &[TokenStream],
    is_right: bool,
) -> TokenStream {
    let krate = &arguments.krate;
    let self_ty = &block.self_ty;
    let mut generics = block.generics.clone();
    let clause = generics.make_where_clause();
    // The value is shared by all calls.
    let shared = quote_spanned!(self_ty.span()=> Self: ::core::marker::Send + ::core::marker::Sync + 'static);
    clause.predicates.push(syn::parse_quote!(#shared));
    let (parameters, _, clause) = generics.split_for_impl();
    let conditions = block.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let server = server();
    let this = this();
    let body = if is_right {
        quote! {
            let #this = ::std::sync::Arc::new(self);
            let _ = &#this;
            #(#steps)*
            #server
        }
    } else {
        quote!(#server)
    };
    quote! {
        #(#conditions)*
        impl #parameters #krate::Offer for #self_ty #clause {
            fn add_to(self, #server: #krate::Server) -> #krate::Server {
                #body
            }
        }
    }
}

/// The variable with the server.
fn server() -> Ident {
    local("__server")
}

/// A statement for each item; the attributes are removed.
fn steps(block: &mut ItemImpl, outer: &Arguments, errors: &mut Errors) -> Vec<TokenStream> {
    let generics = block.generics.clone();
    let mut taken = Vec::new();
    let mut steps = Vec::new();
    for item in &mut block.items {
        let attributes = match item {
            ImplItem::Fn(method) => &mut method.attrs,
            ImplItem::Const(item) => &mut item.attrs,
            ImplItem::Type(item) => &mut item.attrs,
            _ => continue,
        };
        let found: Vec<(Kind, Attribute)> = take(attributes);
        let Some((kind, attribute)) = found.first() else { continue };
        if let Some((_, second)) = found.get(1) {
            errors.add(second, "a method is one thing: make a second method that calls this one");
        }
        let ImplItem::Fn(method) = item else {
            errors.add(attribute, format!("`#[{}]` goes on a method", kind.attribute()));
            continue;
        };
        let tokens = match &attribute.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(pair) => {
                errors.add(pair, format!("write `#[{}(…)]`", kind.attribute()));
                continue;
            }
        };
        let mut arguments = Arguments::read(tokens, kind.known(), errors);
        arguments.krate = outer.krate.clone();
        let function = Function::read(*kind, &method.attrs, &mut method.sig, errors);
        let function = function.of_impl(&generics, errors);
        let Some((add, entry, key)) = entry(*kind, &function, &arguments, errors) else { continue };
        if let Some((key, place)) = key {
            if taken.contains(&(*kind, key.clone())) {
                let message = format!("there is a {} `{key}` already", kind.attribute());
                errors.push(syn::Error::new(place, message));
            }
            taken.push((*kind, key));
        }
        let conditions = method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        let server = server();
        steps.push(quote!(#(#conditions)* let #server = #server.#add(#entry);));
    }
    steps
}

/// Takes the attributes that are ours.
fn take(attributes: &mut Vec<Attribute>) -> Vec<(Kind, Attribute)> {
    let mut found = Vec::new();
    attributes.retain(|attribute| {
        let name = attribute.path().segments.last().map(|segment| segment.ident.to_string());
        let kinds = [Kind::Tool, Kind::Prompt, Kind::Resource];
        let kind = kinds.into_iter().find(|kind| name.as_deref() == Some(kind.attribute()));
        found.extend(kind.map(|kind| (kind, attribute.clone())));
        kind.is_none()
    });
    found
}

/// What no two items of a kind may have in common, and where it is written.
type Key = Option<(String, Span)>;

/// The method of `Server` that takes the entry, the entry, and its key where it is known.
fn entry(
    kind: Kind,
    function: &Function,
    arguments: &Arguments,
    errors: &mut Errors,
) -> Option<(TokenStream, TokenStream, Key)> {
    let named = || match arguments.get("name") {
        Some(name) => literal(name).map(|text| (text.value(), text.span())),
        None => Some((function.name(), function.ident.span())),
    };
    Some(match kind {
        Kind::Tool => {
            tool::check(function, arguments, errors);
            (quote!(with_tool), tool::entry(function, arguments), named())
        }
        Kind::Prompt => {
            prompt::check(arguments, errors);
            (quote!(with_prompt), prompt::entry(function, arguments), named())
        }
        Kind::Resource => {
            let target = resource::Target::read(function, arguments, errors)?;
            let add =
                if target.is_template() { quote!(with_template) } else { quote!(with_resource) };
            let place = arguments.first.as_ref().map(syn::LitStr::span);
            let key = place.map(|place| (target.uri().to_owned(), place));
            (add, resource::entry(function, arguments, &target), key)
        }
    })
}
