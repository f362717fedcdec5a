use crate::{generated::base::Role, wire::texts};

/// Whom data is for.
///
/// As [`Role`], and open: what a newer peer names here is a hint, and kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Audience {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A text that this crate doesn't know.
    Other(String),
}

texts! {
    Audience or Other,
    User "user"
    Assistant "assistant"
}

impl From<Role> for Audience {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Annotations;

    // Shows: RESOURCES-017, SAMPLING-014
    #[test]
    fn a_role_of_the_future_is_kept_as_an_audience_and_refused_as_a_speaker() {
        let json = r#"{"audience":["user","critic"]}"#;
        let read: Annotations = serde_json::from_str(json).unwrap();
        assert_eq!(
            read.audience.as_deref(),
            Some(&[Audience::User, Audience::Other("critic".to_owned())][..])
        );
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        assert!(serde_json::from_str::<Role>("\"system\"").is_err());
    }
}
