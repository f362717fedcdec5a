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
    dependencies = "../dependencies.md";
    releasing = "../releasing.md";
    reliability = "../reliability.md";
    versioning = "../versioning.md";

    guide_authorization_client = "../guide/authorization-client.md";
    guide_authorization_server = "../guide/authorization-server.md";
    guide_authorization_threats = "../guide/authorization-threats.md";
    guide_authorization_verifier = "../guide/authorization-verifier.md";
}
