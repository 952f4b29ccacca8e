//! Says no when an add-on asks for more memory or table space than its limit, and
//! remembers what it refused, because the trap that follows does not tell.

use wasmtime::{ResourceLimiter, Result, bail};

use crate::defaults::{Limits, MEMORY_SLOT_BYTES};

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    Memory,
    Table,
}

/// Sums up what one store uses.
#[derive(Debug)]
pub struct Limiter {
    memory_limit_bytes: usize,
    memory_bytes: usize,
    table_limit: usize,
    table_elements: usize,
    refused: Option<Refused>,
}

impl Limiter {
    /// A limiter for an unused store.
    pub fn new(limits: &Limits) -> Limiter {
        Limiter {
            memory_limit_bytes: limits.memory_bytes.min(MEMORY_SLOT_BYTES),
            memory_bytes: 0,
            table_limit: limits.table_elements,
            table_elements: 0,
            refused: None,
        }
    }

    /// Memory in use. It never shrinks, so this is also the peak.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes as u64
    }

    /// What was refused first, if anything.
    pub fn refused(&self) -> Option<Refused> {
        self.refused
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.memory_bytes.saturating_add(desired - current);
        if total > self.memory_limit_bytes {
            self.refused.get_or_insert(Refused::Memory);
            bail!("the memory limit of {} bytes is reached", self.memory_limit_bytes);
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.table_elements.saturating_add(desired - current);
        if total > self.table_limit {
            self.refused.get_or_insert(Refused::Table);
            bail!("the table limit of {} elements is reached", self.table_limit);
        }
        self.table_elements = total;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_counted_together() {
        let mut limiter = Limiter::new(&Limits { memory_bytes: 100, ..Limits::default() });
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        assert_eq!(limiter.refused(), None);
        assert!(limiter.memory_growing(60, 61, None).is_err());
        assert_eq!(limiter.refused(), Some(Refused::Memory));
        assert_eq!(limiter.memory_bytes(), 100);
    }

    #[test]
    fn tables_are_counted_together() {
        let mut limiter = Limiter::new(&Limits { table_elements: 10, ..Limits::default() });
        assert!(limiter.table_growing(0, 10, None).unwrap());
        assert!(limiter.table_growing(0, 1, None).is_err());
        assert_eq!(limiter.refused(), Some(Refused::Table));
    }
}
