//! The configuration: file, environment, defaults, turned once into valid settings.
