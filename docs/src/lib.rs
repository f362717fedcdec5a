//! The pages of this folder and the top README, so that every block of Rust in them compiles.

macro_rules! pages {
    ($($name:ident = $path:literal;)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            mod $name {}
        )*
    };
}

pages! {
    readme = "../../README.md";
    architecture = "../architecture.md";
    comparison = "../comparison.md";
    conformance = "../conformance.md";
    dependencies = "../dependencies.md";
    interop = "../interop.md";
    performance = "../performance.md";
    releasing = "../releasing.md";
    reliability = "../reliability.md";
    versioning = "../versioning.md";

    features = "../features.md";
    guide = "../guide/README.md";
    guide_completion = "../guide/completion.md";
    guide_conversation = "../guide/conversation.md";
    guide_elicitation = "../guide/elicitation.md";
    guide_hosts = "../guide/hosts.md";
    guide_logging = "../guide/logging.md";
    guide_observability = "../guide/observability.md";
    guide_prompts = "../guide/prompts.md";
    guide_resources = "../guide/resources.md";
    guide_roots = "../guide/roots.md";
    guide_sampling = "../guide/sampling.md";
    guide_tasks = "../guide/tasks.md";
    guide_tools = "../guide/tools.md";
    guide_transports = "../guide/transports.md";

    guide_authorization_client = "../guide/authorization-client.md";
    guide_authorization_server = "../guide/authorization-server.md";
    guide_authorization_threats = "../guide/authorization-threats.md";
    guide_authorization_verifier = "../guide/authorization-verifier.md";
}
