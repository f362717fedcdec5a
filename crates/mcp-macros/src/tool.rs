//! `#[tool]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Ident;

use crate::arguments::{Arguments, Known, Want, literal};
use crate::errors::Errors;
use crate::function::{Function, constant_check, local, private};

/// The arguments of the attribute.
pub(crate) const KNOWN: &[Known] = &[
    ("name", Want::Text),
    ("title", Want::Text),
    ("description", Want::Text),
    ("read_only", Want::Flag),
    ("destructive", Want::Flag),
    ("idempotent", Want::Flag),
    ("open_world", Want::Flag),
    ("annotations", Want::Value),
    ("icons", Want::Value),
    ("input_schema", Want::Value),
    ("output_schema", Want::Value),
    ("task_support", Want::Choice(&["forbidden", "optional", "required"])),
    ("needs", Want::Texts),
];

/// The longest name of a tool, in characters.
const LONGEST_NAME: usize = 128;

/// What is wrong with the attribute and the function together.
pub(crate) fn check(function: &Function, arguments: &Arguments, errors: &mut Errors) {
    if let Some(first) = &arguments.first {
        errors.add(first, "a text needs a name: `description = \"…\"`, or `name = \"…\"`");
    }
    match arguments.get("name") {
        Some(name) => {
            if let Some(text) = literal(name)
                && let Some(fault) = name_fault(&text.value())
            {
                errors.add(name, fault);
            }
        }
        None => {
            if let Some(fault) = name_fault(&function.name()) {
                errors.add(&function.ident, format!("{fault}; say `name = \"…\"`"));
            }
        }
    }
    if arguments.is_set("read_only") && arguments.is_set("destructive") {
        let flag = arguments.name_of("destructive");
        errors.add(flag, "a tool that is `read_only` destroys nothing: remove one of them");
    }
    if let Some(annotations) = arguments.get("annotations") {
        let hints = ["read_only", "destructive", "idempotent", "open_world"];
        if hints.iter().any(|hint| arguments.get(hint).is_some()) {
            errors.add(annotations, "`annotations` replaces the hints: put them all in there");
        }
    }
}

/// The name of a tool breaks the rules of the specification.
fn name_fault(name: &str) -> Option<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() {
        return Some("the name of a tool has at least one character".to_owned());
    }
    if name.chars().count() > LONGEST_NAME {
        return Some(format!("the name of a tool has at most {LONGEST_NAME} characters"));
    }
    let bad = name.chars().find(|c| !legal(*c))?;
    Some(format!(
        "the name of a tool is made of `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`, not {bad:?}"
    ))
}

/// The expression of the entry.
pub(crate) fn entry(function: &Function, arguments: &Arguments) -> TokenStream {
    let krate = &arguments.krate;
    let name = match arguments.get("name") {
        Some(name) => quote!(#name),
        None => {
            let name = function.name();
            quote!(#name)
        }
    };
    let handler = handler(function, arguments);
    let described = match (arguments.get("description"), &function.docs) {
        (None, Some(docs)) => quote!(.description(#docs)),
        _ => TokenStream::new(),
    };
    let calls = arguments.calls(&[
        "title",
        "description",
        "annotations",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "icons",
        "input_schema",
        "output_schema",
        "needs",
    ]);
    let task_support = task_support(arguments);
    quote!(#krate::tool::ToolEntry::new(#name, #handler) #described #calls #task_support)
}

/// The call that says whether the tool runs as a task, where the attribute does.
fn task_support(arguments: &Arguments) -> Option<TokenStream> {
    let text = literal(arguments.get("task_support")?)?;
    let variant = match text.value().as_str() {
        "required" => quote!(Required),
        "optional" => quote!(Optional),
        _ => quote!(Forbidden),
    };
    let private = private(&arguments.krate);
    Some(quote!(.task_support(#private::TaskSupport::#variant)))
}

fn handler(function: &Function, arguments: &Arguments) -> TokenStream {
    let private = private(&arguments.krate);
    let parameters = &function.parameters;
    let variables: Vec<Ident> =
        parameters.iter().enumerate().map(|(at, parameter)| parameter.variable(at)).collect();
    let values: Vec<Ident> =
        parameters.iter().enumerate().map(|(at, parameter)| parameter.value(at)).collect();
    let fields: Vec<Ident> = parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| parameter.name.clone().unwrap_or_else(|| format_ident!("__{at}")))
        .collect();
    let kinds = parameters.iter().map(|parameter| {
        let ty = &parameter.ty;
        let span = parameter.span();
        if parameter.name.is_none() {
            quote_spanned!(span=> #private::tool::ProbeUnnamed::<#ty>::new().parameter())
        } else if parameter.attributes.is_empty() {
            quote_spanned!(span=> #private::tool::Probe::<#ty>::new().parameter())
        } else {
            quote_spanned!(span=> #private::tool::argument::<#ty>())
        }
    });
    let (declaration, ty) = arguments_type(function, arguments, &fields);
    let one_reader = one_reader(function, &private);
    let output_type = &function.output;
    let output = quote_spanned!(function.output_span()=> #private::tool::output::<#output_type>());
    let make = quote_spanned!(function.span()=> #private::tool::handler);
    let clone_self = function.clone_self();
    let call = function.call();
    let result = local("__output");
    let parsed = local("__arguments");
    let inbound = local("__call");
    let run = quote_spanned! {function.span()=>
        async move { (#result.convert)(#call) }
    };
    quote! {{
        #[allow(unused_imports, reason = "which of them are needed depends on the parameters")]
        use #private::tool::{
            Otherwise as _, ProbeArgument as _, ProbeUnfit as _, ProbeUnfitUnnamed as _,
        };
        #declaration
        #one_reader
        #(let #variables = #kinds;)*
        let #result = #output;
        #clone_self
        #make::<#ty, _, _>(
            &[#(&#variables),*],
            #result.describe,
            move |#parsed, #inbound| {
                #(let #values = #variables.take(#parsed.#fields, #inbound)?;)*
                #clone_self
                ::core::result::Result::Ok(#run)
            },
        )
    }}
}

/// The type that the arguments are parsed into, and how it is named.
///
/// It is generic over the types of its fields, so that a field can be nothing where the
/// parameter turns out to be none of the arguments. A field with attributes has its own type,
/// since attributes may name functions of that type.
fn arguments_type(
    function: &Function,
    arguments: &Arguments,
    fields: &[Ident],
) -> (TokenStream, TokenStream) {
    let private = private(&arguments.krate);
    let path = |name: &str| format!("{private}::{name}").replace(' ', "");
    let (serde, schemars) = (path("serde"), path("schemars"));
    let mut generics: Vec<Ident> = Vec::new();
    let members: Vec<TokenStream> = function
        .parameters
        .iter()
        .zip(fields)
        .enumerate()
        .map(|(at, (parameter, field))| {
            let docs = parameter.docs.as_ref().map(|docs| quote!(#[doc = #docs]));
            let attributes = &parameter.attributes;
            if parameter.attributes.is_empty() {
                let generic = format_ident!("__Field{at}", span = Span::mixed_site());
                generics.push(generic.clone());
                quote!(#docs #field: #generic)
            } else {
                let ty = &parameter.ty;
                quote!(#docs #(#attributes)* #field: #ty)
            }
        })
        .collect();
    let inferred = generics.iter().map(|_| quote!(_));
    let declaration = quote! {
        #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #[allow(non_camel_case_types, reason = "generated")]
        struct __Arguments<#(#generics),*> {
            #(#members),*
        }
    };
    (declaration, quote!(__Arguments<#(#inferred),*>))
}

/// Sees to it that nothing else takes the arguments where a parameter is made from all of them.
fn one_reader(function: &Function, private: &TokenStream) -> TokenStream {
    let constant = |parameter: &crate::function::Parameter, name: &str| {
        let (ty, name) = (&parameter.ty, format_ident!("{name}"));
        if parameter.attributes.is_empty() {
            quote!(<#private::tool::Probe<#ty>>::#name)
        } else if name == "NAMED" {
            quote!(true)
        } else {
            quote!(false)
        }
    };
    let parameters = &function.parameters;
    let checks = parameters.iter().enumerate().filter(|_| parameters.len() > 1).map(|(at, one)| {
        let reads = constant(one, "READS");
        let others = parameters.iter().enumerate().filter(|(other, _)| *other != at);
        let others = others.map(|(_, other)| {
            let (reads, named) = (constant(other, "READS"), constant(other, "NAMED"));
            quote!(#reads || #named)
        });
        let message = "a tool takes its arguments one by one, or all together by `Args<T>` and its \
                       like, not both";
        let span = one.span();
        let check = quote_spanned!(span=> ::core::assert!(!(#reads && (#(#others)||*)), #message));
        constant_check(function, span, &check)
    });
    quote!(#(#checks)*)
}
