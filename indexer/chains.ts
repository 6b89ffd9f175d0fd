import { readEnvironment } from '../config/environment.ts';
import { loadChainsFile } from '../config/load-chains.ts';
import { indexedChains } from './sources.ts';

/** Chains of the chains file with an enabled deployment. Loading fails with a `ConfigError` on a wrong setting. */
export const chains = indexedChains(loadChainsFile(readEnvironment(['CHAINS_CONFIG']).CHAINS_CONFIG).chains);
