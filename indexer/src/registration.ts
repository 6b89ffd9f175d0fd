// Ponder runs every file of this folder and asks for a new index when their text changes, comments included: hence no more.
import '../registration/extensions.ts';
import '../registration/flat-pool.ts';
import '../registration/packed-pool.ts';
import '../registration/pool-factory.ts';
import '../registration/pools.ts';
import '../registration/providers.ts';
