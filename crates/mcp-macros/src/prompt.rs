//! `#[prompt]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;

use crate::arguments::{Arguments, Known, Want, literal};
use crate::errors::Errors;
use crate::function::{Function, local, private};

/// The arguments of the attribute.
pub(crate) const KNOWN: &[Known] = &[
    ("name", Want::Text),
    ("title", Want::Text),
    ("description", Want::Text),
    ("icons", Want::Value),
    ("needs", Want::Texts),
];

/// What is wrong with the attribute.
pub(crate) fn check(arguments: &Arguments, errors: &mut Errors) {
    if let Some(first) = &arguments.first {
        errors.add(first, "a text needs a name: `description = \"…\"`, or `name = \"…\"`");
    }
    if let Some(name) = arguments.get("name")
        && literal(name).is_some_and(|text| text.value().is_empty())
    {
        errors.add(name, "the name of a prompt has at least one character");
    }
}

/// The expression of the entry.
pub(crate) fn entry(function: &Function, arguments: &Arguments) -> TokenStream {
    let krate = &arguments.krate;
    let private = private(krate);
    let parameters = &function.parameters;
    let name = match arguments.get("name") {
        Some(name) => quote!(#name),
        None => {
            let name = function.name();
            quote!(#name)
        }
    };
    let variables: Vec<Ident> =
        parameters.iter().enumerate().map(|(at, parameter)| parameter.variable(at)).collect();
    let values: Vec<Ident> =
        parameters.iter().enumerate().map(|(at, parameter)| parameter.value(at)).collect();
    let kinds = parameters.iter().map(|parameter| {
        let ty = &parameter.ty;
        let span = parameter.span();
        if parameter.name.is_none() {
            quote_spanned!(span=> #private::prompt::ProbeUnnamed::<#ty>::new().parameter())
        } else {
            quote_spanned!(span=> #private::prompt::Probe::<#ty>::new().parameter())
        }
    });
    let names: Vec<String> = parameters.iter().map(crate::function::Parameter::wire_name).collect();
    let texts = parameters.iter().map(|parameter| match &parameter.docs {
        Some(docs) => quote!(::core::option::Option::Some(#docs)),
        None => quote!(::core::option::Option::None),
    });
    let output_type = &function.output;
    let output =
        quote_spanned!(function.output_span()=> #private::prompt::output::<#output_type>());
    let make = quote_spanned!(function.span()=> #krate::prompt::PromptEntry::new);
    let clone_self = function.clone_self();
    let call = function.call();
    let described = match (arguments.get("description"), &function.docs) {
        (None, Some(docs)) => quote!(.description(#docs)),
        _ => TokenStream::new(),
    };
    let calls = arguments.calls(&["title", "description", "icons", "needs"]);
    let result = local("__output");
    let request = local("__request");
    let entry = local("__entry");
    let run = quote_spanned! {function.span()=>
        async move {
            let _ = &#request;
            #(let #values = #variables.take(&#request, #names)?;)*
            #result(#call)
        }
    };
    quote! {{
        #[allow(unused_imports, reason = "which of them are needed depends on the parameters")]
        use #private::prompt::{
            ProbeOptional as _, ProbeRequired as _, ProbeUnfit as _, ProbeUnfitUnnamed as _,
        };
        #(let #variables = #kinds;)*
        let #result = #output;
        #clone_self
        let #entry = #make(#name, move |#request: #krate::prompt::PromptRequest| {
            #clone_self
            #run
        });
        #(let #entry = #variables.announce(#entry, #names, #texts);)*
        #entry #described #calls
    }}
}
