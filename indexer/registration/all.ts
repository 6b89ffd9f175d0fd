// Loads all handlers of the indexer. Each module registers its handlers with Ponder when it is loaded.
import './extensions.ts';
import './pool-factory.ts';
import './pools.ts';
import './providers.ts';
import './v0.ts';
