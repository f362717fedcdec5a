//! The commands, declared once: name, usage, what it does, and the function that does it.

use std::ffi::OsString;

use crate::{
    bench, ci, codegen, conformance, deny, fuzz, ledger, package, schema, semver, shell, soak, tidy,
};

/// One sub-command of `cargo xtask`.
pub(crate) struct Command {
    /// The word after `cargo xtask`.
    pub(crate) name: &'static str,
    /// What may follow it.
    pub(crate) usage: &'static str,
    /// One line for `cargo xtask help`.
    pub(crate) about: &'static str,
    /// Runs it with the arguments after its name.
    pub(crate) run: fn(&[String]) -> anyhow::Result<()>,
}

/// Every command. To add one: a module with a `run` function, and a line here.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        usage: "[--fast] [--only GATE,..] [--schemas DIR]",
        about: "run every gate (--fast: those of the inner loop), and end with one table",
        run: ci::run,
    },
    Command {
        name: "tidy",
        usage: "",
        about: "hold arrows, budgets, manifests, sizes and words against the rules",
        run: tidy::run,
    },
    Command {
        name: "codegen",
        usage: "[--check]",
        about: "write the generated types from the schema model, or only say which are stale",
        run: codegen::run,
    },
    Command {
        name: "schema",
        usage: "import PATH [--revision R] | diff PATH [--revision R]",
        about: "take the facts of an official schema.json into the model, or compare with it",
        run: schema::run,
    },
    Command {
        name: "conformance",
        usage: "[check|twins|interop|official|inspector] [--peer P] [--role client|server] [--transport T] [--write] | check --url URL | check [--client] -- COMMAND | peers [--write]",
        about: "let ours and other SDKs talk to each other, and print what held",
        run: conformance::run,
    },
    Command {
        name: "ledger",
        usage: "[--write]",
        about: "run the tests, and say which sentences of the specification they show",
        run: ledger::run,
    },
    Command {
        name: "fuzz",
        usage: "--smoke | --cases N",
        about: "feed made-up input to every parser, on stable",
        run: fuzz::run,
    },
    Command {
        name: "deny",
        usage: "[--advisory-db PATH] [--own]",
        about: "evaluate deny.toml: licenses, bans, sources, and advisories where there is a copy",
        run: deny::run,
    },
    Command {
        name: "package",
        usage: "[--allow-dirty]",
        about: "build, compile and inspect what goes to a registry",
        run: package::run,
    },
    Command {
        name: "semver",
        usage: "",
        about: "compare each crate with its last release (needs cargo-semver-checks)",
        run: semver::run,
    },
    Command {
        name: "soak",
        usage: "[--minutes N] [--sessions N] [--children N] [--seed N]",
        about: "many sessions at once, with everything going wrong: nothing lost, nothing twice",
        run: soak::run,
    },
    Command {
        name: "bench",
        usage: "[NAME ..]",
        about: "measure what a message costs; without a name, list the measurements",
        run: bench::run,
    },
];

/// Finds the command that `args` (without the program's name) asks for, and runs it.
pub(crate) fn dispatch(args: impl Iterator<Item = OsString>) -> anyhow::Result<()> {
    let args = args
        .map(|arg| arg.into_string().map_err(|arg| anyhow::anyhow!("not UTF-8: {}", arg.display())))
        .collect::<anyhow::Result<Vec<String>>>()?;
    let Some((name, rest)) = args.split_first() else {
        help();
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        help();
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        help();
        anyhow::bail!("there is no command `{name}`");
    };
    (command.run)(rest)
}

/// Fails unless every argument is one of `known`.
pub(crate) fn only(args: &[String], known: &[&str]) -> anyhow::Result<()> {
    match args.iter().find(|arg| !known.contains(&arg.as_str())) {
        Some(arg) => anyhow::bail!("unknown argument `{arg}`"),
        None => Ok(()),
    }
}

fn help() {
    shell::say("The project's own commands. Usage: cargo xtask COMMAND\n");
    for Command { name, usage, about, .. } in COMMANDS {
        shell::say(format_args!("  {}\n      {about}", format!("{name} {usage}").trim_end()));
    }
    shell::say("\nBefore a commit: cargo xtask ci --fast. Before a push: cargo xtask ci.");
}
