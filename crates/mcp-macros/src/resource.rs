//! `#[resource]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

use crate::arguments::{Arguments, Known, Want};
use crate::errors::Errors;
use crate::function::{Function, constant_check, local, private};
use crate::template;

/// The arguments of the attribute, beside the URI.
pub(crate) const KNOWN: &[Known] = &[
    ("name", Want::Text),
    ("title", Want::Text),
    ("description", Want::Text),
    ("mime_type", Want::Text),
    ("size", Want::Value),
    ("annotations", Want::Value),
    ("icons", Want::Value),
    ("needs", Want::Texts),
];

/// What is read under a URI, or under those of a template.
pub(crate) struct Target {
    uri: String,
    /// The variables of a template; empty for a URI.
    variables: Vec<String>,
}

impl Target {
    /// Whether it is a template.
    pub(crate) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// The URI or template.
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// Reads the target of an attribute, and says what is wrong with it.
    pub(crate) fn read(
        function: &Function,
        arguments: &Arguments,
        errors: &mut Errors,
    ) -> Option<Self> {
        let Some(first) = &arguments.first else {
            errors.add(
                &function.ident,
                "a resource needs its URI: `#[resource(\"notes://all\")]`, or a template: \
                 `#[resource(\"notes://{id}\")]`",
            );
            return None;
        };
        let uri = first.value();
        let variables = match template::variables(&uri) {
            Ok(variables) => variables,
            Err(fault) => {
                errors.add(first, fault);
                return None;
            }
        };
        if let Some(fault) = template::fault(&uri) {
            errors.add(first, fault);
        }
        let target = Self { uri, variables };
        if target.is_template()
            && let Some(size) = arguments.get("size")
        {
            errors.add(size, "the resources of a template have no size in common: remove it");
        }
        let takes = |name: &str| function.parameters.iter().any(|p| p.wire_name() == *name);
        // Another parameter may be the request, which has all of them.
        let may_have_all = function.parameters.iter().any(|p| !target.has(&p.wire_name()));
        if !may_have_all {
            for name in target.variables.iter().filter(|name| !takes(name)) {
                errors.add(first, missing(name));
            }
        }
        Some(target)
    }

    fn has(&self, name: &str) -> bool {
        self.variables.iter().any(|variable| variable == name)
    }
}

fn missing(name: &str) -> String {
    format!(
        "the variable `{name}` has no parameter: add one that is called `{name}`, or take all of them as `Variables`"
    )
}

/// The expression of the entry.
pub(crate) fn entry(function: &Function, arguments: &Arguments, target: &Target) -> TokenStream {
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
        let probe = if target.has(&parameter.wire_name()) { "ProbeVariable" } else { "Probe" };
        let probe = format_ident!("{probe}");
        quote_spanned!(parameter.span()=> #private::resource::#probe::<#ty>::new().parameter())
    });
    let names: Vec<String> = parameters.iter().map(crate::function::Parameter::wire_name).collect();
    let all_taken = all_taken(function, arguments, target, &private);
    let output_type = &function.output;
    let output =
        quote_spanned!(function.output_span()=> #private::resource::output::<#output_type>());
    let uri = &target.uri;
    let make = if target.is_template() {
        quote_spanned!(function.span()=> #private::resource::template)
    } else {
        quote_spanned!(function.span()=> #krate::resource::ResourceEntry::new)
    };
    let clone_self = function.clone_self();
    let call = function.call();
    let described = match (arguments.get("description"), &function.docs) {
        (None, Some(docs)) => quote!(.description(#docs)),
        _ => TokenStream::new(),
    };
    let calls = arguments.calls(&[
        "title",
        "description",
        "mime_type",
        "size",
        "annotations",
        "icons",
        "needs",
    ]);
    let result = local("__output");
    let request = local("__request");
    let run = quote_spanned! {function.span()=>
        async move {
            let _ = &#request;
            #(let #values = #variables.take(&#request, #names)?;)*
            ::core::result::Result::<_, #krate::resource::ResourceError>::Ok(
                #result.contents(#call),
            )
        }
    };
    quote! {{
        #[allow(unused_imports, reason = "which of them are needed depends on the parameters")]
        use #private::resource::{
            Otherwise as _, ProbeOptional as _, ProbeRequired as _, ProbeUnfit as _,
            ProbeUnfitVariable as _,
        };
        #all_taken
        #(let #variables = #kinds;)*
        let #result = #output;
        #clone_self
        #make(#uri, #name, move |#request: #krate::resource::ReadRequest| {
            #clone_self
            #run
        })
        #described #calls
    }}
}

/// Sees to it that a variable without a parameter is taken by one that has all of them.
fn all_taken(
    function: &Function,
    arguments: &Arguments,
    target: &Target,
    private: &TokenStream,
) -> TokenStream {
    let takes = |name: &str| function.parameters.iter().any(|p| p.wire_name() == *name);
    let missing_one = target.variables.iter().find(|name| !takes(name));
    let (Some(name), Some(first)) = (missing_one, &arguments.first) else {
        return TokenStream::new();
    };
    let whole = function.parameters.iter().filter(|p| !target.has(&p.wire_name())).map(|p| {
        let ty = &p.ty;
        quote!(<#private::resource::Probe<#ty>>::WHOLE)
    });
    let message = missing(name);
    let span = first.span();
    let check = quote_spanned!(span=> ::core::assert!(#(#whole)||*, #message));
    constant_check(function, span, &check)
}
