//! Finds the stretches of speech.
