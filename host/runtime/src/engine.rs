//! The WebAssembly engine of a process: compiler, memory pool, and the clock that makes
//! running components yield.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::defaults::{FIBER_STACK_BYTES, MEMORY_SLOT_BYTES, TABLE_SLOT_ELEMENTS, TICK, WASM_STACK_BYTES};

/// Core modules inside one component. A Python component has 38.
const CORE_INSTANCES: u32 = 40;

/// Memories of one component.
const MEMORIES: u32 = 4;

/// Tables of one component.
const TABLES: u32 = 16;

/// Metadata of one instance; a Python component needs several megabytes.
const INSTANCE_BYTES: usize = 16 << 20;

/// Memory that stays mapped between two calls in the same slot.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;

/// Builds the engine: with a pool for `instances` calls at a time, or without where the
/// address space is too short for one (small machines, containers with `ulimit -v`).
pub fn build(instances: u32) -> wasmtime::Result<Engine> {
    let mut pooled = base_config();
    pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(instances)));
    match Engine::new(&pooled) {
        Ok(engine) => Ok(engine),
        Err(error) => {
            let reason = error.root_cause().to_string();
            tracing::warn!(reason, "no room for the memory pool of the add-ons, they will start more slowly");
            Engine::new(&frugal_config())
        }
    }
}

/// Names everything about an engine that compiled code depends on, its version included.
pub fn fingerprint(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn base_config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES);
    config
}

/// Reserves little: memories move when they grow.
fn frugal_config() -> Config {
    let mut config = base_config();
    config
        .memory_reservation(0)
        .memory_guard_size(0)
        .memory_reservation_for_growth(KEEP_RESIDENT_BYTES as u64);
    config
}

/// Room for `instances` components of the largest kind: none is refused because of others.
fn pool(instances: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_stacks(instances)
        .total_core_instances(instances * CORE_INSTANCES)
        .max_core_instances_per_component(CORE_INSTANCES)
        .total_memories(instances * MEMORIES)
        .max_memories_per_component(MEMORIES)
        .total_tables(instances * TABLES)
        .max_tables_per_component(TABLES)
        .table_elements(TABLE_SLOT_ELEMENTS)
        .max_memory_size(MEMORY_SLOT_BYTES)
        .max_core_instance_size(INSTANCE_BYTES)
        .max_component_instance_size(INSTANCE_BYTES)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES);
    pool
}

/// Advances the engine's epoch until it is dropped; every running component then yields,
/// so that its caller can look at the time.
#[derive(Debug)]
pub struct Ticker {
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Starts the thread.
    pub fn start(engine: &Engine) -> std::io::Result<Ticker> {
        let stops = Arc::new(AtomicBool::new(false));
        let (engine, stopped) = (engine.clone(), stops.clone());
        let tick = move || {
            while !stopped.load(Ordering::Relaxed) {
                thread::sleep(TICK);
                engine.increment_epoch();
            }
        };
        let thread = thread::Builder::new().name("addon-ticker".to_owned()).spawn(tick)?;
        Ok(Ticker { stops, thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It holds no lock and cannot panic; there is nothing to learn from its end.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::Store;
    use wasmtime::component::{Component, Linker};

    use super::*;

    #[tokio::test]
    async fn there_is_room_for_every_call_whatever_its_component_is_made_of() {
        let memories = "(core instance (instantiate $memory))".repeat(MEMORIES as usize);
        let tables = "(core instance (instantiate $table))".repeat(TABLES as usize);
        let text = format!(
            "(component (core module $memory (memory 1)) (core module $table (table 1 funcref)) {memories} {tables})"
        );
        let engine = build(8).unwrap();
        let component = Component::new(&engine, wat::parse_str(text).unwrap()).unwrap();
        let linker = Linker::<()>::new(&engine);
        let mut running = Vec::new();
        for _ in 0..8 {
            let mut store = Store::new(&engine, ());
            store.set_epoch_deadline(1);
            linker.instantiate_async(&mut store, &component).await.unwrap();
            running.push(store);
        }
    }

    #[test]
    fn code_of_other_settings_has_another_fingerprint() {
        let pooled = build(2).unwrap();
        let frugal = Engine::new(&frugal_config()).unwrap();
        assert_eq!(fingerprint(&pooled), fingerprint(&build(2).unwrap()));
        assert_ne!(fingerprint(&pooled), fingerprint(&frugal));
    }
}
