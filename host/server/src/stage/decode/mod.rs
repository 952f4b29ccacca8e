//! Turns any audio or video file into 16 kHz channels.
