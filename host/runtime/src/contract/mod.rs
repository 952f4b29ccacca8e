//! The contract with add-ons, one module per version that this host speaks.
