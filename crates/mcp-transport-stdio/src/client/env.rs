//! What of this process's environment a child gets to see.

use std::ffi::{OsStr, OsString};

/// Variables that say who and where the user is, and nothing that is secret. On Unix also
/// everything that begins with `LC_`.
#[cfg(not(windows))]
const SAFE: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
#[cfg(windows)]
const SAFE: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// What a child's environment starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Safe,
    All,
    Nothing,
}

/// The environment of a child: what `base` takes from `parent`, and `own` on top of it.
pub(super) fn compose(
    base: Base,
    parent: impl IntoIterator<Item = (OsString, OsString)>,
    own: &[(OsString, Option<OsString>)],
) -> Vec<(OsString, OsString)> {
    let inherited = |name: &OsStr| match base {
        Base::Safe => is_safe(name),
        Base::All => true,
        Base::Nothing => false,
    };
    let mut env: Vec<_> =
        parent.into_iter().filter(|(name, value)| inherited(name) && !is_function(value)).collect();
    for (name, value) in own {
        env.retain(|(other, _)| !same_name(other, name));
        if let Some(value) = value {
            env.push((name.clone(), value.clone()));
        }
    }
    env
}

/// The value of `name` in `env`.
pub(super) fn lookup<'a>(env: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsStr> {
    env.iter().find(|(other, _)| same_name(other, name.as_ref())).map(|(_, value)| value.as_ref())
}

fn is_safe(name: &OsStr) -> bool {
    SAFE.iter().any(|safe| same_name(name, safe.as_ref()))
        || (cfg!(not(windows)) && name.as_encoded_bytes().starts_with(b"LC_"))
}

/// Shells export functions in the environment, which a child's shell would run.
fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

fn same_name(a: &OsStr, b: &OsStr) -> bool {
    if cfg!(windows) { a.eq_ignore_ascii_case(b) } else { a == b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: Base, own: &[(&str, Option<&str>)], expected: &[(&str, &str)]) {
        let pair = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        let parent = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("TERM", "() { :; }; echo gotcha"),
            ("BASH_FUNC_x%%", "() { :; }"),
        ];
        let own: Vec<_> = own.iter().map(|(n, v)| ((*n).into(), v.map(Into::into))).collect();
        let env = compose(base, parent.iter().map(pair), &own);
        assert_eq!(env, expected.iter().map(pair).collect::<Vec<_>>());
    }

    // Shows: FC-010, AUTH-CLIENT-003
    #[test]
    fn a_child_gets_what_is_safe_and_what_was_configured() {
        let safe = [("PATH", "/bin"), ("HOME", "/home/me"), ("LC_ALL", "C")];
        check(Base::Safe, &[], &safe);
        check(Base::Safe, &[("API_KEY", Some("k"))], &[&safe[..], &[("API_KEY", "k")]].concat());
    }

    // Shows: FC-010
    #[test]
    fn what_is_configured_replaces_what_is_inherited() {
        check(
            Base::Safe,
            &[("PATH", Some("/opt")), ("HOME", None)],
            &[("LC_ALL", "C"), ("PATH", "/opt")],
        );
    }

    // Shows: FC-010
    #[test]
    fn everything_and_nothing_are_explicit_choices_and_functions_are_never_inherited() {
        check(
            Base::All,
            &[],
            &[
                ("PATH", "/bin"),
                ("HOME", "/home/me"),
                ("LC_ALL", "C"),
                ("AWS_SECRET_ACCESS_KEY", "s"),
            ],
        );
        check(Base::Nothing, &[("A", Some("()"))], &[("A", "()")]);
    }
}
