// biome-ignore-all lint/performance/noBarrelFile: Ponder takes all tables from one module.
export * from '../../../indexer/ponder.schema.ts';
