import { buildContracts } from './build-contracts.ts';

/** Compiles the contracts for the processes that come after: a compiler that runs keeps its process from all else. */
buildContracts();
