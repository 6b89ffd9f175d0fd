// Every handler of the indexer: they register themselves with Ponder as they are loaded.
import './extensions.ts';
import './flat-pool.ts';
import './packed-pool.ts';
import './pool-factory.ts';
import './pools.ts';
import './providers.ts';
