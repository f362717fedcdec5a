//! What source files must look like.

use super::{
    File, Findings, lex,
    table::{MOST_LINES, ROWS},
};
use crate::workspace::Metadata;

/// What people write, and could let grow.
const WRITTEN: [&str; 5] = [".rs", ".mjs", ".js", ".py", ".sh"];

/// Holds every source file against the rules.
pub(super) fn check(metadata: &Metadata, files: &[File], findings: &mut Findings) {
    let macro_crates: Vec<&str> = metadata
        .members()
        .filter(|p| p.targets.iter().any(|t| t.kind.iter().any(|kind| kind == "proc-macro")))
        .map(|p| p.name.as_str())
        .collect();
    for file in files {
        let Some(text) = &file.text else { continue };
        size(file, text, findings);
        if !file.path.ends_with(".rs") {
            continue;
        }
        let lexed = lex::lex(text);
        forbidden_code(file, &lexed.code, findings);
        let Some((name, inner)) = in_crate(&file.path) else { continue };
        if inner == "src/lib.rs" {
            table_of_contents(file, &lexed.code, macro_crates.contains(&name), findings);
        }
        if inner.starts_with("src/") {
            module_docs(file, text, files, findings);
            layers(name, file, &lexed, findings);
        }
    }
}

/// The crate of a path in `crates/`, and the rest of the path.
fn in_crate(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix("crates/")?.split_once('/')
}

/// Whether a command wrote the file.
fn is_generated(path: &str) -> bool {
    path.contains("/generated/")
}

fn size(file: &File, text: &str, findings: &mut Findings) {
    let lines = text.lines().count();
    let written = WRITTEN.iter().any(|ending| file.path.ends_with(ending));
    if written && !is_generated(&file.path) && lines > MOST_LINES {
        findings.add("size", &file.path, format!("{lines} lines, {MOST_LINES} are allowed"));
    }
}

/// Code that no file may have.
fn forbidden_code(file: &File, code: &str, findings: &mut Findings) {
    const FORBIDDEN: [(&str, &str); 5] = [
        ("unsafe", "there is no unsafe code here"),
        ("todo!", "unfinished"),
        ("unimplemented!", "unfinished"),
        ("#[ignore", "a test that does not run shows nothing"),
        ("#[should_panic", "assert what happens"),
    ];
    for (word, why) in FORBIDDEN {
        for at in lex::find_words(code, word) {
            let place = format!("{}:{}", file.path, lex::line_of(code, at));
            findings.add("code", place, format!("`{word}`: {why}"));
        }
    }
}

/// `lib.rs` holds modules and re-exports, the README's test, and nothing that works.
fn table_of_contents(file: &File, code: &str, is_macro_crate: bool, findings: &mut Findings) {
    let mut rest = code;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '}'));
        if rest.is_empty() {
            return;
        }
        if rest.starts_with('#') {
            rest = after_brackets(rest);
            continue;
        }
        // An item runs to its `;` or to the end of its braces; of a module the inside counts.
        let end = rest.find([';', '{']).unwrap_or(rest.len());
        let head = rest.get(..end).unwrap_or_default();
        let item = without_visibility(head).split_whitespace().collect::<Vec<_>>();
        let is_import = matches!(item.first(), Some(&"use"));
        let allowed = match item.as_slice() {
            ["use", ..] | ["extern", "crate", ..] | ["struct", "Readme"] | ["mod", _] => true,
            // The compiler wants the entry points of a macro crate at the top.
            ["fn", ..] => is_macro_crate,
            _ => false,
        };
        if !allowed {
            let line = lex::line_of(code, code.len() - rest.len());
            let place = format!("{}:{line}", file.path);
            findings.add("contents", place, "only modules and re-exports belong here");
            return;
        }
        let is_module = matches!(item.first(), Some(&"mod"));
        rest = match rest.get(end..).unwrap_or_default() {
            tail if is_import => tail.find(';').and_then(|at| tail.get(at..)).unwrap_or_default(),
            tail if is_module => tail.get(1..).unwrap_or_default(),
            tail if tail.starts_with('{') => after_braces(tail),
            tail => tail,
        };
    }
}

/// What follows the first pair of square brackets.
fn after_brackets(code: &str) -> &str {
    after_pair(code, '[', ']')
}

fn after_braces(code: &str) -> &str {
    after_pair(code, '{', '}')
}

fn after_pair(code: &str, open: char, close: char) -> &str {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return code.get(at + c.len_utf8()..).unwrap_or_default();
            }
        }
    }
    ""
}

fn without_visibility(item: &str) -> &str {
    let item = item.trim_start();
    match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => {
            rest.split_once(')').map_or(rest, |(_, rest)| rest).trim_start()
        }
        Some(rest) if rest.starts_with(char::is_whitespace) => rest.trim_start(),
        _ => item,
    }
}

/// A public module says what it is, in its file or where it is declared.
fn module_docs(file: &File, text: &str, files: &[File], findings: &mut Findings) {
    // A line that says which command wrote the file may come first.
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !(line.starts_with("// ")));
    let is_documented = first.is_some_and(|line| line.starts_with("//!"));
    if is_documented || file.path.ends_with("src/main.rs") {
        return;
    }
    let Some((folder, name)) = file.path.rsplit_once('/') else { return };
    let (folder, module) = match name {
        "lib.rs" => {
            findings.add("docs", &file.path, "the crate has no docs");
            return;
        }
        "mod.rs" => match folder.rsplit_once('/') {
            Some((above, module)) => (above, module),
            None => return,
        },
        file => (folder, file.trim_end_matches(".rs")),
    };
    let parents = ["mod.rs", "lib.rs", "main.rs"].map(|name| format!("{folder}/{name}"));
    let parent = files.iter().find(|file| parents.contains(&file.path));
    let parent = parent.and_then(|file| file.text.as_deref()).unwrap_or_default();
    let declaration = format!("pub mod {module};");
    let mut documented = false;
    for line in parent.lines() {
        if line.trim() == declaration && !documented {
            findings.add("docs", &file.path, "the module is public and has no docs");
        }
        // Attributes may stand between the docs and the declaration.
        documented =
            line.trim().starts_with("///") || (documented && line.trim().starts_with("#["));
    }
}

/// What the lower crates know nothing of.
fn layers(name: &str, file: &File, lexed: &lex::Lexed, findings: &mut Findings) {
    const OUTSIDE_WORLD: [&str; 9] = [
        "std::fs",
        "std::net",
        "std::process",
        "std::thread",
        "std::env",
        "env::var",
        "Instant::now",
        "SystemTime::now",
        "tokio::",
    ];
    const METHODS: [&str; 9] = [
        "initialize",
        "notifications/",
        "tools/",
        "resources/",
        "prompts/",
        "sampling/",
        "elicitation/",
        "roots/",
        "logging/",
    ];
    let code = lex::without_tests(&lexed.code);
    let pure = ROWS.iter().any(|row| row.name == name && row.pure);
    // Fuzz bodies and test tools run in tests only.
    let is_tool = ["/testing", "/fuzzing"].iter().any(|part| file.path.contains(part));
    if pure && !is_tool {
        for word in OUTSIDE_WORLD {
            if let Some(at) = code.find(word) {
                let place = format!("{}:{}", file.path, lex::line_of(code, at));
                findings.add("pure", place, format!("`{word}`: this crate does no I/O"));
            }
        }
    }
    if name == "mcp-jsonrpc" && !is_tool {
        let text = lexed.text.get(..code.len()).unwrap_or_default();
        for method in METHODS {
            if let Some(at) = text.find(method) {
                let place = format!("{}:{}", file.path, lex::line_of(text, at));
                findings.add("layers", place, format!("`{method}`: it knows no method of MCP"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::tidy::testing::file;

    fn check(files: &[File]) -> Findings {
        let metadata = Metadata {
            packages: vec![],
            workspace_members: [].into(),
            workspace_root: PathBuf::new(),
            target_directory: PathBuf::new(),
            resolve: None,
        };
        let mut findings = Findings::default();
        super::check(&metadata, files, &mut findings);
        findings
    }

    fn check_file(path: &str, text: &str) -> Findings {
        check(&[file(path, text)])
    }

    #[test]
    fn a_file_that_grew_is_found_unless_a_command_wrote_it() {
        let long = "// a\n".repeat(MOST_LINES + 1);
        check_file("xtask/src/a.rs", &long).expect(&[("size", "xtask/src/a.rs")]);
        check_file("conformance/a.mjs", &long).expect(&[("size", "conformance/a.mjs")]);
        check_file("crates/mcp-types/src/generated/a.rs", &format!("//! a\n{long}")).expect(&[]);
        check_file("docs/a.md", &long).expect(&[]);
        check_file("xtask/src/a.rs", &"// a\n".repeat(MOST_LINES)).expect(&[]);
    }

    #[test]
    fn unfinished_or_skipped_code_is_found_by_line() {
        let path = "xtask/src/a.rs";
        check_file(path, "\nunsafe { f() }").expect(&[("code", "xtask/src/a.rs:2")]);
        check_file(path, "fn f() { todo!() }").expect(&[("code", "xtask/src/a.rs:1")]);
        check_file(path, "unimplemented!()").expect(&[("code", "xtask/src/a.rs:1")]);
        check_file(path, "#[test]\n#[ignore = \"slow\"]").expect(&[("code", "xtask/src/a.rs:2")]);
        check_file(path, "#[should_panic]").expect(&[("code", "xtask/src/a.rs:1")]);
        check_file(path, "// unsafe todo!\n#![forbid(unsafe_code)]\nf(\"#[ignore]\")").expect(&[]);
    }

    #[test]
    fn lib_rs_is_a_table_of_contents() {
        let path = "crates/mcp-types/src/lib.rs";
        check_file(
            path,
            "//! Docs.\n#![cfg_attr(docsrs, feature(doc_cfg))]\nmod a;\npub use a::{B, C};\n\
             pub mod v1 { pub use crate::a::*; }\n#[cfg(doctest)]\n\
             #[doc = include_str!(\"../README.md\")]\nstruct Readme;\n",
        )
        .expect(&[]);
        let found = [("contents", "crates/mcp-types/src/lib.rs:3")];
        check_file(path, "//! Docs.\nmod a;\npub fn f() {}\n").expect(&found);
        check_file(path, "//! Docs.\nmod a;\nconst A: u8 = 1;\n").expect(&found);
        check_file(path, "//! Docs.\nmod a {\n impl B {}\n}\n").expect(&found);
        check_file("crates/mcp-types/src/a.rs", "//! Docs.\npub fn f() {}\n").expect(&[]);
    }

    #[test]
    fn a_public_module_has_docs_somewhere() {
        let lib = |declaration: &str| {
            let text = format!("//! Docs.\n{declaration}\n");
            file("crates/mcp-types/src/lib.rs", &text)
        };
        let found = [("docs", "crates/mcp-types/src/a.rs")];
        let module = |text| file("crates/mcp-types/src/a.rs", text);
        check(&[lib("pub mod a;"), module("use b;\n")]).expect(&found);
        check(&[lib("/// Docs.\npub mod a;"), module("use b;\n")]).expect(&[]);
        check(&[lib("/// Docs.\n#[cfg(unix)]\npub mod a;"), module("use b;\n")]).expect(&[]);
        check(&[lib("mod a;"), module("use b;\n")]).expect(&[]);
        check(&[lib("pub mod a;"), module("//! Docs.\n")]).expect(&[]);
        check(&[lib("pub mod a;"), module("// Generated.\n//! Docs.\n")]).expect(&[]);
        let folder = file("crates/mcp-types/src/a/mod.rs", "mod b;\n");
        check(&[lib("pub mod a;"), folder]).expect(&[("docs", "crates/mcp-types/src/a/mod.rs")]);
        check_file("crates/mcp-types/src/lib.rs", "mod a;\n")
            .expect(&[("docs", "crates/mcp-types/src/lib.rs")]);
    }

    #[test]
    fn a_crate_without_io_does_none() {
        let read = "//! Docs.\n\nfn f() { std::fs::read(\"x\"); }\n";
        check_file("crates/mcp-lifecycle/src/a.rs", read)
            .expect(&[("pure", "crates/mcp-lifecycle/src/a.rs:3")]);
        let now = "//! Docs.\nfn f() { Instant::now() }\n";
        check_file("crates/mcp-jsonrpc/src/a.rs", now)
            .expect(&[("pure", "crates/mcp-jsonrpc/src/a.rs:2")]);
        check_file("crates/mcp-transport-stdio/src/a.rs", read).expect(&[]);
        let tested = "//! Docs.\n#[cfg(test)]\nmod tests { use std::fs; }\n";
        check_file("crates/mcp-lifecycle/src/a.rs", tested).expect(&[]);
    }

    #[test]
    fn the_lowest_crate_knows_no_method() {
        let source = "//! Docs.\nconst A: &str = \"tools/call\";\n";
        check_file("crates/mcp-jsonrpc/src/a.rs", source)
            .expect(&[("layers", "crates/mcp-jsonrpc/src/a.rs:2")]);
        check_file("crates/mcp-types/src/a.rs", source).expect(&[]);
        check_file("crates/mcp-jsonrpc/src/a.rs", "//! `tools/call`\n").expect(&[]);
    }
}
