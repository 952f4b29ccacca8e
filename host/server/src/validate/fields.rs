//! Reads single fields of a JSON object. A field that is `null` counts as absent: clients
//! write out optional fields that were not set.

use serde_json::{Map, Value};

use super::problems::Problems;

/// An object of the request with its place in it.
pub(super) struct Fields<'a> {
    prefix: &'a str,
    object: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The request itself.
    pub fn root(object: &'a Map<String, Value>) -> Self {
        Self { prefix: "", object }
    }

    /// The field, where it holds something.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Dotted path of a field.
    pub fn path(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    /// A flag; absent means false.
    pub fn flag(&self, name: &str, problems: &mut Problems) -> bool {
        match self.get(name) {
            None => false,
            Some(Value::Bool(on)) => *on,
            Some(_) => {
                problems.invalid(format!("{} must be a boolean", self.path(name)));
                false
            }
        }
    }

    /// Text.
    pub fn text(&self, name: &str, problems: &mut Problems) -> Option<&'a str> {
        match self.get(name)? {
            Value::String(text) => Some(text),
            _ => {
                problems.invalid(format!("{} must be a string", self.path(name)));
                None
            }
        }
    }

    /// A list.
    pub fn list(&self, name: &str, problems: &mut Problems) -> Option<&'a [Value]> {
        match self.get(name)? {
            Value::Array(items) => Some(items),
            _ => {
                problems.invalid(format!("{} must be an array", self.path(name)));
                None
            }
        }
    }

    /// An object, as it is.
    pub fn object(&self, name: &str, problems: &mut Problems) -> Option<&'a Map<String, Value>> {
        match self.get(name)? {
            Value::Object(object) => Some(object),
            _ => {
                problems.invalid(format!("{} must be an object", self.path(name)));
                None
            }
        }
    }

    /// An object whose fields are read in turn; only objects of the request itself have any
    /// that the host reads.
    pub fn inner<'b>(&self, name: &'b str, problems: &mut Problems) -> Option<Fields<'b>>
    where
        'a: 'b,
    {
        self.object(name, problems).map(|object| Fields { prefix: name, object })
    }
}
