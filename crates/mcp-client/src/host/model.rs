use mcp_types::ModelPreferences;

/// What a host knows about one of its models. Each figure goes from 0 to 1, and more is better:
/// a cheap model has a high `cheapness`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelTraits<'a> {
    /// Its name, as hints may hold a part of it.
    pub name: &'a str,
    /// How little it costs.
    pub cheapness: f64,
    /// How fast it answers.
    pub speed: f64,
    /// What it is able to do.
    pub intelligence: f64,
}

impl<'a> ModelTraits<'a> {
    /// A model that is as good as any in every respect.
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        Self { name, cheapness: 0.5, speed: 0.5, intelligence: 0.5 }
    }

    /// Sets what it is good at.
    #[must_use]
    pub const fn with_traits(mut self, cheapness: f64, speed: f64, intelligence: f64) -> Self {
        self.cheapness = cheapness;
        self.speed = speed;
        self.intelligence = intelligence;
        self
    }
}

/// Which of a host's models a server's preferences mean: the best of those that fit the first
/// hint that any fits, else the best of all, by what the server says is important to it. Among
/// equals the first. `None` only where there is no model.
///
/// A hint fits a model whose name holds it, whatever the case. The preferences are advice: which
/// model is used stays the host's to decide.
///
/// ```
/// use mcp_client::host::{ModelTraits, choose_model};
/// use mcp_types::{ModelHint, ModelPreferences};
///
/// let models = [
///     ModelTraits::new("large-2").with_traits(0.1, 0.3, 0.9),
///     ModelTraits::new("small-2").with_traits(0.9, 0.9, 0.4),
/// ];
/// let wish = ModelPreferences::new().with_intelligence_priority(0.9);
/// assert_eq!(choose_model(&wish, &models).map(|model| model.name), Some("large-2"));
/// let wish = wish.with_hints(vec![ModelHint::new().with_name("small")]);
/// assert_eq!(choose_model(&wish, &models).map(|model| model.name), Some("small-2"));
/// ```
///
/// Specification: [model preferences](https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#model-preferences).
#[must_use]
pub fn choose_model<'m, 'a>(
    wish: &ModelPreferences,
    models: &'m [ModelTraits<'a>],
) -> Option<&'m ModelTraits<'a>> {
    let hints = wish.hints.as_deref().unwrap_or_default();
    let names = hints.iter().filter_map(|hint| hint.name.as_deref());
    for hint in names.map(str::to_lowercase).filter(|hint| !hint.trim().is_empty()) {
        let fits = |model: &&ModelTraits<'_>| model.name.to_lowercase().contains(&hint);
        if let Some(best) = best(wish, models.iter().filter(fits)) {
            return Some(best);
        }
    }
    best(wish, models.iter())
}

fn best<'m, 'a: 'm>(
    wish: &ModelPreferences,
    models: impl Iterator<Item = &'m ModelTraits<'a>>,
) -> Option<&'m ModelTraits<'a>> {
    let weight = |priority: Option<f64>| {
        priority.filter(|p| p.is_finite()).map_or(0.0, |p| p.clamp(0.0, 1.0))
    };
    let cost = weight(wish.cost_priority);
    let speed = weight(wish.speed_priority);
    let intelligence = weight(wish.intelligence_priority);
    let score = |model: &ModelTraits<'_>| {
        cost * model.cheapness + speed * model.speed + intelligence * model.intelligence
    };
    models.fold(None, |best: Option<&ModelTraits<'_>>, model| match best {
        Some(best) if score(best) >= score(model) => Some(best),
        _ => Some(model),
    })
}

#[cfg(test)]
mod tests {
    use mcp_types::ModelHint;

    use super::*;

    // Shows: SAMPLING-021, SAMPLING-022, SAMPLING-044
    #[test]
    fn hints_go_before_priorities_and_in_their_order() {
        let models = [
            ModelTraits::new("opus-large").with_traits(0.1, 0.2, 1.0),
            ModelTraits::new("Sonnet-fast").with_traits(0.5, 0.9, 0.6),
            ModelTraits::new("sonnet-deep").with_traits(0.4, 0.3, 0.8),
        ];
        let hint = |name: &str| ModelHint::new().with_name(name);
        let chosen = |wish: &ModelPreferences| choose_model(wish, &models).map(|model| model.name);
        let none = ModelPreferences::new();
        assert_eq!(chosen(&none), Some("opus-large"));
        let clever = none.clone().with_intelligence_priority(1.0).with_speed_priority(0.1);
        assert_eq!(chosen(&clever.with_hints(vec![hint("SONNET")])), Some("sonnet-deep"));
        let fast = none.clone().with_speed_priority(1.0);
        assert_eq!(chosen(&fast.clone().with_hints(vec![hint("sonnet")])), Some("Sonnet-fast"));
        let both =
            fast.clone().with_hints(vec![hint("nobody"), hint(" "), hint("opus"), hint("fast")]);
        assert_eq!(chosen(&both), Some("opus-large"));
        assert_eq!(chosen(&fast.with_hints(vec![ModelHint::new()])), Some("Sonnet-fast"));
        let odd = none.with_speed_priority(f64::NAN).with_cost_priority(7.0);
        assert_eq!(chosen(&odd), Some("Sonnet-fast"));
        assert_eq!(choose_model(&odd, &[]), None);
    }
}
