//! Who is calling: API keys.
