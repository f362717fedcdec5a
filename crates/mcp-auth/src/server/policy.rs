use std::collections::HashMap;

use mcp_transport_http::v1::Operation;

use crate::ScopeSet;

/// Which scopes an operation needs, and which a challenge names.
///
/// Scopes are an upper bound: they don't replace the application's own rules about whose data
/// it is.
#[derive(Clone, Debug, Default)]
pub struct ScopePolicy {
    baseline: Need,
    methods: HashMap<Box<str>, Need>,
    names: Vec<Rule>,
    /// From a broad scope to those that it covers, closed.
    implied: HashMap<Box<str>, ScopeSet>,
    otherwise: Otherwise,
    keep_granted: KeepGranted,
}

#[derive(Clone, Debug)]
struct Rule {
    method: &'static str,
    name: Box<str>,
    /// Whether everything that begins with the name is meant.
    prefix: bool,
    need: Need,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeepGranted {
    #[default]
    Yes,
    No,
}

/// What is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// A valid token, whatever its scopes.
    #[default]
    Nothing,
    /// All of these.
    All(ScopeSet),
    /// All of one of these sets; a challenge names the first.
    Any(Vec<ScopeSet>),
    /// All of the first, while a challenge names the second.
    Challenged(ScopeSet, ScopeSet),
}

/// What holds for a name that no rule speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Otherwise {
    /// The baseline and the method's rule will do.
    #[default]
    Baseline,
    /// Nobody may: whether there is such a thing is not told.
    Deny,
}

/// What a policy says about an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Allowed,
    /// The scopes for the challenge: a complete set.
    Lacking(ScopeSet),
    Denied,
}

impl ScopePolicy {
    /// A policy that needs a valid token and nothing more.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What every request needs.
    #[must_use]
    pub fn baseline(mut self, need: Need) -> Self {
        self.baseline = need;
        self
    }

    /// What a method needs beyond the baseline.
    #[must_use]
    pub fn method(mut self, method: impl Into<Box<str>>, need: Need) -> Self {
        self.methods.insert(method.into(), need);
        self
    }

    /// What calling a tool needs beyond that.
    #[must_use]
    pub fn tool(self, name: impl Into<Box<str>>, need: Need) -> Self {
        self.rule("tools/call", name, false, need)
    }

    /// What getting a prompt needs beyond that.
    #[must_use]
    pub fn prompt(self, name: impl Into<Box<str>>, need: Need) -> Self {
        self.rule("prompts/get", name, false, need)
    }

    /// What reading and subscribing to resources needs whose URI begins with `prefix`.
    #[must_use]
    pub fn resource(self, prefix: impl Into<Box<str>>, need: Need) -> Self {
        let prefix = prefix.into();
        self.rule("resources/read", prefix.clone(), true, need.clone()).rule(
            "resources/subscribe",
            prefix,
            true,
            need,
        )
    }

    /// `broad` counts wherever `narrow` is needed.
    #[must_use]
    pub fn implies(mut self, broad: impl Into<Box<str>>, narrow: &str) -> Self {
        self.implied.entry(broad.into()).or_default().insert(narrow);
        // What is implied by what is implied is implied. Each round adds at least one pair.
        loop {
            let mut wider = self.implied.clone();
            for set in wider.values_mut() {
                let more: Vec<ScopeSet> =
                    set.iter().filter_map(|scope| self.implied.get(scope).cloned()).collect();
                for more in more {
                    *set = set.union(&more);
                }
            }
            if wider == self.implied {
                return self;
            }
            self.implied = wider;
        }
    }

    /// What holds for tools, prompts and resources that no rule speaks of.
    #[must_use]
    pub fn otherwise(mut self, rule: Otherwise) -> Self {
        self.otherwise = rule;
        self
    }

    /// Leaves the scopes that a token has already out of challenges. Clients of revisions
    /// before 2026-07-28 may then lose them on a step-up.
    #[must_use]
    pub fn challenge_without_granted(mut self) -> Self {
        self.keep_granted = KeepGranted::No;
        self
    }

    fn rule(
        mut self,
        method: &'static str,
        name: impl Into<Box<str>>,
        prefix: bool,
        need: Need,
    ) -> Self {
        self.names.push(Rule { method, name: name.into(), prefix, need });
        self
    }

    /// What a challenge names for a request without a usable token.
    pub(super) fn first_challenge(&self) -> ScopeSet {
        self.baseline.challenge()
    }

    /// All scopes that it speaks of, for the metadata document.
    pub(super) fn all(&self) -> ScopeSet {
        let needs = [&self.baseline].into_iter().chain(self.methods.values());
        let needs = needs.chain(self.names.iter().map(|rule| &rule.need));
        let named = needs.fold(ScopeSet::new(), |all, need| all.union(&need.named()));
        named.without(&ScopeSet::parse("offline_access"))
    }

    /// Judges a request before its body is read.
    pub(super) fn judge_baseline(&self, granted: &ScopeSet) -> Ruling {
        self.judge_needs(&[&self.baseline], granted)
    }

    /// Judges an operation.
    pub(super) fn judge(&self, operation: &Operation, granted: &ScopeSet) -> Ruling {
        let mut needs = vec![&self.baseline];
        needs.extend(self.methods.get(&operation.method));
        let rules: Vec<&Rule> = self.names.iter().filter(|rule| rule.fits(operation)).collect();
        let has_name = operation.name.is_some()
            && matches!(
                &*operation.method,
                "tools/call" | "prompts/get" | "resources/read" | "resources/subscribe"
            );
        if has_name && rules.is_empty() && self.otherwise == Otherwise::Deny {
            return Ruling::Denied;
        }
        needs.extend(rules.into_iter().map(|rule| &rule.need));
        self.judge_needs(&needs, granted)
    }

    fn judge_needs(&self, needs: &[&Need], granted: &ScopeSet) -> Ruling {
        let covered = self.covered(granted);
        if needs.iter().all(|need| need.met_by(&covered)) {
            return Ruling::Allowed;
        }
        let asked = needs.iter().fold(ScopeSet::new(), |all, need| all.union(&need.challenge()));
        Ruling::Lacking(match self.keep_granted {
            // Older clients ask for what they are told and for nothing else.
            KeepGranted::Yes => granted.intersection(&self.known()).union(&asked),
            KeepGranted::No => asked,
        })
    }

    fn known(&self) -> ScopeSet {
        self.implied.iter().fold(self.all(), |mut known, (broad, narrow)| {
            known.insert(broad);
            known.union(narrow)
        })
    }

    /// What a token with these scopes counts for.
    fn covered(&self, granted: &ScopeSet) -> ScopeSet {
        let implied = granted.iter().filter_map(|scope| self.implied.get(scope));
        implied.fold(granted.clone(), |all, more| all.union(more))
    }
}

impl Rule {
    fn fits(&self, operation: &Operation) -> bool {
        self.method == &*operation.method
            && operation.name.as_deref().is_some_and(|name| match self.prefix {
                true => name.starts_with(&*self.name),
                false => name == &*self.name,
            })
    }
}

impl Need {
    /// All of these scopes, separated by blanks.
    #[must_use]
    pub fn all(scopes: &str) -> Self {
        Self::All(ScopeSet::parse(scopes))
    }

    fn met_by(&self, covered: &ScopeSet) -> bool {
        match self {
            Self::Nothing => true,
            Self::All(set) | Self::Challenged(set, _) => covered.contains_all(set),
            Self::Any(sets) => sets.is_empty() || sets.iter().any(|set| covered.contains_all(set)),
        }
    }

    fn challenge(&self) -> ScopeSet {
        match self {
            Self::Nothing => ScopeSet::new(),
            Self::All(set) | Self::Challenged(_, set) => set.clone(),
            Self::Any(sets) => sets.first().cloned().unwrap_or_default(),
        }
    }

    fn named(&self) -> ScopeSet {
        match self {
            Self::Nothing => ScopeSet::new(),
            Self::All(set) => set.clone(),
            Self::Challenged(set, asked) => set.union(asked),
            Self::Any(sets) => sets.iter().fold(ScopeSet::new(), |all, set| all.union(set)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> ScopePolicy {
        ScopePolicy::new()
            .baseline(Need::all("mcp:use"))
            .method("resources/list", Need::all("files:list"))
            .tool("delete", Need::all("files:write"))
            .tool("either", Need::Any(vec![ScopeSet::parse("a"), ScopeSet::parse("b c")]))
            .resource("file:///secret/", Need::all("secrets"))
            .implies("admin", "files:write")
            .implies("files:write", "files:read")
    }

    fn judge(method: &str, name: Option<&str>, granted: &str) -> Ruling {
        let operation = Operation::new(method);
        let operation = match name {
            Some(name) => operation.with_name(name),
            None => operation,
        };
        policy().judge(&operation, &ScopeSet::parse(granted))
    }

    fn lacking(scopes: &str) -> Ruling {
        Ruling::Lacking(ScopeSet::parse(scopes))
    }

    // Shows: RS-SP-1, AUTH-SERVER-018, SEC-094, SEC-095
    #[test]
    fn needs_add_up_from_baseline_method_and_name() {
        assert_eq!(judge("ping", None, "mcp:use"), Ruling::Allowed);
        assert_eq!(judge("ping", None, ""), lacking("mcp:use"));
        assert_eq!(judge("resources/list", None, "mcp:use"), lacking("mcp:use files:list"));
        assert_eq!(judge("tools/call", Some("delete"), "mcp:use files:write"), Ruling::Allowed);
        assert_eq!(judge("tools/call", Some("delete"), "mcp:use admin"), Ruling::Allowed);
        assert_eq!(judge("tools/call", Some("either"), "mcp:use c b"), Ruling::Allowed);
        assert_eq!(judge("tools/call", Some("either"), "mcp:use b"), lacking("mcp:use b a"));
        assert_eq!(
            judge("resources/read", Some("file:///secret/x"), "mcp:use"),
            lacking("mcp:use secrets")
        );
        assert_eq!(judge("resources/read", Some("file:///open"), "mcp:use"), Ruling::Allowed);
    }

    // Shows: RS-SP-2, AUTH-SERVER-026, AUTH-SERVER-027, AUTH-SERVER-028, SEC-096, SEC-093,
    // AUTH-SERVER-009, AUTH-SERVER-010
    #[test]
    fn a_challenge_names_the_operations_set_and_what_is_granted_but_not_the_catalog() {
        assert_eq!(
            judge("tools/call", Some("delete"), "mcp:use files:list unknown"),
            lacking("mcp:use files:list files:write"),
        );
        let bare = policy().challenge_without_granted();
        let operation = Operation::new("tools/call").with_name("delete");
        assert_eq!(
            bare.judge(&operation, &ScopeSet::parse("mcp:use files:list")),
            lacking("mcp:use files:write"),
        );
        assert_eq!(policy().first_challenge(), ScopeSet::parse("mcp:use"));
    }

    // Shows: RS-SP-3
    #[test]
    fn an_unknown_name_can_be_denied_before_it_is_looked_up() {
        let strict = policy().otherwise(Otherwise::Deny);
        let all = ScopeSet::parse("mcp:use admin");
        let call = |name: &str| strict.judge(&Operation::new("tools/call").with_name(name), &all);
        assert_eq!(call("nothing"), Ruling::Denied);
        assert_eq!(call("delete"), Ruling::Allowed);
        assert_eq!(strict.judge(&Operation::new("tools/list"), &all), Ruling::Allowed);
    }
}
