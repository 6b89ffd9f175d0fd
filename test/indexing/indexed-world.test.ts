import { afterAll, beforeAll, describe } from 'vitest';
import { testListing } from '../metadata/listing-equals-chains.ts';
import { testIndex } from './index-equals-chains.ts';
import { type IndexedWorld, startIndexedWorld } from './indexed-world.ts';

/*
 * One world for all that is compared with two chains: an indexer takes longer to start and to follow than most
 * comparisons.
 */

/** Per chain, which the indexer meets as history. */
const ACTIONS_BEFORE = 80;

let world: IndexedWorld;

beforeAll(async () => {
  world = await startIndexedWorld(ACTIONS_BEFORE);
}, 240_000);

afterAll(() => world?.stop());

describe('index', () => testIndex(() => world));
describe('listing', () => testListing(() => world));
