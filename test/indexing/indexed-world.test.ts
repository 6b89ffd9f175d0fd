import { describe } from 'vitest';
import { testSites } from '../adapters/sites-equal-chains.ts';
import { startedWorld } from '../harness/open-world.ts';
import { testListing } from '../metadata/listing-equals-chains.ts';
import { testIndex } from './index-equals-chains.ts';
import { startIndexedWorld } from './indexed-world.ts';

/*
 * One world for all that is compared with two chains: an indexer takes longer to start and to follow than most
 * comparisons.
 */

/** Per chain, which the indexer meets as history. */
const ACTIONS_BEFORE = 80;

const world = startedWorld(() => startIndexedWorld(ACTIONS_BEFORE));

describe('index', () => testIndex(world));
describe('listing', () => testListing(world));
describe('listing sites', () => testSites(world));
