//! Fetching and decoding from outside: every fixture, generated files with known content, a
//! hostile server.

mod bombs;
mod channels;
mod clock;
mod damage;
mod fetch;
mod formats;
mod frames;
mod fuzz;
mod generate;
mod support;
