//! The attributes on functions of their own.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemFn, Path, parse2};

use crate::arguments::Arguments;
use crate::errors::Errors;
use crate::function::{Function, Kind, word_of};
use crate::{prompt, resource, tool};

/// Expands an attribute. On errors the function stays, and a stand-in for the entry, so that
/// whoever uses them has no errors of their own.
pub(crate) fn expand(kind: Kind, attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let word = kind.attribute();
    let mut function: ItemFn = match parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            // A method without a body, or no function at all.
            let error = match parse2::<syn::Item>(item.clone()) {
                Ok(other) => syn::Error::new_spanned(
                    word_of(&other),
                    format!("`#[{word}]` goes on a function"),
                ),
                Err(_) => error,
            };
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let arguments = Arguments::read(attribute, kind.known(), &mut errors);
    if let Some(receiver) = function.sig.receiver() {
        errors.add(
            receiver,
            format!(
                "a method can be a {word} in an `impl` block with `#[offer]`: add that above `impl`"
            ),
        );
        strip(kind, &mut function);
        let errors = errors.into_tokens();
        return quote!(#function #errors);
    }
    let read = Function::read(kind, &function.attrs, &mut function.sig, &mut errors);
    let krate = &arguments.krate;
    let (ty, entry) = match kind {
        Kind::Tool => {
            tool::check(&read, &arguments, &mut errors);
            (quote!(#krate::tool::ToolEntry), tool::entry(&read, &arguments))
        }
        Kind::Prompt => {
            prompt::check(&arguments, &mut errors);
            (quote!(#krate::prompt::PromptEntry), prompt::entry(&read, &arguments))
        }
        Kind::Resource => match resource::Target::read(&read, &arguments, &mut errors) {
            Some(target) => {
                (resource_type(krate, &target), resource::entry(&read, &arguments, &target))
            }
            None => (quote!(#krate::resource::ResourceEntry), TokenStream::new()),
        },
    };
    let body = if errors.is_empty() { entry } else { quote!(::core::panic!("it isn't compiled")) };
    let errors = errors.into_tokens();
    let maker = format_ident!("{}_{word}", read.name(), span = read.ident.span());
    let visibility = &function.vis;
    let conditions = function.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    let text = format!("The {word} that [`{0}`] is, for a server to offer.", read.ident);
    quote! {
        #function

        #[doc = #text]
        #[must_use]
        #(#conditions)*
        #visibility fn #maker() -> #ty {
            #body
        }

        #errors
    }
}

fn resource_type(krate: &Path, target: &resource::Target) -> TokenStream {
    if target.is_template() {
        quote!(#krate::resource::TemplateEntry)
    } else {
        quote!(#krate::resource::ResourceEntry)
    }
}

/// Removes what the compiler doesn't take at parameters.
fn strip(kind: Kind, function: &mut ItemFn) {
    Function::read(kind, &[], &mut function.sig, &mut Errors::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(item: &str) -> String {
        expand(Kind::Tool, TokenStream::new(), item.parse().unwrap()).to_string()
    }

    #[test]
    fn what_any_client_may_call_is_safe() {
        let expanded = check("unsafe fn a() -> String { String::new() }");
        assert!(expanded.contains("can't be `unsafe`"), "{expanded}");
        assert!(!check("fn a() -> String { String::new() }").contains("compile_error"));
    }

    #[test]
    fn after_an_error_what_others_use_is_still_there() {
        let expanded = check("pub(crate) fn a<T>(value: T) -> String { String::new() }");
        for wanted in ["pub (crate) fn a < T >", "pub (crate) fn a_tool ()", "compile_error"] {
            assert!(expanded.contains(wanted), "{wanted}: {expanded}");
        }
        let expanded = check("struct A;");
        assert!(expanded.starts_with("struct A ;"), "{expanded}");
    }
}
